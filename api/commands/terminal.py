"""What reaches a terminal: cleaned text, JSON, errors with their mend."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn, TextIO

import typer

EXIT_ERROR = 1
EXIT_USAGE = 2


def say(text: str = "") -> None:
    """Print a line, without anything that could drive a terminal."""
    from clawmarshal.transport.text import clean_text

    print(clean_text(text))


def note(text: str) -> None:
    """Print a line to a person, not to a program: on the error stream."""
    from clawmarshal.transport.text import clean_text

    print(clean_text(text), file=sys.stderr)


def say_json(value: object) -> None:
    """Print one JSON document; everything outside ASCII is escaped, so no terminal obeys it."""
    print(json.dumps(value, indent=2 if sys.stdout.isatty() else None))


def table(rows: Iterable[Sequence[str]], *, headings: Sequence[str]) -> None:
    """Print rows under headings, aligned."""
    from clawmarshal.transport.text import clean_text

    cells = [[clean_text(cell).replace("\n", " ") for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [list(headings), *cells]) for i in range(len(headings))]
    for row in [list(headings), *cells]:
        columns = zip(row, widths, strict=True)
        print("  ".join(cell.ljust(width) for cell, width in columns).rstrip())


def fields(values: Mapping[str, object]) -> None:
    """Print names and values, one per line."""
    width = max(len(name) for name in values)
    for name, value in values.items():
        say(f"{name.ljust(width)}  {'-' if value is None else value}")


def usage(message: str) -> NoReturn:
    """Refuse the arguments: exit 2."""
    raise typer.BadParameter(message)


class Progress:
    """Count on a terminal's error stream; silent where there is none.

    Parameters
    ----------
    total
        How many steps there are.
    what
        What is counted.
    stream
        The error stream where None.
    """

    def __init__(self, total: int, *, what: str, stream: TextIO | None = None) -> None:
        self._total = total
        self._what = what
        self._stream = stream or sys.stderr
        self._is_shown = self._stream.isatty()
        self._every = max(1, total // 200)

    def step(self, done: int) -> None:
        """Say how far it is."""
        if self._is_shown and (done % self._every == 0 or done == self._total):
            end = "\n" if done == self._total else ""
            print(f"\r{done}/{self._total} {self._what}", end=end, file=self._stream, flush=True)
