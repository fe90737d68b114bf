"""ETags: what was shown, byte for byte, and whether an answer is to exactly that."""

import hashlib
import re
from collections.abc import Sequence

from fastapi import Request

from clawmarshal.api.problems import Problem

_FORM = re.compile(r'\s*(W/)?"([\x21\x23-\x7e]*)"\s*(?:,|$)', re.ASCII)
MAX_CHARS = 2000
ANY = ("*",)


def etag_of(body: bytes) -> str:
    """Return the strong validator of an answer's bytes."""
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def is_known(request: Request, etag: str) -> bool:
    """Tell whether the caller has what it would be sent: ``If-None-Match``, compared weakly."""
    sent = ",".join(request.headers.getlist("if-none-match"))
    listed = _listed(sent, weakly=True) if sent else None
    return listed is not None and (listed == ANY or etag in listed)


def match_of(request: Request) -> Sequence[str] | None:
    """Return the tags of ``If-Match``; None where there is no such header.

    Raises
    ------
    Problem
        ``if-match-invalid``.
    """
    sent = request.headers.getlist("if-match")
    if not sent:
        return None
    listed = _listed(",".join(sent), weakly=False)
    if listed is None:
        raise Problem("if-match-invalid", 'Send the ETag as it came, such as "0a1b".')
    return listed


def check_match(listed: Sequence[str], etag: str) -> None:
    """Refuse an answer to something else than what stands now.

    Raises
    ------
    Problem
        ``hold-changed`` with the ``etag`` that stands now.
    """
    if tuple(listed) != ANY and etag not in listed:
        raise Problem(
            "hold-changed",
            "Read it again, and answer what stands there.",
            members={"etag": etag},
            headers={"ETag": etag},
        )


def _listed(value: str, *, weakly: bool) -> tuple[str, ...] | None:
    """Return the tags of a header; None where it is no list of tags."""
    if value.strip() == "*":
        return ANY
    if not value.strip() or len(value) > MAX_CHARS:
        return None
    found, at = [], 0
    while at < len(value):
        one = _FORM.match(value, at)
        if one is None:
            return None
        if weakly or one[1] is None:  # a weak tag never matches strongly
            found.append(f'"{one[2]}"')
        at = one.end()
    return tuple(found)
