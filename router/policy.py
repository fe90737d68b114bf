"""Policy: the gates in their order, and the verdict they come to. Plain code that allows."""

from dataclasses import dataclass

from clawmarshal.errors import DecisionError
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ballot import Ballot
from clawmarshal.router.decision import Decision
from clawmarshal.router.gates import GATES, Case, Firing, GateRule, answer_given, doubts, risk_view
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.risk import RiskFloor
from clawmarshal.router.route import Candidate, Gate, Outcome, Reason, RiskView, Via
from clawmarshal.router.target import Target, resolve_target
from clawmarshal.router.thresholds import (
    Circumstances,
    Directives,
    OnNoMatch,
    OnUncertain,
    Policy,
)

__all__ = [
    "Circumstances",
    "Directives",
    "OnNoMatch",
    "OnUncertain",
    "Policy",
    "Verdict",
    "decide",
    "reconsider",
]

FIRST_FOR_A_TARGET = 2
LAST_FOR_A_TARGET = 9
"""Gates 3 to 9 depend on the target; GATES counts from 0."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gates made of a decision."""

    outcome: Outcome
    agent: str | None
    """The target of a dispatch, the suggestion of a hold; None for every other outcome, and
    where there is nobody."""
    via: Via
    reason: Reason
    """Of the first gate that fired; ``matched`` when none did."""
    gates: tuple[Gate, ...]
    """Every gate that fired, in order; empty on dispatch."""
    candidates: tuple[Candidate, ...]
    """Best first, ``none_of_these`` among them; empty without a decision."""
    confidence: float
    """Probability of the answer given: the agent, or none. 0..1; 0 without a decision."""
    margin: float
    """Its distance to the runner-up. 0..1; 0 where another option is more probable."""
    risk: RiskView
    notes: tuple[str, ...] = ()
    """What was not a ground to hold and is worth a record: ``uncertain-skipped`` where a pin or
    a kept conversation passed gate 8, ``orders-disagree``."""


def decide(
    policy: Policy,
    *,
    message: InboundMessage,
    roster: Roster,
    ballot: Ballot,
    decision: Decision | DecisionError,
    floor: RiskFloor,
    circumstances: Circumstances,
    _gates: tuple[GateRule, ...] = GATES,
) -> Verdict:
    """Resolve the target, evaluate every gate, and let the first that fires decide.

    Parameters
    ----------
    policy
        Thresholds and switches.
    message
        Read by the gates for its text and attachments; it can only lower trust.
    roster
        The fleet, for a pin.
    ballot
        What was asked.
    decision
        The validated answers, or the error in their place.
    floor
        What the rules say of the text.
    circumstances
        What the caller, the conversation and the live fleet add.
    """
    target = resolve_target(
        policy,
        roster=roster,
        ballot=ballot,
        decision=decision if isinstance(decision, Decision) else None,
        circumstances=circumstances,
    )
    case = Case(policy, message, ballot, decision, floor, circumstances, target)
    return _judge(case, _gates)


def reconsider(
    policy: Policy,
    *,
    message: InboundMessage,
    roster: Roster,
    ballot: Ballot,
    decision: Decision | DecisionError,
    floor: RiskFloor,
    circumstances: Circumstances,
    agent: str,
    via: Via = Via.PIN,
) -> Verdict:
    """Evaluate gates 3 to 9 for another target.

    Parameters
    ----------
    policy, message, roster, ballot, decision, floor, circumstances
        As in `decide`.
    agent
        The new target.
    via
        Who names it: ``pin`` for a person (gates 7 and 8 have nothing to say then), or
        ``fallback``.

    Raises
    ------
    UnknownAgentError
        `agent` is not in the roster.
    """
    target = Target(roster[agent], via)
    case = Case(policy, message, ballot, decision, floor, circumstances, target)
    return _judge(case, GATES[FIRST_FOR_A_TARGET:LAST_FOR_A_TARGET])


def _judge(case: Case, gates: tuple[GateRule, ...]) -> Verdict:
    firings = [firing for gate in gates for firing in gate(case)]
    agent = case.target.agent
    if not firings and (not gates or agent is None):
        # An empty policy allows nothing, and nobody cannot be launched.
        nothing = Gate(2, Reason.DECISION_INVALID, "No gate was evaluated, or nobody is named.")
        firings = [Firing(nothing, Outcome.HOLD)]
    outcome = firings[0].outcome if firings else Outcome.DISPATCH
    names_agent = outcome in (Outcome.DISPATCH, Outcome.HOLD)
    _, confidence, margin = answer_given(case)
    return Verdict(
        outcome=outcome,
        agent=agent.id if agent and names_agent else None,
        via=case.target.via,
        reason=firings[0].gate.reason if firings else Reason.MATCHED,
        gates=tuple(firing.gate for firing in firings),
        candidates=_candidates(case),
        confidence=confidence,
        margin=margin,
        risk=risk_view(case),
        notes=_notes(case),
    )


def _candidates(case: Case) -> tuple[Candidate, ...]:
    if case.known is None:
        return ()
    shares = case.known.agent.probabilities
    return tuple(Candidate(option, share) for option, share in shares.items())


def _notes(case: Case) -> tuple[str, ...]:
    notes = []
    if case.target.via in (Via.PIN, Via.CONVERSATION) and doubts(case):
        notes.append("uncertain-skipped")
    if case.known is not None and case.known.orders_agree is not True:
        notes.append("orders-disagree")
    return tuple(notes)
