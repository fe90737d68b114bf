"""Redaction: what an operator wants to keep is cut out before a text leaves the machine; pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from clawmarshal.router.patterns import MAX_MATCH_CHARS, bounded_pattern

MAX_PATTERNS = 32
_GAP = r"[\s.\-]?"
NAMED: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "email": re.compile(r"[^\s@<>()\[\],;:\"']{1,64}@[^\s@<>()\[\],;:\"']{1,253}"),
        "iban": re.compile(
            rf"\b[A-Z]{{2}}\d{{2}}(?:{_GAP}[A-Z0-9]{{4}}){{2,7}}(?:{_GAP}[A-Z0-9]{{1,3}})?\b"
            rf"|\b[A-Za-z]{{2}}\d{{2}}(?:{_GAP}\d{{4}}){{2,7}}(?:{_GAP}\d{{1,3}})?\b"
        ),
        "card": re.compile(rf"(?<!\d)(?:\d{_GAP}){{12,18}}\d(?!\d)"),
        "phone": re.compile(
            r"(?<!\w)(?:\+\(?\d(?:[ ().\-/]{0,2}\d){6,14}|\(?\d(?:[ ().\-/]{0,2}\d){8,14})(?!\d)"
        ),
        "token": re.compile(
            r"(?<![A-Za-z0-9])(?:sk|pk|rk|ghp|gho|glpat|xox[abpr]|AKIA)[-_A-Za-z0-9]{16,200}"
        ),
    }
)
"""Patterns that go by a name; each reads a text in linear time and prefers to cut too much."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without what was cut out of it."""

    text: str
    count: int
    """How many places were cut out."""
    is_cut: bool
    """True when the text was longer than the limit."""


class Redactor:
    """Replace what matches by its kind: ``[email]``, ``[iban]``, ``[redacted]``.

    Parameters
    ----------
    patterns
        Names out of `NAMED`, or regular expressions as `bounded_pattern` takes them; at most 32.

    Raises
    ------
    ValueError
        A pattern is not allowed; the text names it by its number, from 1.
    """

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        written = tuple(patterns)
        if len(written) > MAX_PATTERNS:
            raise ValueError(f"there are more than {MAX_PATTERNS} patterns")
        self._patterns: list[tuple[str, re.Pattern[str]]] = []
        for number, one in enumerate(written, 1):
            if one in NAMED:
                self._patterns.append((one, NAMED[one]))
                continue
            try:
                self._patterns.append(("redacted", bounded_pattern(one)))
            except ValueError as error:
                raise ValueError(f"pattern {number}: {error}") from error

    @property
    def has_patterns(self) -> bool:
        """Tell whether there is anything to look for."""
        return bool(self._patterns)

    def redact(self, text: str, *, max_chars: int) -> Redacted:
        """Cut out every match and keep the beginning of the text.

        Patterns see the text as it is, not what others left of it, so their order plays no part.
        A match that begins within the limit is replaced whole, also when it ends beyond.

        Parameters
        ----------
        text
            Any length; read a little beyond the limit and no further.
        max_chars
            How much of the text, counted before anything is replaced, may be kept.
        """
        window = text[: max_chars + MAX_MATCH_CHARS]
        pieces, at, count = [], 0, 0
        for start, end, kind in self._spans(window):
            if start >= max_chars:
                break
            pieces += [window[at:start], f"[{kind}]"]
            at, count = end, count + 1
        pieces.append(window[at:max_chars])
        return Redacted("".join(pieces), count, len(text) > max_chars)

    def _spans(self, window: str) -> list[tuple[int, int, str]]:
        """Merge the matches of all patterns where they overlap, in the order of the text."""
        found = sorted(
            (match.start(), match.end(), kind)
            for kind, pattern in self._patterns
            for match in pattern.finditer(window)
        )
        merged: list[tuple[int, int, str]] = []
        for start, end, kind in found:
            if merged and start < merged[-1][1]:
                before = merged[-1]
                merged[-1] = (before[0], max(end, before[1]), before[2])
            else:
                merged.append((start, end, kind))
        return merged
