"""What is wrong in a configuration: every fault with its key, its place and the mend."""

import dataclasses
import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from clawmarshal.errors import Fault, RosterError, RosterSchemaError, SettingsError
from clawmarshal.roster.document import Kind, Node, read_document

MAX_BYTES = 1024 * 1024


@dataclasses.dataclass(frozen=True, slots=True)
class Source:
    """A file that was read, with the place of each value."""

    values: Mapping[str, Any]
    faults: Sequence[Fault]
    """What is wrong with how it is written."""
    root: Node

    def fault(self, message: str, *path: str | int) -> Fault:
        """Make a fault at the place of a key; of the nearest key above it where it has none."""
        node = self.root
        for step in path:
            if isinstance(step, str) and step in node.fields:
                node = node.fields[step]
            elif isinstance(step, int) and step < len(node.elements):
                node = node.elements[step]
            else:
                break
        if node is self.root:
            return Fault(message)
        return Fault(message, node.line, node.column)

    def key_fault(self, message: str, *path: str | int) -> Fault:
        """Make a fault at the key itself."""
        node = self.root
        for step in path[:-1]:
            if isinstance(step, int):
                node = node.elements[step]
            else:
                node = node.fields.get(step, node)
        key = node.keys.get(str(path[-1]))
        return Fault(message, key.line, key.column) if key else Fault(message)


def read_source(path: Path) -> Source:
    """Read a configuration file strictly.

    Raises
    ------
    SettingsError
        It is missing, unreadable, too large, not UTF-8, not YAML, empty, or no mapping.
    """
    text = _text_of(path)
    if not text.strip():
        raise SettingsError(f"{path.name} is empty; see examples/clawmarshal.yaml")
    try:
        document = read_document(text, source=path.name)
    except RosterSchemaError as error:
        raise SettingsError(f"{path.name} cannot be used:", faults=error.faults) from error
    except RosterError as error:
        raise SettingsError(str(error)) from error
    if document.root.kind is not Kind.MAPPING:
        raise SettingsError(f"{path.name} is not a mapping; see examples/clawmarshal.yaml")
    return Source(document.root.plain(), document.faults, document.root)


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise SettingsError(f"there is no file {path}; name one with --config") from None
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}") from error
    if len(raw) > MAX_BYTES:
        raise SettingsError(f"{path.name} is larger than {MAX_BYTES} bytes")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path.name} is not UTF-8 (byte {error.start})") from error


def unknown_keys(values: Mapping[str, Any], model: type, *, source: Source) -> list[Fault]:
    """List the keys that no field of the model takes, with near matches."""
    return _unknown(values, model, (), source)


def _unknown(
    values: Mapping[str, Any], model: type, path: tuple[str | int, ...], source: Source
) -> list[Fault]:
    faults = []
    fields = _fields(model)
    if get_origin(model) is dict:
        fields = dict.fromkeys(values, get_args(model)[1])
    for key, value in values.items():
        here = (*path, key)
        if key not in fields:
            faults.append(
                source.key_fault(
                    f"{'.'.join(map(str, here))} is no setting{_near(key, fields)}", *here
                )
            )
        elif isinstance(value, Mapping) and _takes_keys(fields[key]):
            faults += _unknown(value, fields[key], here, source)
        elif isinstance(value, list) and get_origin(fields[key]) is tuple:
            member = get_args(fields[key])[0]
            for number, one in enumerate(value):
                if isinstance(one, Mapping) and _fields(member):
                    faults += _unknown(one, member, (*here, number), source)
    return faults


def _fields(model: Any) -> dict[str, Any]:
    """Name the fields of a section and their types; empty for anything else."""
    sections = [one for one in get_args(model) if isinstance(one, type) and one is not NoneType]
    if get_origin(model) in (Union, UnionType) and len(sections) == 1:
        return _fields(sections[0])
    if isinstance(model, type) and issubclass(model, BaseModel):
        return {name: _plain(one.annotation) for name, one in model.model_fields.items()}
    if dataclasses.is_dataclass(model):
        return {one.name: one.type for one in dataclasses.fields(model) if one.init}
    return {}


def _takes_keys(model: Any) -> bool:
    return bool(_fields(model)) or (get_origin(model) is dict and _takes_keys(get_args(model)[1]))


def _plain(kind: Any) -> Any:
    """Return the section behind ``Section | None``; anything else as it is."""
    behind = [one for one in get_args(kind) if one is not type(None)]
    return behind[0] if get_origin(kind) is UnionType and len(behind) == 1 else kind


def _near(key: str, fields: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(key.lower(), fields, n=2, cutoff=0.75)
    if near:
        return f"; did you mean {' or '.join(near)}?"
    return f"; there are {', '.join(fields)}"


def validation_faults(error: ValidationError, *, source: Source) -> list[Fault]:
    """Put what pydantic found into faults with places; unknown keys are left to `unknown_keys`."""
    faults = []
    for one in error.errors(include_url=False, include_input=False, include_context=False):
        if one["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
            continue
        path = one["loc"]
        name = ".".join(str(step) for step in path)
        if one["type"] == "missing":
            faults.append(source.fault(f"{name} is missing", *path))
        else:
            words = one["msg"].removeprefix("Value error, ")
            faults.append(source.fault(f"{name}: {words[:1].lower()}{words[1:]}", *path))
    return faults
