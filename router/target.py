"""Target: the agent that would be launched, resolved before any gate looks at it."""

from dataclasses import dataclass

from clawmarshal.roster.agent import AgentSpec
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ballot import NONE_OF_THESE, Ballot
from clawmarshal.router.decision import Decision
from clawmarshal.router.distribution import FUZZ
from clawmarshal.router.route import Via
from clawmarshal.router.thresholds import Circumstances, Policy


@dataclass(frozen=True, slots=True)
class Target:
    """Who would get the message, and how that came about."""

    agent: AgentSpec | None
    """None where there is nobody, or the agent that was named is not in the roster."""
    via: Via
    """``model`` also where the model prefers none and the agent is only the best real one."""


def resolve_target(
    policy: Policy,
    *,
    roster: Roster,
    ballot: Ballot,
    decision: Decision | None,
    circumstances: Circumstances,
) -> Target:
    """Take the pin, else the conversation's agent, else the top agent, else the fallback.

    The conversation keeps its agent unless another agent beats it by the switch margin, and always
    for a text that says nothing of its own. Only a
    pin passes the hard filters: a conversation's agent or a fallback that is not on the ballot
    counts as absent.

    Parameters
    ----------
    policy
        Its switch margin and fallback.
    roster
        The fleet; a pin is looked up here.
    ballot
        The agents that the hard filters left.
    decision
        The validated answers, or None where there are none.
    circumstances
        Its pin and conversation agent.
    """
    eligible = {agent.id: agent for agent in ballot.agents}
    if circumstances.pin is not None:
        pinned = roster[circumstances.pin] if circumstances.pin in roster else None
        return Target(pinned, Via.PIN)
    kept = eligible.get(circumstances.conversation_agent or "")
    best = best_agent(decision)
    if kept is not None and (
        circumstances.is_follow_up or not _is_beaten(kept.id, best, decision, policy.switch_margin)
    ):
        return Target(kept, Via.CONVERSATION)
    fallback = eligible.get(policy.fallback or "")
    if fallback is not None and (decision is None or prefers_none(decision)):
        return Target(fallback, Via.FALLBACK)
    top = eligible.get(best or "")
    return Target(top, Via.NONE if top is None else Via.MODEL)


def best_agent(decision: Decision | None) -> str | None:
    """Name the most probable real agent, or None where there is none."""
    if decision is None:
        return None
    options = decision.agent.probabilities
    return next((option for option in options if option != NONE_OF_THESE), None)


def prefers_none(decision: Decision) -> bool:
    """Tell whether no agent is as probable as ``none_of_these``."""
    shares = decision.agent.probabilities
    best = best_agent(decision)
    return best is None or shares.get(NONE_OF_THESE, 0.0) > shares[best]


def _is_beaten(
    kept: str, best: str | None, decision: Decision | None, switch_margin: float
) -> bool:
    if decision is None or best is None or best == kept:
        return False
    shares = decision.agent.probabilities
    return shares[best] - shares.get(kept, 0.0) >= switch_margin - FUZZ
