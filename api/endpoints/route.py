"""``POST /route``: an inbound message, decided and carried out or held."""

import asyncio
import re
from functools import partial

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from clawmarshal.api.auth import RouteKey, check_still_valid, parts_of, scope_missing
from clawmarshal.api.bodies import read_model
from clawmarshal.api.ports import Desk, Parts, Records
from clawmarshal.api.problems import RETRY_AFTER_S, Problem
from clawmarshal.api.schemas import RouteBody
from clawmarshal.api.views import RouteView, route_view
from clawmarshal.api.waiting import GivenUp, wait_for
from clawmarshal.errors import (
    AcceptedUnreadError,
    LedgerError,
    LedgerUnavailableError,
    NotFoundError,
)
from clawmarshal.router.ledger.records import Answer, Principal, RouteRecord, Submission
from clawmarshal.router.ledger.states import RESTING, RouteState

endpoints = APIRouter()

IDEMPOTENCY_KEY = re.compile(r"[\x21-\x7e]{1,255}")
ON_LOOP_CHARS = 16_384
SETTLED = RESTING - {RouteState.HELD}
"""Answered with 200; everything else is still running or held, and answered with 202."""


@endpoints.post("/route", response_model=RouteView)
async def post_route(request: Request, principal: RouteKey) -> Response:
    """Route a message.

    200: decided, or done. 202: accepted, and still running or held. After a 200 or 202 the
    message is in the ledger and is not lost; a retry with the same ``Idempotency-Key`` or message
    id returns the same route, and once it was answered with 200 the same bytes. ``dry_run``
    leaves no row and answers without an id.
    """
    parts = parts_of(request)
    key = _idempotency_key(request)
    body = await read_model(
        request, RouteBody, max_bytes=parts.body_bytes, timeout_s=parts.body_timeout_s
    )
    if body.agent is not None:
        _check_pin(body.agent, principal, parts)
    submission = await _checked(body, principal, key=key, parts=parts)
    if body.mode == "dry_run":
        return await _rehearse(request, parts.desk, submission)
    # Gate 1: a caller who left before acceptance leaves no row, and the key stays usable.
    if await request.is_disconnected():
        raise Problem("caller-gone", "Nothing was accepted.")
    record, repeat = await _accept(parts.desk, submission)
    request.app.state.metrics.accepted(record, repeat)
    if repeat and (kept := await _kept(parts.records, record.id)) is not None:
        return _replayed(record, kept, repeat)
    if body.wait_s > 0 and record.state not in RESTING:
        wait_s = min(body.wait_s, parts.max_wait_s)
        with parts.seats.take(principal.key_id):
            record = await _wait(request, record, submission, principal=principal, wait_s=wait_s)
        await check_still_valid(request, principal)
    answer = _answer(record, repeat)
    if answer.status_code == 200 and submission.is_repeatable:
        await _keep(parts.records, record.id, answer)
    return answer


async def _rehearse(request: Request, desk: Desk, submission: Submission) -> JSONResponse:
    """Decide and keep nothing; given up when the caller leaves or the service stops."""
    rehearsed = await wait_for(request, desk.dry_run(submission))
    if rehearsed is GivenUp.STOPPING:
        retry = {"Retry-After": str(RETRY_AFTER_S)}
        raise Problem("stopping", "Nothing was kept.", headers=retry)
    if isinstance(rehearsed, GivenUp):
        raise Problem("caller-gone", "Nothing was kept.")
    # The id names no row, so it is not shown.
    return JSONResponse(dict(rehearsed) | {"id": None, "state": None, "mode": "dry_run"})


async def _kept(records: Records, route_id: str) -> Answer | None:
    """Return what was answered first; None where that cannot be read, as before there is one."""
    try:
        return await asyncio.to_thread(records.kept_answer, route_id)
    except LedgerUnavailableError:
        return None


async def _keep(records: Records, route_id: str, answer: JSONResponse) -> None:
    """Make a final answer the one that every repeat gets; put the one of another caller in it."""
    given = Answer(answer.status_code, bytes(answer.body).decode())
    try:
        kept = await asyncio.to_thread(records.keep_answer, route_id, given)
    except LedgerError:
        return  # it is an answer all the same; the next repeat gets one anew
    if kept != given:
        answer.body = kept.body.encode()
        answer.headers["content-length"] = str(len(answer.body))


def _replayed(record: RouteRecord, kept: Answer, repeat: str) -> Response:
    headers = {"Location": f"/routes/{record.id}", "Idempotency-Replayed": repeat}
    return Response(kept.body, kept.status, headers, media_type="application/json")


async def _checked(
    body: RouteBody, principal: Principal, *, key: str | None, parts: Parts
) -> Submission:
    make = partial(
        body.submission,
        principal.person,
        idempotency_key=key,
        max_text_bytes=parts.max_text_bytes,
        trace=principal.trace,
    )
    # Megabytes take a while to look through; others are served meanwhile.
    return await asyncio.to_thread(make) if len(body.text) > ON_LOOP_CHARS else make()


def _answer(record: RouteRecord, repeat: str | None) -> JSONResponse:
    view = route_view(record, deduplicated_by=repeat)
    return JSONResponse(
        view.model_dump(mode="json"),
        200 if record.state in SETTLED else 202,
        headers={"Location": view.links.self},
    )


def _idempotency_key(request: Request) -> str | None:
    sent = request.headers.getlist("idempotency-key")
    if not sent:
        return None
    if len(sent) > 1 or not IDEMPOTENCY_KEY.fullmatch(sent[0]):
        raise Problem("idempotency-key-invalid", "Send it once, 1 to 255 visible ASCII characters.")
    return sent[0]


def _check_pin(agent: str, principal: Principal, parts: Parts) -> None:
    if not principal.may("pin"):
        raise scope_missing("pin")
    _ = parts.roster[agent]  # unknown-agent, with near matches, before anything is accepted


async def _accept(desk: Desk, submission: Submission) -> tuple[RouteRecord, str | None]:
    """Accept and decide; what has begun is finished even when the caller's task is stopped."""
    try:
        return await asyncio.shield(asyncio.ensure_future(desk.submit(submission)))
    except NotFoundError:
        # The only row that a message names.
        raise Problem("clarifies-unknown", "Look at: clarifies.") from None


async def _wait(
    request: Request,
    record: RouteRecord,
    submission: Submission,
    *,
    principal: Principal,
    wait_s: float,
) -> RouteRecord:
    desk = parts_of(request).desk
    try:
        waited = await wait_for(request, desk.wait(record.id, wait_s=wait_s))
    except LedgerUnavailableError as error:
        # Never "nothing was accepted": a caller without a key would send it a second time.
        raise AcceptedUnreadError(record.id) from error
    if waited is GivenUp.CALLER_GONE and submission.cancel_on_disconnect:
        return await asyncio.shield(asyncio.ensure_future(desk.cancel(record.id, principal)))
    return record if isinstance(waited, GivenUp) else waited
