"""Messages, decisions and terms for tests of the ledger."""

from clawmarshal.roster.agent import AgentSpec, Risk
from clawmarshal.router.ledger.binding import LaunchTerms, template_digest
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import (
    HoldRecord,
    LaunchOrder,
    Mode,
    Principal,
    RouteRecord,
    Submission,
)
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.route import Candidate, Gate, Outcome, Reason, RiskView, Route, Via
from clawmarshal.transport.outcome import TurnResult, TurnState

FINANCE = AgentSpec("finance", "Invoices, bookkeeping and tax deadlines.")
SECURITY = AgentSpec("security", "Breach alerts and suspicious access.")
ANNA = Principal("anna", "ck_anna", frozenset({"review"}), "127.0.0.1")
BELA = Principal("bela", "ck_bela", frozenset({"review"}))
DONE = TurnResult(TurnState.DONE, "ok", reply_text="fine", raw_text="fine", run_id="run-1")
RISK_GATES = (Gate(3, Reason.RISK, "P(high) is 0.61, the limit is 0.30."),)


def terms_of(
    spec: AgentSpec = FINANCE,
    *,
    version: str = "1",
    available: bool = True,
    timeout_s: int = 60,
) -> LaunchTerms:
    """Return what is known about an agent."""
    template = template_digest({"argv": ["agent"], "version": version})
    return LaunchTerms(spec, template, available=available, timeout_s=timeout_s)


TERMS = {"finance": terms_of(), "security": terms_of(SECURITY)}


def submission(
    text: str = "When is the tax return due?",
    *,
    conversation: str | None = None,
    sender: str | None = None,
    message_id: str | None = None,
    revision: int = 0,
    owner: str = "carla",
    key: str | None = None,
    mode: Mode = Mode.DISPATCH,
    reply_target: str | None = None,
) -> Submission:
    """Return a message to be accepted."""
    message = InboundMessage(
        text,
        channel="chat",
        conversation=conversation,
        sender=sender,
        message_id=message_id,
        revision=revision,
    )
    return Submission(message, owner, mode=mode, idempotency_key=key, reply_target=reply_target)


def decision(
    outcome: Outcome = Outcome.DISPATCH,
    *,
    agent: str | None = "finance",
    reason: Reason | None = None,
    gates: tuple[Gate, ...] | None = None,
    risk: Risk = Risk.LOW,
) -> Route:
    """Return what a policy could have said."""
    is_held = outcome is Outcome.HOLD
    return Route(
        id="rt_" + "0" * 32,
        outcome=outcome,
        agent=agent,
        reason=reason or (Reason.RISK if is_held else Reason.MATCHED),
        gates=gates if gates is not None else (RISK_GATES if is_held else ()),
        via=Via.MODEL,
        candidates=(Candidate("finance", 0.9), Candidate("none_of_these", 0.1)),
        confidence=0.9,
        margin=0.8,
        risk=RiskView(risk, {"low": 0.9, "medium": 0.07, "high": 0.03}, Risk.LOW),
        model="scripted",
        message_digest="0" * 64,
        roster_digest="1" * 64,
        agent_digest=FINANCE.digest,
        latency_ms=1.5,
    )


def ready(ledger: Ledger, text: str = "When is the tax return due?", **origin: str) -> str:
    """Bring a route to ``ready``; return its id."""
    route_id = ledger.accept(submission(text, **origin)).route_id  # type: ignore[arg-type]  # texts only
    ledger.record(route_id, decision(), explanation={}, terms=TERMS["finance"])
    return route_id


def held(
    ledger: Ledger, text: str = "Wire the money.", *, risk: Risk = Risk.HIGH, **origin: str
) -> HoldRecord:
    """Bring a route to ``held``; return its hold."""
    route_id = ledger.accept(submission(text, **origin)).route_id  # type: ignore[arg-type]  # texts only
    recorded = ledger.record(
        route_id, decision(Outcome.HOLD, risk=risk), explanation={}, terms=TERMS["finance"]
    )
    assert recorded.hold is not None
    return recorded.hold


def launching(ledger: Ledger, worker: str, **origin: str) -> LaunchOrder:
    """Bring a route to ``launching``; return its order."""
    ready(ledger, **origin)
    order = ledger.claim(worker, terms=TERMS, max_children=8)
    assert order is not None
    return order


def lost(ledger: Ledger, **origin: str) -> RouteRecord:
    """Bring a route to ``unknown`` through the death of its worker."""
    worker = ledger.register_worker("doomed")
    order = launching(ledger, worker, **origin)
    ledger.release_worker(worker)
    assert ledger.sweep() == (order.route_id,)
    return ledger.route(order.route_id)
