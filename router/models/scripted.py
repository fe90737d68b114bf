"""ScriptedModel: a DecisionModel that answers what it was given, or raises it."""

from collections.abc import Callable, Mapping

from clawmarshal.errors import DecisionError
from clawmarshal.router.ballot import (
    AGENT,
    AGENT_REVERSED,
    RISK,
    Ballot,
    ChoiceQuestion,
)
from clawmarshal.router.decision import Answers
from clawmarshal.router.message import InboundMessage

Scene = Answers | Mapping[str, object] | DecisionError
Script = Scene | Callable[[Ballot, InboundMessage], Scene]


class ScriptedModel:
    """Answer by a script: for demonstrations, tests and rehearsals, never a judgement.

    Parameters
    ----------
    script
        One scene per question, in order; the last one repeats. A scene is the ``answers`` object
        of a response, whole `Answers`, an error to raise, or a function that makes one of these
        of ballot and message.
    name
        The id that is recorded with each decision.

    Raises
    ------
    ValueError
        The script is empty.
    """

    def __init__(self, *script: Script, name: str = "scripted") -> None:
        if not script:
            raise ValueError("a scripted model needs at least one scene")
        self._script = script
        self._name = name
        self.asked: list[tuple[Ballot, InboundMessage]] = []
        """What it was asked, in order."""

    @property
    def name(self) -> str:
        """The id that is recorded with each decision."""
        return self._name

    async def answer(
        self, ballot: Ballot, message: InboundMessage, *, deadline_s: float
    ) -> Answers:
        """Play the next scene; the deadline plays no part.

        Raises
        ------
        DecisionError
            The scene is one.
        """
        del deadline_s
        turn = min(len(self.asked), len(self._script) - 1)
        self.asked.append((ballot, message))
        scene = self._script[turn]
        if callable(scene):
            scene = scene(ballot, message)
        if isinstance(scene, DecisionError):
            raise scene
        if isinstance(scene, Answers):
            return scene
        return Answers(scene, model=self._name, truncated=False, latency_ms=0.0)


def scripted_answers(
    ballot: Ballot, *, agent: Mapping[str, float], risk: Mapping[str, float]
) -> dict[str, object]:
    """Make the ``answers`` object of a fleet ballot out of a few probabilities.

    Parameters
    ----------
    ballot
        Its choice questions about the agent, in both orders, and about risk are answered.
    agent, risk
        Option to probability; what is left to 1 is shared by the options not named.
    """
    shares = {AGENT: agent, AGENT_REVERSED: agent, RISK: risk}
    return {
        name: _choice_answer(question, shares[name])
        for name, question in ballot.questions.items()
        if name in shares and isinstance(question, ChoiceQuestion)
    }


def _choice_answer(question: ChoiceQuestion, named: Mapping[str, float]) -> dict[str, object]:
    rest = [option for option in question.criteria if option not in named]
    each = max(0.0, 1 - sum(named.values())) / len(rest) if rest else 0.0
    shares = {str(option): named.get(option, each) for option in question.criteria}
    return {
        "type": "choice",
        "choice": max(shares, key=lambda option: shares[option]),
        "confidence": max(shares.values()),
        "probabilities": shares,
    }
