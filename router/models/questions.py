"""The local model's answers to ballots, in System One form."""

from collections.abc import Mapping
from functools import partial
from typing import assert_never

from clawmarshal.roster.agent import AgentSpec
from clawmarshal.router.ballot import (
    NONE_OF_THESE,
    RISK_CRITERIA,
    Ballot,
    ChoiceQuestion,
    NoulQuestion,
    ScoreQuestion,
)
from clawmarshal.router.models.choose import BallotIndex, Chooser, Reading
from clawmarshal.router.models.features import Remit
from clawmarshal.router.models.head import Distribution, concentration
from clawmarshal.router.models.risk import RiskClassifier, risk_answer, shipped_head
from clawmarshal.router.models.risk_reader import RiskReader
from clawmarshal.router.risk import risk_floor

UNKNOWN = 0.5
"""The answer to a noul that says nothing, or about a text without words."""


class Respondent:
    """Answer every question of a ballot about one text.

    Choices between agents and the risk question are what the model was fitted for. Any other
    question is answered by how well its option texts fit the message, with the same features and
    weights: usable to rank, weaker than the fitted ones, and not calibrated.

    Parameters
    ----------
    chooser
        Not used by anybody else.
    risk
        Encodes for the risk classifier; None for the rules alone.
    """

    def __init__(self, chooser: Chooser, risk: RiskReader | None = None) -> None:
        self._chooser = chooser
        self._reader = risk
        self._classifier = RiskClassifier(shipped_head())

    @property
    def encoder_name(self) -> str | None:
        """Name the encoder; None where none takes part."""
        return None if self._chooser.encoder is None else self._chooser.encoder.name

    @property
    def is_lexical_only(self) -> bool:
        """Tell whether no encoder takes part."""
        return self._chooser.encoder is None

    @property
    def is_fitted(self) -> bool:
        """Tell whether the head was fitted with the encoder in use."""
        encoder = self._chooser.encoder
        return encoder is not None and encoder.name == self._chooser.heads.encoder

    def answers(self, ballot: Ballot, reading: Reading) -> Mapping[str, object]:
        """Answer each question under its id; what is asked twice is judged once."""
        agents = {agent.id: agent for agent in ballot.agents}
        judged: dict[object, dict[str, float]] = {}
        answers = {}
        for name, question in ballot.questions.items():
            match question:
                case ChoiceQuestion():
                    same = frozenset(question.criteria.items())
                    if same not in judged:
                        judged[same] = self._choice(question, agents, reading)
                    answers[name] = _chosen(question, judged[same])
                case ScoreQuestion():
                    answers[name] = self._score(question, reading)
                case NoulQuestion():
                    answers[name] = {"type": "noul", "noul": self._noul(question, reading)}
                case _:
                    assert_never(question)
        return answers

    def _choice(
        self, question: ChoiceQuestion, agents: Mapping[str, AgentSpec], reading: Reading
    ) -> dict[str, float]:
        # Not any choice between low, medium and high: those may be about urgency or price.
        if question.criteria == RISK_CRITERIA:
            return self._risk(reading)
        options = sorted(option for option in question.criteria if option != NONE_OF_THESE)
        has_none = NONE_OF_THESE in question.criteria
        if not options:
            return {NONE_OF_THESE: 1.0}
        if all(option in agents for option in options):
            asked = [agents[option] for option in options]
            index = self._chooser.index(
                tuple(agent.digest for agent in asked), lambda: [Remit.of(a) for a in asked]
            )
        else:
            index = self._generic([Remit(o, question.criteria[o] or "") for o in options])
        return _by_option(options, self._chooser.distribution(index, reading), has_none=has_none)

    def _risk(self, reading: Reading) -> dict[str, float]:
        text, reader = reading.text, self._reader
        vector = None if reader is None else partial(reader.vector, reading=reading)
        floor = risk_floor(text)
        return dict(risk_answer(text, floor, classifier=self._classifier, vector=vector))

    def _score(self, question: ScoreQuestion, reading: Reading) -> dict[str, object]:
        levels = [str(level) for level in range(len(question.criteria))]
        index = self._generic([Remit("", text) for text in question.criteria])
        fit = _by_option(levels, self._chooser.distribution(index, reading), has_none=False)
        return {
            "type": "score",
            "score": sum(int(level) * p for level, p in fit.items()),
            "legend": dict(zip(levels, question.criteria, strict=True)),
            "probabilities": fit,
            "confidence": concentration(list(fit.values())),
        }

    def _noul(self, question: NoulQuestion, reading: Reading) -> float:
        criteria = question.criteria or {}
        yes, no = criteria.get("true") or question.instructions, criteria.get("false")
        texts = [text for text in (yes, no) if text]
        if not texts:
            return UNKNOWN
        found = self._chooser.distribution(self._generic([Remit("", t) for t in texts]), reading)
        if found is None:
            return UNKNOWN
        against = found.options[1] if len(texts) == 2 else found.none
        share = found.options[0] / (found.options[0] + against)
        return share if yes else 1 - share

    def _generic(self, remits: list[Remit]) -> BallotIndex:
        return self._chooser.index(tuple(remits), lambda: remits)


def _by_option(
    options: list[str], found: Distribution | None, *, has_none: bool
) -> dict[str, float]:
    """Spread a distribution over option names; without a none option its share is divided."""
    if has_none:
        if found is None:
            return {**dict.fromkeys(options, 0.0), NONE_OF_THESE: 1.0}
        return {**dict(zip(options, found.options, strict=True)), NONE_OF_THESE: found.none}
    if found is None or not (total := sum(found.options)):
        return dict.fromkeys(options, 1 / len(options))
    return {o: p / total for o, p in zip(options, found.options, strict=True)}


def _chosen(question: ChoiceQuestion, fit: Mapping[str, float]) -> dict[str, object]:
    # Ties go to none of these, then by name, so that the order of a ballot decides nothing.
    best = min(fit, key=lambda option: (-fit[option], option != NONE_OF_THESE, option))
    return {
        "type": "choice",
        "choice": best,
        "probabilities": {option: fit[option] for option in question.criteria},
        "confidence": concentration(list(fit.values())),
    }
