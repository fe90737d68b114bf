"""What is kept so that a route can be explained and reconsidered, to JSON and back."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from clawmarshal.errors import DecisionError, DecisionInvalidError, DecisionUnavailableError
from clawmarshal.roster.agent import AgentSpec, Risk
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
    circumstances = asdict(evidence.circumstances)
    live = evidence.circumstances.live_agents
    circumstances["live_agents"] = sorted(live) if live is not None else None
    circumstances["unasked"] = sorted(evidence.circumstances.unasked)
    return {
        "ballot": [[agent.id, agent.digest] for agent in evidence.ballot.agents],
        "limits": {agent.id: told for agent in evidence.ballot.agents if (told := _limits(agent))},
        "decision": decision_json(evidence.decision),
        "floor": {"tier": evidence.floor.tier, "codes": list(evidence.floor.codes)},
        "circumstances": circumstances,
        # The codes alone: a hundred rules beside every decision would outweigh it.
        "policy": asdict(replace(policy, rules=())) | {"rules": [r.code for r in policy.rules]},
    }


def evidence_from(kept: Mapping[str, Any], *, message: InboundMessage, roster: Roster) -> Evidence:
    """Rebuild what `explanation` kept, so that another target can be considered.

    The ballot is the one the roster makes now: an agent that came since has no probability.
    """
    floor = kept["floor"]
    circumstances = dict(kept["circumstances"])
    live = circumstances["live_agents"]
    circumstances["live_agents"] = frozenset(live) if live is not None else None
    circumstances["unasked"] = frozenset(circumstances.get("unasked", ()))
    return Evidence(
        ballot=fleet_ballot(roster, message),
        decision=_decision_from_json(kept["decision"]),
        floor=RiskFloor(Risk(floor["tier"]), tuple(floor["codes"])),
        circumstances=Circumstances(**circumstances),
    )


def ballot_then(kept: Mapping[str, Any], roster: Roster) -> tuple[Ballot, frozenset[str]]:
    """Rebuild the ballot as it was, for looking back: its agents with the limits they had.

    An agent that is the same in `roster` is taken from there. Of one that changed or went, only
    what the gates compare is known.

    Returns
    -------
    tuple
        The ballot, without questions, and the ids of the agents that are not the same any more.
    """
    limits, agents, changed = kept.get("limits", {}), [], set()
    for agent_id, digest in kept["ballot"]:
        if agent_id in roster and roster[agent_id].digest == digest:
            agents.append(roster[agent_id])
            continue
        changed.add(agent_id)
        agents.append(AgentSpec(agent_id, "As it was then.", **limits.get(agent_id, {})))
    return Ballot({}, tuple(agents)), frozenset(changed)


def policy_then(kept: Mapping[str, Any]) -> Policy:
    """Rebuild the thresholds of then; what rules said is kept apart, as the floor.

    Parameters
    ----------
    kept
        As `explanation` wrote it.
    """
    return Policy(**{name: value for name, value in kept["policy"].items() if name != "rules"})


def decision_then(kept: Mapping[str, Any]) -> Decision | DecisionError:
    """Rebuild what `explanation` kept of a decision, the acting one's or the challenger's.

    Parameters
    ----------
    kept
        The member ``decision`` or ``challenger``.
    """
    return _decision_from_json(kept)


def _limits(agent: AgentSpec) -> dict[str, object]:
    """Return what the gates compare, where it is not the default."""
    told: dict[str, object] = {}
    if agent.max_risk is not None:
        told["max_risk"] = str(agent.max_risk)
    if agent.min_probability is not None:
        told["min_probability"] = agent.min_probability
    if agent.capabilities:
        told["capabilities"] = [str(one) for one in agent.capabilities]
    if not agent.enabled:
        told["enabled"] = False
    return told


def decision_json(decision: Decision | DecisionError) -> dict[str, object]:
    """Put into JSON values what a model said, or why it is unusable; see `decision_then`."""
    if not isinstance(decision, Decision):
        invalid = isinstance(decision, DecisionInvalidError)
        return {"error": decision.code, "detail": str(decision), "invalid": invalid}
    return {
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
