"""A roster file's text and a live OpenClaw -> the text that holds both; pure."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from clawmarshal.errors import RosterError
from clawmarshal.roster.document import Node, read_document
from clawmarshal.roster.drift import Difference, DriftCode, compare, written
from clawmarshal.roster.loader import parse_roster
from clawmarshal.roster.openclaw import LiveAgent, LiveFleet
from clawmarshal.roster.roster import Roster

NO_REMIT = "{name}: OpenClaw has no description of it; write here what it owns, then enable it."
_FIELDS = {
    DriftCode.DESCRIPTION: "description",
    DriftCode.NAME: "name",
    DriftCode.BINDINGS: "bindings",
}


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import comes to; nothing is written yet."""

    text: str
    """The whole file; as it was where nothing changes."""
    added: tuple[str, ...]
    """Ids of the agents that the file did not have."""
    kept: tuple[Difference, ...]
    """Where the file's own word stands against OpenClaw's."""
    replaced: tuple[Difference, ...]
    """Where OpenClaw's word takes the place of the file's, as was asked for."""
    notes: tuple[str, ...]
    """Sentences that somebody should read before the roster is used."""
    loses_comments: bool
    """The file had to be written anew: what no value holds is gone from it."""


def import_fleet(live: LiveFleet, *, existing: str | None = None, force: bool = False) -> Imported:
    """Add what OpenClaw has to a roster file, and change nothing of the operator's.

    Agents that the file does not have are added behind the others, every other byte stays. An
    agent without a description in OpenClaw, or with a binding that no roster can say, is added
    disabled: its messages are held until somebody has looked. Agents that OpenClaw does not have
    stay.

    Parameters
    ----------
    existing
        The text of a roster that can be used; None where there is none yet.
    force
        Let OpenClaw's description, name and bindings take the place of the file's.

    Raises
    ------
    RosterError
        `existing` cannot be used, or `live` describes no agent that a roster can name.
    """
    described = live.agents
    if not described:
        raise RosterError(
            "the fleet is unknown: OpenClaw describes no agent that a roster can name"
        )
    if existing is None:
        notes = (*live.refused, *_notes(described, described))
        text = f"agents:\n{''.join(_block(_fields(agent), '  ') for agent in described)}"
        parse_roster(text, source="the imported roster")
        return Imported(text, tuple(a.id for a in described), (), (), notes, False)
    roster = parse_roster(existing, source="the roster")
    new = [agent for agent in described if agent.id not in roster]
    differing = [d for d in compare(roster, live).differences if d.code in _FIELDS]
    replaced = tuple(d for d in differing if force and _is_sayable(d, live))
    kept = tuple(d for d in differing if d not in replaced)
    notes = (*live.refused, *_notes(described, new))
    if replaced:
        text, loses = _rewritten(existing, new, replaced), True
    elif new:
        text, loses = _appended(existing, roster, new), False
    else:
        text, loses = existing, False
    return Imported(text, tuple(agent.id for agent in new), kept, replaced, notes, loses)


def _is_sayable(difference: Difference, live: LiveFleet) -> bool:
    """Tell whether OpenClaw's word can take the place of a file's without widening a filter."""
    agent = live.get(difference.agent)
    return difference.code is not DriftCode.BINDINGS or not (agent and agent.has_unsaid_binding)


def _notes(described: Iterable[LiveAgent], new: Iterable[LiveAgent]) -> Iterator[str]:
    added = {agent.id for agent in new}
    for agent in described:
        if agent.description is None and agent.id in added:
            yield f"{agent.id}: OpenClaw has no description; write one, then enable the agent"
        for note in agent.notes:
            yield f"{agent.id}: {note}"


def _fields(agent: LiveAgent) -> dict[str, Any]:
    """Return an agent as a roster file has it."""
    label = agent.name or agent.id
    fields: dict[str, Any] = {"id": agent.id}
    if agent.name is not None:
        fields["name"] = agent.name
    fields["description"] = agent.description or NO_REMIT.format(name=label)
    if agent.description is None or agent.has_unsaid_binding:
        fields["enabled"] = False
    if agent.capabilities:
        fields["capabilities"] = [str(capability) for capability in agent.capabilities]
    if agent.bindings:
        fields["bindings"] = written(agent.bindings)
    return fields


def _block(fields: Mapping[str, Any], indent: str) -> str:
    """Write one agent; every value is in JSON's form, which no text can break out of."""
    lines = [f"{name}: {_value(value)}" for name, value in fields.items()]
    return f"{indent}- " + f"\n{indent}  ".join(lines) + "\n"


def _value(value: object) -> str:
    # YAML 1.1 takes JSON but for a few characters that it forbids even in quotes.
    text = json.dumps(value, ensure_ascii=False)
    return re.sub(
        "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]", lambda m: f"\\u{ord(m[0]):04x}", text
    )


def _appended(existing: str, roster: Roster, new: list[LiveAgent]) -> str:
    """Put the new agents behind the last one, and prove that nothing else changed."""
    lines = existing.splitlines(keepends=True)
    root = read_document(existing, source="the roster").root
    first = root.fields["agents"].elements[0]
    dash = re.match(r"( *)-\s", lines[first.line - 1])
    fault = RosterError(
        "the roster's agents are not written as a list of lines that begin with `- `, so none can "
        "be added; write them that way, or import into a new file"
    )
    if dash is None:
        raise fault
    end = _end_of_agents(root, lines, dash[1])
    if end and not lines[end - 1].endswith("\n"):
        lines[end - 1] += "\n"
    blocks = "".join("\n" + _block(_fields(agent), dash[1]) for agent in new)
    text = "".join(lines[:end]) + blocks + "".join(lines[end:])
    try:
        after = parse_roster(text, source="the roster with what was added")
    except RosterError as error:
        raise fault from error
    is_kept = {agent.digest for agent in roster} <= {agent.digest for agent in after}
    if not is_kept or len(after) != len(roster) + len(new):
        raise fault
    return text


def _end_of_agents(root: Node, lines: list[str], indent: str) -> int:
    """Return the number of lines up to the end of the last agent.

    Blank lines and comments behind it are left out, but not what is indented as its parts are: that
    may be text.
    """
    start = root.keys["agents"].line
    behind = [key.line for key in root.keys.values() if key.line > start]
    end = min(behind) - 1 if behind else len(lines)
    outside = re.compile(rf"\s*|[ ]{{0,{len(indent)}}}#.*\s*|(---|\.\.\.)\s*")
    while end > start and outside.fullmatch(lines[end - 1]):
        end -= 1
    return end


def _rewritten(existing: str, new: list[LiveAgent], differing: Iterable[Difference]) -> str:
    """Write the whole file anew, with OpenClaw's word where it differs."""
    values = read_document(existing, source="the roster").root.plain()
    theirs = {(d.agent, _FIELDS[d.code]): d.openclaw for d in differing}
    for agent in values["agents"]:
        agent |= {field: value for (who, field), value in theirs.items() if who == agent["id"]}
    agents = [*values["agents"], *map(_fields, new)]
    head = "".join(
        f"{_value(key)}: {_value(value)}\n" for key, value in values.items() if key != "agents"
    )
    text = f"{head}agents:\n{''.join(_block(agent, '  ') for agent in agents)}"
    parse_roster(text, source="the imported roster")
    return text
