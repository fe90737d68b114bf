"""``/agents`` and ``/roster``: the fleet as the service knows it."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from clawmarshal.api.auth import ReaderKey, ReviewKey, parts_of
from clawmarshal.api.bodies import read_bytes
from clawmarshal.api.fleet import agents_view, check_text

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
