"""What is kept so that a route can be explained and reconsidered, to JSON and back."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from clawmarshal.errors import DecisionError, DecisionInvalidError, DecisionUnavailableError
from clawmarshal.roster.agent import Risk
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ballot import Ballot, fleet_ballot
from clawmarshal.router.decision import Choice, Decision
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.policy import Circumstances, Policy
from clawmarshal.router.risk import RiskFloor


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a route was decided on; kept so that it can be explained and reconsidered."""

    ballot: Ballot
    decision: Decision | DecisionError
    floor: RiskFloor
    circumstances: Circumstances


def explanation(evidence: Evidence, *, policy: Policy) -> Mapping[str, object]:
    """Put into JSON values what is kept so that a route can be explained years later."""
    decision = evidence.decision
    if isinstance(decision, Decision):
        said: dict[str, object] = {
            "agent": _choice_to_json(decision.agent),
            "orders_agree": decision.orders_agree,
            "risk": _choice_to_json(decision.risk) if decision.risk else None,
            "risk_fault": decision.risk_fault,
            "model": decision.model,
            "truncated": decision.truncated,
            "latency_ms": decision.latency_ms,
            "usage": dict(decision.usage) if decision.usage else None,
            "request_id": decision.request_id,
            "notes": list(decision.notes),
            "extra_answers": decision.extra_answers,
        }
    else:
        invalid = isinstance(decision, DecisionInvalidError)
        said = {"error": decision.code, "detail": str(decision), "invalid": invalid}
    circumstances = asdict(evidence.circumstances)
    live = evidence.circumstances.live_agents
    circumstances["live_agents"] = sorted(live) if live is not None else None
    return {
        "ballot": [[agent.id, agent.digest] for agent in evidence.ballot.agents],
        "decision": said,
        "floor": {"tier": evidence.floor.tier, "codes": list(evidence.floor.codes)},
        "circumstances": circumstances,
        "policy": asdict(policy),
    }


def evidence_from(kept: Mapping[str, Any], *, message: InboundMessage, roster: Roster) -> Evidence:
    """Rebuild what `explanation` kept, so that another target can be considered.

    The ballot is the one the roster makes now: an agent that came since has no probability.
    """
    floor = kept["floor"]
    circumstances = dict(kept["circumstances"])
    live = circumstances["live_agents"]
    circumstances["live_agents"] = frozenset(live) if live is not None else None
    return Evidence(
        ballot=fleet_ballot(roster, message),
        decision=_decision_from_json(kept["decision"]),
        floor=RiskFloor(Risk(floor["tier"]), tuple(floor["codes"])),
        circumstances=Circumstances(**circumstances),
    )


def _choice_to_json(choice: Choice) -> dict[str, object]:
    return asdict(replace(choice, probabilities={})) | {
        "probabilities": list(choice.probabilities.items())
    }


def _choice_from_json(kept: Mapping[str, Any]) -> Choice:
    pairs = {str(option): float(share) for option, share in kept["probabilities"]}
    return Choice(**{**kept, "probabilities": pairs})


def _decision_from_json(said: Mapping[str, Any]) -> Decision | DecisionError:
    if "error" in said:
        kind = DecisionInvalidError if said["invalid"] else DecisionUnavailableError
        return kind(said["detail"], code=said["error"])
    fields = {name: value for name, value in said.items() if name not in ("agent", "risk")}
    return Decision(
        agent=_choice_from_json(said["agent"]),
        risk=_choice_from_json(said["risk"]) if said["risk"] else None,
        **fields | {"notes": tuple(said["notes"])},
    )
