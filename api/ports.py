"""What the endpoints need of the desk, the ledger and the fleet, as protocols."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from clawmarshal.api.bell import Bell
from clawmarshal.api.guesses import Guesses
from clawmarshal.api.proxied import ProxyTrust
from clawmarshal.api.rates import RateLimit
from clawmarshal.api.review.door import ReviewDoor
from clawmarshal.api.seats import Seats
from clawmarshal.api.system_one import SystemOneDoor
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ledger.hold_feed import HoldNews
from clawmarshal.router.ledger.records import (
    Answer,
    Claim,
    Event,
    HoldFilter,
    HoldRecord,
    Principal,
    RouteFilter,
    RouteRecord,
    Submission,
)
from clawmarshal.router.ledger.triage import TriageFilter, TriagePage


class Desk(Protocol):
    """The durable flow; see `clawmarshal.router.desk.RoutingDesk` for what each promises."""

    async def submit(
        self, submission: Submission, *, wait_s: float = 0.0
    ) -> tuple[RouteRecord, str | None]:
        """Accept, decide, and wait for the end at most ``wait_s``."""
        ...

    async def dry_run(self, submission: Submission) -> Mapping[str, object]:
        """Decide without leaving a row."""
        ...

    async def wait(self, route_id: str, *, wait_s: float, owner: str | None = None) -> RouteRecord:
        """Return the route once it rests or after ``wait_s``."""
        ...

    async def approve(
        self,
        hold_id: str,
        principal: Principal,
        *,
        agent: str | None = None,
        note: str | None = None,
        digest: str | None = None,
    ) -> HoldRecord:
        """Answer a hold with yes."""
        ...

    async def reject(self, hold_id: str, principal: Principal, *, reason: str) -> HoldRecord:
        """Answer a hold with no."""
        ...

    async def cancel(self, route_id: str, principal: Principal) -> RouteRecord:
        """Cancel what can still be cancelled."""
        ...

    async def resolve(
        self, route_id: str, principal: Principal, *, answer: str, note: str | None = None
    ) -> RouteRecord:
        """Say what became of an ``unknown``."""
        ...


class Records(Protocol):
    """What the ledger answers; blocking, so called in a thread. ``owner`` None sees all rows."""

    def authenticate(self, key: str, address: str | None = None) -> Principal | None:
        """Say who is behind a key; None when it is unknown or revoked."""
        ...

    def key_used(self, key_id: str, address: str | None = None) -> None:
        """Note that a key was used."""
        ...

    def key_is_alive(self, key_id: str) -> bool:
        """Tell whether a key still lets anybody in."""
        ...

    def proxied(
        self, person: str, scopes: Iterable[str], address: str | None = None
    ) -> Principal | None:
        """Say who a trusted proxy named; None where nobody met them yet, or they are barred."""
        ...

    def meet_proxied(self, person: str, scopes: Iterable[str]) -> None:
        """Give a person whom a trusted proxy names an id."""
        ...

    def route(self, route_id: str, *, owner: str | None = None) -> RouteRecord:
        """Return one route."""
        ...

    def routes(
        self,
        *,
        owner: str | None = None,
        wanted: RouteFilter | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> tuple[Sequence[RouteRecord], str | None]:
        """List routes, newest first, with the cursor of what follows."""
        ...

    def keep_answer(self, route_id: str, answer: Answer) -> Answer:
        """Keep the first final answer to a message; return the one that is kept."""
        ...

    def kept_answer(self, route_id: str) -> Answer | None:
        """Return the answer that is kept, or None."""
        ...

    def events(
        self,
        route_id: str,
        *,
        owner: str | None = None,
        after: int = 0,
        limit: int = 500,
        kind: str | None = None,
    ) -> Sequence[Event]:
        """List the audit trail of one route, oldest first."""
        ...

    def newest_event(self) -> int:
        """Return the number of the newest event; 0 where there is none."""
        ...

    def hold_events(
        self, *, after: int, owner: str | None = None, known: frozenset[int] = frozenset()
    ) -> HoldNews:
        """Return what happened to holds since an event, oldest first; at most a batch."""
        ...

    def hold(self, hold_id: str, *, owner: str | None = None) -> HoldRecord:
        """Return one hold."""
        ...

    def holds(
        self,
        *,
        owner: str | None = None,
        wanted: HoldFilter | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> tuple[Sequence[HoldRecord], str | None]:
        """List holds, oldest first, with the cursor of what follows."""
        ...

    def triage(
        self, wanted: TriageFilter, *, limit: int = 50, cursor: str | None = None
    ) -> TriagePage:
        """List holds by risk then age, counted."""
        ...

    def erase(
        self, route_id: str, principal: Principal, *, reason: str | None = None
    ) -> RouteRecord:
        """Erase what a message said, who sent it, and its reply."""
        ...

    def claim_hold(self, hold_id: str, principal: Principal) -> Claim:
        """Say that somebody looks at a hold."""
        ...

    def release_hold(self, hold_id: str, principal: Principal) -> None:
        """Give a claimed hold back."""
        ...


@dataclass(frozen=True, slots=True)
class Readiness:
    """What ``/readyz`` says."""

    ready: bool
    reasons: tuple[str, ...] = ()
    """Why it is not ready, stable slugs."""
    details: Mapping[str, object] = field(default_factory=dict)
    """For callers with a key only."""


class Health(Protocol):
    """Say whether the service can do its work."""

    async def readiness(self) -> Readiness:
        """Look now; under a second."""
        ...

    async def fleet(self) -> frozenset[str] | None:
        """Return the ids the live OpenClaw was last heard to have; None when unknown."""
        ...


@dataclass(frozen=True, slots=True)
class Reloaded:
    """What came of a reload that was not refused."""

    revision: str
    is_changed: bool
    """False: the files say what was in force already."""
    needs_restart: tuple[str, ...]
    """Settings that were changed since the start and wait for a restart."""


class Reloads(Protocol):
    """Put in force what the files say; see `clawmarshal.api.reloading.Reloader`."""

    async def reload(self, *, by: str) -> Reloaded:
        """Reload, or refuse and leave everything as it is."""
        ...


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything the endpoints are handed."""

    desk: Desk
    records: Records
    roster: Roster
    health: Health
    max_text_bytes: int
    """The cap on a message's text in force."""
    allowed_hosts: frozenset[str]
    """Names that may stand in ``Host``, lower-case, without port; ``*`` for any."""
    proxy: ProxyTrust | None = None
    """Whose word about who is asking is believed; nobody's where None."""
    guesses: Guesses = field(default_factory=Guesses)
    """Counts unknown keys, those on the sign-in page too."""
    rate: RateLimit | None = None
    """How often each key may ask; as often as it likes where None."""
    seats: Seats = field(default_factory=lambda: Seats(1000))
    """What each key may keep open."""
    bell: Bell = field(default_factory=Bell)
    """Rings when a route moved."""
    body_timeout_s: float = 30.0
    max_wait_s: float = 600.0
    max_body_bytes: int = 0
    """Largest body; from `max_text_bytes` where 0."""
    system_one: SystemOneDoor | None = None
    """Who answers at ``/v1/systemone``; None serves nothing there."""
    reloader: Reloads | None = None
    """None where the settings came from no file."""
    review: ReviewDoor | None = None
    """What the review pages work with; None serves none."""

    @property
    def body_bytes(self) -> int:
        """The largest body that is read before anything is parsed."""
        # JSON may spell one byte as six (\u0041); the rest is for the other fields.
        return self.max_body_bytes or self.max_text_bytes * 6 + 64 * 1024
