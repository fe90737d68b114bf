"""What the Gateway is asked besides turns, all of it read-only: its agents, its version, a run."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from clawmarshal.errors import NotLaunchedError
from clawmarshal.roster.openclaw import LiveFleet, agent_ids, read_fleet
from clawmarshal.transport.command import ReadOnly, history_argv, read_only_argv, run_argv
from clawmarshal.transport.evidence import (
    Evidence,
    EvidenceCode,
    LostTurn,
    is_aborted,
    parse,
    read_evidence,
    run_in,
)
from clawmarshal.transport.look_up import Answer
from clawmarshal.transport.readers import in_reader
from clawmarshal.transport.text import clean_text

LookUp = Callable[[tuple[str, ...]], Awaitable[Answer]]


class LookUps:
    """Ask the Gateway through the CLI; every question costs about a CPU second.

    Parameters
    ----------
    executable
        What every argv begins with.
    look_up
        Runs one argv and returns what it said.
    """

    def __init__(self, executable: tuple[str, ...], look_up: LookUp) -> None:
        self._executable = executable
        self._look_up = look_up

    async def answer_to(self, call: ReadOnly) -> Answer:
        """Run one call that takes nothing from us and return all it said, however it ended.

        Raises
        ------
        NotLaunchedError
            It could not be started, or nobody knows how it ended.
        """
        return await self._look_up(read_only_argv(self._executable, call))

    async def text_of(self, call: ReadOnly) -> str:
        """Run one call that takes nothing from us and return its stdout.

        Raises
        ------
        NotLaunchedError
            It failed, or said nothing in time; code ``cli-silent``.
        """
        told = await self.answer_to(call)
        if told.exit_code != 0 or not told.is_whole:
            raise NotLaunchedError(
                f"the CLI did not answer `{' '.join(call.value)}` (exit {told.exit_code})",
                code="cli-silent",
            )
        return told.stdout.decode("utf-8", "replace")

    async def fleet(self) -> frozenset[str] | None:
        """Return the ids of the agents the Gateway knows; None when it cannot be told."""
        try:
            return agent_ids(await self.text_of(ReadOnly.AGENTS))
        except NotLaunchedError:
            return None

    async def live_fleet(self) -> LiveFleet | None:
        """Return what the Gateway says of its agents; None when it cannot be told."""
        try:
            agents = await self.text_of(ReadOnly.AGENTS)
        except NotLaunchedError:
            return None
        try:
            config = await self.text_of(ReadOnly.CONFIG)
        except NotLaunchedError:
            config = ""
        # Either may be long, and the configuration holds what nobody should keep.
        return await in_reader(partial(read_fleet, agents, config, clean=clean_text))

    async def evidence(self, turn: LostTurn) -> Evidence:
        """Look for traces of a turn in its session's transcript and by its run's id."""
        try:
            argv = history_argv(
                self._executable, agent_id=turn.agent_id, session_key=turn.session_key
            )
            told = await self._look_up(argv)
        except NotLaunchedError as error:
            return Evidence(EvidenceCode.NOT_REACHABLE, facts={"why": error.code})
        if told.exit_code != 0 or not told.is_whole:
            facts = {"why": "call-failed", "exit_code": told.exit_code}
            return Evidence(EvidenceCode.NOT_REACHABLE, facts=facts)
        history = await in_reader(parse, told.stdout)
        run_id = run_in(history, turn)
        wait = None if run_id is None else await self._about_run(run_id)
        return await in_reader(partial(read_evidence, history, wait, turn=turn))

    async def aborted_run(self, turn: LostTurn) -> str | None:
        """Return the id of a run that we called off, where the Gateway says that it was aborted."""
        argv = history_argv(self._executable, agent_id=turn.agent_id, session_key=turn.session_key)
        try:
            told = await self._look_up(argv)
        except NotLaunchedError:
            return None
        history = await in_reader(parse, told.stdout) if told.is_whole else None
        run_id = run_in(history, turn)
        wait = None if run_id is None else await self._about_run(run_id)
        return run_id if is_aborted(wait, since_ms=turn.launched_ms) else None

    async def _about_run(self, run_id: str) -> Mapping[str, Any] | None:
        """Ask how a run ended; None where that cannot be told."""
        try:
            told = await self._look_up(run_argv(self._executable, run_id))
        except NotLaunchedError:
            return None
        return parse(told.stdout) if told.exit_code == 0 and told.is_whole else None
