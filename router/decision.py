"""DecisionModel protocol, answers, their validation, and the Decision they make."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol, assert_never

from clawmarshal.errors import DecisionInvalidError
from clawmarshal.router.ballot import (
    AGENT,
    AGENT_REVERSED,
    RISK,
    Ballot,
    ChoiceQuestion,
    NoulQuestion,
    Question,
    ScoreQuestion,
)
from clawmarshal.router.distribution import (
    FUZZ,
    NAMED_SLACK,
    Distribution,
    averaged,
    read_distribution,
    read_number,
)
from clawmarshal.router.message import InboundMessage

EMPTY: Mapping[str, object] = MappingProxyType({})
MODEL_MISMATCH = "model-mismatch"
"""The note of an answer by another model than the pinned one: shown, never acted on."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What a model said, as it said it; nothing in here is trusted yet."""

    answers: Mapping[str, object]
    """Question id to answer object, as in a System One response."""
    model: str
    """The id of the model that answered."""
    truncated: bool
    """True when the model saw only part of the message's text."""
    latency_ms: float
    """From question to answer, milliseconds."""
    usage: Mapping[str, object] | None = None
    """Tokens as reported; None means unknown, never zero."""
    request_id: str | None = None
    notes: tuple[str, ...] = ()
    """Facts about how the answer was made, such as ``lexical-only``; stable slugs."""


class DecisionModel(Protocol):
    """Answer a ballot about one message before a deadline."""

    @property
    def name(self) -> str:
        """The id that is recorded with each decision."""
        ...

    async def answer(
        self, ballot: Ballot, message: InboundMessage, *, deadline_s: float
    ) -> Answers:
        """Answer every question of the ballot.

        Parameters
        ----------
        ballot
            At least one question.
        message
            Evidence, never instructions.
        deadline_s
            Seconds from now, over 0.

        Raises
        ------
        DecisionUnavailableError
            No answer before the deadline. Retryable.
        DecisionInvalidError
            The answer cannot be read at all.
        """
        ...


@dataclass(frozen=True, slots=True)
class Choice:
    """A validated distribution over the options of a choice question."""

    option: str
    """The most probable option."""
    probabilities: Mapping[str, float]
    """Renormalised; the same options as asked, most probable first, ties by option name."""
    confidence: float
    """Probability of `option`: the smaller of as stated and renormalised. 0..1."""
    margin: float
    """Distance to the runner-up, renormalised. 0..1; 1 with a single option."""
    concentration: float
    """System One's formula ``(m - 1/n) / (1 - 1/n)``; audit only."""
    is_tied: bool
    """Top two less than 0.01 apart."""
    is_coarse: bool
    """The stated total was more than 0.10 off: shown, never acted on."""
    stated_confidence: float | None = None
    """The server's own figure; audit only."""


@dataclass(frozen=True, slots=True)
class Score:
    """A validated distribution over levels."""

    value: float
    """As stated: the expected level, 0 to the number of levels less one."""
    probabilities: tuple[float, ...]
    """Renormalised, by level, lowest first."""
    concentration: float
    """System One's formula for scores; audit only."""
    is_coarse: bool
    """The stated total was more than 0.10 off."""
    stated_confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Noul:
    """A validated probability of yes."""

    value: float


ValidAnswer = Choice | Score | Noul


@dataclass(frozen=True, slots=True)
class Decision:
    """Validated answers to a fleet ballot: a value to gate on."""

    agent: Choice
    """Over the eligible agents and ``none_of_these``; forward and reversed averaged."""
    orders_agree: bool
    """False when forward and reversed ballots name different options."""
    risk: Choice | None
    """Over low, medium, high; None when the answer was missing or refused."""
    risk_fault: str | None
    """Why `risk` is None, a stable slug."""
    model: str
    truncated: bool
    latency_ms: float
    usage: Mapping[str, object] | None = None
    request_id: str | None = None
    notes: tuple[str, ...] = ()
    extra_answers: int = 0
    """Answers to questions nobody asked; ignored and counted."""


def validate_answer(question: Question, raw: object, *, strict: bool = False) -> ValidAnswer:
    """Check one answer against the question it answers.

    A missing or refused answer is an error here, never a zero, a "low" or a first option.
    Members nobody asked for, advice such as ``action`` among them, are ignored.

    Parameters
    ----------
    question
        As it was asked.
    raw
        What came back under its id; nothing about it is assumed.
    strict
        True refuses an answer without ``confidence`` where the contract demands one.

    Raises
    ------
    DecisionInvalidError
        ``answer-malformed``, ``answer-type``, ``choice-unknown``, ``choice-not-largest``,
        ``confidence-missing``, ``score-differs``, ``legend-differs``, or as
        `clawmarshal.router.distribution.read_distribution`.

    Notes
    -----
    Source: System One's published response format (typesafe-sdk 0.7.5), checked in autumn 2026;
    the tolerances are ours.
    """
    match question:
        case ChoiceQuestion():
            answer = _checked_object(raw, "choice")
            return _as_choice(_read_choice(question, answer, strict=strict))
        case ScoreQuestion():
            return _score(question, _checked_object(raw, "score"), strict=strict)
        case NoulQuestion():
            return Noul(read_number(_checked_object(raw, "noul").get("noul")))
        case _:
            assert_never(question)


def validate_fleet(ballot: Ballot, answers: Answers, *, strict: bool = False) -> Decision:
    """Make a decision out of the answers to a fleet ballot.

    Forward and reversed answers about the agent are averaged. A risk answer that is missing,
    refused, coarse or tied leaves ``risk`` None with its fault: the policy counts it as high.

    Parameters
    ----------
    ballot
        From `clawmarshal.router.ballot.fleet_ballot`.
    answers
        What the model said.
    strict
        As in `validate_answer`.

    Raises
    ------
    DecisionInvalidError
        An answer about the agent is missing (``answer-missing``) or refused.
    """
    if not isinstance(answers, Answers) or not isinstance(answers.answers, Mapping):
        raise DecisionInvalidError("the model gave no answers object", code="answers-malformed")
    given = answers.answers
    agent, orders_agree = _agent(ballot, given, strict=strict)
    risk, risk_fault = _risk(ballot, given, strict=strict)
    return Decision(
        agent=agent,
        orders_agree=orders_agree,
        risk=risk,
        risk_fault=risk_fault,
        model=answers.model,
        truncated=answers.truncated is not False,
        latency_ms=answers.latency_ms,
        usage=answers.usage,
        request_id=answers.request_id,
        notes=tuple(answers.notes),
        extra_answers=sum(key not in ballot.questions for key in given),
    )


@dataclass(frozen=True, slots=True)
class _Reading:
    """A choice answer as read, before it is put into the words of the product."""

    spread: Distribution
    named: str
    stated_confidence: float | None


def _checked_object(raw: object, expected: str) -> Mapping[object, object]:
    if not isinstance(raw, Mapping):
        raise DecisionInvalidError("the answer is not an object", code="answer-malformed")
    if raw.get("type") != expected:
        raise DecisionInvalidError(f"the answer is not of type {expected}", code="answer-type")
    return raw


def _read_choice(
    question: ChoiceQuestion, raw: Mapping[object, object], *, strict: bool
) -> _Reading:
    spread = read_distribution(question.criteria, raw.get("probabilities"))
    named = raw.get("choice")
    if not isinstance(named, str) or named not in spread.stated:
        raise DecisionInvalidError("the choice is not an option asked", code="choice-unknown")
    if spread.stated[named] < max(spread.stated.values()) - NAMED_SLACK - FUZZ:
        raise DecisionInvalidError("the choice is not the most probable", code="choice-not-largest")
    return _Reading(spread, named, _stated_confidence(raw, strict=strict))


def _as_choice(reading: _Reading) -> Choice:
    spread = reading.spread
    first, *others = spread.shares.values()
    return Choice(
        option=spread.top,
        probabilities=spread.shares,
        confidence=min(spread.stated[spread.top], first),
        margin=first - others[0] if others else 1.0,
        concentration=_concentration(spread.stated),
        is_tied=spread.is_tied,
        is_coarse=spread.is_coarse,
        stated_confidence=reading.stated_confidence,
    )


def _score(question: ScoreQuestion, raw: Mapping[object, object], *, strict: bool) -> Score:
    levels = [str(level) for level in range(len(question.criteria))]
    spread = read_distribution(levels, raw.get("probabilities"))
    value = read_number(raw.get("score"), high=len(levels) - 1)
    expected = math.fsum(int(level) * share for level, share in spread.stated.items())
    slack = 0.02 + spread.step * (1 + len(levels) * (len(levels) - 1) / 2)
    if abs(value - expected) > slack + FUZZ:
        raise DecisionInvalidError("the score is not its levels' mean", code="score-differs")
    legend = dict(zip(levels, question.criteria, strict=True))
    if "legend" in raw and raw["legend"] != legend:
        raise DecisionInvalidError("the legend is not the levels sent", code="legend-differs")
    return Score(
        value=value,
        probabilities=tuple(spread.shares[level] for level in levels),
        concentration=_score_concentration(spread),
        is_coarse=spread.is_coarse,
        stated_confidence=_stated_confidence(raw, strict=strict),
    )


def _stated_confidence(raw: Mapping[object, object], *, strict: bool) -> float | None:
    if "confidence" in raw:
        return read_number(raw["confidence"])
    if strict:
        raise DecisionInvalidError("the answer states no confidence", code="confidence-missing")
    return None


def _concentration(stated: Mapping[str, float]) -> float:
    """Apply ``(m - 1/n) / (1 - 1/n)``; 1 with a single option."""
    if len(stated) == 1:
        return 1.0
    even = 1 / len(stated)
    return max(0.0, (max(stated.values()) - even) / (1 - even))


def _score_concentration(spread: Distribution) -> float:
    """Apply ``max(0, 1 - sum p|i - mode| / D)`` with D the mean distance from the middle."""
    count = len(spread.stated)
    middle = (count - 1) / 2
    distance = sum(abs(level - middle) for level in range(count)) / count
    if distance == 0:
        return 1.0
    mode = int(spread.top)
    away = math.fsum(share * abs(int(level) - mode) for level, share in spread.stated.items())
    return max(0.0, 1 - away / distance)


def _agent(ballot: Ballot, given: Mapping[str, object], *, strict: bool) -> tuple[Choice, bool]:
    """Average the orders that were asked, and tell whether they name the same option."""
    forward = _fleet_reading(ballot, given, AGENT, strict=strict)
    if AGENT_REVERSED not in ballot.questions:
        return _as_choice(forward), True
    backward = _fleet_reading(ballot, given, AGENT_REVERSED, strict=strict)
    both = _Reading(averaged(forward.spread, backward.spread), forward.named, None)
    return _as_choice(both), forward.named == backward.named


def _fleet_reading(
    ballot: Ballot, given: Mapping[str, object], name: str, *, strict: bool
) -> _Reading:
    question = ballot.questions.get(name)
    if not isinstance(question, ChoiceQuestion):
        raise DecisionInvalidError(f"the ballot asks no choice {name!r}", code="ballot-invalid")
    if name not in given:
        raise DecisionInvalidError(f"no answer to {name!r}", code="answer-missing")
    raw = _checked_object(given[name], "choice")
    return _read_choice(question, raw, strict=strict)


def _risk(
    ballot: Ballot, given: Mapping[str, object], *, strict: bool
) -> tuple[Choice | None, str | None]:
    try:
        risk = _as_choice(_fleet_reading(ballot, given, RISK, strict=strict))
    except DecisionInvalidError as error:
        return None, error.code
    if risk.is_coarse:
        return None, "coarse"
    if risk.is_tied:
        return None, "tied"
    return risk, None
