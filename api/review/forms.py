"""The bodies of the pages' forms: read with a cap, and only the fields that a form has."""

from collections.abc import Mapping
from urllib.parse import parse_qsl

from fastapi import Request

from clawmarshal.api.auth import parts_of
from clawmarshal.api.bodies import check_media_type, read_bytes
from clawmarshal.api.problems import Problem
from clawmarshal.api.review.session import Reviewer, check_origin

MAX_FORM_BYTES = 256 * 1024
MAX_FIELDS = 1200
Fields = Mapping[str, list[str]]


async def read_form(request: Request) -> Fields:
    """Read a form that our own page sent.

    Raises
    ------
    Problem
        ``form-foreign``, ``body-invalid``, and what `read_bytes` raises.
    """
    check_origin(request)
    raw = await read_bytes(
        request, max_bytes=MAX_FORM_BYTES, timeout_s=parts_of(request).body_timeout_s
    )
    check_media_type(request, "application/x-www-form-urlencoded")
    try:
        pairs = parse_qsl(
            raw.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=bool(raw),
            errors="strict",
            max_num_fields=MAX_FIELDS,
        )
    except ValueError:
        raise Problem("body-invalid", "The form cannot be read.") from None
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found


async def answered_form(request: Request, reviewer: Reviewer) -> Fields:
    """Read a form that somebody who is signed in sent from a page of theirs.

    Raises
    ------
    Problem
        As `read_form`; ``form-foreign`` without their own token.
    """
    fields = await read_form(request)
    reviewer.check_form(one(fields, "csrf"))
    return fields


def one(fields: Fields, name: str, *, max_chars: int = 200) -> str | None:
    """Return the one value of a field; None where it is absent or empty.

    Raises
    ------
    Problem
        ``body-invalid``: it stands twice or is too long.
    """
    values = fields.get(name, [""])
    if len(values) > 1 or len(values[0]) > max_chars:
        raise Problem("body-invalid", f"The field {name} stands once, {max_chars} characters.")
    return values[0] or None
