"""OperatorRule: words that raise the risk floor, written by whoever runs the service; pure."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from clawmarshal.errors import Fault, SettingsError
from clawmarshal.roster.agent import Risk
from clawmarshal.router.folding import fold, latin_look, unleet
from clawmarshal.router.language import Token, tokens
from clawmarshal.router.risk import RiskFloor, risk_floor

MAX_RULES = 100
MAX_PHRASES = 50
"""In each of a rule's two lists."""
MAX_PHRASE_CHARS = 80
MAX_PHRASE_WORDS = 8
Phrase = tuple[str, ...]
"""Folded words in a row."""
CODE = re.compile(r"[a-z][a-z0-9_]{0,39}", re.ASCII)
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
)
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+(?:[@$!|][^\W{_UNSPACED}]+)*")
"""A word, or one letter of a script that writes none."""


class Language(StrEnum):
    """What a rule may be narrowed to."""

    EN = "en"
    """Where the words stand the text may be English."""
    OTHER = "other"
    """Where they stand it may be another language; what cannot be told may be either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorRule:
    """Words that make a message at least so risky; it can raise a floor and never lower one.

    Raises
    ------
    SettingsError
        Every fault at once.

    Notes
    -----
    Source: docs/policy.md, "Rules of your own".
    """

    code: str
    """What a reviewer sees; lower-case letters, digits and ``_``, at most 40."""
    tier: Risk
    """``medium`` or ``high``."""
    any_of: tuple[str, ...] = ()
    """One of these must occur; words or phrases, at most 50."""
    all_of: tuple[str, ...] = ()
    """All of these must occur, in whatever order; at most 50."""
    languages: tuple[Language, ...] = ()
    """Only where the words stand among such words; empty for anywhere."""

    def __post_init__(self) -> None:
        """Normalise the lists and check everything."""
        faults = [*self._code_faults(), *self._tier_faults(), *self._language_faults()]
        for name in ("any_of", "all_of"):
            faults += self._phrase_faults(name)
        if not faults and not self.any_of and not self.all_of:
            faults.append("any_of or all_of names at least one word")
        if faults:
            name = f"rules ({self.code})" if CODE.fullmatch(str(self.code)) else "rules"
            raise SettingsError("policy", faults=[Fault(f"{name}: {fault}") for fault in faults])

    def _code_faults(self) -> Iterator[str]:
        if not isinstance(self.code, str) or not CODE.fullmatch(self.code):
            yield "code is a slug of lower-case letters, digits and _, at most 40 characters"

    def _tier_faults(self) -> Iterator[str]:
        if self.tier not in ("medium", "high"):
            yield "tier is medium or high; a rule can only raise"
        else:
            object.__setattr__(self, "tier", Risk(self.tier))

    def _language_faults(self) -> Iterator[str]:
        try:
            languages = tuple(Language(one) for one in _listed(self.languages))
            object.__setattr__(self, "languages", languages)
        except ValueError:
            yield "languages is a list of en and other"

    def _phrase_faults(self, name: str) -> Iterator[str]:
        try:
            phrases = _listed(getattr(self, name))
        except ValueError:
            yield f"{name} is a list of words or phrases"
            return
        object.__setattr__(self, name, phrases)
        if len(phrases) > MAX_PHRASES:
            yield f"{name} has over {MAX_PHRASES} phrases"
        for number, phrase in enumerate(phrases, 1):
            words = _words(phrase) if len(phrase) <= MAX_PHRASE_CHARS else ()
            is_unspaced = bool(re.search(f"[{_UNSPACED}]", phrase))
            if not words or (len(words) > MAX_PHRASE_WORDS and not is_unspaced):
                limit = f"1 to {MAX_PHRASE_WORDS} words, at most {MAX_PHRASE_CHARS} characters"
                yield f"{name}, entry {number}: {limit}"


def rule_faults(rules: object) -> list[str]:
    """List what is wrong with a set of rules as a whole; each has checked itself."""
    if not isinstance(rules, tuple) or not all(isinstance(one, OperatorRule) for one in rules):
        return ["rules is a list of rules"]
    return [f"rules: at most {MAX_RULES} rules"] if len(rules) > MAX_RULES else []


def floor_with(
    text: str, rules: tuple[OperatorRule, ...] = (), *, options: Collection[str] = ()
) -> RiskFloor:
    """Judge a text by the rules of the product and by those of its operator.

    Parameters
    ----------
    text
        Any length; the work is linear in it, however many rules there are.
    rules
        From the policy.
    options
        The ids of the agents on its ballot, as in `risk_floor`.

    Returns
    -------
    RiskFloor
        The higher tier of the two, and the codes of both.
    """
    floor = risk_floor(text, options=options)
    if not rules:
        return floor
    found = list(_fired(text, rules))
    if not found:
        return floor
    tier = max([floor.tier, *(rule.tier for rule in found)], key=lambda one: one.level)
    codes = {*floor.codes, *(rule.code for rule in found)}
    return RiskFloor(tier, tuple(sorted(codes)))


def _fired(text: str, rules: tuple[OperatorRule, ...]) -> Iterator[OperatorRule]:
    book = _book(rules)
    seen = book.trie.seen_in(_words(text))
    if not seen:
        return
    is_narrowed = any(rule.languages for rule in rules)
    by_language = _by_language(text, book.trie, seen) if is_narrowed else {}
    for rule, any_of, all_of in book.entries:
        found = seen
        if rule.languages:
            found = frozenset().union(*(by_language[language] for language in rule.languages))
        if all_of <= found and (not any_of or any_of & found):
            yield rule


def _by_language(
    text: str, trie: "_Trie", seen: frozenset[Phrase]
) -> Mapping[Language, frozenset[Phrase]]:
    """Tell which phrases occur where the text may be in a language.

    By their surroundings, so that text put further away does not take a rule away. What spans two
    pieces, or was hidden, may be in any.
    """
    if fold(text).hides_text:
        return dict.fromkeys(Language, seen)
    where = [(word, token) for token in tokens(text) for word in _words(token.text)]
    found: dict[Language, set[Phrase]] = {language: set() for language in Language}
    placed = set()
    for start, phrase in trie.occurrences(tuple(word for word, _ in where)):
        around = [token for _, token in where[start : start + len(phrase)]]
        for language in _possible(around):
            found[language].add(phrase)
        placed.add(phrase)
    return {language: frozenset(some | (seen - placed)) for language, some in found.items()}


def _possible(around: Sequence[Token]) -> Iterator[Language]:
    is_cut = around[0].piece != around[-1].piece
    if is_cut or any(token.may_be_english for token in around):
        yield Language.EN
    if is_cut or any(token.may_be_other for token in around):
        yield Language.OTHER


class _Node(dict[str, "_Node"]):
    """One word of phrases; the next words below it."""

    phrase: Phrase | None = None


class _Trie:
    """Every phrase of a set of rules, found in one pass."""

    def __init__(self, phrases: Iterable[Phrase]) -> None:
        self._root = _Node()
        for phrase in phrases:
            node = self._root
            for word in phrase:
                node = node.setdefault(word, _Node())
            node.phrase = phrase

    def seen_in(self, words: Phrase) -> frozenset[Phrase]:
        """Return the phrases that occur, disguised ones too."""
        return frozenset(phrase for _, phrase in self.occurrences(words))

    def occurrences(self, words: Phrase) -> Iterator[tuple[int, Phrase]]:
        """Yield where each phrase begins that occurs, disguised ones too."""
        yield from self._walk(words)
        readings: Mapping[str, str] = {word: _undisguised(word) for word in set(words)}
        if any(word != reading for word, reading in readings.items()):
            yield from self._walk(tuple(readings[word] for word in words))

    def _walk(self, words: Phrase) -> Iterator[tuple[int, Phrase]]:
        for start, word in enumerate(words):
            node = self._root.get(word)
            at = start
            while node is not None:
                if node.phrase is not None:
                    yield start, node.phrase
                at += 1
                node = node.get(words[at]) if at < len(words) else None


@dataclass(frozen=True, slots=True)
class _Book:
    """A set of rules, ready to be read against."""

    entries: tuple[tuple[OperatorRule, frozenset[Phrase], frozenset[Phrase]], ...]
    trie: _Trie


@lru_cache(maxsize=8)
def _book(rules: tuple[OperatorRule, ...]) -> _Book:
    entries = tuple(
        (rule, frozenset(map(_words, rule.any_of)), frozenset(map(_words, rule.all_of)))
        for rule in rules
    )
    return _Book(entries, _Trie(p for _, any_of, all_of in entries for p in any_of | all_of))


def _words(text: str) -> Phrase:
    return tuple(_WORD.findall(fold(text).text))


def _undisguised(word: str) -> str:
    """Read look-alikes as Latin letters, and digits among letters as letters."""
    if not word.isascii():
        return latin_look(word)
    return next(iter(sorted(unleet(word))), word) if not word.isalpha() else word


def _listed(value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ValueError("not a list")
    entries = tuple(value)
    if not all(isinstance(entry, str) for entry in entries):
        raise ValueError("not texts")
    return entries
