"""Bounded patterns: an operator's regular expressions, refused unless their cost has a bound."""

import re
from dataclasses import dataclass

MAX_PATTERN_CHARS = 200
MAX_MATCH_CHARS = 512
MAX_WAYS = 256
"""How many ways a pattern may try at one place of the text before it gives up there."""
_COUNT = re.compile(r"\{(\d+)?(,)?(\d+)?\}", re.ASCII)
_GROUP = re.compile(r"\(\?(?::|P<[A-Za-z_]\w{0,30}>)", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Cost:
    """The longest match of a part, and the ways it can be tried."""

    chars: int
    ways: int

    def then(self, other: "_Cost") -> "_Cost":
        return _Cost(self.chars + other.chars, self.ways * other.ways)


_NOTHING = _Cost(0, 1)
_ONE = _Cost(1, 1)


def bounded_pattern(source: str) -> re.Pattern[str]:
    """Compile a regular expression whose cost grows linearly with the text.

    Every repeat has an upper bound (``{0,40}``, ``?``); there are no look-arounds and no
    back-references; what it can match is 1 to 512 characters long.

    Parameters
    ----------
    source
        1 to 200 characters, in the syntax of Python's ``re``.

    Raises
    ------
    ValueError
        It breaks one of these rules; the text says which.
    """
    if not 1 <= len(source) <= MAX_PATTERN_CHARS:
        raise ValueError(f"a pattern has 1 to {MAX_PATTERN_CHARS} characters")
    try:
        pattern = re.compile(source)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError("it is no regular expression") from error
    cost = _Reader(source).whole()
    if pattern.fullmatch(""):
        raise ValueError("it matches the empty text")
    if cost.chars > MAX_MATCH_CHARS:
        raise ValueError(f"it could match more than {MAX_MATCH_CHARS} characters")
    if cost.ways > MAX_WAYS:
        raise ValueError(f"it could be tried in more than {MAX_WAYS} ways at one place")
    return pattern


class _Reader:
    """Read a pattern that compiles, part by part, and add its cost up."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0

    def whole(self) -> _Cost:
        cost = self._alternatives()
        if self._at != len(self._source):
            raise ValueError("its parentheses do not match")
        return cost

    def _alternatives(self) -> _Cost:
        branches = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            branches.append(self._sequence())
        return _Cost(max(one.chars for one in branches), sum(one.ways for one in branches))

    def _sequence(self) -> _Cost:
        cost = _NOTHING
        while self._peek() not in ("", "|", ")"):
            cost = cost.then(self._repeated(self._atom()))
        return cost

    def _atom(self) -> _Cost:
        character = self._peek()
        if character == "(":
            return self._group()
        if character == "[":
            return self._class()
        if character == "\\":
            return self._escape()
        self._at += 1
        return _NOTHING if character in "^$" else _ONE

    def _group(self) -> _Cost:
        opening = _GROUP.match(self._source, self._at)
        if opening is None and self._source.startswith("(?", self._at):
            raise ValueError("look-arounds, flags and back-references are not allowed")
        self._at = opening.end() if opening else self._at + 1
        cost = self._alternatives()
        self._at += 1  # the closing parenthesis: the pattern compiles
        return cost

    def _class(self) -> _Cost:
        self._at += 2 if self._source.startswith("[^", self._at) else 1
        self._at += 1  # a bracket that comes first is an ordinary character
        while self._peek() != "]":
            self._at += 2 if self._peek() == "\\" else 1
        self._at += 1
        return _ONE

    def _escape(self) -> _Cost:
        name = self._source[self._at + 1]
        if name.isdigit():
            raise ValueError("back-references are not allowed; write digits as they are")
        self._at += 2
        width = {"x": 2, "u": 4, "U": 8}.get(name, 0)
        self._at += width
        if name == "N":
            self._at = self._source.index("}", self._at) + 1
        return _NOTHING if name in "AbBZ" else _ONE

    def _repeated(self, part: _Cost) -> _Cost:
        low, high = self._bounds()
        if self._peek() in ("?", "+") and (low, high) != (1, 1):
            self._at += 1  # lazy or possessive: tries no more ways than the greedy form
        ways = 0
        for times in range(low, high + 1):
            ways += part.ways**times
            if ways > MAX_WAYS:
                break
        return _Cost(part.chars * high, ways)

    def _bounds(self) -> tuple[int, int]:
        character = self._peek()
        if character in ("*", "+"):
            raise ValueError("repeats need an upper bound, such as {0,40}")
        if character == "?":
            self._at += 1
            return 0, 1
        counted = _COUNT.match(self._source, self._at)
        if counted is None or counted[0] == "{}":
            return 1, 1
        self._at = counted.end()
        low = int(counted[1] or 0)
        if counted[2] and not counted[3]:
            raise ValueError("repeats need an upper bound, such as {0,40}")
        high = int(counted[3]) if counted[3] else low
        if high > MAX_MATCH_CHARS:
            raise ValueError(f"a repeat goes to {MAX_MATCH_CHARS} at most")
        return low, high

    def _peek(self) -> str:
        return self._source[self._at : self._at + 1]
