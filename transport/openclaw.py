"""Transport over the OpenClaw CLI: one private folder, one child, one honest result per launch."""

import asyncio
import json
import os
import stat
import time
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from clawmarshal.errors import Fault, NotLaunchedError, OutcomeUnknownError, SettingsError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.transport import executable as programs
from clawmarshal.transport.command import MAX_TIMEOUT_S, ReadOnly, read_only_argv, turn_argv
from clawmarshal.transport.environment import child_environment, name_fault, value_fault
from clawmarshal.transport.outcome import Turn, TurnResult, TurnState, TurnWatcher
from clawmarshal.transport.process import Order, Spawner, launch
from clawmarshal.transport.reply import Asked
from clawmarshal.transport.result import FIRST_LINE, MAX_TEXT_BYTES, encode_message, to_result
from clawmarshal.transport.run import Run
from clawmarshal.transport.spawner import boot_s
from clawmarshal.transport.text import clean_text
from clawmarshal.transport.workspace import Workspace

_LOOK_UP_S = 20.0
_LOOK_UP_CAP = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Probe:
    """What the CLI said of itself."""

    version: str
    label: str
    """The first line of ``--version``, cleaned."""
    is_stand_in: bool


class OpenClawTransport:
    """Launch turns through the OpenClaw CLI.

    Parameters
    ----------
    command
        One absolute executable, or Node and ``openclaw.mjs``, both absolute.
    openclaw_config
        The client config that names the Gateway and its token; mode 0600. None only for a
        stand-in.
    directory
        Where private folders are made (a tmpfs, say); the system's temporary directory where None.
    timeout_s
        Seconds a turn may run when its agent says nothing.
    margin_s
        Seconds the CLI has beyond its own timeout before it is told to stop.
    grace_s
        Seconds from TERM, on which the CLI asks the Gateway to abort, to KILL.
    linger_s
        Seconds a process may stay after its answer.
    agent_env
        Values of the variables that agents list by name; each agent gets its own only.

    Raises
    ------
    SettingsError
        The command, the config or a folder cannot be used; the message says how to mend it.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        openclaw_config: str | os.PathLike[str] | None = None,
        directory: str | os.PathLike[str] | None = None,
        timeout_s: int = 600,
        margin_s: float = 8.0,
        grace_s: float = 3.0,
        linger_s: float = 2.0,
        reply_cap_bytes: int = 1024 * 1024,
        max_text_bytes: int = 256 * 1024,
        tmpdir: str | os.PathLike[str] | None = None,
        tz: str | None = None,
        agent_env: Mapping[str, str] | None = None,
        state_dir: str | os.PathLike[str] | None = None,
        home: str | os.PathLike[str] | None = None,
    ) -> None:
        self._executable = programs.resolve(command)
        self._config = _check_config(openclaw_config)
        _check_numbers(timeout_s, margin_s, grace_s, linger_s, reply_cap_bytes, max_text_bytes)
        self.timeout_s = timeout_s
        self.max_text_bytes = max_text_bytes
        self._margin_s, self._grace_s, self._linger_s = margin_s, grace_s, linger_s
        self._reply_cap = reply_cap_bytes
        self._tmpdir = None if tmpdir is None else os.fspath(tmpdir)
        self._tz = tz
        self._agent_env = dict(agent_env or {})
        self._workspace = Workspace(directory)
        self._state_dir = os.fspath(state_dir or self._workspace.state)
        self._home = os.fspath(home or self._workspace.home)
        self._probe: tuple[object, Probe] | None = None
        self._runs: dict[str, Run] = {}
        self._called_off: set[str] = set()
        try:
            self._environment(())
            self._spawner = Spawner()
        except (NotLaunchedError, OSError) as error:
            self._workspace.close()
            raise SettingsError(f"the transport cannot start: {error}") from error
        self._finalizer = weakref.finalize(self, self._workspace.close)

    @classmethod
    def discover(
        cls,
        environment: Mapping[str, str] | None = None,
        *,
        openclaw_config: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Build a transport on the OpenClaw that is installed.

        Parameters
        ----------
        environment
            Looked at for ``PATH``, ``OPENCLAW_CONFIG_PATH`` and ``HOME``; the process's own where
            None.
        openclaw_config
            The client config; ``OPENCLAW_CONFIG_PATH`` or ``~/.openclaw/openclaw.json`` where None.

        Raises
        ------
        SettingsError
            None is installed, or its config is missing.
        """
        found = os.environ if environment is None else environment
        default = Path(found.get("HOME", "/")) / ".openclaw" / "openclaw.json"
        config = openclaw_config or found.get("OPENCLAW_CONFIG_PATH") or default
        return cls(programs.find_openclaw(found), openclaw_config=config)

    @property
    def label(self) -> str:
        """What ``/readyz`` says: the CLI's own words for its version."""
        if self._probe is None:
            return "openclaw, version not asked yet"
        probe = self._probe[1]
        return f"stand-in ({probe.label})" if probe.is_stand_in else f"openclaw {probe.version}"

    def check_agents(self, agents: Iterable[AgentSpec]) -> None:
        """Refuse agents whose listed variables are refused or have no value.

        Raises
        ------
        SettingsError
            With every fault.
        """
        faults = [
            Fault(f"agent {agent.id}: {fault}")
            for agent in agents
            for name in agent.env
            if (fault := name_fault(name) or value_fault(name, self._agent_env.get(name)))
        ]
        if faults:
            raise SettingsError("the environment of some agents cannot be built", faults=faults)

    def template(self, agent: AgentSpec) -> Mapping[str, object]:
        """Describe exactly what would run; call `probe` first, so that the version is in it."""
        argv = turn_argv(
            self._executable.parts,
            agent_id=agent.id,
            session_key="cm-" + "0" * 16,
            message_file="/FILE",
            timeout_s=agent.timeout_s or self.timeout_s,
        )
        shown = [
            "--session-key=SESSION" if part.startswith("--session-key=") else
            "--message-file=FILE" if part.startswith("--message-file=") else part
            for part in argv
        ]  # fmt: skip
        return {
            "argv": shown,
            "files": list(self._executable.files),
            "cli_version": self._probe[1].version if self._probe else None,
            "environment": sorted({*self._environment(()), *agent.env}),
            "first_line": FIRST_LINE,
        }

    async def probe(self) -> Probe:
        """Ask the CLI for its version and flags, once per installed state of its files.

        Raises
        ------
        NotLaunchedError
            It is missing, too old, or lacks a flag; codes ``cli-missing``, ``cli-version``,
            ``cli-flags``, ``cli-silent``.
        """
        mark = self._executable.fingerprint()
        if self._probe is not None and self._probe[0] == mark:
            return self._probe[1]
        told = await self._ask(ReadOnly.VERSION)
        version = programs.check_version(programs.parse_version(told))
        programs.check_flags(await self._ask(ReadOnly.AGENT_HELP))
        label = clean_text(told.strip().splitlines()[0], limit=100)
        probe = Probe(version, label, is_stand_in="stand-in" in label.lower())
        self._probe = (mark, probe)
        return probe

    async def fleet(self) -> frozenset[str] | None:
        """Return the ids of the agents the Gateway knows; None when it cannot be told."""
        from clawmarshal.roster.openclaw import agent_ids

        try:
            document = json.loads(await self._ask(ReadOnly.AGENTS))
        except (NotLaunchedError, OutcomeUnknownError, ValueError, RecursionError):
            return None
        return agent_ids(document)

    async def launch(self, turn: Turn, watcher: TurnWatcher | None = None) -> TurnResult:
        """Launch once and return what is known; see `Transport.launch`."""
        task = asyncio.create_task(self._launch(turn, watcher))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await self._call_off(turn.attempt_id, task)
            raise

    def stop(self, attempt_id: str) -> bool:
        """Ask a running child to stop; its `launch` returns what became of it.

        Returns
        -------
        bool
            False when no such attempt is running.
        """
        run = self._runs.get(attempt_id)
        if run is None:
            return False
        run.stop("asked")
        return True

    async def close(self) -> None:
        """Stop what runs, wait for it, and remove every folder."""
        for run in self._runs.values():
            run.stop("asked")
        deadline = time.monotonic() + self._grace_s + 15
        while self._runs and time.monotonic() < deadline:
            await asyncio.sleep(0.02)
        self._spawner.close()
        self._finalizer()

    async def _call_off(self, attempt_id: str, task: "asyncio.Task[TurnResult]") -> None:
        """Stop the child of a launch that nobody waits for any more, and see it gone."""
        self._called_off.add(attempt_id)
        try:
            while not task.done():
                self.stop(attempt_id)
                await asyncio.wait([task], timeout=0.2)
            if not task.cancelled():
                task.exception()
        finally:
            self._called_off.discard(attempt_id)

    async def _launch(self, turn: Turn, watcher: TurnWatcher | None) -> TurnResult:
        began = time.monotonic()
        version: str | None = None
        try:
            version = (await self.probe()).version
            result = await self._turn(turn, version, watcher)
        except NotLaunchedError as error:
            result = TurnResult(TurnState.FAILED_NOT_RUN, error.code, detail=str(error)[:500])
        except OutcomeUnknownError as error:
            result = TurnResult(TurnState.UNKNOWN, error.code, detail=str(error)[:500])
        return replace(result, cli_version=version, wall_s=time.monotonic() - began)

    async def _turn(self, turn: Turn, version: str, watcher: TurnWatcher | None) -> TurnResult:
        message = encode_message(turn.text, limit=self.max_text_bytes)
        environment = self._environment(turn.agent.env)
        with self._workspace.attempt(message) as folder:
            argv = turn_argv(
                self._executable.parts,
                agent_id=turn.agent.id,
                session_key=turn.session_key,
                message_file=str(folder.message_file),
                timeout_s=turn.timeout_s,
            )
            order = Order(
                argv=argv,
                environment=environment,
                cwd=str(folder.cwd),
                not_after_boot_s=turn.not_after_boot_s,
                deadline_s=turn.timeout_s + self._margin_s,
                grace_s=self._grace_s,
                stdout_cap=4 * self._reply_cap + len(message) + 65_536,
            )
            if turn.attempt_id in self._called_off:
                raise NotLaunchedError("the launch was called off", code="called-off")
            child = await launch(self._spawner, order)
            facts = await self._tell(watcher, child.pid)
            run = self._runs[turn.attempt_id] = Run(child, linger_s=self._linger_s)
            try:
                finished = await run.finish()
            finally:
                self._runs.pop(turn.attempt_id, None)
        asked = Asked(turn.agent.id, turn.session_key, turn.text, version)
        return await to_result(finished, asked, reply_cap=self._reply_cap, facts=facts)

    @staticmethod
    async def _tell(watcher: TurnWatcher | None, pid: int) -> dict[str, object]:
        """Tell the watcher; what it cannot record does not undo a launch, so it is only noted."""
        if watcher is None:
            return {}
        try:
            await watcher.started(pid)
        except Exception as error:
            return {"watcher_error": type(error).__name__}
        return {}

    def _environment(self, names: Iterable[str]) -> dict[str, str]:
        return child_environment(
            config_path=self._config,
            state_dir=self._state_dir,
            home=self._home,
            tmpdir=self._tmpdir,
            tz=self._tz,
            names=names,
            values=self._agent_env,
        )

    async def _ask(self, call: ReadOnly) -> str:
        """Run one read-only call and return its stdout.

        Raises
        ------
        NotLaunchedError
            It failed, or said nothing in time; code ``cli-silent``.
        """
        with self._workspace.attempt(b"") as folder:
            order = Order(
                argv=read_only_argv(self._executable.parts, call),
                environment=self._environment(()),
                cwd=str(folder.cwd),
                not_after_boot_s=boot_s() + _LOOK_UP_S,
                deadline_s=_LOOK_UP_S,
                grace_s=min(self._grace_s, 1.0),
                stdout_cap=_LOOK_UP_CAP,
            )
            finished = await Run(await launch(self._spawner, order)).finish()
        output = finished.output
        if output.exit_code != 0 or output.stopped is not None or output.is_cut:
            raise NotLaunchedError(
                f"the CLI did not answer `{' '.join(call.value)}` (exit {output.exit_code})",
                code="cli-silent",
            )
        return output.stdout.decode("utf-8", "replace")


def _check_config(path: str | os.PathLike[str] | None) -> str | None:
    """Return the absolute path of a client config that only its owner can read."""
    if path is None:
        return None
    real = os.path.abspath(path)
    try:
        found = os.stat(real)
    except OSError as error:
        raise SettingsError(f"transport.openclaw_config {real}: {error.strerror}") from error
    if not stat.S_ISREG(found.st_mode):
        raise SettingsError(f"transport.openclaw_config {real} is not a file")
    if found.st_mode & 0o022:
        raise SettingsError(f"transport.openclaw_config {real}: others may write; chmod 600 it")
    if found.st_mode & 0o044:
        raise SettingsError(
            f"transport.openclaw_config {real} holds the Gateway's token and others may read it; "
            f"chmod 600 {real}"
        )
    return real


def _check_numbers(
    timeout_s: int, margin_s: float, grace_s: float, linger_s: float, reply_cap: int, text_cap: int
) -> None:
    bounds = (
        ("timeout_s", timeout_s, 1, MAX_TIMEOUT_S),
        ("margin_s", margin_s, 0, 600),
        ("grace_s", grace_s, 0, 60),
        ("linger_s", linger_s, 0, 60),
        ("reply_cap_bytes", reply_cap, 1024, 64 * 1024 * 1024),
        ("max_text_bytes", text_cap, 1, MAX_TEXT_BYTES),
    )
    faults = [
        Fault(f"{name} is between {low} and {high}")
        for name, value, low, high in bounds
        if not low <= value <= high
    ]
    if faults:
        raise SettingsError("transport", faults=faults)
