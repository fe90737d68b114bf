"""The System One dialect at our own door: bodies in, answers and errors out."""

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, Literal, assert_never

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictStr, ValidationError

from clawmarshal.api.problems import Problem
from clawmarshal.api.rates import RateLimit
from clawmarshal.router.ballot import (
    Ballot,
    ChoiceQuestion,
    NoulQuestion,
    Question,
    ScoreQuestion,
)
from clawmarshal.router.decision import Answers, DecisionModel, Noul, Score, validate_answer
from clawmarshal.router.directives import is_blank
from clawmarshal.router.message import InboundMessage

ALIAS = "jev-latest"
"""What clients send that name no model; always accepted."""
ALIASES = frozenset({ALIAS, "kev-latest"})
"""Also what OpenClaw's TypeSafe plugin calls whatever answers at a loopback address."""
MAX_BODY_BYTES = 1024 * 1024
MAX_QUESTIONS = 64
MAX_OPTIONS = 255
MAX_LEVELS = 10
MAX_TOKENS = 64_000
"""State and all questions; counted as a quarter of their bytes of UTF-8."""
MAX_QUESTION_TOKENS = 16_000
"""All questions: the offline model reads about 5,000 tokens of them a second."""
MAX_FAULTS = 20
DECIMALS = 6
MAX_WAITING = 32
RATE_PER_MINUTE = 600


class DialectError(Exception):
    """A refusal in System One's shape.

    Parameters
    ----------
    status
        Of the response.
    detail
        An object with ``error_type``, or the list of a validation error.
    headers
        More headers of the response.
    """

    def __init__(
        self, status: int, detail: object, *, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})


def refusal(
    status: int, error_type: str, message: str, *, headers: Mapping[str, str] | None = None
) -> DialectError:
    """Make a refusal with a type and one sentence."""
    return DialectError(status, {"error_type": error_type, "message": message}, headers=headers)


@dataclass(slots=True)
class SystemOneDoor:
    """Who answers at ``/v1/systemone``, and on what terms."""

    model: DecisionModel
    deadline_s: float = 4.0
    rate: RateLimit = field(default_factory=lambda: RateLimit(RATE_PER_MINUTE))
    open_on_loopback: bool = False
    """True lets peers on loopback in without a known key."""
    _turn: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    _waiting: int = 0

    async def answer(self, ballot: Ballot, message: InboundMessage) -> Answers:
        """Ask the model, one request at a time, so that routing waits for one at most.

        Raises
        ------
        DialectError
            529: too many are waiting.
        DecisionError
            As the model's.
        """
        if self._waiting >= MAX_WAITING:
            raise refusal(
                529, "overloaded_error", "Too many are waiting.", headers={"Retry-After": "1"}
            )
        self._waiting += 1
        try:
            async with self._turn:
                return await self.model.answer(ballot, message, deadline_s=self.deadline_s)
        finally:
            self._waiting -= 1


def _known_text(value: object) -> object:
    if value is None or not isinstance(value, str | dict | list):
        raise ValueError("a string, an object or an array")
    return value


Text = Annotated[Any, BeforeValidator(_known_text)]
"""A string, an object or an array."""
Name = Annotated[StrictStr, Field(min_length=1)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class ChoiceBody(_Part):
    """Ask for one of the named options."""

    type: Literal["choice"]
    instructions: Text | None = None
    criteria: dict[Name, Text | None] = Field(min_length=1)


class ScoreBody(_Part):
    """Ask for a level, lowest first."""

    type: Literal["score"]
    instructions: Text | None = None
    criteria: list[Text] = Field(min_length=1)


class NoulBody(_Part):
    """Ask whether something is so."""

    type: Literal["noul"]
    instructions: Text | None = None
    criteria: dict[Literal["true", "false"], Text | None] | None = None


QuestionBody = Annotated[ChoiceBody | ScoreBody | NoulBody, Field(discriminator="type")]


class SystemOneBody(_Part):
    """State, and typed questions about it; unknown members are ignored."""

    model: Name
    state: Text
    questions: dict[Name, QuestionBody] = Field(min_length=1)


def read_body(value: object) -> SystemOneBody:
    """Check a parsed body.

    Raises
    ------
    DialectError
        422 with its faults; 400 for more options, levels, questions or tokens than are answered.
    """
    try:
        body = SystemOneBody.model_validate(value)
    except ValidationError as error:
        raise DialectError(422, _faults(error)) from None
    _check_limits(body)
    return body


def of_problem(problem: Problem, *, status: int) -> DialectError:
    """Put a problem of ours into System One's shape."""
    if problem.code in ("body-too-large", "body-timeout", "media-type", "caller-gone"):
        kind = "request_too_large" if problem.code == "body-too-large" else "invalid_request_error"
        return refusal(status, kind, problem.detail, headers=problem.headers)
    return DialectError(422, [_fault([], problem.detail, problem.code.replace("-", "_"))])


def ballot_of(body: SystemOneBody) -> Ballot:
    """Turn the questions into a ballot; ids are never shown to a model."""
    return Ballot(MappingProxyType({name: _question(q) for name, q in body.questions.items()}))


def message_of(body: SystemOneBody) -> InboundMessage:
    """Turn the state into the text that is judged; nothing is ever launched with it."""
    text = plain_text(body.state).replace("\x00", "\ufffd").lstrip("\ufeff")
    return InboundMessage("-" if is_blank(text) else text)


def plain_text(value: object) -> str:
    """Write a string, object or array as text: one line per member, names before values.

    The only member of an object is written without its name: a state such as
    ``{"message": "…"}`` is about its message.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(plain_text(one) for one in value)
    if isinstance(value, dict):
        if len(value) == 1:
            return plain_text(*value.values())
        return "\n".join(f"{name}: {plain_text(one)}" for name, one in value.items())
    return json.dumps(value)


def answers_of(
    body: SystemOneBody, ballot: Ballot, raw: Mapping[str, object]
) -> dict[str, dict[str, object]]:
    """Validate what a model said and write it as a System One answer; confidence is recomputed.

    Raises
    ------
    DecisionInvalidError
        A model of another hand gave something that is no answer.
    """
    return {
        name: _answer(question, raw.get(name), asked=body.questions[name])
        for name, question in ballot.questions.items()
    }


def usage_of(body: SystemOneBody) -> dict[str, int]:
    """Estimate the tokens: a quarter of the bytes that were read, one for each answer."""
    questions = sum(_tokens(question) for question in body.questions.values())
    return {
        "input_tokens": _size(body.state) + questions,
        "output_tokens": len(body.questions),
    }


def _question(body: ChoiceBody | ScoreBody | NoulBody) -> Question:
    instructions = plain_text(body.instructions) if body.instructions is not None else ""
    match body:
        case ChoiceBody():
            options = {name: plain_text(v) if v else "" for name, v in body.criteria.items()}
            return ChoiceQuestion(instructions, MappingProxyType(options))
        case ScoreBody():
            return ScoreQuestion(instructions, tuple(plain_text(one) for one in body.criteria))
        case NoulBody():
            sides = {str(k): plain_text(v) for k, v in (body.criteria or {}).items() if v}
            return NoulQuestion(instructions, MappingProxyType(sides) if sides else None)
        case _:
            assert_never(body)


def _answer(
    question: Question, raw: object, *, asked: ChoiceBody | ScoreBody | NoulBody
) -> dict[str, object]:
    valid = validate_answer(question, raw)
    if isinstance(valid, Noul):
        return {"type": "noul", "noul": round(valid.value, DECIMALS)}
    if isinstance(valid, Score):
        levels = [str(level) for level in range(len(valid.probabilities))]
        shares = dict(zip(levels, _rounded(valid.probabilities), strict=True))
        texts = [plain_text(level) for level in asked.criteria or ()]
        return {
            "type": "score",
            "score": round(math.fsum(int(k) * share for k, share in shares.items()), DECIMALS),
            "legend": dict(zip(levels, texts, strict=True)),
            "probabilities": shares,
            "confidence": round(valid.concentration, DECIMALS),
        }
    options = list(asked.criteria or ())
    stated = _rounded([valid.probabilities[option] for option in options])
    return {
        "type": "choice",
        "choice": valid.option,
        "probabilities": dict(zip(options, stated, strict=True)),
        "confidence": round(valid.concentration, DECIMALS),
    }


def _rounded(shares: Sequence[float]) -> list[float]:
    return [round(share, DECIMALS) for share in shares]


def _check_limits(body: SystemOneBody) -> None:
    if len(body.questions) > MAX_QUESTIONS:
        raise _usage(f"Too many questions. Must have at most {MAX_QUESTIONS} questions.")
    for question in body.questions.values():
        if isinstance(question, ChoiceBody) and len(question.criteria) > MAX_OPTIONS:
            raise _usage(f"Too many choices. Must have at most {MAX_OPTIONS} choices.")
        if isinstance(question, ScoreBody) and len(question.criteria) > MAX_LEVELS:
            raise _usage(f"Too many score levels. Must have at most {MAX_LEVELS} levels.")
        if isinstance(question, NoulBody) and _says_nothing(question):
            message = "A noul needs instructions or criteria."
            raise DialectError(422, [_fault(["questions"], message, "value_error")])
    questions = sum(_tokens(question) for question in body.questions.values())
    if questions > MAX_QUESTION_TOKENS or questions + _size(body.state) > MAX_TOKENS:
        message = f"At most {MAX_TOKENS} tokens, {MAX_QUESTION_TOKENS} of them in questions."
        raise refusal(400, "max_tokens_exceeded", message)


def _says_nothing(question: NoulBody) -> bool:
    return not question.instructions and not any((question.criteria or {}).values())


def _usage(message: str) -> DialectError:
    return refusal(400, "api_usage_error", message)


def _tokens(question: ChoiceBody | ScoreBody | NoulBody) -> int:
    return _size(question.model_dump(exclude={"type"}))


def _size(value: object) -> int:
    return math.ceil(len(json.dumps(value, ensure_ascii=False).encode()) / 4)


def _faults(error: ValidationError) -> list[dict[str, object]]:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [
        _fault(
            [part if isinstance(part, int) else part[:64] for part in one["loc"]],
            one["msg"].removeprefix("Value error, ")[:200],
            one["type"],
        )
        for one in found[:MAX_FAULTS]
    ]


def _fault(place: Sequence[str | int], message: str, kind: str) -> dict[str, object]:
    return {"loc": ["body", *place], "msg": message, "type": kind}
