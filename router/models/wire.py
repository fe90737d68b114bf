"""Wire types of System One: what is sent, and what of a response is read."""

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, assert_never

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from clawmarshal.router.ballot import ChoiceQuestion, NoulQuestion, Question, ScoreQuestion

MAX_NAME_CHARS = 200
_NAME = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?", re.ASCII)
_COUNTS = ("input_tokens", "output_tokens", "cost")


class Wire(BaseModel):
    """A part of a request; nothing is added that the format does not name."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class WireChoice(Wire):
    """A choice question as it is sent."""

    type: Literal["choice"] = "choice"
    instructions: Annotated[str, Field(min_length=1)]
    criteria: dict[str, str]


class WireScore(Wire):
    """A score question as it is sent: levels in a list, lowest first."""

    type: Literal["score"] = "score"
    instructions: Annotated[str, Field(min_length=1)]
    criteria: list[str]


class WireNoul(Wire):
    """A yes-or-no question as it is sent; both criteria or none."""

    type: Literal["noul"] = "noul"
    instructions: Annotated[str, Field(min_length=1)]
    criteria: dict[str, str] | None = None


class WireRequest(Wire):
    """A whole request."""

    model: str
    state: dict[str, Any]
    questions: Annotated[dict[str, WireChoice | WireScore | WireNoul], Field(min_length=1)]

    def body(self) -> bytes:
        """Serialise as it is sent: compact UTF-8, options in their order."""
        return self.model_dump_json(exclude_none=True).encode()


def printable_name(value: object) -> str | None:
    """Return a name that a server gave if it can be recorded: 1 to 200 printable ASCII."""
    return value if isinstance(value, str) and _NAME.fullmatch(value) else None


def known_usage(value: object) -> dict[str, object] | None:
    """Keep the figures we know of a usage object; None where there is none.

    What is absent, or a count of no input, is unknown, and never a cost of nothing.
    """
    if not isinstance(value, Mapping):
        return None
    figures = {name: value[name] for name in _COUNTS if _is_count(value.get(name))}
    if figures.get("input_tokens") == 0:  # no request is empty: the server does not count
        del figures["input_tokens"]
    return figures or None


class WireResponse(BaseModel):
    """What is read of a response; members that are not known, or not well formed, are left out."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    answers: dict[str, object]
    model: Annotated[str | None, BeforeValidator(printable_name)] = None
    usage: Annotated[dict[str, object] | None, BeforeValidator(known_usage)] = None
    id: Annotated[str | None, BeforeValidator(printable_name)] = None
    provider: Annotated[str | None, BeforeValidator(printable_name)] = None


def wire_question(question: Question, *, texts: Mapping[str, str] | None = None) -> Wire:
    """Put a question into the form in which it is sent.

    Parameters
    ----------
    question
        With instructions that are not empty.
    texts
        Descriptions to send in place of a choice's own, by option.
    """
    match question:
        case ChoiceQuestion():
            known = texts or {}
            criteria = {name: known.get(name, text) for name, text in question.criteria.items()}
            return WireChoice(instructions=question.instructions, criteria=criteria)
        case ScoreQuestion():
            return WireScore(instructions=question.instructions, criteria=list(question.criteria))
        case NoulQuestion():
            criteria_or_none = dict(question.criteria) if question.criteria else None
            return WireNoul(instructions=question.instructions, criteria=criteria_or_none)
        case _:
            assert_never(question)


def _is_count(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value < 10**15 and math.isfinite(value)
