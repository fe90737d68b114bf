"""A desk and a ledger in memory: the endpoints' view of the flow, without a model or a process."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count

from clawmarshal.api.ports import Parts, Readiness
from clawmarshal.errors import ConflictError, NotFoundError
from clawmarshal.roster.agent import AgentSpec, Risk
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ledger.hold_feed import HoldNews
from clawmarshal.router.ledger.records import (
    Answer,
    AttemptRecord,
    Claim,
    Event,
    HoldFilter,
    HoldRecord,
    Principal,
    RouteFilter,
    RouteRecord,
    Submission,
)
from clawmarshal.router.ledger.states import HoldState, RouteState
from clawmarshal.router.ledger.triage import TriageFilter, TriagePage
from clawmarshal.router.route import Candidate, Gate, Outcome, Reason, RiskView, Route, Via

AT = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
ROSTER = Roster(
    [
        AgentSpec("finance", "Invoices, bookkeeping, tax deadlines."),
        AgentSpec("security", "Breach alerts, credential hygiene."),
    ]
)
PEOPLE = {
    "sender-key": ("ann", {"route"}),
    "other-key": ("bob", {"route"}),
    "pin-key": ("ann", {"route", "pin"}),
    "review-key": ("rita", {"review"}),
    "admin-key": ("adam", {"admin"}),
}


@dataclass
class FakeDesk:
    """Hold texts with ``risky`` in them, run the others at once unless they say ``slow``."""

    routes: dict[str, RouteRecord] = field(default_factory=dict)
    holds: dict[str, HoldRecord] = field(default_factory=dict)
    cancelled: list[str] = field(default_factory=list)
    failure: Exception | None = None
    """Raised by every call."""
    lost: Exception | None = None
    """Raised by every wait."""
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    async def submit(
        self, submission: Submission, *, wait_s: float = 0.0
    ) -> tuple[RouteRecord, str | None]:
        self._fail()
        for known in self.routes.values():
            key = submission.idempotency_key
            if key and (known.owner, known.idempotency_key) == (submission.owner, key):
                return known, "key"
        record = self._record(submission)
        self.routes[record.id] = record
        return record, None

    async def dry_run(self, submission: Submission) -> Mapping[str, object]:
        self._fail()
        return {"outcome": "dispatch", "agent": "finance", "reason": "matched"}

    async def wait(self, route_id: str, *, wait_s: float, owner: str | None = None) -> RouteRecord:
        if self.lost is not None:
            raise self.lost
        deadline = asyncio.get_running_loop().time() + wait_s
        while asyncio.get_running_loop().time() < deadline:
            if self.routes[route_id].state is not RouteState.RUNNING:
                break
            await asyncio.sleep(0.01)
        return self.routes[route_id]

    async def approve(
        self,
        hold_id: str,
        principal: Principal,
        *,
        agent: str | None = None,
        note: str | None = None,
        digest: str | None = None,
    ) -> HoldRecord:
        if agent is not None:
            ROSTER[agent]
        return self._answer(hold_id, principal, "approve", agent=agent, note=note)

    async def reject(self, hold_id: str, principal: Principal, *, reason: str) -> HoldRecord:
        return self._answer(hold_id, principal, "reject", agent=None, note=reason)

    async def cancel(self, route_id: str, principal: Principal) -> RouteRecord:
        self.cancelled.append(route_id)
        changed = replace(self.routes[route_id], state=RouteState.CANCELLED)
        self.routes[route_id] = changed
        return changed

    async def resolve(
        self, route_id: str, principal: Principal, *, answer: str, note: str | None = None
    ) -> RouteRecord:
        self._fail()
        return replace(self.routes[route_id], reason=answer)

    def route(self, route_id: str, *, owner: str | None = None) -> RouteRecord:
        self._fail()
        record = self.routes.get(route_id)
        if record is None or owner not in (None, record.owner):
            raise NotFoundError("no such route")
        return record

    def _answer(
        self,
        hold_id: str,
        principal: Principal,
        decision: str,
        *,
        agent: str | None,
        note: str | None,
    ) -> HoldRecord:
        self._fail()
        hold = self.holds.get(hold_id)
        if hold is None:
            raise NotFoundError("no such hold")
        if hold.decision not in (None, decision):
            winner = {"decision": hold.decision, "person": hold.person, "at": AT.isoformat()}
            raise ConflictError("answered before", code="hold-decided", winner=winner)
        if hold.decision is None:
            hold = replace(
                hold,
                state=HoldState.APPROVED if decision == "approve" else HoldState.REJECTED,
                decision=decision,
                agent=agent or hold.suggestion,
                person=principal.person,
                decided_at=AT,
                note=note,
            )
            self.holds[hold_id] = hold
        return hold

    def _fail(self) -> None:
        if self.failure is not None:
            raise self.failure

    def _record(self, submission: Submission) -> RouteRecord:
        number = next(self._numbers)
        route_id = f"rt_{number:032x}"
        is_risky = "risky" in submission.message.text
        route = _route(route_id, submission, is_risky=is_risky)
        hold = None
        if is_risky:
            hold = _hold(number, route_id, submission.owner)
            self.holds[hold.id] = hold
        state = RouteState.HELD if is_risky else RouteState.DONE
        if "slow" in submission.message.text:
            state = RouteState.RUNNING
        if submission.mode == "decide":
            state = RouteState.DECIDED
        done = state is RouteState.DONE
        return RouteRecord(
            id=route_id,
            owner=submission.owner,
            state=state,
            mode=submission.mode,
            message=submission.message,
            pin=submission.pin,
            on_uncertain=submission.on_uncertain,
            clarifies=submission.clarifies,
            reply_target=submission.reply_target,
            idempotency_key=submission.idempotency_key,
            accepted_at=AT,
            updated_at=AT,
            route=route,
            agent="finance",
            reason=str(route.reason),
            ran=True if done else None,
            reply_text="answer" if done else None,
            tool_sends=(),
            attempts=(_attempt(number),) if done else (),
            hold=hold,
        )


@dataclass
class FakeRecords:
    """The ledger's reading side over the rows of a `FakeDesk`."""

    desk: FakeDesk
    answers: dict[str, Answer] = field(default_factory=dict)
    used: list[tuple[str, str | None]] = field(default_factory=list)
    revoked: set[str] = field(default_factory=set)
    met: set[str] = field(default_factory=set)

    def authenticate(self, key: str, address: str | None = None) -> Principal | None:
        if key not in PEOPLE or f"ck_{key}" in self.revoked:
            return None
        person, scopes = PEOPLE[key]
        return Principal(person, f"ck_{key}", frozenset(scopes), address)

    def key_used(self, key_id: str, address: str | None = None) -> None:
        self.used.append((key_id, address))

    def key_is_alive(self, key_id: str) -> bool:
        return key_id not in self.revoked

    def proxied(
        self, person: str, scopes: Iterable[str], address: str | None = None
    ) -> Principal | None:
        key_id = f"ck_{person}"
        if person not in self.met or key_id in self.revoked:
            return None
        return Principal(person, key_id, frozenset(scopes), address, is_proxied=True)

    def meet_proxied(self, person: str, scopes: Iterable[str]) -> None:
        self.met.add(person)

    def route(self, route_id: str, *, owner: str | None = None) -> RouteRecord:
        return self.desk.route(route_id, owner=owner)

    def routes(
        self,
        *,
        owner: str | None = None,
        wanted: RouteFilter | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> tuple[Sequence[RouteRecord], str | None]:
        state = wanted.state if wanted else None
        rows = [
            row
            for row in reversed(self.desk.routes.values())
            if owner in (None, row.owner) and state in (None, row.state)
        ]
        begin = int(cursor or 0)
        following = str(begin + limit) if begin + limit < len(rows) else None
        return rows[begin : begin + limit], following

    def events(
        self,
        route_id: str,
        *,
        owner: str | None = None,
        after: int = 0,
        limit: int = 500,
        kind: str | None = None,
    ) -> Sequence[Event]:
        self.desk.route(route_id, owner=owner)
        kinds = ("accepted", "decided")
        return [
            Event(n, route_id, AT, "ann", name, {"n": n}, "0" * 64)
            for n, name in enumerate(kinds, 1)
            if n > after and kind in (None, name)
        ][:limit]

    def newest_event(self) -> int:
        return 2

    def hold_events(
        self, *, after: int, owner: str | None = None, known: frozenset[int] = frozenset()
    ) -> HoldNews:
        return HoldNews((), after)

    def hold(self, hold_id: str, *, owner: str | None = None) -> HoldRecord:
        hold = self.desk.holds.get(hold_id)
        if hold is None or owner not in (None, hold.owner):
            raise NotFoundError("no such hold")
        return hold

    def keep_answer(self, route_id: str, answer: Answer) -> Answer:
        """Keep the first."""
        return self.answers.setdefault(route_id, answer)

    def kept_answer(self, route_id: str) -> Answer | None:
        """Return the first."""
        return self.answers.get(route_id)

    def holds(
        self,
        *,
        owner: str | None = None,
        wanted: HoldFilter | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> tuple[Sequence[HoldRecord], str | None]:
        state = wanted.state if wanted else "open"
        rows = [
            row
            for row in self.desk.holds.values()
            if owner in (None, row.owner) and state in (None, row.state)
        ]
        return rows[:limit], None

    def triage(
        self, wanted: TriageFilter, *, limit: int = 50, cursor: str | None = None
    ) -> TriagePage:
        return TriagePage((), None)

    def erase(
        self, route_id: str, principal: Principal, *, reason: str | None = None
    ) -> RouteRecord:
        return self.route(route_id)

    def claim_hold(self, hold_id: str, principal: Principal) -> Claim:
        self.hold(hold_id)
        return Claim(principal.person, AT, AT + timedelta(minutes=15))

    def release_hold(self, hold_id: str, principal: Principal) -> None:
        self.hold(hold_id)


@dataclass
class FakeHealth:
    """Says what it is told to say."""

    state: Readiness = field(
        default_factory=lambda: Readiness(True, details={"transport": "stand-in"})
    )
    live: frozenset[str] | None = None

    async def readiness(self) -> Readiness:
        return self.state

    async def fleet(self) -> frozenset[str] | None:
        return self.live


def fake_parts(desk: FakeDesk, *, health: FakeHealth | None = None, **more: object) -> Parts:
    """Make the parts of an application over a fake desk."""
    parts = Parts(
        desk=desk,
        records=FakeRecords(desk),
        roster=ROSTER,
        health=health or FakeHealth(),
        max_text_bytes=1000,
        allowed_hosts=frozenset({"localhost", "127.0.0.1", "::1"}),
    )
    return replace(parts, **more)  # type: ignore[arg-type]  # fields of Parts, by name


def _route(route_id: str, submission: Submission, *, is_risky: bool) -> Route:
    gates = (Gate(3, Reason.RISK, "the rules say high"),) if is_risky else ()
    return Route(
        id=route_id,
        outcome=Outcome.HOLD if is_risky else Outcome.DISPATCH,
        agent="finance",
        reason=Reason.RISK if is_risky else Reason.MATCHED,
        gates=gates,
        via=Via.PIN if submission.pin else Via.MODEL,
        candidates=(Candidate("finance", 0.8), Candidate("none_of_these", 0.2)),
        confidence=0.8,
        margin=0.6,
        risk=RiskView(Risk.HIGH if is_risky else Risk.LOW, {"low": 1.0}, Risk.LOW),
        model="fake",
        message_digest=submission.message.digest,
        roster_digest=ROSTER.digest,
        agent_digest=ROSTER["finance"].digest,
        latency_ms=1.5,
    )


def _hold(number: int, route_id: str, owner: str) -> HoldRecord:
    return HoldRecord(
        id=f"hd_{number:032x}",
        route_id=route_id,
        owner=owner,
        state=HoldState.OPEN,
        suggestion="finance",
        reason="risk",
        gates=({"number": 3, "reason": "risk", "detail": "the rules say high"},),
        risk=Risk.HIGH,
        digest="d" * 64,
        created_at=AT,
        expires_at=AT + timedelta(days=1),
    )


def _attempt(number: int) -> AttemptRecord:
    return AttemptRecord(
        id=f"at_{number:032x}",
        number=1,
        worker="wk",
        fence=1,
        state="done",
        agent="finance",
        session_key="cm-00",
        generation=1,
        launched_at=AT,
        lease_until=AT,
        code="ok",
    )
