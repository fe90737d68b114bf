"""Which values reach which agent's child, and no other one's; pure."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from clawmarshal.errors import Fault, SettingsError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.transport.environment import name_fault, value_fault

_NONE: Mapping[str, str] = MappingProxyType({})


class AgentValues:
    """Keep values apart by agent.

    Parameters
    ----------
    listed
        Values of the variables that agents list by name in the roster.
    own
        By agent id: variables of that agent alone, which it need not list; they win.
    """

    def __init__(
        self, listed: Mapping[str, str], own: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    ) -> None:
        self._listed = dict(listed)
        self._own = {agent_id: dict(values) for agent_id, values in own.items()}

    def __repr__(self) -> str:
        return f"AgentValues({', '.join(self._own)})"

    def names(self, agent: AgentSpec) -> list[str]:
        """Name the variables that this agent's child gets besides ours, sorted."""
        return sorted({*agent.env, *self._own.get(agent.id, _NONE)})

    def values(self, agent: AgentSpec) -> dict[str, str]:
        """Return this agent's values; a name without one is left out."""
        listed = {name: self._listed[name] for name in agent.env if name in self._listed}
        return listed | self._own.get(agent.id, {})

    def check(self, agents: Iterable[AgentSpec]) -> None:
        """Refuse agents whose variables are refused or have no value, and values for nobody.

        Raises
        ------
        SettingsError
            With every fault.
        """
        known = {agent.id: agent for agent in agents}
        faults = [
            Fault(f"agent {agent.id}: {fault}")
            for agent in known.values()
            for name in self.names(agent)
            if (fault := name_fault(name) or value_fault(name, self.values(agent).get(name)))
        ]
        faults += [
            Fault(f"transport.secrets: the roster has no agent {agent_id!r}")
            for agent_id in self._own
            if agent_id not in known
        ]
        if faults:
            raise SettingsError("the environment of some agents cannot be built", faults=faults)
