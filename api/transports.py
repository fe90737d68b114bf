"""The transport of a configuration, for a service or for one question."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from clawmarshal.api.settings import (
    Settings,
    configured_openclaw,
    gateway_of,
    load_settings,
    secrets_of,
    values_of,
)
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.transport.openclaw import OpenClawTransport
from clawmarshal.transport.stand_in import stand_in_command


def make_transport(settings: Settings, roster: Iterable[AgentSpec] = ()) -> OpenClawTransport:
    """Make the transport of a configuration, its spawner started.

    Parameters
    ----------
    roster
        Whose variables are passed on; nobody's for a transport that launches no turn.

    Raises
    ------
    SettingsError
        The CLI is missing, not executable, a batch file, or its client configuration is missing.
    """
    told, agents = settings.transport, tuple(roster)
    return OpenClawTransport(
        stand_in_command() if told.stand_in else told.command,
        openclaw_config=told.openclaw_config,
        gateway=gateway_of(told),
        directory=told.directory,
        needs_tmpfs=told.needs_tmpfs,
        timeout_s=told.timeout_s,
        margin_s=told.margin_s,
        grace_s=told.grace_s,
        reply_cap_bytes=told.reply_cap_bytes,
        max_text_bytes=told.max_text_bytes,
        child_memory_mb=told.child_memory_mb,
        tmpdir=told.tmpdir,
        tz=told.tz,
        agent_env=values_of({name for agent in agents for name in agent.env}),
        agent_secrets=secrets_of(told) if agents else {},
    )


@asynccontextmanager
async def asking(config: Path | None) -> AsyncIterator[OpenClawTransport]:
    """Open a transport that asks and launches nothing: of a configuration, else as installed.

    Raises
    ------
    SettingsError
        There is no OpenClaw, or what is configured cannot be used.
    """
    if config is not None:
        transport = make_transport(load_settings(config))
    elif named := configured_openclaw():
        transport = OpenClawTransport(named[0], openclaw_config=named[1])
    else:
        transport = OpenClawTransport.discover()
    try:
        yield transport
    finally:
        await transport.close()
