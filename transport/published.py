"""The published tables of what a child is given, as a page shows them; made from the code."""

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from clawmarshal.transport.command import ARGUMENTS, CALLS
from clawmarshal.transport.environment import PUBLISHED, REFUSED

_PLACE = re.compile(r"(<!-- made by `make docs`: (?P<name>[a-z]+) -->\n).*?(<!-- end -->)", re.S)


def _arguments() -> str:
    rows = [[f"`{row.form}`", row.origin, row.reason, row.evidence] for row in ARGUMENTS]
    return _table(("argument", "where it comes from", "why it is there", "how we know"), rows)


def _calls() -> str:
    rows = [[f"`{row.form}`", row.reason, row.evidence] for row in CALLS]
    return _table(("call", "what for", "how we know"), rows)


def _variables() -> str:
    rows = [[f"`{row.name}`", row.origin, row.reason, row.evidence] for row in PUBLISHED]
    return _table(("variable", "where it comes from", "why it is there", "how we know"), rows)


def _refused() -> str:
    rows = [
        [", ".join(f"`{name}`" for name in row.names), row.reason, row.evidence] for row in REFUSED
    ]
    return _table(("names, in any case", "what one of them does", "how we know"), rows)


TABLES: dict[str, Callable[[], str]] = {
    "arguments": _arguments,
    "calls": _calls,
    "variables": _variables,
    "refused": _refused,
}


def with_tables(page: str) -> str:
    """Return a page with each marked place filled from the code.

    Raises
    ------
    KeyError
        A place names a table that there is not.
    """
    return _PLACE.sub(lambda found: found[1] + TABLES[found["name"]]() + found[3], page)


def places(page: str) -> list[str]:
    """Name the tables that a page has a place for."""
    return [found["name"] for found in _PLACE.finditer(page)]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main(paths: Sequence[str]) -> int:
    """Write the tables into pages anew."""
    for path in map(Path, paths):
        path.write_text(with_tables(path.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
