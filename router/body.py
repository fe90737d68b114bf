"""The body of a System One response, parsed strictly."""

import json
import math
from collections.abc import Mapping

from clawmarshal.errors import DecisionInvalidError

MAX_BODY_BYTES = 1024 * 1024


def parse_body(
    raw: bytes, *, envelope: bool = False, max_bytes: int = MAX_BODY_BYTES
) -> Mapping[str, object]:
    """Parse a response body into an object that holds an ``answers`` object.

    Parameters
    ----------
    raw
        The whole body.
    envelope
        True unwraps ``{"result": …, "success": true}``, the form of one hosted dialect; never
        guessed from the body.
    max_bytes
        The cap in force.

    Raises
    ------
    DecisionInvalidError
        ``body-too-large``, ``body-not-json`` (NaN, Infinity, an overflowing number, a duplicate
        key, a lone surrogate and trailing text among them), ``body-not-object``,
        ``envelope-failed``, ``answers-malformed``. No part of the body is in its text.

    Notes
    -----
    Source: System One's published response format, checked in autumn 2026; the cap is ours.
    """
    if len(raw) > max_bytes:
        raise DecisionInvalidError(
            f"the body is {len(raw)} bytes; the limit is {max_bytes}", code="body-too-large"
        )
    body = _strict_json(raw)
    if not isinstance(body, dict):
        raise DecisionInvalidError("the body is not a JSON object", code="body-not-object")
    if envelope:
        body = _unwrapped(body)
    if not isinstance(body.get("answers"), dict):
        raise DecisionInvalidError("the body holds no answers object", code="answers-malformed")
    return body


def _strict_json(raw: bytes) -> object:
    try:
        parsed: object = json.loads(
            raw.decode("utf-8"),
            parse_constant=_refused_constant,
            parse_float=_finite,
            object_pairs_hook=_without_duplicates,
        )
        if b"\\u" in raw:
            # An escaped lone surrogate parses, and breaks whatever stores or prints it later.
            json.dumps(parsed, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        raise DecisionInvalidError("the body is not strict JSON", code="body-not-json") from None
    return parsed


def _unwrapped(body: Mapping[str, object]) -> dict[str, object]:
    result = body.get("result")
    if body.get("success") is not True or not isinstance(result, dict):
        raise DecisionInvalidError("the envelope reports no success", code="envelope-failed")
    return result


def _refused_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number overflows")
    return number


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found
