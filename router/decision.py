"""DecisionModel protocol, answers, their validation, and the Decision they make."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from clawmarshal.router.ballot import Ballot
from clawmarshal.router.message import InboundMessage

EMPTY: Mapping[str, object] = MappingProxyType({})


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
    probabilities: tuple[float, ...]
    concentration: float
    is_coarse: bool
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
