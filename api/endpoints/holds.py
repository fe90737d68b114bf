"""``/holds``: the queue of what waits for a human, and the answers."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from clawmarshal.api.auth import ReaderKey, ReviewKey, owner_filter, parts_of
from clawmarshal.api.bodies import read_model
from clawmarshal.api.cursors import opened, sealed
from clawmarshal.api.etags import check_match, etag_of, is_known, match_of
from clawmarshal.api.problems import Problem
from clawmarshal.api.queries import HoldListing, last_event_id
from clawmarshal.api.schemas import ApproveBody, RejectBody
from clawmarshal.api.streams import HoldTrail, frame, stream
from clawmarshal.api.views import HoldDetailView, HoldPage, HoldView, hold_detail_view, hold_view
from clawmarshal.router.ledger.records import Principal

endpoints = APIRouter()

MAX_BODY_BYTES = 64 * 1024


@endpoints.get("/holds")
async def list_holds(
    request: Request, principal: ReaderKey, *, listing: Annotated[HoldListing, Query()]
) -> HoldPage:
    """List holds, oldest first, the open ones unless asked; ``route`` keys see their own.

    ``next`` goes on where a page ends, with the same filters.
    """
    owner = owner_filter(principal)
    belongs = ("holds", owner, *listing.marks)
    rows, following = await asyncio.to_thread(
        parts_of(request).records.holds,
        owner=owner,
        wanted=listing.wanted(),
        limit=listing.limit,
        cursor=opened(listing.cursor, *belongs),
    )
    return HoldPage(holds=[hold_view(row) for row in rows], next=sealed(following, *belongs))


@endpoints.get("/holds/events", response_class=Response)
async def stream_holds(request: Request, principal: ReaderKey) -> Response:
    """Stream what happens to holds: opened, claimed, answered, expired.

    Server-sent events. The first, ``ready``, has the number from which the stream goes on; read
    the list after it, and nothing is missed. ``Last-Event-ID`` resumes; an event may come twice
    then, never not at all.
    """
    records, owner = parts_of(request).records, owner_filter(principal)
    seen = last_event_id(request)
    newest = await asyncio.to_thread(records.newest_event)
    if seen is not None and seen > newest:
        raise Problem("cursor-invalid", "This ledger has no such event yet.")
    begin = newest if seen is None else seen
    first = frame("ready", {"after": begin}, number=begin) if seen is None else ""
    return stream(request, principal, HoldTrail(records, owner, begin).look, first=first)


@endpoints.get("/holds/{hold_id}", response_model=HoldDetailView)
async def get_hold(request: Request, principal: ReaderKey, hold_id: str) -> Response:
    """Show a hold with its route: what was asked, what fired, what exactly would run.

    Its ``ETag`` goes into ``If-Match`` of an answer, and into ``If-None-Match`` to be told only of
    changes.
    """
    body, etag = await _shown(request, hold_id, owner_filter(principal))
    if is_known(request, etag):
        return Response(status_code=304, headers={"ETag": etag})
    return Response(body, media_type="application/json", headers={"ETag": etag})


async def _shown(request: Request, hold_id: str, owner: str | None) -> tuple[bytes, str]:
    """Return a hold as it is shown, and the validator of exactly these bytes."""
    records = parts_of(request).records
    hold = await asyncio.to_thread(records.hold, hold_id, owner=owner)
    record = await asyncio.to_thread(records.route, hold.route_id, owner=owner)
    body = hold_detail_view(hold, record).model_dump_json().encode()
    return body, etag_of(body)


async def _check_match(
    request: Request, principal: Principal, hold_id: str, *, decision: str
) -> None:
    """Refuse an answer to what is no longer what its reviewer saw.

    An answer of theirs that stands already is no change: its retry is let through.
    """
    listed = match_of(request)
    if listed is None:
        return
    hold = await asyncio.to_thread(parts_of(request).records.hold, hold_id)
    if (hold.decision, hold.person) == (decision, principal.person):
        return
    _, etag = await _shown(request, hold_id, None)
    check_match(listed, etag)


@endpoints.post("/holds/{hold_id}/approve")
async def approve_hold(request: Request, principal: ReviewKey, hold_id: str) -> HoldView:
    """Say yes: launch it once, for the suggested agent or another.

    The first answer wins: the same answer again is 200, another one 409 with the winner.
    """
    parts = parts_of(request)
    body = await read_model(
        request, ApproveBody, max_bytes=MAX_BODY_BYTES, timeout_s=parts.body_timeout_s
    )
    await _check_match(request, principal, hold_id, decision="approve")
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
    await _check_match(request, principal, hold_id, decision="reject")
    return hold_view(
        await asyncio.shield(parts.desk.reject(hold_id, principal, reason=body.reason))
    )
