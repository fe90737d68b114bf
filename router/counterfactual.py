"""Counterfactuals: what would have made a gate pass or fire; recomputed, not guessed."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from clawmarshal.roster.agent import AgentSpec, Risk
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ballot import Ballot
from clawmarshal.router.decision import Decision
from clawmarshal.router.explanation import Evidence, ballot_then, evidence_from, policy_then
from clawmarshal.router.gates import limiting_agents
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.policy import Policy, Verdict, decide
from clawmarshal.router.route import Outcome, Reason, Via
from clawmarshal.router.target import Target, best_agent, resolve_target
from clawmarshal.router.thresholds import Directives

GATE_RISK, GATE_PARTIAL, GATE_LEGIBLE, GATE_LOOP = 3, 4, 5, 6
GATE_NO_MATCH, GATE_UNCERTAIN, GATE_UNAVAILABLE = 7, 8, 9
_STEP = 10_000


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that could have been otherwise."""

    what: str
    """A setting such as ``policy.min_probability``, or a circumstance."""
    was: str
    instead: str


@dataclass(frozen=True, slots=True)
class Change:
    """Settings that would have been otherwise, and what the gates would have made of it."""

    gate: int
    """The gate it is about."""
    settings: tuple[Setting, ...]
    """Needed together; the least that is enough."""
    passes: bool
    """The gate does not fire any more; False where the change would have made it fire."""
    outcome: Outcome
    """With this change alone."""
    reason: Reason


@dataclass(frozen=True, slots=True)
class Hindsight:
    """A decision looked at again."""

    verdict: Verdict
    """The gates run again over what was kept."""
    changes: tuple[Change, ...]
    unmovable: tuple[str, ...]
    """What fired and no setting would have let through, one sentence each."""
    together: Verdict | None
    """With all changes that pass a gate at once; None where there is none."""
    changed_agents: frozenset[str]
    """Agents of that ballot that the roster has otherwise, or not any more."""


@dataclass(frozen=True, slots=True)
class _Scene:
    """Everything the gates look at; changed member by member."""

    policy: Policy
    message: InboundMessage
    evidence: Evidence
    beside: tuple[AgentSpec, ...] = ()
    """Agents that are not on the ballot."""

    @property
    def roster(self) -> Roster:
        return Roster((*self.evidence.ballot.agents, *self.beside))

    @property
    def target(self) -> Target:
        return resolve_target(
            self.policy,
            roster=self.roster,
            ballot=self.evidence.ballot,
            decision=self.known,
            circumstances=self.evidence.circumstances,
        )

    @property
    def known(self) -> Decision | None:
        decision = self.evidence.decision
        return decision if isinstance(decision, Decision) else None

    def verdict(self) -> Verdict:
        seen = self.evidence
        return decide(
            self.policy,
            message=self.message,
            roster=self.roster,
            ballot=seen.ballot,
            decision=seen.decision,
            floor=seen.floor,
            circumstances=seen.circumstances,
        )

    def with_policy(self, **values: Any) -> "_Scene":
        return replace(self, policy=replace(self.policy, **values))

    def with_agent(self, agent: AgentSpec, **values: Any) -> "_Scene":
        changed = replace(agent, **values)
        agents, beside = (
            tuple(changed if one.id == agent.id else one for one in group)
            for group in (self.evidence.ballot.agents, self.beside)
        )
        evidence = replace(self.evidence, ballot=Ballot({}, agents))
        return replace(self, evidence=evidence, beside=beside)

    def with_circumstances(self, **values: Any) -> "_Scene":
        told = replace(self.evidence.circumstances, **values)
        return replace(self, evidence=replace(self.evidence, circumstances=told))


@dataclass(frozen=True, slots=True)
class _Idea:
    """A change before it is tried."""

    gate: int
    settings: tuple[Setting, ...]
    scene: "_Scene"
    passes: bool = True


def look_back(kept: Mapping[str, Any], *, message: InboundMessage, roster: Roster) -> Hindsight:
    """Run the gates again over what was kept, and say what would have changed the outcome.

    Thresholds and limits are those of then, whatever policy and roster say now.

    Parameters
    ----------
    kept
        Of `clawmarshal.router.explanation.explanation`.
    message
        As it was accepted.
    roster
        The fleet of now; agents that are still the same are taken from it.
    """
    ballot, changed = ballot_then(kept, roster)
    evidence = replace(evidence_from(kept, message=message, roster=roster), ballot=ballot)
    # A pin passes the hard filters, so its agent may stand on no ballot; it is taken as it is now.
    known, pin = {agent.id for agent in ballot.agents}, evidence.circumstances.pin
    beside: tuple[AgentSpec, ...] = ()
    if pin is not None and pin in roster and pin not in known:
        beside = (roster[pin],)
    elif not known:
        beside = roster.agents
    scene = _Scene(policy_then(kept), message, evidence, beside)
    verdict = scene.verdict()
    fired = {gate.number for gate in verdict.gates}
    ideas = _passing(scene, fired) if fired else _firing(scene)
    tried = [idea for idea in ideas if _holds(idea)]
    passed = {idea.gate for idea in tried if idea.passes}
    return Hindsight(
        verdict=verdict,
        changes=tuple(_change(idea) for idea in tried),
        unmovable=tuple(gate.detail for gate in verdict.gates if gate.number not in passed),
        together=_together(scene, verdict),
        changed_agents=changed,
    )


def _holds(idea: _Idea) -> bool:
    fires = idea.gate in {gate.number for gate in idea.scene.verdict().gates}
    return fires is not idea.passes


def _change(idea: _Idea) -> Change:
    verdict = idea.scene.verdict()
    return Change(
        gate=idea.gate,
        settings=idea.settings,
        passes=idea.passes,
        outcome=verdict.outcome,
        reason=verdict.reason,
    )


def _together(scene: _Scene, verdict: Verdict) -> Verdict | None:
    """Take the first idea that works for each gate, one after the other."""
    found = None
    for _ in range(GATE_UNAVAILABLE):
        fired = {gate.number for gate in verdict.gates}
        idea = next((idea for idea in _passing(scene, fired) if _holds(idea)), None)
        if idea is None:
            break
        scene = idea.scene
        found = verdict = scene.verdict()
    return found


def _passing(scene: _Scene, fired: set[int]) -> Iterator[_Idea]:
    """Propose what would let each gate that fired pass."""
    for gate, ideas in (
        (GATE_RISK, _risk_passes),
        (GATE_LEGIBLE, _legible_passes),
        (GATE_LOOP, _loop_passes),
        (GATE_NO_MATCH, _match_passes),
        (GATE_UNCERTAIN, _sure_passes),
        (GATE_UNAVAILABLE, _available_passes),
    ):
        if gate in fired:
            yield from ideas(scene)


def _risk_passes(scene: _Scene) -> Iterator[_Idea]:
    view, policy = scene.verdict().risk, scene.policy
    high = view.probabilities.get(Risk.HIGH, 1.0)
    changed, settings = scene, []
    seen = scene.evidence
    for one in limiting_agents(
        seen.ballot, scene.known, target=scene.target, circumstances=seen.circumstances
    ):
        if view.top.level > one.risk_limit.level:
            changed = changed.with_agent(one, max_risk=view.top)
            settings.append(_setting(f"max_risk of {one.id}", one.risk_limit, view.top))
    if high > (most := policy.max_high_probability):
        changed = changed.with_policy(max_high_probability=_up(high))
        settings.append(_setting("policy.max_high_probability", most, _up(high)))
    yield _Idea(GATE_RISK, tuple(settings), changed)


def _legible_passes(scene: _Scene) -> Iterator[_Idea]:
    then = Directives.NEUTRALISE
    settings = (_setting("policy.directives", scene.policy.directives, then),)
    yield _Idea(GATE_LEGIBLE, settings, scene.with_policy(directives=then))


def _loop_passes(scene: _Scene) -> Iterator[_Idea]:
    policy, seen = scene.policy, scene.evidence.circumstances
    repeats = max(policy.loop_repeats, seen.repeats + 1)
    messages = max(policy.max_messages, seen.in_conversation, seen.from_sender)
    settings = (
        _setting("policy.loop_repeats", policy.loop_repeats, repeats),
        _setting("policy.max_messages", policy.max_messages, messages),
    )
    changed = scene.with_policy(loop_repeats=repeats, max_messages=messages)
    yield _Idea(GATE_LOOP, tuple(one for one in settings if one.was != one.instead), changed)


def _match_passes(scene: _Scene) -> Iterator[_Idea]:
    best = best_agent(scene.known)
    if best is None:
        return
    yield _pinned(scene, GATE_NO_MATCH, best)
    if scene.policy.fallback is None:
        settings = (_setting("policy.fallback", "none", f"an agent such as {best}"),)
        yield _Idea(GATE_NO_MATCH, settings, scene.with_policy(fallback=best))


def _sure_passes(scene: _Scene) -> Iterator[_Idea]:
    verdict, policy, agent = scene.verdict(), scene.policy, scene.target.agent
    changed, settings = scene, []
    own = agent.min_probability if agent else None
    least, enough = policy.min_probability if own is None else own, _down(verdict.confidence)
    if verdict.confidence < least:
        what, changed = _with_least(scene, agent, enough)
        settings.append(_setting(what, least, enough))
    if verdict.margin < policy.min_margin:
        narrow = _down(verdict.margin)
        changed = changed.with_policy(min_margin=narrow)
        settings.append(_setting("policy.min_margin", policy.min_margin, narrow))
    if settings:
        yield _Idea(GATE_UNCERTAIN, tuple(settings), changed)
    if (best := best_agent(scene.known)) is not None:
        yield _pinned(scene, GATE_UNCERTAIN, best)


def _with_least(scene: _Scene, agent: AgentSpec | None, value: float) -> tuple[str, _Scene]:
    """Change the threshold of probability that counts for the target, and name it."""
    if agent is None or agent.min_probability is None:
        return "policy.min_probability", scene.with_policy(min_probability=value)
    changed = scene.with_agent(agent, min_probability=value)
    return f"min_probability of {agent.id}", changed


def _available_passes(scene: _Scene) -> Iterator[_Idea]:
    agent, live = scene.target.agent, scene.evidence.circumstances.live_agents
    if agent is None:
        return
    changed, settings = scene, []
    if not agent.enabled:
        changed = changed.with_agent(agent, enabled=True)
        settings.append(_setting(f"enabled of {agent.id}", "no", "yes"))
    if live is not None and agent.id not in live:
        changed = changed.with_circumstances(live_agents=live | {agent.id})
        settings.append(_setting(f"{agent.id} in the live OpenClaw", "no", "yes"))
    yield _Idea(GATE_UNAVAILABLE, tuple(settings), changed)


def _firing(scene: _Scene) -> Iterator[_Idea]:
    """Propose what would have held a message that was let through."""
    verdict, policy, agent = scene.verdict(), scene.policy, scene.target.agent
    if agent is None:
        return
    if verdict.via not in (Via.PIN, Via.CONVERSATION):
        yield from _unsure(scene, verdict, agent)
    high = verdict.risk.probabilities.get(Risk.HIGH, 1.0)
    if (less := _down(high) - 1 / _STEP) > 0:
        settings = (
            _setting(
                "policy.max_high_probability", policy.max_high_probability, f"under {high:.4f}"
            ),
        )
        changed = scene.with_policy(max_high_probability=less)
        yield _Idea(GATE_RISK, settings, changed, passes=False)
    lower = [tier for tier in Risk if tier.level < verdict.risk.top.level]
    if lower:
        settings = (_setting(f"max_risk of {agent.id}", agent.risk_limit, lower[-1]),)
        changed = scene.with_agent(agent, max_risk=lower[-1])
        yield _Idea(GATE_RISK, settings, changed, passes=False)


def _unsure(scene: _Scene, verdict: Verdict, agent: AgentSpec) -> Iterator[_Idea]:
    own, policy = agent.min_probability, scene.policy
    least = policy.min_probability if own is None else own
    what, changed = _with_least(scene, agent, min(1.0, _up(verdict.confidence) + 1 / _STEP))
    settings = (_setting(what, least, f"over {verdict.confidence:.4f}"),)
    yield _Idea(GATE_UNCERTAIN, settings, changed, passes=False)
    wider = scene.with_policy(min_margin=min(1.0, _up(verdict.margin) + 1 / _STEP))
    settings = (_setting("policy.min_margin", policy.min_margin, f"over {verdict.margin:.4f}"),)
    yield _Idea(GATE_UNCERTAIN, settings, wider, passes=False)


def _pinned(scene: _Scene, gate: int, agent: str) -> _Idea:
    settings = (_setting("a pin, or a reviewer's approval,", "none", f"for {agent}"),)
    return _Idea(gate, settings, scene.with_circumstances(pin=agent))


def _setting(what: str, was: object, instead: object) -> Setting:
    return Setting(what, _text(was), _text(instead))


def _up(value: float) -> float:
    return min(1.0, math.ceil(round(value * _STEP, 6)) / _STEP)


def _down(value: float) -> float:
    return max(0.0, math.floor(round(value * _STEP, 6)) / _STEP)


def _text(value: object) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
