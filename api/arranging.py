"""Arrangement: what a reload may change, made and checked whole before any of it is in force."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from clawmarshal.api.choosing import check_fallback
from clawmarshal.api.configured import fallback_policy
from clawmarshal.api.settings import Settings, TransportSettings, secrets_of, values_of
from clawmarshal.errors import SettingsError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.roster.loader import load_roster
from clawmarshal.roster.roster import Roster
from clawmarshal.router.decider import Decider
from clawmarshal.router.thresholds import Policy
from clawmarshal.transport.agent_values import AgentValues

SWAPPED = frozenset(
    {
        ("roster",),
        ("policy",),
        ("decision", "fallback_policy"),
        ("transport", "agents"),
        ("transport", "tags"),
        ("transport", "secrets"),
    }
)
"""The settings that a reload puts in force; every other one needs a restart."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The fleet, the thresholds, and which of the agents this host reaches."""

    settings: Settings
    roster: Roster
    reached: frozenset[str]
    values: AgentValues = field(repr=False)
    """What the children are given; none of it is part of the revision."""

    @property
    def policy(self) -> Policy:
        """The thresholds of the acting model."""
        return self.settings.policy

    @property
    def fallback_policy(self) -> Policy:
        """The thresholds of the fallback."""
        return fallback_policy(self.settings.decision, self.settings.policy)

    @property
    def elsewhere(self) -> frozenset[str]:
        """The agents that other hosts reach."""
        return frozenset(agent.id for agent in self.roster) - self.reached

    @property
    def revision(self) -> str:
        """Twelve hexadecimal digits; the same for the same fleet, thresholds and reach."""
        parts = (
            self.roster.digest,
            self.policy.digest,
            self.fallback_policy.digest,
            *sorted(self.reached),
        )
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def arrange(settings: Settings) -> Arrangement:
    """Read the fleet that the settings name, and check that everything fits together.

    Raises
    ------
    SettingsError, RosterError
        Something cannot be used; the message says how to mend it.
    """
    roster = load_roster(settings.roster)
    check_fallback(settings.policy, roster)
    reached = agents_reached(settings.transport, roster)
    values = agent_values(settings.transport, roster)
    values.check(agent for agent in roster if agent.id in reached)
    return Arrangement(settings, roster, reached, values)


def under(decider: Decider, arrangement: Arrangement) -> Decider:
    """Return a decider of the same models under an arrangement."""
    return decider.with_rules(
        arrangement.roster,
        policy=arrangement.policy,
        fallback_policy=arrangement.fallback_policy,
    )


def needs_restart(before: Settings, after: Settings) -> list[str]:
    """Name the settings that differ and that no reload puts in force, sorted."""
    old, new = (one.model_dump(mode="json") for one in (before, after))
    return sorted(_changed(old, new, ()))


def agents_reached(transport: TransportSettings, roster: Roster) -> frozenset[str]:
    """Name the agents whose OpenClaw this host reaches.

    Raises
    ------
    SettingsError
        One that is named is not in the roster, or nobody is left.
    """
    ids = frozenset(agent.id for agent in roster)
    if not transport.agents and not transport.tags:
        return ids
    for name in transport.agents:
        if name not in ids:
            hint = _near(roster, name)
            raise SettingsError(f"transport.agents: the roster has no agent {name!r}{hint}")
    tagged = {agent.id for agent in roster if set(agent.tags) & set(transport.tags)}
    if not (reached := tagged | set(transport.agents)):
        raise SettingsError(f"transport.tags: no agent has any of {', '.join(transport.tags)}")
    return frozenset(reached)


def _near(roster: Roster, name: str) -> str:
    near = " or ".join(roster.near(name))
    return f"; did you mean {near}?" if near else ""


def agent_values(transport: TransportSettings, roster: Iterable[AgentSpec]) -> AgentValues:
    """Read what the agents' children are given.

    Raises
    ------
    SettingsError
        A secret cannot be read.
    """
    agents = tuple(roster)
    names = {name for agent in agents for name in agent.env}
    return AgentValues(values_of(names), secrets_of(transport) if agents else {})


def _changed(
    old: Mapping[str, Any], new: Mapping[str, Any], place: tuple[str, ...]
) -> Iterable[str]:
    for name in old.keys() | new.keys():
        here = (*place, name)
        before, after = old.get(name), new.get(name)
        if before == after or here in SWAPPED:
            continue
        if not place and isinstance(before, dict) and isinstance(after, dict):
            yield from _changed(before, after, here)
        else:
            yield ".".join(here)
