"""YAML -> schema check -> Roster; reports every fault, not the first."""

import os
import re
import stat
from collections.abc import Mapping
from typing import Any

from clawmarshal.errors import Fault, RosterFileError, RosterSchemaError
from clawmarshal.roster.agent import AgentSpec, Binding
from clawmarshal.roster.document import Node, read_document
from clawmarshal.roster.roster import Roster
from clawmarshal.roster.shape import EXTENSION, shape_faults

MAX_FILE_BYTES = 8 * 1024 * 1024
FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What YAML 1.1 refuses in a text (section 5.1)."""


def load_roster(path: str | os.PathLike[str]) -> Roster:
    """Read a roster file.

    Parameters
    ----------
    path
        A regular file: UTF-8 without a byte order mark, at most 8 MiB.

    Raises
    ------
    RosterFileError
        The file is missing, unreadable, empty or not YAML.
    RosterSchemaError
        The file breaks the rules of a roster; every fault is listed with line and column.

    Notes
    -----
    Source: roster.schema.json and docs/roster.md.
    """
    return parse_roster(_file_bytes(path), source=os.fspath(path))


def parse_roster(text: str | bytes, *, source: str) -> Roster:
    """Read the text of a roster file.

    Parameters
    ----------
    text
        As in `load_roster`.
    source
        What to call the text in messages, such as the file's name.

    Raises
    ------
    RosterFileError
        As in `load_roster`.
    RosterSchemaError
        As in `load_roster`.
    """
    document = read_document(_checked(text, source), source=source)
    faults = [*document.faults, *shape_faults(document.root)]
    if not faults:
        agents, faults = _agents(document.root)
    if faults:
        listed = sorted(set(faults), key=_place_of)
        raise RosterSchemaError(listed, source=source)
    fields = document.root.plain()
    return Roster(agents, name=fields.get("name"), extensions=_extensions(fields))


def _agents(root: Node) -> tuple[list[AgentSpec], list[Fault]]:
    agents, faults = [], []
    for node in root.fields["agents"].elements:
        try:
            agents.append(_agent(node.plain()))
        except RosterSchemaError as error:
            faults += [Fault(f.message, node.line, node.column) for f in error.faults]
    return agents, faults


def _agent(fields: dict[str, Any]) -> AgentSpec:
    known = {key: value for key, value in fields.items() if not key.startswith(EXTENSION)}
    known["bindings"] = [Binding(**parts) for parts in known.get("bindings", ())]
    return AgentSpec(**known, extensions=_extensions(fields))


def _extensions(fields: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in fields.items() if key.startswith(EXTENSION)}


def _file_bytes(path: str | os.PathLike[str]) -> bytes:
    name = os.fspath(path)
    try:
        # Without O_NONBLOCK a FIFO that nobody writes to would block here for ever.
        descriptor = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError as error:
        raise RosterFileError(f"no roster file {name!r}; check the path") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RosterFileError(f"roster file {name!r} cannot be opened: {reason}") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise RosterFileError(f"{name!r} is not a regular file; name a YAML file")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise RosterFileError(f"roster file {name!r} cannot be read: {error.strerror}") from error
    finally:
        os.close(descriptor)


def _checked(text: str | bytes, source: str) -> str:
    """Return a text that YAML can read, or say which byte or character cannot stand."""
    if isinstance(text, str):
        # A lone surrogate has no UTF-8 form; FORBIDDEN reports it below, with its place.
        raw = text.encode("utf-8", "surrogatepass")
    else:
        raw, text = text, _decoded(text, source)
    if len(raw) > MAX_FILE_BYTES:
        raise RosterFileError(f"{source} is over {MAX_FILE_BYTES} bytes; split the fleet")
    if text.startswith("\ufeff"):
        raise RosterFileError(f"{source} begins with a byte order mark; save it as UTF-8 without")
    if found := FORBIDDEN.search(text):
        place = _place(text[: found.start()])
        character = f"U+{ord(found[0]):04X}"
        raise RosterFileError(f"{source}, {place}: the character {character} cannot stand here")
    return text


def _decoded(raw: bytes, source: str) -> str:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise RosterFileError(f"{source} is UTF-16; save it as UTF-8 without a byte order mark")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        place = _place(raw[: error.start].decode("utf-8"))
        raise RosterFileError(f"{source}, {place}: not UTF-8; save the file as UTF-8") from error


def _place_of(fault: Fault) -> tuple[int, int, str]:
    return fault.line or 0, fault.column or 0, fault.message


def _place(before: str) -> str:
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return f"line {line}, column {column}"
