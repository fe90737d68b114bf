"""Roster: immutable, canonical order, digest."""

import difflib
import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from clawmarshal.errors import Fault, RosterSchemaError, UnknownAgentError
from clawmarshal.roster.agent import AgentSpec

MAX_AGENTS = 10_000


class Roster:
    """Hold the agents of a fleet in canonical order.

    Results never depend on the order of the file: agents are sorted by id.

    Parameters
    ----------
    agents
        1 to 10,000, ids distinct without regard to case.
    name
        What the fleet is called, or None.
    extensions
        The ``x-…`` keys of the file, JSON values.

    Raises
    ------
    RosterSchemaError
        No agent, too many, or ids that collide; every fault is listed at once.
    """

    __slots__ = ("_by_id", "agents", "digest", "extensions", "name")

    def __init__(
        self,
        agents: Iterable[AgentSpec],
        *,
        name: str | None = None,
        extensions: Mapping[str, object] | None = None,
    ) -> None:
        ordered = tuple(sorted(agents, key=lambda agent: agent.id))
        faults = []
        if not ordered:
            faults.append(Fault("a roster needs at least one agent"))
        if len(ordered) > MAX_AGENTS:
            faults.append(Fault(f"more than {MAX_AGENTS} agents"))
        for first, second in itertools.pairwise(ordered):
            if first.id.casefold() == second.id.casefold():
                faults.append(Fault(f"two agents are called {second.id!r}"))
        if faults:
            raise RosterSchemaError(faults)
        self.agents = ordered
        self.name = name
        self.extensions = MappingProxyType(dict(extensions or {}))
        self._by_id = {agent.id: agent for agent in ordered}
        canonical = json.dumps([[agent.id, agent.digest] for agent in ordered])
        self.digest = hashlib.sha256(canonical.encode()).hexdigest()

    def __iter__(self) -> Iterator[AgentSpec]:
        return iter(self.agents)

    def __len__(self) -> int:
        return len(self.agents)

    def __contains__(self, agent_id: object) -> bool:
        return agent_id in self._by_id

    def __repr__(self) -> str:
        return f"Roster({len(self.agents)} agents, digest={self.digest[:12]})"

    def __getitem__(self, agent_id: str) -> AgentSpec:
        """Return the agent with this id.

        Raises
        ------
        UnknownAgentError
            There is none; near matches are named.
        """
        try:
            return self._by_id[agent_id]
        except KeyError:
            raise UnknownAgentError(agent_id, self.near(agent_id)) from None

    def near(self, agent_id: str) -> tuple[str, ...]:
        """Name up to three ids that are written almost like this one, best first."""
        return tuple(difflib.get_close_matches(agent_id.casefold()[:64], self._by_id, n=3))

    def eligible(
        self,
        *,
        channel: str | None = None,
        account: str | None = None,
        conversation: str | None = None,
        required_tags: frozenset[str] = frozenset(),
    ) -> tuple[AgentSpec, ...]:
        """List the agents that the hard filters leave for a message, in canonical order."""
        return tuple(
            agent
            for agent in self.agents
            if agent.accepts(
                channel=channel,
                account=account,
                conversation=conversation,
                required_tags=required_tags,
            )
        )
