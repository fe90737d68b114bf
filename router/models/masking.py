"""Masking: what an operator wants to keep is cut out of questions too, before they leave; pure."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import assert_never

from clawmarshal.router.ballot import (
    Ballot,
    ChoiceQuestion,
    NoulQuestion,
    Question,
    ScoreQuestion,
)
from clawmarshal.router.redaction import Redactor

MAX_KEPT = 4096
"""Texts whose result is kept: a fleet's remits are the same for every message."""


class Masker:
    """Redact the texts of a ballot; the names of options stay, since answers come back by them.

    Parameters
    ----------
    redactor
        None, or one without patterns, leaves every ballot as it is.
    """

    def __init__(self, redactor: Redactor | None) -> None:
        self._redactor = redactor if redactor is not None and redactor.has_patterns else None
        self._kept: dict[str, tuple[str, int]] = {}

    def ballot(self, ballot: Ballot) -> tuple[Ballot, int]:
        """Return the ballot as it may leave, and how many places were cut out of its texts."""
        if self._redactor is None:
            return ballot, 0
        count = 0

        def mask(text: str) -> str:
            nonlocal count
            told, cuts = self._masked(text)
            count += cuts
            return told

        questions = {name: _each_text(one, mask) for name, one in ballot.questions.items()}
        return replace(ballot, questions=MappingProxyType(questions)), count

    def _masked(self, text: str) -> tuple[str, int]:
        if (known := self._kept.get(text)) is not None or self._redactor is None:
            return known or (text, 0)
        told = self._redactor.redact(text, max_chars=len(text))
        if len(self._kept) >= MAX_KEPT:
            self._kept.clear()
        self._kept[text] = told.text, told.count
        return told.text, told.count


def _each_text(question: Question, mask: Callable[[str], str]) -> Question:
    match question:
        case ChoiceQuestion():
            return ChoiceQuestion(mask(question.instructions), _values(question.criteria, mask))
        case ScoreQuestion():
            levels = tuple(mask(level) for level in question.criteria)
            return ScoreQuestion(mask(question.instructions), levels)
        case NoulQuestion():
            sides = question.criteria and _values(question.criteria, mask)
            return NoulQuestion(mask(question.instructions), sides)
        case _:
            assert_never(question)


def _values(criteria: Mapping[str, str], mask: Callable[[str], str]) -> Mapping[str, str]:
    return MappingProxyType({name: mask(text) for name, text in criteria.items()})
