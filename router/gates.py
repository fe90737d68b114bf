"""The gates in their order; each looks at one case and says whether it fires, and why."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from clawmarshal.errors import DecisionError, DecisionInvalidError
from clawmarshal.roster.agent import AgentSpec, Risk
from clawmarshal.router.ballot import NONE_OF_THESE, Ballot
from clawmarshal.router.decision import MODEL_MISMATCH, Decision
from clawmarshal.router.directives import has_directive, is_displayable
from clawmarshal.router.distribution import FUZZ
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.risk import RiskFloor
from clawmarshal.router.route import Gate, Outcome, Reason, RiskView, Via
from clawmarshal.router.target import Target, prefers_none
from clawmarshal.router.thresholds import (
    Circumstances,
    Directives,
    OnNoMatch,
    OnUncertain,
    Policy,
)

UNSEEN_LIMIT = Risk.MEDIUM
"""The highest tier that passes gate 3 where no target sets its own."""
PLAUSIBLE = 0.05
"""From this probability on an agent's limit counts at gate 3, though another is the target."""


@dataclass(frozen=True, slots=True)
class Case:
    """Everything the gates may look at."""

    policy: Policy
    message: InboundMessage
    ballot: Ballot
    decision: Decision | DecisionError
    floor: RiskFloor
    circumstances: Circumstances
    target: Target

    @property
    def known(self) -> Decision | None:
        """The decision, or None where there is none."""
        return self.decision if isinstance(self.decision, Decision) else None


@dataclass(frozen=True, slots=True)
class Firing:
    """A gate that fired, and the outcome if it is the first."""

    gate: Gate
    outcome: Outcome


GateRule = Callable[[Case], Iterator[Firing]]


def _hold(number: int, reason: Reason, detail: str) -> Firing:
    return Firing(Gate(number, reason, detail), Outcome.HOLD)


def caller_gone(case: Case) -> Iterator[Firing]:
    """Gate 1: nobody waits any more, and nothing was accepted."""
    if case.circumstances.caller_gone is not False:
        detail = "The caller was gone, or its deadline had passed, before acceptance."
        yield Firing(Gate(1, Reason.CANCELLED, detail), Outcome.CANCELLED)


def no_usable_answer(case: Case) -> Iterator[Firing]:
    """Gate 2: a missing answer is never a permission, for pins neither."""
    decision = case.decision
    if not isinstance(decision, Decision):
        is_away = isinstance(decision, DecisionError) and not isinstance(
            decision, DecisionInvalidError
        )
        reason = Reason.DECISION_UNAVAILABLE if is_away else Reason.DECISION_INVALID
        code = getattr(decision, "code", "decision-invalid")
        yield _hold(2, reason, f"There is no usable answer about the agent ({code}).")
        return
    asked = {agent.id for agent in case.ballot.agents} | {NONE_OF_THESE}
    if set(decision.agent.probabilities) != asked:
        detail = "The answer about the agent is not about the options of this ballot."
        yield _hold(2, Reason.DECISION_INVALID, detail)
    elif decision.agent.is_coarse:
        detail = "The answer about the agent is coarse: its total is over 0.10 away from 1."
        yield _hold(2, Reason.DECISION_INVALID, detail)
    elif MODEL_MISMATCH in decision.notes:
        detail = "Another model answered than the pinned one, and thresholds hold for one alone."
        yield _hold(2, Reason.DECISION_INVALID, detail)


def risk(case: Case) -> Iterator[Firing]:
    """Gate 3: too risky to run unseen, for this target."""
    limit, strictest = _strictest_limit(case)
    grounds = list(_risk_grounds(case, limit))
    if grounds:
        whose = f"{strictest.id} takes" if strictest else "without an agent the limit is"
        near = strictest is not None and strictest is not case.target.agent
        also = [f"the message may be for {strictest.id}"] if near and strictest else []
        yield _hold(3, Reason.RISK, _sentence([*grounds, *also, f"{whose} {limit} at most"]))


def partial_view(case: Case) -> Iterator[Firing]:
    """Gate 4: "low risk" cannot be concluded from a part."""
    grounds = []
    if case.known is not None and case.known.truncated is not False:
        grounds.append("the model saw only a part of the text")
    if case.message.attachments:
        grounds.append(f"nobody judged the {len(case.message.attachments)} attachment(s)")
    if grounds:
        yield _hold(4, Reason.TRUNCATED, _sentence(grounds))


def legible(case: Case) -> Iterator[Firing]:
    """Gate 5: OpenClaw would obey the text itself, or a reviewer cannot see what it is."""
    text = case.message.text
    if case.policy.directives is not Directives.NEUTRALISE and has_directive(text):
        detail = "OpenClaw would read the text as a command or expand a skill."
        yield _hold(5, Reason.DIRECTIVE, detail)
    if not is_displayable(text):
        detail = "The text holds characters that cannot be shown faithfully."
        yield _hold(5, Reason.UNDISPLAYABLE, detail)


def loop(case: Case) -> Iterator[Firing]:
    """Gate 6: the same again and again, or too much at once."""
    policy, seen = case.policy, case.circumstances
    grounds = []
    if not seen.repeats < policy.loop_repeats:
        grounds.append(
            f"the same text came {seen.repeats} times within {policy.loop_window_s} s, "
            f"and {policy.loop_repeats} are a loop"
        )
    for count, whence in (
        (seen.in_conversation, "in the conversation"),
        (seen.from_sender, "from the sender"),
    ):
        if not count <= policy.max_messages:
            grounds.append(
                f"{count} messages came {whence} within {policy.rate_window_s} s, "
                f"over {policy.max_messages}"
            )
    if grounds:
        yield _hold(6, Reason.LOOP, _sentence(grounds))


def no_match(case: Case) -> Iterator[Firing]:
    """Gate 7: no agent covers it, and nothing but the model names one."""
    decision = case.known
    if decision is None or case.target.via not in (Via.MODEL, Via.NONE):
        return
    if prefers_none(decision):
        share = decision.agent.probabilities.get(NONE_OF_THESE, 0.0)
        detail = f"No agent covers it: {NONE_OF_THESE} has {share:.2f}, more than any agent."
        outcome = Outcome.DECLINE if case.policy.on_no_match is OnNoMatch.DECLINE else Outcome.HOLD
        yield Firing(Gate(7, Reason.NO_MATCH, detail), outcome)


def uncertain(case: Case) -> Iterator[Firing]:
    """Gate 8: not sure enough; a pin or a kept conversation needs no model to be sure."""
    if case.target.via in (Via.PIN, Via.CONVERSATION):
        return
    grounds = doubts(case)
    if grounds:
        asks = case.circumstances.on_uncertain == OnUncertain.CLARIFY
        outcome = Outcome.CLARIFY if asks and len(case.ballot.agents) > 1 else Outcome.HOLD
        yield Firing(Gate(8, Reason.UNCERTAIN, _sentence(grounds)), outcome)


def unavailable(case: Case) -> Iterator[Firing]:
    """Gate 9: the target is disabled, or known to be missing. An unreadable fleet is no ground."""
    agent, live = case.target.agent, case.circumstances.live_agents
    if agent is None:
        if case.target.via is Via.PIN:
            detail = "The agent that was named is not in the roster."
            yield _hold(9, Reason.AGENT_UNAVAILABLE, detail)
    elif not agent.enabled:
        yield _hold(9, Reason.AGENT_UNAVAILABLE, f"{agent.id} is disabled in the roster.")
    elif live is not None and agent.id not in live:
        yield _hold(9, Reason.AGENT_UNAVAILABLE, f"{agent.id} is not in the live OpenClaw.")


GATES: tuple[GateRule, ...] = (
    caller_gone,
    no_usable_answer,
    risk,
    partial_view,
    legible,
    loop,
    no_match,
    uncertain,
    unavailable,
)
"""Gates 1 to 9 of DESIGN section 3; where none fires, gate 10 dispatches."""


def limiting_agents(
    ballot: Ballot, decision: Decision | None, *, target: Target, circumstances: Circumstances
) -> tuple[AgentSpec, ...]:
    """List the agents whose limits gate 3 compares with: the target, and who else it may be for.

    Every agent that the model gives `PLAUSIBLE` or more: which of them a message is for is what
    its text can shift, and shifting it must not free the message. A pin and a follow-up are not
    the text's to shift: there the target's own limit holds alone.
    """
    listed = (target.agent,) if target.agent else ()
    if decision is None or target.via is Via.PIN or circumstances.is_follow_up:
        return listed
    shares = decision.agent.probabilities
    near = (agent for agent in ballot.agents if shares.get(agent.id, 0.0) >= PLAUSIBLE)
    return (*listed, *(agent for agent in near if agent not in listed))


def _limiting(case: Case) -> tuple[AgentSpec, ...]:
    return limiting_agents(
        case.ballot, case.known, target=case.target, circumstances=case.circumstances
    )


def _strictest_limit(case: Case) -> tuple[Risk, AgentSpec | None]:
    """Return the limit that gate 3 compares with, and whose it is; the target's where equal."""
    limit = case.target.agent.risk_limit if case.target.agent else UNSEEN_LIMIT
    strictest = case.target.agent
    for agent in _limiting(case):
        if agent.risk_limit.level < limit.level:
            limit, strictest = agent.risk_limit, agent
    return limit, strictest


def risk_view(case: Case) -> RiskView:
    """Say how risky the message is for the target of the case."""
    tier, codes = case.floor.tier, case.floor.codes
    raised = case.policy.non_english_floor
    can_act = any(agent.capabilities for agent in _limiting(case))
    if raised and can_act and not case.circumstances.is_english:
        codes = (*codes, "not-english")
        tier = max(tier, raised, key=lambda one: one.level)
    unasked = case.policy.unasked_floor
    if unasked and any(agent.id in case.circumstances.unasked for agent in _limiting(case)):
        codes = (*codes, "acts-unasked")
        tier = max(tier, unasked, key=lambda one: one.level)
    model_tier, _, fault = _model_risk(case.known)
    answer = None if case.known is None or fault else case.known.risk
    return RiskView(
        top=max(tier, model_tier, key=lambda one: one.level),
        probabilities=dict(answer.probabilities) if answer else {},
        floor=tier,
        codes=codes,
    )


def answer_given(case: Case) -> tuple[str, float, float]:
    """Name the answer that the target stands for, with its probability and its margin.

    An agent, or ``none_of_these`` where none wins and no pin or conversation names an agent.
    """
    decision, target = case.known, case.target
    if decision is None:
        return NONE_OF_THESE, 0.0, 0.0
    choice = decision.agent
    asked = target.via in (Via.PIN, Via.CONVERSATION)
    if not asked and prefers_none(decision):
        answer = NONE_OF_THESE
    else:
        answer = target.agent.id if target.agent else ""
    if answer == choice.option:
        return answer, choice.confidence, choice.margin
    share = choice.probabilities.get(answer, 0.0)
    rival = max((p for option, p in choice.probabilities.items() if option != answer), default=0.0)
    return answer, share, max(0.0, share - rival)


def doubts(case: Case) -> list[str]:
    """List what speaks against acting on the model's answer alone; empty when nothing does."""
    decision = case.known
    if decision is None:
        return []
    answer, probability, margin = answer_given(case)
    least = case.policy.min_probability
    agent = case.target.agent
    if agent and agent.id == answer and agent.min_probability is not None:
        least = agent.min_probability
    found = []
    if not probability >= least - FUZZ:
        found.append(f"the probability of {answer} is {probability:.2f}, under {least:.2f}")
    if not margin >= case.policy.min_margin - FUZZ:
        found.append(f"the margin is {margin:.2f}, under {case.policy.min_margin:.2f}")
    elif decision.agent.is_tied:
        found.append("the two most probable are less than 0.01 apart")
    if decision.orders_agree is not True:
        found.append("the forward and the reversed ballot name different agents")
    return found


def _risk_grounds(case: Case, limit: Risk) -> Iterator[str]:
    view = risk_view(case)
    tier, high, fault = _model_risk(case.known)
    most = case.policy.max_high_probability
    if view.floor.level > limit.level:
        because = f" ({', '.join(view.codes)})" if view.codes else ""
        yield f"the rules say {view.floor}{because}"
    is_over = not high <= most + FUZZ
    if fault and (is_over or tier.level > limit.level):
        yield f"there is no usable answer about risk ({fault}), which counts as high"
        return
    if tier.level > limit.level:
        yield f"the model says {tier}"
    if is_over:
        yield f"P(high) is {high:.2f}, over {most:.2f}"


def _model_risk(decision: Decision | None) -> tuple[Risk, float, str | None]:
    """Return the model's tier and P(high), or high, 1 and the fault where no answer counts."""
    if decision is None:
        return Risk.HIGH, 1.0, "no decision"
    answer = decision.risk
    if (
        answer is None
        or answer.is_tied
        or answer.is_coarse
        or set(answer.probabilities) != set(Risk)
    ):
        return Risk.HIGH, 1.0, decision.risk_fault or "unusable"
    return Risk(answer.option), answer.probabilities[Risk.HIGH], None


def _sentence(grounds: list[str]) -> str:
    joined = "; ".join(grounds)
    return f"{joined[0].upper()}{joined[1:]}."
