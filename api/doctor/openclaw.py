"""What a service needs of OpenClaw: Node, CLI, client config, Gateway, agents, and a turn."""

import json
import os
import re
import secrets
import stat
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path

from clawmarshal.api.doctor.findings import Finding, fail, ok, warn
from clawmarshal.errors import NotLaunchedError, SettingsError
from clawmarshal.roster.agent import AgentSpec, Capability
from clawmarshal.roster.drift import DriftCode, compare
from clawmarshal.roster.openclaw import LiveFleet
from clawmarshal.roster.roster import Roster
from clawmarshal.transport import executable as programs
from clawmarshal.transport.command import ReadOnly
from clawmarshal.transport.look_up import Answer
from clawmarshal.transport.openclaw import OpenClawTransport
from clawmarshal.transport.outcome import Turn, TurnResult, TurnState
from clawmarshal.transport.refusals import TABLE
from clawmarshal.transport.spawner import boot_s

TURN_TEXT = "This is clawmarshal's doctor. Please answer with the one word: well."
TURN_S = 120
LAUNCH_S = 30.0
MAX_NAMED = 8
_OLD_NODE = re.compile(r"openclaw: (Node [\w.]{1,20}[^\n]{0,200})")


def look_at_command(command: Iterable[str]) -> Finding:
    """Look at Node and OpenClaw's script, or whatever is run in their place."""
    try:
        found = programs.resolve(tuple(command))
    except SettingsError as error:
        return fail("node", str(error), mend="name Node and openclaw.mjs, both absolute")
    return ok("node", f"{' '.join(found.parts)}: absolute, and writable by their owner alone")


def look_at_client_config(file: Path) -> Iterator[Finding]:
    """Look at the file with the Gateway's token; its content is not read."""
    try:
        found = os.stat(file)
    except OSError as error:
        mend = "write it: the Gateway's address and token; docs/settings.md has the form"
        yield fail("client-config", f"{file}: {error.strerror}", mend=mend)
        return
    if not stat.S_ISREG(found.st_mode):
        yield fail("client-config", f"{file} is not a file", mend="name a file")
    elif found.st_mode & 0o077:
        yield fail(
            "client-config",
            f"{file} is {stat.filemode(found.st_mode)}: others reach the Gateway's token",
            mend=f"chmod 600 {file}; then give the Gateway another token",
        )
    elif not os.access(file, os.R_OK):
        yield fail("client-config", f"{file} cannot be read", mend="give it to this user")
    elif found.st_uid != os.geteuid():
        yield warn("client-config", f"{file} is another user's", mend="give it to this user")
    else:
        yield ok("client-config", f"{file} is its owner's alone")


async def look_at_cli(transport: OpenClawTransport) -> Finding:
    """Ask the CLI for its version and flags."""
    try:
        probe = await transport.probe()
    except NotLaunchedError as error:
        return await _why_silent(transport, error)
    if probe.is_stand_in:
        return warn(
            "cli",
            f"{probe.label}: no agent runs",
            mend="name Node and openclaw.mjs in transport.command",
        )
    if probe.version not in TABLE:
        known = ", ".join(TABLE)
        return warn(
            "cli",
            f"OpenClaw {probe.version} was not tested: its refusals are taken for unknown, not for "
            f"certainly not run (tested: {known})",
            mend="use a tested version, or expect more routes that end unknown",
        )
    return ok("cli", f"OpenClaw {probe.version}")


async def _why_silent(transport: OpenClawTransport, error: NotLaunchedError) -> Finding:
    """Say what the CLI said instead of its version, where it is about Node."""
    try:
        answer = await transport.look_ups.answer_to(ReadOnly.VERSION)
    except NotLaunchedError:
        answer = None
    said = _OLD_NODE.search(answer.stderr.decode("utf-8", "replace")) if answer else None
    if said is not None:
        return fail("cli", said[1], mend="install the Node that OpenClaw asks for and name it")
    return fail("cli", str(error), mend="run the configured command with --version by hand")


async def look_at_gateway(transport: OpenClawTransport) -> Finding:
    """Ask the Gateway for its version."""
    try:
        answer = await transport.look_ups.answer_to(ReadOnly.STATUS)
    except NotLaunchedError as error:
        return fail("gateway", str(error), mend="look at the findings above")
    told = _object(answer.stdout) if answer.is_whole else {}
    version = told.get("runtimeVersion")
    if answer.exit_code != 0 or not isinstance(version, str):
        return _about_refusal(answer, told)
    ours = (await transport.probe()).version
    if programs.parse_version(version) != ours:
        return warn(
            "gateway",
            f"the Gateway is {version}, the CLI {ours}",
            mend="update one of them; other pairs were not tested",
        )
    return ok("gateway", f"reachable, {version}")


def _about_refusal(answer: Answer, told: dict[str, object]) -> Finding:
    error = told.get("error")
    message = error.get("message") if isinstance(error, dict) else None
    if not isinstance(message, str):
        detail = f"its answer is not understood (exit {answer.exit_code})"
        return fail("gateway", detail, mend="start it, and look at its log")
    rows = [row for rows in TABLE.values() for row in rows if message.startswith(row.begins)]
    return fail("gateway", message, mend=rows[0].mend if rows else "look at the Gateway's log")


async def look_at_agents(
    transport: OpenClawTransport, roster: Roster | None
) -> AsyncIterator[Finding]:
    """Ask which agents there are, compare them with the roster, and see what they could do."""
    live = await transport.live_fleet()
    if live is None:
        detail = "fleet unknown: nothing is held for it, and a missing agent is not noticed"
        yield warn("agents", detail, mend="mend the findings above, then ask again")
        return
    yield ok("agents", f"{len(live.ids)} known to the Gateway: {_listed(sorted(live.ids))}")
    if live.agents is None:
        yield warn(
            "agents",
            "config.get is not understood: descriptions and tools are unknown",
            mend="use a tested version of OpenClaw",
        )
    if roster is not None:
        for finding in _about_drift(roster, live):
            yield finding
    for finding in _about_powers(live):
        yield finding


def _about_drift(roster: Roster, live: LiveFleet) -> Iterator[Finding]:
    found = compare(roster, live).differences
    missing = [d.agent for d in found if d.code is DriftCode.MISSING]
    if missing:
        yield fail(
            "drift",
            f"in the roster and not in OpenClaw: {_listed(missing)}; their messages are held",
            mend="add them to OpenClaw, or take them out of the roster",
        )
    others = sorted({d.agent for d in found} - set(missing))
    if others:
        yield warn(
            "drift",
            f"the roster and OpenClaw differ about {_listed(others)}",
            mend="clawmarshal roster diff",
        )
    if not found:
        yield ok("drift", "the roster and OpenClaw agree")


def _about_powers(live: LiveFleet) -> Iterator[Finding]:
    able = [agent for agent in live.agents or () if agent.unasked]
    for agent in able[:MAX_NAMED]:
        deeds = " and ".join(_DEEDS[capability] for capability in agent.capabilities)
        denied = ", ".join(f'"{tool}"' for tool in agent.unasked)
        yield warn(
            "unasked",
            f"{agent.id} could {deeds} unasked in any turn",
            mend=f"add to agents.entries.{agent.id}.tools.deny: [{denied}]",
        )
    if len(able) > MAX_NAMED:
        more = len(able) - MAX_NAMED
        yield warn("unasked", f"{more} more could, too", mend="clawmarshal roster diff lists them")
    for way in live.ways_around:
        yield warn(
            "ways-around", way, mend="end it where every message has to come through clawmarshal"
        )


_DEEDS = {Capability.EXECUTE: "run programs", Capability.MESSAGE: "send messages"}


async def look_at_turn(transport: OpenClawTransport, agent: AgentSpec) -> Finding:
    """Launch one real turn of one line, in a session of its own."""
    turn = Turn(
        agent=agent,
        session_key=f"cm-{secrets.token_hex(16)}",
        text=TURN_TEXT,
        timeout_s=TURN_S,
        attempt_id=f"doctor-{secrets.token_hex(4)}",
        not_after_boot_s=boot_s() + LAUNCH_S,
    )
    result = await transport.launch(turn)
    if result.state is not TurnState.DONE:
        ended = f"{agent.id}: {result.state} {result.code}. {result.detail}"
        return fail("turn", ended, mend="mend the findings above; docs/transport.md has the codes")
    return _about_answer(agent, result)


def _about_answer(agent: AgentSpec, result: TurnResult) -> Finding:
    chars = len(result.reply_text or "")
    told = f"{agent.id} answered with {chars} characters in {result.wall_s:.1f} s"
    if result.tool_sends:
        return warn(
            "turn",
            f"{told}, and sent {len(result.tool_sends)} message(s) by itself",
            mend="deny it the message tool",
        )
    return ok("turn", told)


def _object(stdout: bytes) -> dict[str, object]:
    try:
        found = json.loads(stdout)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:MAX_NAMED])
    return f"{shown} and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else shown
