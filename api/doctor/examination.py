"""Every look in its order: with a configuration, with the stand-in, or with nothing."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from clawmarshal.api.decision_settings import DecisionSettings
from clawmarshal.api.doctor import machine, openclaw, separation
from clawmarshal.api.doctor.decision import look_at_model
from clawmarshal.api.doctor.findings import Finding, fail, ok, warn
from clawmarshal.api.opening import opened_ledger
from clawmarshal.api.settings import Settings, TransportSettings, gateway_of, load_settings
from clawmarshal.api.transports import asking, make_transport
from clawmarshal.errors import ClawmarshalError, LedgerError, RosterError, SettingsError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.roster.check import check_roster
from clawmarshal.roster.loader import load_roster
from clawmarshal.roster.roster import Roster
from clawmarshal.transport.openclaw import OpenClawTransport

NOT_CONFIGURED = "no configuration was named: defaults and the OpenClaw of this machine"


async def examine(config: Path | None, *, turn: str | None = None) -> AsyncIterator[Finding]:
    """Look at everything, and yield each finding as it is made.

    Parameters
    ----------
    config
        The service's configuration; None to look at the machine alone.
    turn
        The agent that a real turn of one line is launched for; None for none.
    """
    settings = None
    if config is None:
        yield ok("configuration", NOT_CONFIGURED)
    else:
        settings, finding = _settings(config)
        yield finding
        if settings is None:
            return
    roster: Roster | None = None
    if settings is not None:
        roster, finding = _roster(settings.roster)
        yield finding
    yield machine.look_at_clock()
    told = settings.transport if settings else None
    yield machine.look_at_temp(
        told.directory if told else None, needs_tmpfs=bool(told and told.needs_tmpfs)
    )
    if settings is not None:
        for finding in _ledger(settings):
            yield finding
    async for finding in _transport(config, settings, roster=roster, turn=turn):
        yield finding
    decision = settings.decision if settings else DecisionSettings()
    # Last: the children above are started before the encoder's libraries are loaded.
    yield await asyncio.to_thread(look_at_model, decision)


def _settings(config: Path) -> tuple[Settings | None, Finding]:
    try:
        settings = load_settings(config)
    except SettingsError as error:
        return None, fail(
            "configuration", str(error), mend="mend it; docs/settings.md has each key"
        )
    mode = f", mode {settings.mode}"
    return settings, ok("configuration", f"{config.name} can be used{mode}")


def _roster(file: Path) -> tuple[Roster | None, Finding]:
    try:
        roster = load_roster(file)
    except RosterError as error:
        return None, fail("roster", str(error), mend=f"clawmarshal roster check {file}")
    warnings = len(check_roster(roster))
    told = f"{file.name}: {len(roster)} agents"
    if warnings:
        mend = f"clawmarshal roster check {file}"
        return roster, warn("roster", f"{told}, {warnings} warning(s)", mend=mend)
    return roster, ok("roster", told)


def _ledger(settings: Settings) -> Iterator[Finding]:
    if settings.ledger_file is not None:
        yield from machine.look_at_ledger(settings.ledger_file)
        return
    try:
        with opened_ledger(settings) as ledger:
            ledger.ping()
    except (SettingsError, LedgerError) as error:
        yield fail("ledger", str(error), mend="mend `ledger`, or the server it names")
    else:
        yield ok("ledger", "the server answers")


async def _transport(
    config: Path | None, settings: Settings | None, *, roster: Roster | None, turn: str | None
) -> AsyncIterator[Finding]:
    told = settings.transport if settings else None
    if told is not None and told.command:
        yield openclaw.look_at_command(told.command)
        for finding in _access(told):
            yield finding
    try:
        async with asking(config) as transport:
            can_run = False
            async for finding in _asked(transport, roster=roster):
                can_run |= "run programs" in finding.detail
                yield finding
        for finding in _separation(told, can_run=can_run):
            yield finding
        if turn is not None:
            yield await _turn(config, settings, roster=roster, agent_id=turn)
    except SettingsError as error:
        if settings is None:
            yield warn("cli", str(error), mend="install OpenClaw; without it a stand-in answers")
        else:
            yield fail("cli", str(error), mend="mend `transport` in the configuration")


async def _asked(transport: OpenClawTransport, *, roster: Roster | None) -> AsyncIterator[Finding]:
    finding = await openclaw.look_at_cli(transport)
    yield finding
    if "stand-in" in transport.label or finding.verdict == "fail":
        return  # there is no Gateway behind it, or no way to ask
    finding = await openclaw.look_at_gateway(transport)
    yield finding
    if finding.verdict != "fail":
        async for finding in openclaw.look_at_agents(transport, roster):
            yield finding


def _access(told: TransportSettings) -> Iterator[Finding]:
    """Look where the Gateway's token comes from."""
    if told.openclaw_config is not None:
        yield from openclaw.look_at_client_config(told.openclaw_config)
        return
    try:
        gateway_of(told)
    except SettingsError as error:
        yield fail("client-config", str(error), mend="mend transport.gateway")
    else:
        yield ok("client-config", "written by us from transport.gateway, in a private folder")


def _separation(told: TransportSettings | None, *, can_run: bool) -> Iterator[Finding]:
    """Look whether agents run as the user that keeps our keys."""
    port = None
    if told is not None and told.gateway is not None:
        port = separation.port_in(told.gateway.url.encode())
    elif told is not None and told.openclaw_config is not None:
        port = separation.gateway_port(told.openclaw_config)
    if port is not None:
        yield from separation.look_at_separation(port, can_run=can_run)


async def _turn(
    config: Path | None, settings: Settings | None, *, roster: Roster | None, agent_id: str
) -> Finding:
    """Launch a real turn with the variables that the agent lists."""
    try:
        if roster is not None and agent_id in roster:
            agent = roster[agent_id]
        else:
            agent = AgentSpec(agent_id, "Named for one turn.")
        if settings is None:
            async with asking(config) as transport:
                return await openclaw.look_at_turn(transport, agent)
        transport = make_transport(settings, [agent])
        try:
            return await openclaw.look_at_turn(transport, agent)
        finally:
            await transport.close()
    except ClawmarshalError as error:
        return fail("turn", f"{agent_id}: {error}", mend="name an agent of the roster")
