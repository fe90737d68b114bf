"""The word tables and rows, compiled to bits for one pass over a text; pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from operator import or_

from clawmarshal.roster.agent import Risk
from clawmarshal.router.folding import fold
from clawmarshal.router.rules.addressed import ADDRESSED_ROWS
from clawmarshal.router.rules.english import ENGLISH
from clawmarshal.router.rules.high import HIGH_ROWS
from clawmarshal.router.rules.medium import MEDIUM_ROWS
from clawmarshal.router.rules.row import Row
from clawmarshal.router.rules.tongues import TONGUES

ROWS: tuple[Row, ...] = (*HIGH_ROWS, *MEDIUM_ROWS, *ADDRESSED_ROWS)
MARKS = ("request", "request_buy", "address", "foreign")
"""Classes that no table lists: they are given by where a word stands, or by its shape."""
UNSPACED = "\u0e00"
"""From here on scripts are written without blanks (Thai, Han, kana) or glue endings (Hangul)."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A row with its classes as bits."""

    row: Row
    parts: tuple[int, ...]
    """One mask per class the row needs; the trigger first."""
    trigger: int
    """The first of them."""
    voided_by: int

    @property
    def every(self) -> int:
        """All its classes together."""
        return reduce(or_, self.parts)


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Every form of every word, as bits."""

    bits: Mapping[str, int]
    """Class name to bit."""
    forms: Mapping[str, int]
    """Folded word to its classes."""
    phrases: Mapping[str, Mapping[str, Sequence[tuple[tuple[str, ...], int]]]]
    """First and second word of a phrase to the words that follow and the classes."""
    unspaced: Mapping[str, tuple[str, ...]]
    """First letter to the words of unspaced scripts, longest first."""
    rules: tuple[Rule, ...]
    triggers: int
    """Without one of these no rule can fire."""
    risky: int
    """The classes of the high rows."""


@cache
def lexicon() -> Lexicon:
    """Compile the tables, once."""
    names = sorted({*ENGLISH, *TONGUES, *MARKS})
    bits = {name: 1 << i for i, name in enumerate(names)}
    forms: dict[str, int] = {}
    phrases: dict[str, dict[str, list[tuple[tuple[str, ...], int]]]] = {}
    for table, mark in ((ENGLISH, 0), (TONGUES, bits["foreign"])):
        for name, words in table.items():
            for first, rest in _spelled_out(words):
                if rest:
                    seconds = phrases.setdefault(first, {})
                    seconds.setdefault(rest[0], []).append((rest[1:], bits[name]))
                else:
                    forms[first] = forms.get(first, mark) | bits[name]
    rules = tuple(_rule(row, bits) for row in ROWS)
    return Lexicon(
        bits,
        forms,
        phrases,
        _by_first_letter(word for word in forms if word[0] >= UNSPACED),
        rules,
        reduce(or_, (rule.trigger for rule in rules)) | bits["act"] | bits["strong_act"],
        reduce(or_, (rule.every for rule in rules if rule.row.tier is Risk.HIGH)),
    )


def _spelled_out(words: str) -> Iterable[tuple[str, tuple[str, ...]]]:
    """Give every spelling of every word of a table entry: its first word and the rest."""
    for word in words.split():
        for form in _endings(word):
            first, *rest = fold(form).text.split()
            for spelling in _with_joined_and(first):
                yield spelling, tuple(rest)


def _endings(word: str) -> tuple[str, ...]:
    """Spell out ``word+``: the word, its -s and its -ing."""
    if word[-1] != "+":
        return (word,)
    base = word[:-1]
    stem = base[:-1] if base.endswith("e") else base
    is_doubled = len(base) < 5 and base[-1] in "bdgmnpt" and base[-2] in "aeiou"
    return (base, base + "s", stem + "ing", (base + base[-1] if is_doubled else stem) + "ing")


def _with_joined_and(word: str) -> tuple[str, ...]:
    """Add the forms with the "and" that Arabic and Hebrew write as part of the word."""
    if "\u0600" <= word[0] <= "\u06ff":
        return (word, "و" + word, "ف" + word)
    return (word, "ו" + word) if "\u0590" <= word[0] <= "\u05ff" else (word,)


def _by_first_letter(words: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for word in words:
        found.setdefault(word[0], []).append(word)
    return {first: tuple(sorted(group, key=len, reverse=True)) for first, group in found.items()}


def _rule(row: Row, bits: Mapping[str, int]) -> Rule:
    def union(names: str) -> int:
        return reduce(or_, (bits[name] for name in names.split("|"))) if names else 0

    parts = tuple(union(names) for names in row.needs)
    return Rule(row, parts, parts[0], union(row.voided_by))
