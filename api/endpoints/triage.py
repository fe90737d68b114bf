"""``/holds`` as reviewers work them: the queue by risk, claims, and answers to several at once."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from clawmarshal.api.auth import ReviewKey, parts_of
from clawmarshal.api.bodies import read_model
from clawmarshal.api.cursors import opened, sealed
from clawmarshal.api.ports import Desk
from clawmarshal.api.problems import document, of_error
from clawmarshal.api.queries import QueueListing
from clawmarshal.api.schemas import AnswersBody, OneApproval, OneRejection
from clawmarshal.api.views import (
    AnsweredView,
    AnswersView,
    ClaimView,
    QueuePage,
    claim_view,
    hold_view,
    queue_page,
)
from clawmarshal.errors import ClawmarshalError
from clawmarshal.router.ledger.records import HoldRecord, Principal

endpoints = APIRouter()

MAX_BODY_BYTES = 512 * 1024


@endpoints.get("/holds/queue")
async def list_queue(
    request: Request, _: ReviewKey, *, listing: Annotated[QueueListing, Query()]
) -> QueuePage:
    """List holds as they should be worked: the riskiest first, and of these the oldest.

    ``by_risk``, ``reasons`` and ``agents`` count what the filters find in all, each with its own
    filter left out.
    """
    belongs = ("queue", *listing.marks)
    found = await asyncio.to_thread(
        parts_of(request).records.triage,
        listing.wanted(),
        limit=listing.limit,
        cursor=opened(listing.cursor, *belongs),
    )
    return queue_page(found, following=sealed(found.next, *belongs))


@endpoints.post("/holds/answers")
async def answer_holds(request: Request, principal: ReviewKey) -> AnswersView:
    """Answer several holds, each by itself: 200 with what became of each, in their order.

    One that is refused changes nothing about the others. Each is answered under the same terms as
    alone; a ``digest`` says what was shown.
    """
    parts = parts_of(request)
    body = await read_model(
        request, AnswersBody, max_bytes=MAX_BODY_BYTES, timeout_s=parts.body_timeout_s
    )
    return AnswersView(
        results=[await _answer_one(parts.desk, principal, one) for one in body.answers]
    )


@endpoints.post("/holds/{hold_id}/claim")
async def claim_hold(request: Request, principal: ReviewKey, hold_id: str) -> ClaimView:
    """Say that you look at it, or still do; it runs out by itself and answers nothing."""
    records = parts_of(request).records
    claim = await asyncio.to_thread(records.claim_hold, hold_id, principal)
    return claim_view(hold_id, claim)


@endpoints.post("/holds/{hold_id}/release", status_code=204, response_class=Response)
async def release_hold(request: Request, principal: ReviewKey, hold_id: str) -> Response:
    """Give it back to the others."""
    records = parts_of(request).records
    await asyncio.to_thread(records.release_hold, hold_id, principal)
    return Response(status_code=204)


async def _answer_one(
    desk: Desk, principal: Principal, one: OneApproval | OneRejection
) -> AnsweredView:
    try:
        hold = await asyncio.shield(asyncio.ensure_future(_carried_out(desk, principal, one)))
    except ClawmarshalError as error:
        return AnsweredView(hold_id=one.hold_id, problem=document(of_error(error)))
    return AnsweredView(hold_id=one.hold_id, hold=hold_view(hold))


async def _carried_out(
    desk: Desk, principal: Principal, one: OneApproval | OneRejection
) -> HoldRecord:
    if isinstance(one, OneRejection):
        return await desk.reject(one.hold_id, principal, reason=one.reason)
    return await desk.approve(
        one.hold_id, principal, agent=one.agent, note=one.note, digest=one.digest
    )
