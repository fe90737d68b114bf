"""Route, its outcomes and reasons."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from clawmarshal.roster.agent import Risk
from clawmarshal.router.ballot import NONE_OF_THESE


class Outcome(StrEnum):
    """What the policy made of a decision."""

    DISPATCH = "dispatch"
    HOLD = "hold"
    CLARIFY = "clarify"
    DECLINE = "decline"
    CANCELLED = "cancelled"


class Reason(StrEnum):
    """Why: the gate that fired, in the order of the gates."""

    CANCELLED = "cancelled"
    DECISION_UNAVAILABLE = "decision_unavailable"
    DECISION_INVALID = "decision_invalid"
    RISK = "risk"
    TRUNCATED = "truncated"
    DIRECTIVE = "directive"
    UNDISPLAYABLE = "undisplayable"
    LOOP = "loop"
    NO_MATCH = "no_match"
    UNCERTAIN = "uncertain"
    AGENT_UNAVAILABLE = "agent_unavailable"
    MATCHED = "matched"


class Via(StrEnum):
    """How the target was chosen."""

    PIN = "pin"
    CONVERSATION = "conversation"
    MODEL = "model"
    OFFLINE = "offline"
    FALLBACK = "fallback"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate that fired."""

    number: int
    """1 to 10, as in DESIGN section 3."""
    reason: Reason
    detail: str
    """One sentence for a reviewer: the rule, the figure and its limit; never message text."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One option of the ballot with its probability."""

    agent: str
    probability: float


@dataclass(frozen=True, slots=True)
class RiskView:
    """How risky the message is, as the policy saw it."""

    top: Risk
    """The highest of the rule floor and the model's top tier; high where no answer counts."""
    probabilities: Mapping[str, float]
    """The model's, over low, medium, high; empty where it gave no usable answer."""
    floor: Risk
    """What the rules alone say."""
    codes: tuple[str, ...] = ()
    """Reason codes of the rules that matched, such as ``money``."""


@dataclass(frozen=True, slots=True)
class Route:
    """What should happen to one message, and why."""

    id: str
    """``rt_`` and 32 hex digits, time-ordered."""
    outcome: Outcome
    agent: str | None
    """The target; for a hold the suggestion; None where there is none."""
    reason: Reason
    """The first gate that fired; ``matched`` when none did."""
    gates: tuple[Gate, ...]
    """Every gate that fired, in order; empty on dispatch."""
    via: Via
    candidates: tuple[Candidate, ...]
    """Best first, ``none_of_these`` among them."""
    confidence: float
    """Probability of the answer given (an agent, or none). 0..1; 0 without a decision."""
    margin: float
    risk: RiskView
    model: str | None
    message_digest: str
    roster_digest: str
    agent_digest: str | None
    """Digest of the target's AgentSpec."""
    latency_ms: float
    notes: tuple[str, ...] = ()
    seal: str = field(default="", repr=False)
    """The router's proof that it made this route; see `OpenClawRouter.dispatch`."""

    @property
    def routable(self) -> bool:
        """True when the route may be dispatched as it stands."""
        return self.outcome is Outcome.DISPATCH

    @property
    def reasons(self) -> tuple[str, ...]:
        """The codes of every gate that fired, in order."""
        return tuple(dict.fromkeys(str(gate.reason) for gate in self.gates)) or (str(self.reason),)

    @property
    def suggestions(self) -> tuple[Candidate, ...]:
        """The two or three best real agents, best first: what a ``clarify`` asks about."""
        real = (candidate for candidate in self.candidates if candidate.agent != NONE_OF_THESE)
        return tuple(itertools.islice(real, 3))


def route_json(route: Route) -> dict[str, object]:
    """Put a route into JSON values, as ``clawmarshal route --json`` prints it.

    The seal is left out: it is the router's own proof and nobody else's.
    """
    return {
        "id": route.id,
        "outcome": str(route.outcome),
        "agent": route.agent,
        "reason": str(route.reason),
        "reasons": list(route.reasons),
        "via": str(route.via),
        "confidence": route.confidence,
        "margin": route.margin,
        "candidates": [
            {"agent": candidate.agent, "probability": candidate.probability}
            for candidate in route.candidates
        ],
        "risk": {
            "top": str(route.risk.top),
            "probabilities": {str(tier): share for tier, share in route.risk.probabilities.items()},
            "floor": str(route.risk.floor),
            "codes": list(route.risk.codes),
        },
        "gates": [
            {"number": gate.number, "reason": str(gate.reason), "detail": gate.detail}
            for gate in route.gates
        ],
        "model": route.model,
        "message_digest": route.message_digest,
        "roster_digest": route.roster_digest,
        "agent_digest": route.agent_digest,
        "latency_ms": route.latency_ms,
        "notes": list(route.notes),
    }
