"""Scenes: a message that would be dispatched, and what makes each gate fire on it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from clawmarshal.errors import DecisionError
from clawmarshal.roster.agent import AgentSpec, Risk
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ballot import fleet_ballot
from clawmarshal.router.decision import Decision
from clawmarshal.router.gates import GATES, GateRule
from clawmarshal.router.message import Attachment, InboundMessage
from clawmarshal.router.policy import Circumstances, Policy, Verdict, decide, reconsider
from clawmarshal.router.risk import RiskFloor
from clawmarshal.router.route import Outcome, Reason
from tests.support.deciding import FINANCE, LOW, PERSONAL, SECURITY, SURE, decision

CALM_FLOOR = RiskFloor(Risk.LOW)
DEFAULTS = Policy()
NOTHING_SPECIAL = Circumstances(is_english=True)
UNSURE = {"finance": 0.42, "personal": 0.40, "security": 0.10, "none_of_these": 0.08}
NONE_WINS = {"finance": 0.06, "personal": 0.02, "security": 0.02, "none_of_these": 0.90}
NONE_BARELY = {"finance": 0.42, "personal": 0.08, "security": 0.06, "none_of_these": 0.44}


@dataclass(frozen=True)
class Scene:
    """Everything `decide` takes, with values that dispatch to finance."""

    text: str = "When is the tax due?"
    attachments: tuple[Attachment, ...] = ()
    agents: tuple[AgentSpec, ...] = (FINANCE, PERSONAL, SECURITY)
    agent: Mapping[str, float] = field(default_factory=lambda: SURE)
    risk: Mapping[str, float] = field(default_factory=lambda: LOW)
    change: Callable[[Decision], Decision | DecisionError] = lambda found: found
    floor: RiskFloor = CALM_FLOOR
    policy: Policy = DEFAULTS
    circumstances: Circumstances = NOTHING_SPECIAL

    def given(self, **more: Any) -> "Scene":
        """The scene with other circumstances."""
        return replace(self, circumstances=replace(self.circumstances, **more))

    def ruled(self, **more: Any) -> "Scene":
        """The scene under another policy."""
        return replace(self, policy=replace(self.policy, **more))

    @property
    def roster(self) -> Roster:
        """The fleet of the scene."""
        return Roster(self.agents)

    def decide(self, gates: tuple[GateRule, ...] = GATES) -> Verdict:
        """Decide it."""
        message = InboundMessage(self.text, attachments=self.attachments)
        return decide(
            self.policy,
            message=message,
            roster=self.roster,
            ballot=fleet_ballot(self.roster, message),
            decision=self.change(decision(self.agent, self.risk, roster=self.roster)),
            floor=self.floor,
            circumstances=self.circumstances,
            _gates=gates,
        )

    def reconsider(self, agent: str) -> Verdict:
        """Reconsider it for another agent."""
        message = InboundMessage(self.text, attachments=self.attachments)
        return reconsider(
            self.policy,
            message=message,
            roster=self.roster,
            ballot=fleet_ballot(self.roster, message),
            decision=self.change(decision(self.agent, self.risk, roster=self.roster)),
            floor=self.floor,
            circumstances=self.circumstances,
            agent=agent,
        )


def coarse(found: Decision) -> Decision:
    """The decision with an answer about the agent that is too coarse to act on."""
    return replace(found, agent=replace(found.agent, is_coarse=True))


def _none_wins(scene: Scene) -> Scene:
    return replace(scene, agent=NONE_BARELY if scene.agent is UNSURE else NONE_WINS)


def _unsure(scene: Scene) -> Scene:
    return replace(scene, agent=NONE_BARELY if scene.agent is NONE_WINS else UNSURE)


FIRE: Mapping[int, Callable[[Scene], Scene]] = {
    1: lambda scene: scene.given(caller_gone=True),
    2: lambda scene: replace(scene, change=coarse),
    3: lambda scene: replace(scene, floor=RiskFloor(Risk.HIGH, ("money",))),
    4: lambda scene: replace(scene, attachments=(Attachment("image"),)),
    5: lambda scene: replace(scene, text="/deploy prod"),
    6: lambda scene: scene.given(repeats=3),
    7: _none_wins,
    8: _unsure,
    9: lambda scene: scene.given(live_agents=frozenset({"personal"})),
}
"""Gate number to what makes that gate fire, and no other."""


CALM = Scene()


def fired(verdict: Verdict) -> list[int]:
    """The numbers of the gates that fired."""
    return [gate.number for gate in verdict.gates]


def detail(verdict: Verdict) -> str:
    """What the first gate says."""
    return verdict.gates[0].detail


def summary(verdict: Verdict) -> tuple[Outcome, Reason]:
    """Outcome and reason."""
    return verdict.outcome, verdict.reason


def failing(error: object) -> Scene:
    """The calm scene with this in the place of a decision."""
    change: Any = lambda _: error  # noqa: E731 -- anything may come
    return replace(CALM, change=change)


def with_finance(**changes: Any) -> Scene:
    """The calm scene with another finance agent."""
    return replace(CALM, agents=(replace(FINANCE, **changes), PERSONAL, SECURITY))


def shares(finance: float, personal: float) -> dict[str, float]:
    """A distribution over the fleet; the rest is shared evenly."""
    rest = (1 - finance - personal) / 2
    return {"finance": finance, "personal": personal, "security": rest, "none_of_these": rest}
