"""YAML text -> plain values, read strictly, with the place of each."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from clawmarshal.errors import Fault, RosterFileError, RosterSchemaError
from clawmarshal.roster.agent import UNSAFE

if TYPE_CHECKING:
    import yaml

MAX_DEPTH = 32
MAX_VALUES = 300_000
MAX_FAULTS = 1000
WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,31})", re.ASCII)
DECIMAL = re.compile(r"-?(?:[0-9]{1,32})?\.[0-9]{0,32}(?:e[-+][0-9]{1,3})?", re.ASCII | re.I)


class Kind(StrEnum):
    """What a value is."""

    MAPPING = "a mapping"
    LIST = "a list"
    TEXT = "a text"
    NUMBER = "a number"
    TRUTH = "a truth value"
    NOTHING = "nothing"


@dataclass(slots=True)
class Node:
    """One value of a document and where it stands."""

    kind: Kind
    line: int
    """1-based."""
    column: int
    """1-based."""
    scalar: str | int | float | bool | None = None
    """The value of anything but a mapping or a list."""
    written: str | None = None
    """The text of a plain scalar that YAML reads as something else, such as ``no``."""
    is_faulty: bool = False
    """True where a fault was reported, so that nothing further is said about the spot."""
    fields: dict[str, "Node"] = field(default_factory=dict)
    """The values of a mapping."""
    keys: dict[str, "Node"] = field(default_factory=dict)
    """The keys of a mapping as they stand in the text."""
    elements: list["Node"] = field(default_factory=list)
    """The values of a list."""

    def plain(self) -> Any:
        """Return the value as dicts, lists and scalars."""
        match self.kind:
            case Kind.MAPPING:
                return {key: node.plain() for key, node in self.fields.items()}
            case Kind.LIST:
                return [node.plain() for node in self.elements]
            case _:
                return self.scalar

    def along(self, path: Iterable[str | int]) -> list["Node"]:
        """List the nodes from this one to the end of the path, both included."""
        nodes = [self]
        for step in path:
            last = nodes[-1]
            nodes.append(last.fields[step] if isinstance(step, str) else last.elements[step])
        return nodes


@dataclass(frozen=True, slots=True)
class Document:
    """What a text holds, and what is wrong with how it is written."""

    root: Node
    faults: Sequence[Fault]
    """In the order of the text; may be empty."""


def read_document(text: str, *, source: str) -> Document:
    """Read one YAML document into plain values.

    Anchors, aliases, tags, merge keys, duplicate keys, further documents and scalars that YAML 1.1
    reads as dates, octal or otherwise odd numbers are faults, at any depth. The time is linear in
    the text and no alias is ever followed.

    Parameters
    ----------
    text
        No character that YAML forbids.
    source
        The file's name, for messages.

    Raises
    ------
    RosterFileError
        The text is not YAML, or holds nothing.
    RosterSchemaError
        It nests deeper than 32 levels, or holds more than 300,000 values or 1000 faults.
    """
    import yaml  # slow to import, and only files need it

    reader = _Reader(source, yaml.resolver.Resolver())
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in yaml.parse(text, Loader=loader):
            if not reader.take(event):
                break
    except yaml.YAMLError as error:
        raise RosterFileError(f"{source} is not YAML: {_syntax_fault(error)}") from error
    if reader.root is None or (reader.root.kind is Kind.NOTHING and not reader.faults):
        raise RosterFileError(
            f"{source} is empty; write `agents:` and below it at least one agent with id and "
            "description"
        )
    return Document(reader.root, reader.faults)


def _syntax_fault(error: "yaml.YAMLError") -> Fault:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    parts = [getattr(error, "context", None), getattr(error, "problem", None)]
    problem = ", ".join(part for part in parts if part) or "it cannot be read"
    mend = "if the file was cut off while it was written, put the whole file back"
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    return Fault(f"{problem}; {mend}", line, column)


@dataclass(slots=True)
class _Frame:
    """A list or mapping that is still open."""

    node: Node
    key: str | None = None
    """A key that waits for its value; see `expects_value`."""
    expects_value: bool = False
    """True after a key, even one that was refused: its value is read and left out."""


class _Reader:
    """Turn parser events into nodes without recursion."""

    def __init__(self, source: str, resolver: "yaml.resolver.Resolver") -> None:
        self.root: Node | None = None
        self.faults: list[Fault] = []
        self._source = source
        self._resolver = resolver
        self._open: list[_Frame] = []
        self._values = 0

    def take(self, event: "yaml.Event") -> bool:
        """Take the next event; return False to stop reading."""
        import yaml

        match event:
            case yaml.ScalarEvent():
                self._attach(self._scalar(event))
            case yaml.SequenceStartEvent():
                self._enter(event, Kind.LIST)
            case yaml.MappingStartEvent():
                self._enter(event, Kind.MAPPING)
            case yaml.CollectionEndEvent():
                self._open.pop()
            case yaml.AliasEvent():
                self._attach(self._refuse(_node(event, Kind.NOTHING), "aliases (*) are not read"))
            case yaml.DocumentStartEvent() if self.root is not None:
                self._refuse(_node(event, Kind.NOTHING), "a second document begins; write one only")
                return False
        return True

    def _enter(self, event: "yaml.CollectionStartEvent", kind: Kind) -> None:
        node = _node(event, kind)
        self._check_properties(event, node)
        self._attach(node)
        self._open.append(_Frame(node))
        if len(self._open) > MAX_DEPTH:
            self._refuse(node, f"nested deeper than {MAX_DEPTH} levels; reading stops here")
            self._give_up()

    def _attach(self, node: Node) -> None:
        self._values += 1
        if self._values > MAX_VALUES:
            self._refuse(node, f"more than {MAX_VALUES} values; reading stops here")
            self._give_up()
        if not self._open:
            self.root = node
            return
        frame = self._open[-1]
        if frame.node.kind is Kind.LIST:
            frame.node.elements.append(node)
        elif not frame.expects_value:
            frame.key, frame.expects_value = self._key(frame.node, node), True
        else:
            if frame.key is not None:
                frame.node.fields[frame.key] = node
            frame.key, frame.expects_value = None, False

    def _key(self, mapping: Node, node: Node) -> str | None:
        """Return the key to file the next value under, None where there is none."""
        if not isinstance(node.scalar, str):
            if not node.is_faulty:
                self._refuse(node, f"a key must be a text{reading_of(node)}")
            return None
        if node.scalar in mapping.keys:
            first = mapping.keys[node.scalar].line
            self._refuse(node, f"the key {cited(node.scalar)} stands twice, first on line {first}")
            return None
        mapping.keys[node.scalar] = node
        return node.scalar

    def _scalar(self, event: "yaml.ScalarEvent") -> Node:
        node = _node(event, Kind.TEXT)
        node.scalar = event.value
        if UNSAFE.search(event.value):
            self._refuse(node, "the text holds a NUL or half of a surrogate pair; remove it")
        elif self._check_properties(event, node) and event.implicit[0]:
            self._resolve(node, event.value)
        return node

    def _resolve(self, node: Node, written: str) -> None:
        """Read a plain scalar as YAML 1.1 does, or refuse where that would surprise."""
        import yaml

        resolve: Callable[..., str] = self._resolver.resolve
        tag = resolve(yaml.ScalarNode, written, (True, False))
        match tag.rpartition(":")[2]:
            case "null":
                node.kind, node.scalar, node.written = Kind.NOTHING, None, written
            case "bool":
                is_true = written.lower() in ("yes", "true", "on")
                node.kind, node.scalar, node.written = Kind.TRUTH, is_true, written
            case "int" | "float":
                self._number(node, written)
            case "timestamp":
                self._refuse(node, f"YAML reads {cited(written)} as a date: put it in quotes")
            case "merge":
                self._refuse(node, "merge keys (<<) are not read; write the fields out")

    def _number(self, node: Node, written: str) -> None:
        node.kind, node.written = Kind.NUMBER, written
        if WHOLE.fullmatch(written):
            node.scalar = int(written)
        elif DECIMAL.fullmatch(written) and math.isfinite(number := float(written)):
            node.scalar = number
        else:
            mend = "put it in quotes, or write a plain decimal number"
            self._refuse(node, f"YAML reads {cited(written)} as a number: {mend}")

    def _check_properties(
        self, event: "yaml.ScalarEvent | yaml.CollectionStartEvent", node: Node
    ) -> bool:
        """Refuse anchors and tags; return False where there are any."""
        if event.anchor is not None:
            self._refuse(node, "anchors (&) are not read; write the value out")
        if event.tag is not None:
            self._refuse(node, "tags (!) are not read; write a plain value")
        return not node.is_faulty

    def _refuse(self, node: Node, message: str) -> Node:
        node.is_faulty = True
        self.faults.append(Fault(message, node.line, node.column))
        if len(self.faults) >= MAX_FAULTS:
            self._give_up()
        return node

    def _give_up(self) -> None:
        raise RosterSchemaError(self.faults, source=self._source)


def reading_of(node: Node) -> str:
    """Say how YAML read a plain scalar, where that may surprise; empty where it does not."""
    if node.written is None:
        return ""
    if node.kind is Kind.NOTHING:
        return "; nothing is written there"
    return f"; YAML reads {cited(node.written)} as {node.kind}: put it in quotes"


def cited(written: str) -> str:
    """Quote at most 40 characters of what a file holds."""
    return repr(written if len(written) <= 40 else written[:39] + "…")


def _node(event: "yaml.Event", kind: Kind) -> Node:
    mark: Any = event.start_mark
    return Node(kind, mark.line + 1, mark.column + 1)
