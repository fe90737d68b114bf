"""One request body: read with a cap and a deadline, parsed strictly."""

import asyncio
import difflib
import json
from typing import Any, NoReturn, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect

from clawmarshal.api.problems import Problem
from clawmarshal.errors import MessageError

MAX_DEPTH = 32
DRAIN_BYTES = 128 * 1024 * 1024
"""What is read and thrown away of a body that is too large, so that its sender sees the 413."""
PARSE_ON_LOOP_BYTES = 64 * 1024

Model = TypeVar("Model", bound=BaseModel)


async def read_model(
    request: Request, model: type[Model], *, max_bytes: int, timeout_s: float
) -> Model:
    """Read a JSON object and check it against a model.

    Parameters
    ----------
    request
        An empty body counts as ``{}``.
    model
        Refuses unknown fields.
    max_bytes
        More is 413, before anything is parsed.
    timeout_s
        Seconds until the whole body must be there.

    Raises
    ------
    Problem
        ``media-type``, ``body-too-large``, ``body-timeout``, ``body-not-utf8``,
        ``body-not-json``, ``body-duplicate-key``, ``body-too-deep``, ``body-invalid``.
    MessageError
        ``text-surrogate``.
    """
    raw = await read_bytes(request, max_bytes=max_bytes, timeout_s=timeout_s)
    if raw:
        check_media_type(request, "application/json")
    if len(raw) > PARSE_ON_LOOP_BYTES:
        return await asyncio.to_thread(_parse, raw, model)
    return _parse(raw, model)


async def read_bytes(request: Request, *, max_bytes: int, timeout_s: float) -> bytes:
    """Read a whole body.

    Raises
    ------
    Problem
        ``body-too-large``, ``body-timeout``, ``media-type`` for a compressed body,
        ``caller-gone``.
    """
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Problem("media-type", "Send the body without a content encoding.")
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > DRAIN_BYTES:
        raise _too_large(max_bytes)
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(timeout_s):
            async for chunk in request.stream():
                size += len(chunk)
                if size > DRAIN_BYTES:
                    break
                if size > max_bytes:
                    chunks.clear()
                else:
                    chunks.append(chunk)
    except TimeoutError:
        if size <= max_bytes:
            raise Problem(
                "body-timeout",
                f"The whole body must arrive within {timeout_s:g} s.",
                headers={"Connection": "close"},
            ) from None
    except ClientDisconnect:
        raise Problem("caller-gone", "The body was never complete.") from None
    if size > max_bytes:
        raise _too_large(max_bytes)
    return b"".join(chunks)


def _too_large(max_bytes: int) -> Problem:
    detail = f"The limit is {max_bytes} bytes."
    return Problem("body-too-large", detail, headers={"Connection": "close"})


def check_media_type(request: Request, expected: str) -> None:
    """Refuse a body of another media type or character set.

    Raises
    ------
    Problem
        ``media-type``.
    """
    sent = request.headers.getlist("content-type")
    names = {value.partition(";")[0].strip().lower() for value in sent}
    if names != {expected}:
        raise Problem("media-type", f"Send Content-Type: {expected}.")
    for value in sent:
        charset = value.lower().partition("charset=")[2].strip('" ')
        if charset not in ("", "utf-8", "utf8"):
            raise Problem("media-type", "Send the body as UTF-8.")


def _parse(raw: bytes, model: type[Model]) -> Model:
    value = parse_json(raw) if raw else {}
    if not isinstance(value, dict):
        raise Problem("body-invalid", "The body is one JSON object.")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise _invalid(error, model) from None


def parse_json(raw: bytes) -> object:
    """Parse bytes as strict JSON.

    Refused besides what is no JSON: a byte order mark, a key twice in one object, ``NaN`` and
    infinities, nesting over `MAX_DEPTH`, lone surrogates.

    Raises
    ------
    Problem
        See `read_model`.
    MessageError
        ``text-surrogate``.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Problem("body-not-utf8", f"Byte {error.start} is not UTF-8.") from None
    if text.startswith("\ufeff"):
        raise Problem("body-not-json", "Send the body without a byte order mark.")
    try:
        value: object = json.loads(
            text, object_pairs_hook=_distinct, parse_constant=_refuse_constant
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise Problem("body-not-json", f"Not JSON at {where}.") from None
    except RecursionError:
        raise Problem("body-too-deep", f"At most {MAX_DEPTH} levels.") from None
    except ValueError:
        # An integer with more digits than Python converts.
        raise Problem("body-not-json", "A number is out of range.") from None
    _check_values(value)
    return value


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen = dict(pairs)
    if len(seen) != len(pairs):
        raise Problem("body-duplicate-key", "Each key may stand once in an object.")
    return seen


def _refuse_constant(_: str) -> NoReturn:
    raise Problem("body-not-json", "NaN and infinities are not JSON.")


def _check_values(value: object) -> None:
    """Walk without recursion: depth and lone surrogates."""
    level: list[object] = [value]
    for _ in range(MAX_DEPTH):
        below: list[object] = []
        for entry in level:
            if isinstance(entry, str):
                _check_string(entry)
            elif isinstance(entry, dict):
                below += entry.keys()
                below += entry.values()
            elif isinstance(entry, list):
                below += entry
        if not below:
            return
        level = below
    raise Problem("body-too-deep", f"At most {MAX_DEPTH} levels.")


def _check_string(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise MessageError("a text holds a lone surrogate", code="text-surrogate") from None


def _shown(part: int | str) -> str:
    """Name a field; what is no identifier may be a piece of a message and is not repeated."""
    is_name = isinstance(part, int) or part.isidentifier()
    return str(part)[:64] if is_name else "?"


def _invalid(error: ValidationError, model: type[BaseModel]) -> Problem:
    """Put what pydantic found into a problem, without what was sent."""
    faults = []
    for one in error.errors(include_url=False, include_context=False, include_input=False)[:20]:
        name = ".".join(_shown(part) for part in one["loc"])[:200]
        message = one["msg"].removeprefix("Value error, ")
        if one["type"] == "extra_forbidden":
            near = difflib.get_close_matches(name, model.model_fields, n=2)
            message = "unknown field" + (f"; did you mean {' or '.join(near)}?" if near else "")
        faults.append({"field": name, "message": message})
    names = ", ".join(dict.fromkeys(fault["field"] for fault in faults))
    return Problem(
        "body-invalid", f"Look at: {names or 'the whole body'}.", members={"faults": faults}
    )
