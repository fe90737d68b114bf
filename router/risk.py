"""The deterministic risk floor."""

import re
from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from clawmarshal.roster.agent import Risk
from clawmarshal.router.folding import fold, is_mixed, latin_look, unleet
from clawmarshal.router.rules.addressed import ADDRESSED, names_option, shapes_in
from clawmarshal.router.rules.clauses import Clauses
from clawmarshal.router.rules.lexicon import UNSPACED, Lexicon, Rule, lexicon

DEFAULT_BUDGET = 8_000_000
"""Work units for one text: twice what 4 MiB of prose needs, a few seconds of work."""
_SENTENCE_COST = 6
_SPELLED_COST = 90
_MEMO_LENGTH = 400
_NEVER = -1_000_000
_SIGN = "$£€¥₹₿₩₽₺₴"
# Vowel signs of Indic and South-East Asian scripts are part of the word, though not alphanumeric.
_LETTER = r"\w\u0900-\u0df4\u0e30-\u0e4e\u0eb0-\u0ecd\u1000-\u109f\u1780-\u17d3\u3099\u309a"
_WORD = re.compile(
    rf"[{_SIGN}]\s?\d[\d.,]{{0,20}}"
    rf"|\d[\d.,]{{0,20}}\s?[{_SIGN}](?![{_LETTER}])"
    rf"|\d[\d.,]{{0,20}}(?![{_LETTER}])"
    rf"|[./~][{_LETTER}]{{1,24}}"
    rf"|[@$]?[{_LETTER}]+(?:[@$!|][{_LETTER}]+)*"
    r"|[,;:\n()\"“”«»—–、，：]"
)
_SENTENCE_END = re.compile(r"[.!?…;]+(?=\s|$)|[。！？।؟؛]+")
_SPELLED = re.compile(rf"(?<![{_LETTER}])[a-z](?:[ .\-*][a-z]){{3,24}}(?![{_LETTER}])")


@dataclass(frozen=True, slots=True)
class RiskFloor:
    """What the rules alone say about a text."""

    tier: Risk
    codes: tuple[str, ...] = ()
    """Reason codes of the rules that matched, sorted; empty for low."""


def risk_floor(
    text: str,
    *,
    options: Collection[str] = (),
    budget: int = DEFAULT_BUDGET,
    words: Lexicon | None = None,
) -> RiskFloor:
    """Judge a whole text by rules a person can read.

    Besides the codes of the table: ``mixed_script`` and ``disguised`` (a word in letters of
    several alphabets; a risky word in look-alikes, digits or spaced letters) and ``hidden_text``
    (spelled in characters that draw nothing) are medium at least, ``budget`` is high. That a text
    speaks to its router is told by rows and by its form (`rules.addressed`).

    Parameters
    ----------
    text
        Any length; folded and judged per sentence, the maximum wins.
    options
        The ids of the agents on its ballot: a text that names one beside a word of routing speaks
        to the router.
    budget
        Work units, over 0; about one a word. Counted, never clocked, so that the same text always
        gets the same answer.
    words
        Another table than the product's.

    Returns
    -------
    RiskFloor
        High with code ``budget`` where the text needs more work than that.

    Notes
    -----
    Source: GUARANTEES.md, "What decides"; the table is `rules.lexicon.ROWS`.
    """
    folded = fold(text)
    judge = _Judge(budget, words or lexicon())
    if folded.hides_text:
        judge.note("hidden_text", Risk.MEDIUM)
    if any(shapes_in(folded.text)) or (options and names_option(folded.text, options)):
        judge.note(ADDRESSED, Risk.MEDIUM)
    try:
        judge.read(folded.text)
    except _OverBudgetError:
        judge.note("budget", Risk.HIGH)
    tier = max(judge.found.values(), key=lambda found: found.level, default=Risk.LOW)
    return RiskFloor(tier, tuple(sorted(judge.found)))


class _OverBudgetError(Exception):
    """The text needs more work than it was given."""


class _Judge:
    """Read one text sentence by sentence and keep what was found."""

    def __init__(self, budget: int, words: Lexicon) -> None:
        self.found: dict[str, Risk] = {}
        self.left = budget
        self._lexicon = words
        self._clauses = Clauses(self._lexicon.bits)
        self._known: dict[str, int] = dict(self._lexicon.forms)
        self._open = list(self._lexicon.rules)
        self._seen: set[str] = set()
        self._spelled: dict[str, str] = {}

    def note(self, code: str, tier: Risk) -> None:
        """Keep the highest tier of each code."""
        self.found[code] = max(tier, self.found.get(code, tier), key=lambda found: found.level)

    def read(self, text: str) -> None:
        """Judge every sentence of a folded text."""
        if _SPELLED.search(text):
            text = _SPELLED.sub(self._joined, text)
        start = 0
        for end in _SENTENCE_END.finditer(text):
            self._sentence(text[start : end.start()])
            start = end.end()
        self._sentence(text[start:])

    def _spend(self, units: int) -> None:
        self.left -= units
        if self.left < 0:
            raise _OverBudgetError

    def _sentence(self, text: str) -> None:
        if text in self._seen:
            return
        self._spend(_SENTENCE_COST + len(text) // 16)
        if len(text) < _MEMO_LENGTH:
            self._seen.add(text)
        words = self._words(text)
        self._spend(len(words))
        masks = self._masks(words)
        if reduce(or_, masks, 0) & self._lexicon.triggers:
            self._spend(3 * len(words))
            lines = [i for i, word in enumerate(words) if word == "\n"]
            self._judge(masks, self._clauses.free(words, masks), lines)

    def _words(self, text: str) -> list[str]:
        words: list[str] = []
        for token in _WORD.findall(text):
            if token[0] in "./~" and len(token) > 1:
                if token in self._known:
                    words.append(token)
                else:
                    words += ["\n", token[1:]] if token[0] == "." else [token[1:]]
            elif token[0] >= UNSPACED:
                words += self._cut(token)
            else:
                words.append(token)
        return words

    def _cut(self, token: str) -> list[str]:
        """Find the known words in a run of letters without blanks; longest first."""
        found: list[str] = []
        i, size = 0, len(token)
        self._spend(size)
        while i < size:
            for word in self._lexicon.unspaced.get(token[i], ()):
                if token.startswith(word, i):
                    found.append(word)
                    i += len(word)
                    break
            else:
                i += 1
        return found or [token]

    def _joined(self, match: re.Match[str]) -> str:
        """Read ``w i r e`` as every risky word it spells; leave other letters as they are."""
        letters = match.group()[::2]
        if letters not in self._spelled:
            self._spend(_SPELLED_COST)
            self._spelled[letters] = self._words_in(letters)
        words = self._spelled[letters]
        if not words:
            return match.group()
        self.note("disguised", Risk.MEDIUM)
        return words

    def _words_in(self, letters: str) -> str:
        size = len(letters)
        spans = ((i, j) for i in range(size) for j in range(i + 3, min(i + 13, size + 1)))
        return " ".join(letters[i:j] for i, j in spans if self._is_risky(letters[i:j]))

    def _is_risky(self, word: str) -> bool:
        return bool(self._lexicon.forms.get(word, 0) & self._lexicon.risky)

    def _masks(self, words: Sequence[str]) -> list[int]:
        known = self._known
        for word in set(words):
            if word not in known:
                known[word] = 0 if word.isalpha() and word.isascii() else self._odd(word)
        masks = [known[word] for word in words]
        phrases = self._lexicon.phrases
        for i in [i for i, word in enumerate(words[:-1]) if word in phrases]:
            for rest, bit in phrases[words[i]].get(words[i + 1], ()):
                if tuple(words[i + 2 : i + 2 + len(rest)]) == rest:
                    masks[i] |= bit
        return masks

    def _odd(self, word: str) -> int:
        """Classify a word that is not plain letters."""
        if word[-1] in _SIGN or (word[0] in _SIGN and word[-1].isdigit()):
            return self._lexicon.bits["amount"]
        if word[0].isdigit() and word[-1].isdigit():
            return 0
        if not word.isascii():
            return self._looked_at(word)
        seen = reduce(or_, (self._lexicon.forms.get(reading, 0) for reading in unleet(word)), 0)
        if seen & self._lexicon.risky:
            self.note("disguised", Risk.MEDIUM)
            return seen
        return self._lexicon.bits["address"] if "@" in word else 0

    def _looked_at(self, word: str) -> int:
        """Classify a word by the Latin letters it looks like."""
        seen = self._lexicon.forms.get(latin_look(word), 0) if len(word) > 2 else 0
        if is_mixed(word):
            self.note("mixed_script", Risk.MEDIUM)
        elif seen & self._lexicon.risky:
            self.note("disguised", Risk.MEDIUM)
        return seen

    def _judge(self, masks: Sequence[int], free: Sequence[int], lines: Sequence[int]) -> None:
        spots = [i for i, mask in enumerate(masks) if mask]
        union = reduce(or_, masks, 0) | reduce(or_, free, 0)
        fired = []
        for rule in self._open:
            if not rule.trigger & union or not all(part & union for part in rule.parts):
                continue
            steps = _steps_until(rule, spots, masks, free, lines)
            self._spend(abs(steps))
            if steps > 0:
                fired.append(rule)
                self.note(rule.row.code, rule.row.tier)
        if fired:
            self._open = [rule for rule in self._open if rule not in fired]


def _steps_until(
    rule: Rule,
    spots: Sequence[int],
    masks: Sequence[int],
    free: Sequence[int],
    lines: Sequence[int],
) -> int:
    """Count the steps until the classes of a rule meet in its window; negative if they do not.

    What voids a rule does so to the end of its line: a line put before a text excuses nothing.
    """
    last = [_NEVER] * len(rule.parts)
    row = rule.row
    void_until = _NEVER
    for steps, i in enumerate(spots, 1):
        mask = masks[i]
        if mask & rule.voided_by:
            last = [_NEVER] * len(rule.parts)
            following = bisect_left(lines, i)
            end = lines[following] if following < len(lines) else i + row.void_words
            void_until = min(i + row.void_words, end)
        if i <= void_until and row.void_words:
            continue
        is_hit = False
        for k, part in enumerate(rule.parts):
            if row.in_order and k and i - last[k - 1] > row.within:
                continue
            if (mask if k or row.even_asked else free[i]) & part:
                last[k] = i
                is_hit = True
        if is_hit and i - min(last) <= row.within:
            return steps
    return -len(spots)
