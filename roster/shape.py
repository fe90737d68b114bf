"""What a roster document breaks of the published shape, in words and with the place of each."""

import difflib
import functools
import importlib.resources
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from clawmarshal.errors import Fault
from clawmarshal.roster.agent import id_faults
from clawmarshal.roster.document import Kind, Node, cited, reading_of

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

EXTENSION = "x-"


def shape_faults(root: Node) -> list[Fault]:
    """List what a document breaks of ``roster.schema.json`` and of the rules for ids.

    Spots that already have a fault are passed over.

    Parameters
    ----------
    root
        The whole document.
    """
    faults: list[Fault] = []
    for error in _validator().iter_errors(root.plain()):
        path = list(error.absolute_path)
        nodes = root.along(path)
        if not any(node.is_faulty for node in nodes):
            faults += _worded(root, path, nodes[-1], error)
    faults += _id_faults(root)
    return faults


def roster_schema() -> dict[str, Any]:
    """Return the published JSON Schema of a roster file."""
    text = importlib.resources.files("clawmarshal.roster").joinpath("roster.schema.json")
    schema: dict[str, Any] = json.loads(text.read_text(encoding="utf-8"))
    return schema


@functools.cache
def _validator() -> "Draft202012Validator":
    from jsonschema import Draft202012Validator  # slow to import, and only files need it

    return Draft202012Validator(roster_schema())


def _worded(
    root: Node, path: Sequence[str | int], node: Node, error: "ValidationError"
) -> Iterator[Fault]:
    subject = _subject(root, path)
    schema: Any = error.schema
    match error.validator:
        case "required":
            for name in schema["required"]:
                if name not in node.keys:
                    yield Fault(f"{subject}the field {name} is missing", node.line, node.column)
        case "additionalProperties":
            known = list(schema["properties"])
            for name, key in node.keys.items():
                if not (name in known or key.is_faulty or _is_extension(name, schema)):
                    yield Fault(f"{subject}{_unknown(name, known)}", key.line, key.column)
        case _ if len(path) == 3 and path[2] == "id" and node.kind is Kind.TEXT:
            return  # _id_faults has better words for each case
        case _:
            what = f"{_label(path)} must be {schema['title']}{_found(node, error)}"
            yield Fault(subject + what, node.line, node.column)


def _found(node: Node, error: "ValidationError") -> str:
    """Say what stands there instead, where the kind is what is wrong."""
    schema: Any = error.schema
    wants_text = "enum" in schema or schema.get("type") == "string"
    if node.kind is Kind.NOTHING or (wants_text and node.kind is not Kind.TEXT):
        return reading_of(node) or f", not {node.kind}"
    return f", not {node.kind}" if error.validator == "type" else ""


def _is_extension(name: str, schema: dict[str, Any]) -> bool:
    return name.startswith(EXTENSION) and "patternProperties" in schema


def _unknown(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name.casefold()[:64], known, n=2, cutoff=0.6)
    hint = f"did you mean {' or '.join(near)}?" if near else "your own notes begin with x-"
    return f"unknown field {cited(name)}; {hint}"


def _subject(root: Node, path: Sequence[str | int]) -> str:
    """Name the agent that a path leads into, by id where it has one."""
    if len(path) < 2 or path[0] != "agents" or not isinstance(path[1], int):
        return ""
    agent_id = root.along(path[:2])[-1].fields.get("id")
    if agent_id is not None and isinstance(agent_id.scalar, str):
        return f"agent {cited(agent_id.scalar)}: "
    return f"agent {path[1] + 1}: "


def _label(path: Sequence[str | int]) -> str:
    """Write the part of a path below the agent, as in ``examples[2]``."""
    steps = path[2:] if len(path) > 1 and path[0] == "agents" else path
    label = ""
    for step in steps:
        label += f"[{step}]" if isinstance(step, int) else f".{step}" if label else step
    return label or ("it" if path else "the file")


def _id_faults(root: Node) -> Iterator[Fault]:
    seen: dict[str, Node] = {}
    agents = root.fields.get("agents")
    for agent in agents.elements if agents else []:
        node = agent.fields.get("id")
        if node is None or node.is_faulty or not isinstance(node.scalar, str):
            continue
        for sentence in id_faults(node.scalar):
            yield Fault(f"agent {cited(node.scalar)}: {sentence}", node.line, node.column)
        first = seen.setdefault(node.scalar.casefold(), node)
        if first is not node:
            yield Fault(
                f"agent {cited(node.scalar)}: the id is taken by {cited(str(first.scalar))} on "
                f"line {first.line}; ids must differ in more than case",
                node.line,
                node.column,
            )
