"""``/holds``: the queue of what waits for a human, and the answers."""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request

from clawmarshal.api.auth import ReaderKey, ReviewKey, owner_filter, parts_of
from clawmarshal.api.bodies import read_model
from clawmarshal.api.endpoints.routes import Cursor, Limit
from clawmarshal.api.schemas import ApproveBody, RejectBody
from clawmarshal.api.views import HoldDetailView, HoldPage, HoldView, hold_detail_view, hold_view

endpoints = APIRouter()

MAX_BODY_BYTES = 64 * 1024
State = Literal["open", "approved", "rejected", "expired", "cancelled", "all"]


@endpoints.get("/holds")
async def list_holds(
    request: Request,
    principal: ReaderKey,
    *,
    state: Annotated[State, Query()] = "open",
    limit: Limit = 50,
    cursor: Cursor = None,
) -> HoldPage:
    """List holds, oldest first, the open ones unless asked; ``route`` keys see their own."""
    rows, following = await asyncio.to_thread(
        parts_of(request).records.holds,
        owner=owner_filter(principal),
        state=None if state == "all" else state,
        limit=limit,
        cursor=cursor,
    )
    return HoldPage(holds=[hold_view(row) for row in rows], next=following)


@endpoints.get("/holds/{hold_id}")
async def get_hold(request: Request, principal: ReaderKey, hold_id: str) -> HoldDetailView:
    """Show a hold with its route: what was asked, what fired, what exactly would run."""
    records = parts_of(request).records
    owner = owner_filter(principal)
    hold = await asyncio.to_thread(records.hold, hold_id, owner=owner)
    record = await asyncio.to_thread(records.route, hold.route_id, owner=owner)
    return hold_detail_view(hold, record)


@endpoints.post("/holds/{hold_id}/approve")
async def approve_hold(request: Request, principal: ReviewKey, hold_id: str) -> HoldView:
    """Say yes: launch it once, for the suggested agent or another.

    The first answer wins: the same answer again is 200, another one 409 with the winner.
    """
    parts = parts_of(request)
    body = await read_model(
        request, ApproveBody, max_bytes=MAX_BODY_BYTES, timeout_s=parts.body_timeout_s
    )
    answer = parts.desk.approve(
        hold_id, principal, agent=body.agent, note=body.note, digest=body.digest
    )
    return hold_view(await asyncio.shield(answer))


@endpoints.post("/holds/{hold_id}/reject")
async def reject_hold(request: Request, principal: ReviewKey, hold_id: str) -> HoldView:
    """Say no, and why: it is never launched."""
    parts = parts_of(request)
    body = await read_model(
        request, RejectBody, max_bytes=MAX_BODY_BYTES, timeout_s=parts.body_timeout_s
    )
    return hold_view(
        await asyncio.shield(parts.desk.reject(hold_id, principal, reason=body.reason))
    )
