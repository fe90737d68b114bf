"""Find the CLI's JSON document in what stands around it; pure."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

_DECODER = json.JSONDecoder()
_OPENING = re.compile(
    r"""\{ (?=[ \t\r\n]*["}])                            # an object: a name, or nothing
      | \[ (?=[ \t\r\n]*(?:["{\[\]\d-]|true|false|null))  # a list: a value, or nothing
    """,
    re.VERBOSE,
)
_LINE_START = re.compile(r"(?:\A|\n)(?:\ufeff|\r|\x1b\[[0-?]*[ -/]*[@-~])*\Z")
_PREFIX_CHARS = 200
_NESTED_COST = 2_000
_LINES_COUNTED = 100
"""The decoder counts lines up to where it fails: a fast pass, charged at one in so many."""


class Shape(StrEnum):
    """What kind of document it is."""

    RESULT = "result"
    """``runId``, ``status``, ``result``: a turn through the Gateway."""
    EMBEDDED = "embedded"
    """``payloads``, ``meta``, no status: a turn without the Gateway, or of an old version."""
    ERROR = "error"
    """``ok: false`` and ``error``."""
    STRANGE = "strange"
    """It looks like an answer, but not like one we know."""


@dataclass(frozen=True, slots=True)
class Document:
    """One top-level JSON object that can be an answer."""

    shape: Shape
    value: Mapping[str, Any]
    starts_line: bool
    """Whether nothing but terminal codes stands before it on its line."""


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything on one stream."""

    documents: tuple[Document, ...]
    noise: str
    """What is not one of the documents."""
    is_cut: bool
    """A document began at the start of a line and did not end."""
    is_too_tangled: bool = False
    """The search was given up; treat as ambiguous."""


def find_documents(text: str) -> Findings:
    """Look for every top-level object that can be an answer.

    Objects inside a larger one are never looked at, those of other kinds (a log line in JSON) are
    noise. The time is bounded by a few times the length of the text.
    """
    documents: list[Document] = []
    noise: list[str] = []
    position, kept_from = 0, 0
    budget = 8 * len(text) + 200_000
    while match := _OPENING.search(text, position):
        start = match.start()
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            is_unfinished, cost = _judge_failure(error, text, start)
            starts_line = _starts_line(text, start)
            if is_unfinished and starts_line and text[start] == "{":
                noise.append(text[kept_from:])
                return Findings(tuple(documents), "".join(noise), is_cut=True)
            budget -= cost
            position = start + 1
        else:
            budget -= end - start
            position = end
            shape = _shape(value)
            if shape is not None:
                documents.append(Document(shape, value, _starts_line(text, start)))
                noise.append(text[kept_from:start])
                kept_from = end
        if budget < 0:
            return Findings(tuple(documents), text[:4000], is_cut=False, is_too_tangled=True)
    noise.append(text[kept_from:])
    return Findings(tuple(documents), "".join(noise), is_cut=False)


def objects_in(text: str) -> list[Mapping[str, Any]]:
    """Return the answers that a message itself spells out, to recognise their echo."""
    return [document.value for document in find_documents(text).documents]


def _starts_line(text: str, start: int) -> bool:
    floor = max(0, start - _PREFIX_CHARS)
    line = text.rfind("\n", floor, start)
    if line < 0 and floor > 0:
        return False
    return bool(_LINE_START.match(text[max(line, 0) : start]))


def _judge_failure(error: Exception, text: str, start: int) -> tuple[bool, int]:
    """Tell whether the text ended too early, and how much was read to find out."""
    if isinstance(error, json.JSONDecodeError):
        at_end = not text[error.pos :].strip() if len(text) - error.pos < 100 else False
        is_unfinished = at_end or error.msg.startswith("Unterminated string")
        read_to = len(text) if is_unfinished else error.pos
        return is_unfinished, read_to - start + 1 + error.pos // _LINES_COUNTED
    return False, _NESTED_COST


def _shape(value: object) -> Shape | None:
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("status"), str) and {"runId", "result", "summary"} & value.keys():
        return Shape.RESULT
    if isinstance(value.get("payloads"), list) and isinstance(value.get("meta"), dict):
        return Shape.EMBEDDED
    if value.get("ok") is False and isinstance(value.get("error"), dict):
        return Shape.ERROR
    if {"runId", "payloads", "result"} & value.keys():
        return Shape.STRANGE
    return None
