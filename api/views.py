"""The objects that go out over HTTP and on the command line, made from records."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from clawmarshal.api.event_views import EventView, EvidenceView, evidence_view
from clawmarshal.router.ledger.records import AttemptRecord, Claim, HoldRecord, RouteRecord
from clawmarshal.router.ledger.states import HoldState
from clawmarshal.router.ledger.triage import TriagePage, TriageRow
from clawmarshal.router.route import Route, route_json


class View(BaseModel):
    """An answer; fields may be added, none changes its meaning."""

    model_config = ConfigDict(frozen=True)


class CandidateView(View):
    """One option of the ballot."""

    agent: str
    probability: float


class RiskTiers(View):
    """How risky the message is, as the policy saw it."""

    top: str
    probabilities: dict[str, float]
    floor: str
    codes: list[str]


class ReplyView(View):
    """What the agent answered, cleaned of control and bidi characters."""

    text: str


class GateView(View):
    """One gate that fired."""

    number: int
    reason: str
    detail: str


class DecisionView(View):
    """What was decided about a message, and why."""

    outcome: str | None = None
    agent: str | None = None
    reason: str | None = None
    reasons: list[str] = []
    via: str | None = None
    confidence: float | None = None
    margin: float | None = None
    candidates: list[CandidateView] = []
    risk: RiskTiers | None = None
    model: str | None = None
    roster_digest: str | None = None
    latency_ms: float | None = None
    notes: list[str] = []


class AttemptView(View):
    """One launch, in short."""

    id: str
    number: int
    state: str
    code: str | None
    agent: str
    launched_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    cancel_unconfirmed: bool


class AttemptDetailView(AttemptView):
    """One launch, with what an operator asks about."""

    worker: str
    fence: int
    session_key: str
    generation: int
    lease_until: datetime
    pid: int | None
    exit_code: int | None
    signal: int | None
    run_id: str | None
    detail: str | None
    cli_version: str | None
    facts: dict[str, Any]
    late_evidence: dict[str, Any] | None


class Links(View):
    """Where to go on."""

    self: str
    events: str
    hold: str | None = None


class WaitingView(View):
    """Where a ready route stands in the queue."""

    since: datetime
    position: int
    """From 1 over all that wait; what has room may overtake what has none."""
    in_session: int
    """How many before it in its own session must end first."""


class RouteView(DecisionView):
    """A route as it stands."""

    id: str
    state: str
    mode: str
    ran: bool | None
    """True: the turn ran. False: certainly not. Null: not known, or not launched."""
    deduplicated_by: str | None = None
    """``key`` or ``message_id`` when the message had been accepted before."""
    deduplicable: bool
    """False: neither key nor message id was sent, so a retry would be another message."""
    reply: ReplyView | None
    hold_id: str | None
    attempts: list[AttemptView] = []
    waiting: WaitingView | None = None
    """Only while it is ready and not launched."""
    erased: bool = False
    """What the message said was erased on request; its text is empty."""
    grace_until: datetime | None = None
    """While it is approved: until when that can be called back by cancelling it."""
    cancel_unconfirmed: bool
    tool_sends: list[dict[str, Any]]
    """What the agent sent by itself during the turn."""
    accepted_at: datetime
    updated_at: datetime
    links: Links


class HoldView(View):
    """A route waiting for a human, or what a human said."""

    id: str
    route_id: str
    state: str
    suggestion: str | None
    reason: str
    gates: list[dict[str, Any]]
    risk: str
    digest: str
    """Send it back when approving: what was shown is what is approved."""
    created_at: datetime
    expires_at: datetime | None
    owner: str
    decision: str | None
    agent: str | None
    person: str | None
    decided_at: datetime | None
    note: str | None
    approvals: list[str] = Field(default_factory=list)
    """Who said yes so far, where it takes two people."""


class MessageView(View):
    """The message as it arrived."""

    text: str
    channel: str | None
    account: str | None
    sender: str | None
    conversation: str | None
    message_id: str | None
    revision: int
    received_at: datetime | None
    labels: list[str]
    attachments: list[dict[str, str | None]]
    digest: str


class RouteDetailView(RouteView):
    """A route with everything that explains it."""

    attempts: list[AttemptDetailView] = []  # type: ignore[assignment]  # the same, with more
    message: MessageView
    evidence: list[EvidenceView]
    gates: list[GateView]
    hold: HoldView | None
    owner: str
    pin: str | None
    on_uncertain: str
    clarifies: str | None
    reply_target: str | None
    agent_digest: str | None


class HoldDetailView(HoldView):
    """A hold with the route it is about."""

    route: RouteDetailView


class RoutePage(View):
    """A stretch of the routes, newest first."""

    routes: list[RouteView]
    next: str | None


class HoldPage(View):
    """A stretch of the holds, oldest first."""

    holds: list[HoldView]
    next: str | None


class EventPage(View):
    """A stretch of one route's audit trail, oldest first."""

    events: list[EventView]
    next: str | None


def decision_fields(route: Route) -> dict[str, Any]:
    """Say what was decided, in the names that HTTP, the command line and Python share."""
    said: dict[str, Any] = route_json(route)
    return {name: said[name] for name in DecisionView.model_fields}


def route_view(record: RouteRecord, *, deduplicated_by: str | None = None) -> RouteView:
    """Show a route in short."""
    return RouteView(
        **_route_fields(record),
        deduplicated_by=deduplicated_by,
        attempts=[AttemptView(**_attempt_fields(a)) for a in record.attempts],
    )


def route_detail_view(record: RouteRecord) -> RouteDetailView:
    """Show everything about a route."""
    route = record.route
    return RouteDetailView(
        **_route_fields(record),
        attempts=[_attempt_detail(a) for a in record.attempts],
        message=_message_view(record),
        evidence=[evidence_view(event) for event in record.evidence],
        gates=[
            GateView(number=g.number, reason=str(g.reason), detail=g.detail)
            for g in (route.gates if route else ())
        ],
        hold=hold_view(record.hold) if record.hold else None,
        owner=record.owner,
        pin=record.pin,
        on_uncertain=record.on_uncertain,
        clarifies=record.clarifies,
        reply_target=record.reply_target,
        agent_digest=route.agent_digest if route else None,
    )


def hold_view(hold: HoldRecord) -> HoldView:
    """Show a hold."""
    return HoldView(**_hold_fields(hold))


def hold_detail_view(hold: HoldRecord, record: RouteRecord) -> HoldDetailView:
    """Show a hold with the route it is about."""
    return HoldDetailView(**_hold_fields(hold), route=route_detail_view(record))


def _route_fields(record: RouteRecord) -> dict[str, Any]:
    fields = decision_fields(record.route) if record.route else {}
    # What stands now wins over what was decided: an approval may have named another agent, and
    # a failure has a reason of its own.
    fields["agent"] = record.agent or fields.get("agent")
    fields["reason"] = record.reason or fields.get("reason")
    open_hold = record.hold and record.hold.state is HoldState.OPEN
    here = f"/routes/{record.id}"
    return fields | {
        "id": record.id,
        "state": str(record.state),
        "mode": str(record.mode),
        "ran": record.ran,
        "deduplicable": bool(record.idempotency_key or record.message.message_id),
        "reply": None if record.reply_text is None else ReplyView(text=record.reply_text),
        "hold_id": record.hold.id if record.hold and open_hold else None,
        "erased": record.is_erased,
        "grace_until": record.grace_until,
        "waiting": record.waiting
        and WaitingView(
            since=record.waiting.since,
            position=record.waiting.position,
            in_session=record.waiting.in_session,
        ),
        "cancel_unconfirmed": any(a.cancel_unconfirmed for a in record.attempts),
        "tool_sends": [dict(send) for send in record.tool_sends],
        "accepted_at": record.accepted_at,
        "updated_at": record.updated_at,
        "links": Links(
            self=here,
            events=f"{here}/events",
            hold=f"/holds/{record.hold.id}" if record.hold else None,
        ),
    }


def _attempt_fields(attempt: AttemptRecord) -> dict[str, Any]:
    return {
        "id": attempt.id,
        "number": attempt.number,
        "state": attempt.state,
        "code": attempt.code,
        "agent": attempt.agent,
        "launched_at": attempt.launched_at,
        "started_at": attempt.started_at,
        "ended_at": attempt.ended_at,
        "cancel_unconfirmed": attempt.cancel_unconfirmed,
    }


def _attempt_detail(attempt: AttemptRecord) -> AttemptDetailView:
    late = attempt.late_evidence
    return AttemptDetailView(
        **_attempt_fields(attempt),
        worker=attempt.worker,
        fence=attempt.fence,
        session_key=attempt.session_key,
        generation=attempt.generation,
        lease_until=attempt.lease_until,
        pid=attempt.pid,
        exit_code=attempt.exit_code,
        signal=attempt.signal,
        run_id=attempt.run_id,
        detail=attempt.detail,
        cli_version=attempt.cli_version,
        facts=_plain(attempt.facts),
        late_evidence=None if late is None else _plain(late),
    )


def _hold_fields(hold: HoldRecord) -> dict[str, Any]:
    return {
        "id": hold.id,
        "route_id": hold.route_id,
        "state": str(hold.state),
        "suggestion": hold.suggestion,
        "reason": str(hold.reason),
        "gates": [_plain(gate) for gate in hold.gates],
        "risk": str(hold.risk),
        "digest": hold.digest,
        "created_at": hold.created_at,
        "expires_at": hold.expires_at,
        "owner": hold.owner,
        "decision": hold.decision,
        "agent": hold.agent,
        "person": hold.person,
        "decided_at": hold.decided_at,
        "note": hold.note,
        "approvals": list(hold.approvals),
    }


def _message_view(record: RouteRecord) -> MessageView:
    message = record.message
    return MessageView(
        text=message.text,
        channel=message.channel,
        account=message.account,
        sender=message.sender,
        conversation=message.conversation,
        message_id=message.message_id,
        revision=message.revision,
        received_at=message.received_at,
        labels=list(message.labels),
        attachments=[{"kind": a.kind, "name": a.name} for a in message.attachments],
        digest=message.digest,
    )


def _plain(mapping: Mapping[str, object]) -> dict[str, Any]:
    return dict(mapping)


class ReloadView(View):
    """What came of a reload."""

    revision: str
    """Of the fleet and the thresholds in force now."""
    changed: bool
    needs_restart: list[str]
    """Settings that were changed since the start and wait for a restart."""


class QueueRow(View):
    """A hold with what tells it from others in the queue."""

    hold: HoldView
    excerpt: str
    """The beginning of the text."""
    is_cut: bool
    channel: str | None
    sender: str | None
    conversation: str | None
    candidates: list[CandidateView]
    claim: "ClaimView | None"


class QueuePage(View):
    """A stretch of the queue, and how much of what kind there is."""

    rows: list[QueueRow]
    next: str | None
    by_risk: dict[str, int]
    reasons: dict[str, int]
    agents: dict[str, int]


class ClaimView(View):
    """Who looks at a hold, and until when."""

    hold_id: str
    person: str
    claimed_at: datetime
    until: datetime


class AnsweredView(View):
    """What became of one of several answers: the hold, or the problem."""

    hold_id: str
    hold: HoldView | None = None
    problem: dict[str, Any] | None = None


class AnswersView(View):
    """What became of each answer, in their order."""

    results: list[AnsweredView]


def queue_page(found: TriagePage, *, following: str | None) -> QueuePage:
    """Show a stretch of the queue."""
    return QueuePage(
        rows=[_queue_row(row) for row in found.rows],
        next=following,
        by_risk={str(risk): count for risk, count in found.by_risk.items()},
        reasons=dict(found.reasons),
        agents=dict(found.agents),
    )


def claim_view(hold_id: str, claim: Claim) -> ClaimView:
    """Show who looks at a hold."""
    return ClaimView(
        hold_id=hold_id, person=claim.person, claimed_at=claim.claimed_at, until=claim.until
    )


def _queue_row(row: TriageRow) -> QueueRow:
    return QueueRow(
        hold=hold_view(row.hold),
        excerpt=row.excerpt,
        is_cut=row.is_cut,
        channel=row.channel,
        sender=row.sender,
        conversation=row.conversation,
        candidates=[CandidateView(agent=a, probability=p) for a, p in row.candidates],
        claim=claim_view(row.hold.id, row.claim) if row.claim else None,
    )
