"""What a client returns: frozen values made from the service's JSON; fields it adds are kept."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any

Json = Mapping[str, Any]
RESTING = frozenset(
    {"decided", "held", "clarify", "declined", "rejected", "expired", "cancelled"}
    | {"done", "failed", "unknown"}
)
"""States in which nothing moves until a person or time does."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One option of the ballot."""

    agent: str
    probability: float


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate that fired."""

    number: int
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """One launch."""

    id: str
    number: int
    state: str
    code: str | None
    agent: str


@dataclass(frozen=True, slots=True)
class Message:
    """A message as it was accepted."""

    text: str = field(repr=False)
    channel: str | None = None
    sender: str | None = None
    conversation: str | None = None
    message_id: str | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """A route as it stands."""

    id: str | None
    """None for a dry run."""
    state: str | None
    outcome: str | None
    agent: str | None
    reason: str | None
    reasons: tuple[str, ...]
    confidence: float | None
    margin: float | None
    candidates: tuple[Candidate, ...]
    risk: str | None
    """``low``, ``medium`` or ``high``."""
    ran: bool | None
    """True: it ran. False: certainly not. None: not known, or not launched."""
    reply: str | None = field(repr=False)
    hold_id: str | None
    """Of the open hold."""
    deduplicated_by: str | None
    attempts: tuple[Attempt, ...]
    gates: tuple[Gate, ...]
    """Only where the route was asked for by its id."""
    message: Message | None
    """Only where the route was asked for by its id."""
    raw: Json = field(repr=False, compare=False)
    """Everything that came."""

    @property
    def is_resting(self) -> bool:
        """True when nothing moves until a person or time does."""
        return self.state in RESTING

    @property
    def is_held(self) -> bool:
        """True while it waits for a reviewer."""
        return self.state == "held"


@dataclass(frozen=True, slots=True)
class Hold:
    """A route that waits for a reviewer, or what a reviewer said."""

    id: str
    route_id: str
    state: str
    suggestion: str | None
    reason: str
    risk: str
    gates: tuple[Gate, ...]
    digest: str
    """What an approval is bound to."""
    created_at: datetime
    expires_at: datetime | None
    decision: str | None
    agent: str | None
    person: str | None
    note: str | None
    route: Route | None
    """Only where the hold was asked for by its id."""
    etag: str | None
    """Only where the hold was asked for by its id."""
    raw: Json = field(repr=False, compare=False)
    """Everything that came."""


@dataclass(frozen=True, slots=True)
class Event:
    """A line of an audit trail, or of a stream."""

    number: int | None
    """Resumes a stream; None for what is no line of the trail: ``end``, ``revoked``, ``ready``."""
    kind: str
    facts: Json
    at: datetime | None = None
    actor: str | None = None
    route_id: str | None = None
    hold_id: str | None = None


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent of the fleet."""

    id: str
    live: bool | None
    """Whether the live OpenClaw knows it; None while that is unknown."""
    raw: Json = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class RoutePage:
    """A stretch of the routes, newest first."""

    routes: tuple[Route, ...]
    next: str | None
    """The cursor of what follows."""


@dataclass(frozen=True, slots=True)
class HoldPage:
    """A stretch of the holds, oldest first."""

    holds: tuple[Hold, ...]
    next: str | None
    """The cursor of what follows."""


def route_of(told: Json) -> Route:
    """Read a route."""
    reply, message, risk = told.get("reply"), told.get("message"), told.get("risk")
    return Route(
        id=told.get("id"),
        state=told.get("state"),
        outcome=told.get("outcome"),
        agent=told.get("agent"),
        reason=told.get("reason"),
        reasons=tuple(told.get("reasons", ())),
        confidence=told.get("confidence"),
        margin=told.get("margin"),
        candidates=tuple(
            Candidate(one["agent"], one["probability"]) for one in told.get("candidates", ())
        ),
        risk=risk["top"] if risk else None,
        ran=told.get("ran"),
        reply=reply["text"] if reply else None,
        hold_id=told.get("hold_id"),
        deduplicated_by=told.get("deduplicated_by"),
        attempts=tuple(
            Attempt(a["id"], a["number"], a["state"], a["code"], a["agent"])
            for a in told.get("attempts", ())
        ),
        gates=_gates(told),
        message=_message(message) if message else None,
        raw=MappingProxyType(dict(told)),
    )


def hold_of(told: Json, *, etag: str | None = None) -> Hold:
    """Read a hold."""
    route = told.get("route")
    return Hold(
        id=told["id"],
        route_id=told["route_id"],
        state=told["state"],
        suggestion=told["suggestion"],
        reason=told["reason"],
        risk=told["risk"],
        gates=_gates(told),
        digest=told["digest"],
        created_at=datetime.fromisoformat(told["created_at"]),
        expires_at=_instant(told["expires_at"]),
        decision=told["decision"],
        agent=told["agent"],
        person=told["person"],
        note=told["note"],
        route=route_of(route) if route else None,
        etag=etag,
        raw=MappingProxyType(dict(told)),
    )


def event_of(told: Json) -> Event:
    """Read a line of a trail."""
    return Event(
        number=told["number"],
        kind=told["kind"],
        facts=MappingProxyType(dict(told["facts"])),
        at=_instant(told["at"]),
        actor=told["actor"],
        route_id=told.get("route_id"),
        hold_id=told.get("hold_id"),
    )


def agent_of(told: Json) -> Agent:
    """Read an agent."""
    return Agent(told["id"], told.get("live"), MappingProxyType(dict(told)))


def route_page_of(told: Json) -> RoutePage:
    """Read a page of routes."""
    return RoutePage(tuple(route_of(one) for one in told["routes"]), told["next"])


def hold_page_of(told: Json) -> HoldPage:
    """Read a page of holds."""
    return HoldPage(tuple(hold_of(one) for one in told["holds"]), told["next"])


def _gates(told: Json) -> tuple[Gate, ...]:
    return tuple(
        Gate(one["number"], one["reason"], one.get("detail", "")) for one in told.get("gates", ())
    )


def _message(told: Json) -> Message:
    return Message(
        text=told["text"],
        channel=told["channel"],
        sender=told["sender"],
        conversation=told["conversation"],
        message_id=told["message_id"],
    )


def _instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
