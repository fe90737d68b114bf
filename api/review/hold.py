"""``/review/holds/{id}``: one hold in full, and the answers to it."""

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from clawmarshal.api.auth import parts_of
from clawmarshal.api.problems import PROBLEMS, Problem, of_error
from clawmarshal.api.review.forms import answered_form, one
from clawmarshal.api.review.page_route import PageRoute
from clawmarshal.api.review.pages import HEADERS, page
from clawmarshal.api.review.session import Reviewer, SignedIn, door_of
from clawmarshal.api.schemas import NOTE_CHARS
from clawmarshal.errors import (
    ClawmarshalError,
    ConflictError,
    LedgerUnavailableError,
    NotFoundError,
    UnknownAgentError,
)
from clawmarshal.router.ledger.records import Claim, Event, HoldRecord, RouteRecord, SaidBefore
from clawmarshal.router.ledger.states import HoldState
from clawmarshal.router.preview import Preview

endpoints = APIRouter(route_class=PageRoute, include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Looked:
    """Everything that the page of a hold shows."""

    hold: HoldRecord
    record: RouteRecord
    preview: Preview | None
    """What an approval would do now; None where the hold is answered or names no agent yet."""
    claim: Claim | None
    before: tuple[SaidBefore, ...]
    events: tuple[Event, ...]
    next_hold: str | None
    now: datetime

    @property
    def is_open(self) -> bool:
        """True while an answer may still count."""
        return self.hold.state is HoldState.OPEN and not self.is_over

    @property
    def is_over(self) -> bool:
        """True when its time ran out, whether or not that was written down yet."""
        return self.hold.expires_at is not None and self.hold.expires_at <= self.now


@endpoints.get("/review/holds/{hold_id}")
async def show_hold(
    request: Request,
    reviewer: SignedIn,
    hold_id: str,
    *,
    agent: Annotated[str | None, Query(max_length=64)] = None,
) -> Response:
    """Show a hold; with ``agent`` what an approval for that agent would do."""
    return await _page(request, reviewer, hold_id, agent=agent or None)


@endpoints.post("/review/holds/{hold_id}/approve")
async def approve(request: Request, reviewer: SignedIn, hold_id: str) -> Response:
    """Say yes to exactly what was shown."""
    fields = await answered_form(request, reviewer)
    agent, digest = one(fields, "agent"), one(fields, "digest")
    note = (one(fields, "note", max_chars=NOTE_CHARS) or "").strip() or None
    answer = parts_of(request).desk.approve(
        # A form without its digest showed nothing, so nothing matches it.
        hold_id,
        reviewer.principal,
        agent=agent,
        note=note,
        digest=digest or "none",
    )
    return await _answered(request, reviewer, hold_id, answer, agent=agent)


@endpoints.post("/review/holds/{hold_id}/reject")
async def reject(request: Request, reviewer: SignedIn, hold_id: str) -> Response:
    """Say no, and why."""
    fields = await answered_form(request, reviewer)
    reason = (one(fields, "reason", max_chars=NOTE_CHARS) or "").strip()
    if not reason:
        fault = Problem("reason-required", "Write why; the reason is kept with the answer.")
        return await _page(request, reviewer, hold_id, fault=fault)
    answer = parts_of(request).desk.reject(hold_id, reviewer.principal, reason=reason)
    return await _answered(request, reviewer, hold_id, answer)


@endpoints.post("/review/holds/{hold_id}/claim")
async def claim(request: Request, reviewer: SignedIn, hold_id: str) -> Response:
    """Tell the others that somebody looks at it."""
    await answered_form(request, reviewer)
    ledger = door_of(request).ledger
    taken = asyncio.to_thread(ledger.claim_hold, hold_id, reviewer.principal)
    return await _answered(request, reviewer, hold_id, taken)


@endpoints.post("/review/holds/{hold_id}/release")
async def release(request: Request, reviewer: SignedIn, hold_id: str) -> Response:
    """Give it back to the others."""
    await answered_form(request, reviewer)
    ledger = door_of(request).ledger
    given = asyncio.to_thread(ledger.release_hold, hold_id, reviewer.principal)
    return await _answered(request, reviewer, hold_id, given)


async def _answered(
    request: Request,
    reviewer: Reviewer,
    hold_id: str,
    answer: Awaitable[object],
    *,
    agent: str | None = None,
) -> Response:
    """Carry an answer out, and show the hold as it stands then, with what was refused."""
    try:
        await asyncio.shield(asyncio.ensure_future(answer))
    except (NotFoundError, LedgerUnavailableError):
        raise
    except ClawmarshalError as error:
        kept = agent if isinstance(error, ConflictError) else None
        return await _page(request, reviewer, hold_id, agent=kept, fault=of_error(error))
    return RedirectResponse(f"/review/holds/{hold_id}", 303, headers=dict(HEADERS))


async def _page(
    request: Request,
    reviewer: Reviewer,
    hold_id: str,
    *,
    agent: str | None = None,
    fault: Problem | None = None,
) -> Response:
    looked = await asyncio.to_thread(_look, request, hold_id, agent)
    parts = parts_of(request)
    live = await parts.health.fleet()
    return page(
        "hold",
        reviewer=reviewer,
        status=PROBLEMS[fault.code].status if fault else 200,
        look=looked,
        fault=fault,
        threshold=_least_probability(looked.record),
        max_high=_policy_of(looked.record).get("max_high_probability"),
        agents=list(parts.roster),
        live=live,
        now=looked.now,
    )


def _look(request: Request, hold_id: str, agent: str | None) -> Looked:
    """Read everything the page shows; blocking."""
    door, now = door_of(request), datetime.now(UTC)
    ledger = door.ledger
    hold = ledger.hold(hold_id)
    record = ledger.route(hold.route_id)
    target = agent or hold.suggestion
    preview = None
    if hold.state is HoldState.OPEN and target is not None:
        try:
            preview = door.previews.look(hold, record, target)
        except UnknownAgentError:
            if agent is not None:
                raise
            # The agent that was suggested has left the roster; another one may be named.
    return Looked(
        hold,
        record,
        preview,
        ledger.claims([hold_id]).get(hold_id),
        ledger.said_before(record.id),
        ledger.events(record.id),
        ledger.next_hold(hold_id),
        now,
    )


def _policy_of(record: RouteRecord) -> Mapping[str, Any]:
    """Return the thresholds that the route was decided with; empty without a decision."""
    policy: Mapping[str, Any] = record.explanation.get("policy") or {}  # type: ignore[assignment]  # JSON
    return policy


def _least_probability(record: RouteRecord) -> float | None:
    """Return the probability that would have been dispatched unseen, for the agent suggested."""
    limits: Any = record.explanation.get("limits") or {}
    own: Mapping[str, Any] = limits.get(record.route.agent if record.route else None) or {}
    found: float | None = own.get("min_probability", _policy_of(record).get("min_probability"))
    return found
