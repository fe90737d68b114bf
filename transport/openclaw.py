"""Transport over the OpenClaw CLI: one private folder, one child, one honest result per launch."""

import asyncio
import logging
import os
import time
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from clawmarshal.errors import NotLaunchedError, OutcomeUnknownError, SettingsError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.roster.openclaw import LiveFleet
from clawmarshal.transport import executable as programs
from clawmarshal.transport.agent_values import AgentValues
from clawmarshal.transport.command import ReadOnly, turn_argv
from clawmarshal.transport.evidence import Evidence, LostTurn
from clawmarshal.transport.executable import Probe
from clawmarshal.transport.gateway import Gateway
from clawmarshal.transport.limits import Limits
from clawmarshal.transport.look_up import Answer, look_up
from clawmarshal.transport.look_ups import LookUps
from clawmarshal.transport.outcome import Turn, TurnResult, TurnState, TurnWatcher
from clawmarshal.transport.process import Order, Spawner, launch
from clawmarshal.transport.reply import Asked
from clawmarshal.transport.result import FIRST_LINE, encode_message, to_cancelled, to_result
from clawmarshal.transport.run import Finished, Run
from clawmarshal.transport.surroundings import Surroundings, Told
from clawmarshal.transport.text import clean_text

_LOG = logging.getLogger(__name__)


class OpenClawTransport:
    """Launch turns through the OpenClaw CLI.

    Parameters
    ----------
    command
        One absolute executable, or Node and ``openclaw.mjs``, both absolute.
    openclaw_config
        The client config that names the Gateway and its token; mode 0600. None for a stand-in, or
        where `gateway` says both.
    gateway
        Address and token; the client config is written by us, and removed at the end.
    directory
        Where private folders are made; the system's temporary directory where None.
    needs_tmpfs
        Refuse a directory that is on a disk; ``/dev/shm`` where none is named.
    timeout_s
        Seconds a turn may run when its agent says nothing.
    margin_s
        Seconds the CLI has beyond its own timeout before it is told to stop.
    grace_s
        Seconds from TERM, on which the CLI asks the Gateway to abort, to KILL.
    linger_s
        Seconds a process may stay after its answer.
    child_memory_mb
        MiB of address space of each process of a child; 0 for no bound.
    tmpdir
        Where the CLI keeps its compile cache; a private folder, made anew each time, where None.
    agent_env
        Values of the variables that agents list by name; each agent gets its own only.
    agent_secrets
        By agent id: variables of that agent's child alone; it need not list them.

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
        gateway: Gateway | None = None,
        directory: str | os.PathLike[str] | None = None,
        needs_tmpfs: bool = False,
        timeout_s: int = 600,
        margin_s: float = 8.0,
        grace_s: float = 3.0,
        linger_s: float = 2.0,
        reply_cap_bytes: int = 1024 * 1024,
        max_text_bytes: int = 256 * 1024,
        child_memory_mb: int = 4096,
        tmpdir: str | os.PathLike[str] | None = None,
        tz: str | None = None,
        agent_env: Mapping[str, str] | None = None,
        agent_secrets: Mapping[str, Mapping[str, str]] | None = None,
        state_dir: str | os.PathLike[str] | None = None,
        home: str | os.PathLike[str] | None = None,
    ) -> None:
        self._executable = programs.resolve(command)
        self._limits = Limits(
            timeout_s=timeout_s,
            margin_s=margin_s,
            grace_s=grace_s,
            linger_s=linger_s,
            reply_cap_bytes=reply_cap_bytes,
            max_text_bytes=max_text_bytes,
            child_memory_mb=child_memory_mb,
        )
        self.timeout_s = timeout_s
        self.max_text_bytes = max_text_bytes
        told = Told(
            openclaw_config=openclaw_config,
            gateway=gateway,
            directory=directory,
            needs_tmpfs=needs_tmpfs,
            tmpdir=tmpdir,
            tz=tz,
            state_dir=state_dir,
            home=home,
            agent_env=agent_env or {},
            agent_secrets=agent_secrets or {},
        )
        self._around = Surroundings(told)
        self._workspace = self._around.workspace
        self._probe: tuple[object, Probe] | None = None
        self._runs: dict[str, Run] = {}
        self._pending: set[str] = set()
        self._called_off: set[str] = set()
        self._asked: set[str] = set()
        self._probing: asyncio.Task[Probe] | None = None
        try:
            self._around.environment()
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
        """Refuse agents whose variables are refused or have no value, and values for nobody.

        Raises
        ------
        SettingsError
            With every fault.
        """
        self._around.values.check(agents)

    def use_values(self, values: AgentValues) -> None:
        """Give the children that start from now on these variables; running ones keep theirs."""
        self._around.values = values

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
            "environment": self._around.names(agent),
            "first_line": FIRST_LINE,
        }

    async def probe(self) -> Probe:
        """Ask the CLI for its version and flags, once per installed state of its files.

        Raises
        ------
        NotLaunchedError
            It is missing, too old, or lacks a flag; codes ``cli-missing``, ``cli-version``,
            ``cli-flags``, ``cli-silent``. Or no private folder can be made for it:
            ``no-message-file``.
        """
        self._workspace.ensure()
        mark = self._executable.fingerprint()
        if self._probe is not None and self._probe[0] == mark:
            return self._probe[1]
        probing = self._probing
        if (
            probing is None
            or probing.done()
            or probing.get_loop() is not asyncio.get_running_loop()
        ):
            probing = self._probing = asyncio.create_task(self._examine(mark))
        return await asyncio.shield(probing)

    async def _examine(self, mark: object) -> Probe:
        told = await self.look_ups.text_of(ReadOnly.VERSION)
        version = programs.check_version(programs.parse_version(told))
        programs.check_flags(await self.look_ups.text_of(ReadOnly.AGENT_HELP))
        label = clean_text(told.strip().splitlines()[0], limit=100)
        probe = Probe(version, label, is_stand_in="stand-in" in label.lower())
        self._probe = (mark, probe)
        return probe

    async def fleet(self) -> frozenset[str] | None:
        """Return the ids of the agents the Gateway knows; None when it cannot be told."""
        return await self.look_ups.fleet()

    async def live_fleet(self) -> LiveFleet | None:
        """Return what the Gateway says of its agents; None when it cannot be told."""
        return await self.look_ups.live_fleet()

    async def evidence(self, turn: LostTurn) -> Evidence:
        """Look for traces of a turn whose outcome was lost; read-only."""
        texts = {f"{FIRST_LINE}\n{text}" for text in turn.texts}
        return await self.look_ups.evidence(replace(turn, texts=texts))

    async def launch(self, turn: Turn, watcher: TurnWatcher | None = None) -> TurnResult:
        """Launch once and return what is known; see `Transport.launch`."""
        task = asyncio.create_task(self._launch(turn, watcher))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await self._call_off(turn.attempt_id, task)
            raise

    def stop(self, attempt_id: str) -> bool:
        """Call a launch off: not started, it never will be; running, its child is told to stop.

        Its `launch` returns what became of it: ``cancelled`` only where the Gateway says that the
        run was aborted.

        Returns
        -------
        bool
            False when there is no such launch.
        """
        run = self._runs.get(attempt_id)
        if run is not None:
            self._asked.add(attempt_id)
            run.stop("asked")
        elif attempt_id in self._pending:
            self._called_off.add(attempt_id)
        else:
            return False
        return True

    async def close(self) -> None:
        """Stop what runs, wait for it, and remove every folder."""
        self._asked.clear()
        for run in self._runs.values():
            run.stop("asked")
        deadline = time.monotonic() + self._limits.grace_s + 15
        while self._runs and time.monotonic() < deadline:
            await asyncio.sleep(0.02)
        self._spawner.close()
        self._finalizer()

    async def _call_off(self, attempt_id: str, task: "asyncio.Task[TurnResult]") -> None:
        """Stop the child of a launch that nobody waits for any more, and see it gone."""
        self.stop(attempt_id)
        self._asked.discard(attempt_id)  # nobody waits for the Gateway's word
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()

    async def _launch(self, turn: Turn, watcher: TurnWatcher | None) -> TurnResult:
        began = time.monotonic()
        version: str | None = None
        self._pending.add(turn.attempt_id)
        try:
            version = (await self.probe()).version
            result = await self._turn(turn, version, watcher)
        except NotLaunchedError as error:
            result = TurnResult(TurnState.FAILED_NOT_RUN, error.code, detail=str(error)[:500])
        except OutcomeUnknownError as error:
            result = TurnResult(TurnState.UNKNOWN, error.code, detail=str(error)[:500])
        except Exception as error:
            _LOG.exception("attempt %s: the transport itself failed", turn.attempt_id)
            detail = f"the transport itself failed ({type(error).__name__})"
            result = TurnResult(TurnState.UNKNOWN, "transport-fault", detail=detail)
        finally:
            self._pending.discard(turn.attempt_id)
            self._called_off.discard(turn.attempt_id)
            self._asked.discard(turn.attempt_id)
        return replace(result, cli_version=version, wall_s=time.monotonic() - began)

    async def _turn(self, turn: Turn, version: str, watcher: TurnWatcher | None) -> TurnResult:
        message = encode_message(turn.text, limit=self.max_text_bytes)
        since_ms = int(time.time() * 1000)
        self._around.environment(turn.agent)  # what it refuses writes no file
        async with self._workspace.attempt(message) as folder:
            argv = turn_argv(
                self._executable.parts,
                agent_id=turn.agent.id,
                session_key=turn.session_key,
                message_file=str(folder.message_file),
                timeout_s=turn.timeout_s,
            )
            order = Order(
                argv=argv,
                environment=self._around.environment(turn.agent),
                cwd=str(folder.cwd),
                not_after_boot_s=turn.not_after_boot_s,
                deadline_s=turn.timeout_s + self._limits.margin_s,
                grace_s=self._limits.grace_s,
                stdout_cap=self._limits.stdout_cap(len(message)),
                memory_bytes=self._limits.child_memory_bytes,
            )
            finished, facts = await self._carry(turn.attempt_id, order, watcher)
        asked = Asked(turn.agent.id, turn.session_key, turn.text, version)
        result = await to_result(
            finished,
            asked,
            reply_cap=self._limits.reply_cap_bytes,
            facts=facts,
            secrets=self._around.secrets(turn.agent),
        )
        if result.code != "stopped" or turn.attempt_id not in self._asked:
            return result
        texts = (message.decode(),)
        lost = LostTurn(turn.agent.id, turn.session_key, result.run_id, texts, since_ms)
        return to_cancelled(result, await self.look_ups.aborted_run(lost))

    async def _carry(
        self, attempt_id: str, order: Order, watcher: TurnWatcher | None
    ) -> tuple[Finished, dict[str, object]]:
        """Start the child, tell the watcher, and see the child to its end."""
        if attempt_id in self._called_off:
            raise NotLaunchedError("the launch was called off", code="called-off")
        child = await launch(self._spawner, order)
        run = self._runs[attempt_id] = Run(child, linger_s=self._limits.linger_s)
        try:
            if attempt_id in self._called_off:
                run.stop("asked")
            facts = await self._tell(watcher, child.pid)
            return await run.finish(), facts
        finally:
            self._runs.pop(attempt_id, None)
            child.close()

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

    @property
    def look_ups(self) -> LookUps:
        """What the Gateway can be asked besides turns."""
        # Made anew each time: kept, it would hold the transport that holds it, and one that
        # is forgotten would leave its folder until the collector comes.
        return LookUps(self._executable.parts, self._look_up)

    async def _look_up(self, argv: tuple[str, ...]) -> Answer:
        """Run one read-only call in a private folder."""
        self._workspace.ensure()
        async with self._workspace.attempt(b"") as folder:
            return await look_up(
                self._spawner,
                argv,
                environment=self._around.environment(),
                cwd=str(folder.cwd),
                memory_bytes=self._limits.child_memory_bytes,
            )
