"""``/review``: what waits, the riskiest first, with filter, search and answers for many."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from clawmarshal.api.auth import parts_of
from clawmarshal.api.problems import Problem, of_error
from clawmarshal.api.review.forms import answered_form, one
from clawmarshal.api.review.links import with_query
from clawmarshal.api.review.page_route import PageRoute
from clawmarshal.api.review.pages import page
from clawmarshal.api.review.session import Reviewer, SignedIn, door_of
from clawmarshal.api.schemas import NOTE_CHARS
from clawmarshal.errors import ClawmarshalError
from clawmarshal.roster.agent import Risk
from clawmarshal.router.ledger.triage import BY_RISK, TriageFilter
from clawmarshal.router.route import Reason

endpoints = APIRouter(route_class=PageRoute, include_in_schema=False)

PAGE = 25
MAX_BULK = 200
State = Literal["open", "approved", "rejected", "expired", "cancelled", "all"]


class QueueQuery(BaseModel):
    """What the queue's form asks for; an empty field narrows nothing."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    q: str = Field(default="", max_length=200)
    state: State = "open"
    risk: Literal["", "high", "medium", "low"] = ""
    reason: Reason | Literal[""] = ""
    agent: str = Field(default="", max_length=64)
    mine: Literal["", "1"] = ""
    cursor: str = Field(default="", max_length=40)

    def wanted(self, person: str) -> TriageFilter:
        """Return what the ledger is asked."""
        return TriageFilter(
            state=None if self.state == "all" else self.state,
            risk=Risk(self.risk) if self.risk else None,
            reason=str(self.reason) or None,
            agent=self.agent or None,
            words=self.q.strip() or None,
            claimed_by=person if self.mine else None,
        )

    def link(self, **changes: str) -> str:
        """Return the address of the queue with other words; from its beginning unless told."""
        told = self.model_dump(exclude_defaults=True) | {"cursor": ""} | changes
        return with_query("/review", told)


@dataclass(frozen=True, slots=True)
class BulkResult:
    """What became of one row of a bulk answer."""

    hold_id: str
    is_done: bool
    said: str


@endpoints.get("/review")
async def show_queue(
    request: Request, reviewer: SignedIn, *, query: Annotated[QueueQuery, Query()]
) -> Response:
    """Show a stretch of the queue."""
    found = await asyncio.to_thread(
        door_of(request).ledger.triage,
        query.wanted(reviewer.principal.person),
        limit=PAGE,
        cursor=query.cursor or None,
    )
    return page(
        "queue",
        reviewer=reviewer,
        query=query,
        found=found,
        tiers=BY_RISK,
        now=datetime.now(UTC),
        total=sum(found.by_risk.values()),
    )


@endpoints.post("/review/bulk")
async def answer_many(request: Request, reviewer: SignedIn) -> Response:
    """Answer several holds by their ids and the digests that were shown; each by itself.

    High risk is never approved here: it is looked at one by one.
    """
    fields = await answered_form(request, reviewer)
    chosen = fields.get("hold", [])
    if not 0 < len(chosen) <= MAX_BULK:
        raise Problem("body-invalid", f"Choose 1 to {MAX_BULK} holds.")
    answer = one(fields, "answer")
    reason = (one(fields, "reason", max_chars=NOTE_CHARS) or "").strip()
    if answer not in ("approve", "reject"):
        raise Problem("body-invalid", "Approve or reject.")
    if answer == "reject" and not reason:
        raise Problem("reason-required", "Write a reason beside the button; it is kept.")
    results = []
    for one_hold in dict.fromkeys(chosen):
        results.append(await _answer_one(request, reviewer, one_hold, answer, reason))
    return page("bulk", reviewer=reviewer, results=results, answer=answer)


async def _answer_one(
    request: Request, reviewer: Reviewer, chosen: str, answer: str, reason: str
) -> BulkResult:
    hold_id, _, digest = chosen.partition(":")
    parts, me = parts_of(request), reviewer.principal
    try:
        if answer == "reject":
            await asyncio.shield(parts.desk.reject(hold_id, me, reason=reason))
            return BulkResult(hold_id, True, "rejected")
        hold = await asyncio.to_thread(parts.records.hold, hold_id)
        if hold.risk is Risk.HIGH:
            return BulkResult(hold_id, False, "high risk is approved on its own page only")
        approved = await asyncio.shield(
            parts.desk.approve(hold_id, me, note=reason or None, digest=digest or "none")
        )
    except ClawmarshalError as error:
        problem = of_error(error)
        return BulkResult(hold_id[:40], False, f"{problem.detail} ({problem.code})")
    if approved.decision is None:
        return BulkResult(hold_id, True, "one yes of two is given")
    return BulkResult(hold_id, True, f"approved for {approved.agent}")
