"""``/agents`` and ``/roster``: the fleet as the service knows it."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from clawmarshal.api.auth import AdminKey, ReaderKey, ReviewKey, parts_of
from clawmarshal.api.bodies import read_bytes
from clawmarshal.api.fleet import agents_view, check_text
from clawmarshal.api.problems import Problem, faults_of
from clawmarshal.api.views import ReloadView
from clawmarshal.errors import RosterError, RosterSchemaError, SettingsError

endpoints = APIRouter()

MAX_ROSTER_BYTES = 4 * 1024 * 1024


@endpoints.get("/agents")
async def list_agents(request: Request, _: ReaderKey) -> dict[str, Any]:
    """List the agents of the roster, and whether the live OpenClaw knows each."""
    parts = parts_of(request)
    live = await parts.health.fleet()
    return agents_view(parts.roster, live)


@endpoints.post(
    "/roster/check",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/yaml": {"schema": {"type": "string"}}},
        }
    },
)
async def check_roster(request: Request, _: ReviewKey) -> JSONResponse:
    """Check the text of a roster file without using it: 200 with what was found either way."""
    parts = parts_of(request)
    raw = await read_bytes(request, max_bytes=MAX_ROSTER_BYTES, timeout_s=parts.body_timeout_s)
    return JSONResponse(await asyncio.to_thread(check_text, raw))


@endpoints.post("/roster/reload", response_model=ReloadView)
async def reload_roster(request: Request, principal: AdminKey) -> ReloadView:
    """Put in force what configuration and roster file say now.

    A fault in them is answered with 422, and what was in force stays in force.
    """
    parts = parts_of(request)
    if parts.reloader is None:
        raise Problem("no-settings-file", "This service was started without one.")
    try:
        done = await parts.reloader.reload(by=principal.person)
    except (SettingsError, RosterError) as error:
        faults = []
        if isinstance(error, SettingsError | RosterSchemaError):
            faults = faults_of(error)
        raise Problem(
            "reload-refused",
            f"{str(error).partition(chr(10))[0]} What was in force stays in force.",
            members={"faults": faults, "cause": error.code},
        ) from error
    return ReloadView(
        revision=done.revision,
        changed=done.is_changed,
        needs_restart=list(done.needs_restart),
    )
