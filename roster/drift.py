"""Where a roster and a live OpenClaw differ; pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from clawmarshal.roster.agent import AgentSpec, Binding
from clawmarshal.roster.openclaw import LiveAgent, LiveFleet
from clawmarshal.roster.roster import Roster


class DriftCode(StrEnum):
    """What differs."""

    MISSING = "missing"
    """The roster has an agent that OpenClaw does not know: gate 9 holds its messages."""
    UNLISTED = "unlisted"
    """OpenClaw has an agent that the roster does not: it gets no message from here."""
    DESCRIPTION = "description"
    NAME = "name"
    BINDINGS = "bindings"


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs."""

    code: DriftCode
    agent: str
    """The id."""
    message: str
    """One sentence for a person."""
    roster: object = None
    """What the roster says, as a JSON value."""
    openclaw: object = None
    """What OpenClaw says, as a JSON value."""


@dataclass(frozen=True, slots=True)
class Drift:
    """Everything that differs, as far as it is known."""

    differences: tuple[Difference, ...]
    """By agent, then by what."""
    is_whole: bool
    """False where OpenClaw's configuration is not understood: only the ids were compared."""

    @property
    def is_none(self) -> bool | None:
        """True for the same, False for different, None where that cannot be told."""
        if self.differences:
            return False
        return True if self.is_whole else None


def compare(roster: Roster, live: LiveFleet) -> Drift:
    """Compare a roster with what a Gateway said of its agents.

    A description, name or binding that OpenClaw does not have is no difference, nor is a name that
    only OpenClaw has: the roster is where remits are written. What only a roster has (examples,
    limits, tags) is not compared.
    """
    found = list(_about_ids(roster, live))
    for agent in roster:
        described = live.get(agent.id)
        if described is not None:
            found += _about_one(agent, described)
    ordered = sorted(found, key=lambda difference: (difference.agent, difference.code))
    return Drift(tuple(ordered), is_whole=live.agents is not None)


def _about_ids(roster: Roster, live: LiveFleet) -> Iterator[Difference]:
    known = {agent.id for agent in roster}
    for agent_id in sorted(known - live.ids):
        message = f"{agent_id} is not in the live OpenClaw; its messages are held"
        yield Difference(DriftCode.MISSING, agent_id, message)
    for agent_id in sorted(live.ids - known):
        message = f"{agent_id} is in OpenClaw but not in the roster; `roster import` adds it"
        yield Difference(DriftCode.UNLISTED, agent_id, message)


def _about_one(agent: AgentSpec, live: LiveAgent) -> Iterator[Difference]:
    if live.description is not None and _spaced(agent.description) != _spaced(live.description):
        yield Difference(
            DriftCode.DESCRIPTION,
            agent.id,
            f"{agent.id}: the descriptions differ",
            agent.description,
            live.description,
        )
    if None not in (live.name, agent.name) and agent.name != live.name:
        yield Difference(
            DriftCode.NAME, agent.id, f"{agent.id}: the names differ", agent.name, live.name
        )
    if live.has_unsaid_binding or set(live.bindings) - set(agent.bindings):
        yield Difference(
            DriftCode.BINDINGS,
            agent.id,
            f"{agent.id}: OpenClaw binds it in ways that the roster does not",
            written(agent.bindings),
            written(live.bindings),
        )


def written(bindings: tuple[Binding, ...]) -> list[dict[str, str]]:
    """Write bindings as a roster file has them."""
    return [
        {
            part: value
            for part in ("channel", "account", "conversation")
            if (value := getattr(binding, part)) is not None
        }
        for binding in bindings
    ]


def _spaced(text: str) -> str:
    return " ".join(text.split())
