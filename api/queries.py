"""The queries of lists: filters, pages, and where a stream goes on."""

from typing import Annotated, Literal

from fastapi import Query, Request
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from clawmarshal.api.cursors import MAX_CHARS
from clawmarshal.api.problems import Problem
from clawmarshal.roster.agent import Risk
from clawmarshal.router.ledger.records import HoldFilter, Mode, RouteFilter
from clawmarshal.router.ledger.states import RouteState
from clawmarshal.router.ledger.triage import TriageFilter
from clawmarshal.router.route import Outcome

MAX_FILTER_CHARS = 512
MAX_NUMBER = 2**62


_PRINTABLE = r"^[^\x00-\x1f\x7f-\x9f]+$"
Words = Annotated[str, Field(min_length=1, max_length=MAX_FILTER_CHARS, pattern=_PRINTABLE)]
Limit = Annotated[int, Query(ge=1, le=500)]
Cursor = Annotated[str | None, Query(min_length=1, max_length=MAX_CHARS)]
After = Annotated[int, Query(ge=0, le=MAX_NUMBER)]


class _Listing(BaseModel):
    """What every list takes; what is no filter is refused, so that a slip narrows nothing."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reason: Words | None = None
    agent: Words | None = None
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None
    limit: int = Field(default=50, ge=1, le=500)
    cursor: str | None = Field(default=None, min_length=1, max_length=MAX_CHARS)

    @property
    def marks(self) -> tuple[object, ...]:
        """What a cursor belongs to: every filter."""
        return filters_of(self)


class RouteListing(_Listing):
    """The query of ``GET /routes``."""

    state: RouteState | None = None
    outcome: Outcome | None = None
    mode: Literal["dispatch", "decide", "propose"] | None = None
    channel: Words | None = None
    account: Words | None = None
    sender: Words | None = None
    conversation: Words | None = None
    q: Words | None = None

    def wanted(self) -> RouteFilter:
        """Return the filter."""
        return RouteFilter(
            state=self.state,
            agent=self.agent,
            words=self.q,
            outcome=self.outcome,
            reason=self.reason,
            mode=None if self.mode is None else Mode(self.mode),
            channel=self.channel,
            account=self.account,
            sender=self.sender,
            conversation=self.conversation,
            since=self.since,
            until=self.until,
        )


class HoldListing(_Listing):
    """The query of ``GET /holds``."""

    state: Literal["open", "approved", "rejected", "expired", "cancelled", "all"] = "open"
    risk: Literal["low", "medium", "high"] | None = None
    route_id: Words | None = None
    person: Words | None = None

    def wanted(self) -> HoldFilter:
        """Return the filter."""
        return HoldFilter(
            state=None if self.state == "all" else self.state,
            risk=self.risk,
            reason=self.reason,
            agent=self.agent,
            route_id=self.route_id,
            person=self.person,
            since=self.since,
            until=self.until,
        )


class QueueListing(BaseModel):
    """The query of ``GET /holds/queue``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    state: Literal["open", "approved", "rejected", "expired", "cancelled", "all"] = "open"
    risk: Literal["low", "medium", "high"] | None = None
    reason: Words | None = None
    agent: Words | None = None
    q: Words | None = None
    claimed_by: Words | None = None
    limit: int = Field(default=50, ge=1, le=500)
    cursor: str | None = Field(default=None, min_length=1, max_length=MAX_CHARS)

    @property
    def marks(self) -> tuple[object, ...]:
        """What a cursor belongs to: every filter."""
        return filters_of(self)

    def wanted(self) -> TriageFilter:
        """Return the filter."""
        return TriageFilter(
            state=None if self.state == "all" else self.state,
            risk=None if self.risk is None else Risk(self.risk),
            reason=self.reason,
            agent=self.agent,
            words=self.q,
            claimed_by=self.claimed_by,
        )


def filters_of(listing: BaseModel) -> tuple[object, ...]:
    """Spell the filters of a query, so that a cursor is good for no other."""
    told = listing.model_dump(exclude={"limit", "cursor"})
    return tuple(f"{name}={value}" for name, value in told.items() if value is not None)


async def each_once(request: Request) -> None:
    """Refuse a query that names something twice: whoever reads it might take the other one.

    Raises
    ------
    Problem
        ``query-invalid``.
    """
    names = [name for name, _ in request.query_params.multi_items()]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        shown = ", ".join(name[:64] for name in twice[:5])
        raise Problem("query-invalid", f"Each parameter stands once; look at: {shown}.")


def last_event_id(request: Request) -> int | None:
    """Return the number that a stream goes on from; None where the caller names none.

    Raises
    ------
    Problem
        ``cursor-invalid``: it is no number of an event.
    """
    sent = request.headers.getlist("last-event-id")
    if not sent or sent == [""]:
        return None
    number = sent[0]
    is_number = len(sent) == 1 and number.isascii() and number.isdigit() and len(number) <= 18
    if not is_number:
        raise Problem("cursor-invalid", "Last-Event-ID is the id of an event, once.")
    return int(number)
