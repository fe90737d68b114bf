"""Reloader: what the files say is put in force whole, or the last good arrangement stays."""

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clawmarshal.api.arranging import Arrangement, arrange, needs_restart, under
from clawmarshal.api.ports import Reloaded
from clawmarshal.api.settings import Settings
from clawmarshal.errors import ClawmarshalError, RosterError, SettingsError
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.policy import Circumstances
from clawmarshal.router.rounds import Rounds

if TYPE_CHECKING:
    from clawmarshal.api.wiring import Service

LOG = logging.getLogger("clawmarshal.api")
TRIAL = InboundMessage("Which of you can help me with this?")
"""Decided under every new arrangement before it is in force; nothing of it is recorded."""


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """Where the settings of a service stand."""

    path: Path
    read: Callable[[], Settings]
    """Reads them again, with whatever the command line added; blocking."""


Signature = tuple[tuple[int, int, int] | None, ...]


class Reloader:
    """Read the files of a running service again.

    Parameters
    ----------
    service
        Whose arrangement is swapped.
    file
        What it was started with. It and the roster's file are looked at every
        ``server.watch_s``.
    """

    def __init__(self, service: "Service", file: SettingsFile) -> None:
        self._service = service
        self._file = file
        self._one_at_a_time = asyncio.Lock()
        self._watch_s = service.settings.server.watch_s
        self._rounds = Rounds(self.look, every_s=self._watch_s, what="looking at the files")
        self._seen = self._signature()
        self._pending: Signature | None = None

    def start(self) -> None:
        """Begin to look at the files, where that was asked for."""
        if self._watch_s:
            self._rounds.start()

    async def close(self) -> None:
        """Stop looking; a reload under way is given up, and changes nothing."""
        await self._rounds.close()

    async def reload(self, *, by: str) -> Reloaded:
        """Put in force what the files say.

        Parameters
        ----------
        by
            Who or what asked, for the log.

        Raises
        ------
        SettingsError, RosterError
            What stands in the files cannot be used; what was in force stays in force.
        """
        async with self._one_at_a_time:
            self._seen = self._signature()
            try:
                return await self._reload(by)
            except ClawmarshalError as error:
                self._service.health.reload_fault = str(error).splitlines()[0]
                LOG.error("reload by %s refused, the last good one stays: %s", by, error)
                raise

    async def look(self) -> None:
        """Reload once a file differs and has been left alone for one look: half is no roster."""
        now = self._signature()
        if now == self._seen:
            self._pending = None
        elif now != self._pending:
            self._pending = now
        else:
            self._pending = None
            try:
                await self.reload(by="file")
            except (SettingsError, RosterError):
                return  # said, and kept for whoever asks; tried again when a file differs again

    async def _reload(self, by: str) -> Reloaded:
        service, before = self._service, self._service.arrangement
        arrangement = await asyncio.to_thread(self._read)
        await self._try(arrangement)
        waiting = needs_restart(service.settings, arrangement.settings)
        changed = arrangement.revision != before.revision
        service.use(arrangement)
        service.health.reload_fault = None
        service.health.needs_restart = waiting
        if changed:
            LOG.warning("revision %s is in force, asked for by %s", arrangement.revision, by)
        return Reloaded(arrangement.revision, changed, tuple(waiting))

    def _read(self) -> Arrangement:
        return arrange(self._file.read())

    async def _try(self, arrangement: Arrangement) -> None:
        """Decide once under it: one that breaks every decision is refused, not put in force."""
        decider = under(self._service.desk.decider, arrangement)
        try:
            await decider.decide(TRIAL, circumstances=Circumstances())
        except ClawmarshalError:
            raise
        except Exception as error:
            raise SettingsError(
                f"a trial decision under what the files say failed ({type(error).__name__})"
            ) from error

    def _signature(self) -> Signature:
        roster = self._service.arrangement.settings.roster
        return tuple(_stamp(path) for path in (self._file.path, roster))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


@contextlib.asynccontextmanager
async def reloading_on_hangup(reloader: Reloader | None) -> AsyncIterator[None]:
    """Reload on SIGHUP while the block runs; without a file to read, SIGHUP is logged alone."""
    loop = asyncio.get_running_loop()
    under_way: set[asyncio.Task[None]] = set()

    async def reload() -> None:
        if reloader is None:
            LOG.warning("SIGHUP: the settings came from no file, so there is nothing to read")
            return
        with contextlib.suppress(SettingsError, RosterError):  # said where it was refused
            await reloader.reload(by="SIGHUP")

    def hang_up() -> None:
        task = asyncio.create_task(reload(), name="reload")
        under_way.add(task)
        task.add_done_callback(under_way.discard)

    loop.add_signal_handler(signal.SIGHUP, hang_up)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGHUP)
        await asyncio.gather(*under_way, return_exceptions=True)
