"""``POST /v1/systemone`` and ``GET /v1/models``: our decision model for any System One client."""

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from clawmarshal.api.auth import parts_of, principal_of
from clawmarshal.api.bodies import PARSE_ON_LOOP_BYTES, check_media_type, parse_json, read_bytes
from clawmarshal.api.problems import PROBLEMS, Problem
from clawmarshal.api.system_one import (
    ALIAS,
    ALIASES,
    MAX_BODY_BYTES,
    DialectError,
    SystemOneBody,
    SystemOneDoor,
    answers_of,
    ballot_of,
    message_of,
    of_problem,
    read_body,
    refusal,
    usage_of,
)
from clawmarshal.errors import DecisionError, LedgerError, MessageError

endpoints = APIRouter()

LOOPBACK = "loopback"
"""Whose requests those without a key are counted as."""
PROXY_HEADERS = ("forwarded", "x-forwarded-for", "x-real-ip")
RELEASED = "2026-11-30"
"""When the fit that is shipped was made."""


@endpoints.post("/v1/systemone")
async def post_system_one(request: Request) -> JSONResponse:
    """Answer typed questions about a state; speaks System One, its errors included.

    ``jev-latest``, ``kev-latest`` and the id of the configured model are accepted as ``model``; the
    response names the one that answered.
    """
    return await _in_dialect(request, _answer)


@endpoints.get("/v1/models")
async def get_models(request: Request) -> JSONResponse:
    """List the model that answers, and the alias that clients send by default."""
    return await _in_dialect(request, _list)


async def _answer(request: Request, door: SystemOneDoor) -> dict[str, object]:
    body = await _read(request)
    if body.model not in ALIASES | {door.model.name}:
        raise refusal(400, "api_usage_error", f"Unknown model: {body.model[:64]}")
    ballot = ballot_of(body)
    answers = await door.answer(ballot, message_of(body))
    return {
        "model": answers.model,
        "answers": answers_of(body, ballot, answers.answers),
        "usage": usage_of(body),
    }


async def _list(_: Request, door: SystemOneDoor) -> dict[str, object]:
    known = {door.model.name: "The decision model of this service.", ALIAS: "The same model."}
    return {
        "models": [
            {"name": name, "description": description, "release_date": RELEASED}
            for name, description in known.items()
        ]
    }


async def _in_dialect(
    request: Request, work: Callable[[Request, SystemOneDoor], Awaitable[dict[str, object]]]
) -> JSONResponse:
    headers = {"x-typesafe-request-id": request.state.request_id}
    try:
        return JSONResponse(await work(request, await _door(request)), headers=headers)
    except DialectError as error:
        refused = error
    except Problem as problem:
        refused = of_problem(problem, status=PROBLEMS[problem.code].status)
    except MessageError as error:
        refused = DialectError(422, [{"loc": ["body"], "msg": str(error), "type": "value_error"}])
    except DecisionError as error:
        # A deadline or a broken model of another hand: nothing about the request is known wrong.
        refused = refusal(503, "service_unavailable", f"There is no answer ({error.code}).")
    except LedgerError:
        refused = refusal(503, "service_unavailable", "No key can be looked up.")
    return JSONResponse(
        {"detail": refused.detail}, refused.status, headers=headers | refused.headers
    )


async def _door(request: Request) -> SystemOneDoor:
    """Let the caller in, if it may and has not asked too often."""
    door = parts_of(request).system_one
    if door is None:
        raise refusal(404, "not_found_error", "No model is served here.")
    wait_s = door.rate.wait_s(await _caller(request, door))
    if wait_s:
        message = f"Too many requests; wait {wait_s} s."
        raise refusal(429, "rate_limit_error", message, headers={"Retry-After": str(wait_s)})
    return door


async def _caller(request: Request, door: SystemOneDoor) -> str:
    is_open = door.open_on_loopback and _is_loopback(request)
    try:
        principal = await principal_of(request)
    except Problem:
        if is_open:
            return LOOPBACK
        message = "Cannot authenticate with the server. Check the key."
        raise refusal(401, "authentication_error", message) from None
    if principal is None:
        if is_open:
            return LOOPBACK
        raise refusal(403, "authentication_error", "Must supply an API key.")
    if not principal.may("route") and not is_open:
        raise refusal(403, "permission_error", "The key does not hold the scope route.")
    return principal.key_id


def _is_loopback(request: Request) -> bool:
    """Tell whether the peer itself is on loopback; what a proxy passes on is not."""
    if request.client is None or any(name in request.headers for name in PROXY_HEADERS):
        return False
    try:
        return ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False


async def _read(request: Request) -> SystemOneBody:
    timeout_s = parts_of(request).body_timeout_s
    raw = await read_bytes(request, max_bytes=MAX_BODY_BYTES, timeout_s=timeout_s)
    check_media_type(request, "application/json")
    if len(raw) > PARSE_ON_LOOP_BYTES:
        return await asyncio.to_thread(lambda: read_body(parse_json(raw)))
    return read_body(parse_json(raw))
