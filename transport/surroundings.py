"""What each child finds around it: private folders, client config, and its own environment."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from clawmarshal.errors import SettingsError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.transport.agent_values import AgentValues
from clawmarshal.transport.environment import child_environment
from clawmarshal.transport.gateway import Gateway
from clawmarshal.transport.limits import check_client_config
from clawmarshal.transport.workspace import Workspace

_Path = str | os.PathLike[str] | None


@dataclass(frozen=True, slots=True)
class Told:
    """What an operator said about the surroundings of every child."""

    openclaw_config: _Path = None
    gateway: Gateway | None = None
    directory: _Path = None
    needs_tmpfs: bool = False
    tmpdir: _Path = None
    tz: str | None = None
    state_dir: _Path = None
    home: _Path = None
    agent_env: Mapping[str, str] = field(default_factory=dict, repr=False)
    agent_secrets: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)


class Surroundings:
    """Own the workspace, and say what each child's environment is.

    Raises
    ------
    SettingsError
        Two client configs were named, or the one that was cannot be used; or as `Workspace`.
    """

    def __init__(self, told: Told) -> None:
        if told.gateway is not None and told.openclaw_config is not None:
            raise SettingsError("transport: give openclaw_config or gateway, not both")
        self._told = told
        self._config = check_client_config(told.openclaw_config)
        self.values = AgentValues(told.agent_env, told.agent_secrets)
        self.workspace = Workspace(
            told.directory,
            needs_tmpfs=told.needs_tmpfs,
            client_config=None if told.gateway is None else told.gateway.client_config(),
        )

    def environment(self, agent: AgentSpec | None = None) -> dict[str, str]:
        """Build the environment of one child; no agent's values are in it where None.

        Raises
        ------
        NotLaunchedError
            As `child_environment`.
        """
        told, workspace = self._told, self.workspace
        ours = workspace.client_config
        return child_environment(
            config_path=self._config if ours is None else str(ours),
            state_dir=os.fspath(told.state_dir or workspace.state),
            home=os.fspath(told.home or workspace.home),
            tmpdir=os.fspath(told.tmpdir or workspace.tmp),
            tz=told.tz,
            names=() if agent is None else self.values.names(agent),
            values={} if agent is None else self.values.values(agent),
        )

    def names(self, agent: AgentSpec) -> Sequence[str]:
        """Name every variable of an agent's child, sorted."""
        return sorted({*self.environment(), *self.values.names(agent)})

    def secrets(self, agent: AgentSpec) -> list[str]:
        """Return what an agent's child was given and nobody should read."""
        token = [] if self._told.gateway is None else [self._told.gateway.token]
        return [*token, *self.values.values(agent).values()]
