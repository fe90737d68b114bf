"""What the local model reads: a remit's units, a message's content words, and its windows."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from clawmarshal.roster.agent import AgentSpec

WINDOW_CHARS = 1000
MAX_WINDOWS = 64
"""About a second of encoding; longer texts are sampled, see `windows`."""
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_CLAUSE = re.compile(r"\s*(?:[,;:.]|\band\b|\bor\b)\s*", re.IGNORECASE)
_SUFFIXES = ("'s", "ing", "ies", "es", "ed", "s", "er", "ly")
FUNCTION_WORDS = frozenset(
    """
    a about am an and any are as at be been but by can could d did do does don for from get got
    had has have he her here him his how i if in into is it its just know let like ll m me my need
    no not of on or our out over please re s she should so some t tell than that the their them
    then there these they this those to too up us ve very want was we were what when where which
    who why will with would you your
    """.split()
)
"""English words that say nothing about which agent a message belongs to."""


@dataclass(frozen=True, slots=True)
class Remit:
    """One option of a choice, as the local model reads it."""

    key: str
    """The option's name; an agent's id."""
    description: str
    examples: tuple[str, ...] = ()
    not_for: tuple[str, ...] = ()

    @classmethod
    def of(cls, agent: AgentSpec) -> "Remit":
        """Take from an agent what the model may read."""
        return cls(agent.id, agent.description.strip(), agent.examples, agent.not_for)

    @property
    def label(self) -> str:
        """The key in words."""
        return re.sub(r"[_\-/]+", " ", self.key).strip() or self.key

    @property
    def whole(self) -> str:
        """Label and description as one text."""
        return ": ".join(part for part in (self.label, self.description) if part)

    @property
    def clauses(self) -> tuple[str, ...]:
        """The description cut at punctuation and at "and" and "or"; never empty."""
        parts = tuple(c for c in _CLAUSE.split(self.description) if len(c) > 2)
        return parts or (self.description or self.label,)


def words(text: str) -> list[str]:
    """List the text's words in lower case."""
    return _WORD.findall(text.lower())


def stem(word: str) -> str:
    """Cut one common English ending, leaving three letters or more."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: -len(suffix)]
    return word


def content_words(found: Iterable[str]) -> list[str]:
    """Leave out function words; all words where nothing would be left."""
    listed = list(found)
    return [word for word in listed if word not in FUNCTION_WORDS] or listed


def content_text(text: str) -> str:
    """Return the content words as one text; the text itself where it has no words."""
    return " ".join(content_words(words(text))) or text


def windows(text: str) -> tuple[list[str], bool]:
    """Cut a text into windows an encoder can read, at white space where there is some.

    Returns
    -------
    tuple
        At most `MAX_WINDOWS` windows of at most `WINDOW_CHARS` characters, and whether they
        hold the whole text. Where they do not, they are spread evenly and include both ends.
    """
    cut, start = [], 0
    while start < len(text):
        end = start + WINDOW_CHARS
        if end < len(text):
            space = text.rfind(" ", start + WINDOW_CHARS // 2, end)
            end = space if space > 0 else end
        if piece := text[start:end].strip():
            cut.append(piece)
        start = end
    if len(cut) <= MAX_WINDOWS:
        return cut, True
    step = (len(cut) - 1) / (MAX_WINDOWS - 1)
    return [cut[round(i * step)] for i in range(MAX_WINDOWS)], False
