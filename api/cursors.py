"""Cursors of lists: each belongs to the list, the filters and the keeper of its page."""

import hashlib
import hmac

from clawmarshal.api.problems import Problem

_MARK_CHARS = 16
MAX_CHARS = 200


def sealed(place: str | None, *belongs: object) -> str | None:
    """Write a place in a list as a cursor.

    Parameters
    ----------
    place
        What the ledger goes on from; None at the end.
    belongs
        What the page was of: the list's name, whose rows, each filter.
    """
    return None if place is None else f"{_mark(belongs)}.{place}"


def opened(cursor: str | None, *belongs: object) -> str | None:
    """Read a cursor; None for the first page.

    Raises
    ------
    Problem
        ``cursor-invalid``: it is none, or one of another list, filter or person.
    """
    if cursor is None:
        return None
    mark, _, place = cursor.partition(".")
    # A mark is no secret; the comparison only sees that nobody mixes two lists up by mistake.
    if not hmac.compare_digest(mark.encode("utf-8", "replace"), _mark(belongs).encode()):
        raise Problem("cursor-invalid", "It belongs to another list or other filters.")
    return place


def _mark(belongs: tuple[object, ...]) -> str:
    written = "\x1f".join("\x00" if part is None else str(part) for part in belongs)
    return hashlib.sha256(written.encode("utf-8", "replace")).hexdigest()[:_MARK_CHARS]
