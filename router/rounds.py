"""Rounds: something is looked at again and again in the background until it is closed."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

from clawmarshal.errors import LedgerError

LOG = logging.getLogger("clawmarshal")


async def keep_on(look: Callable[[], Awaitable[object]], *, every_s: float, what: str) -> None:
    """Look, pause and look again until cancelled; a look that fails is logged, never the last.

    Parameters
    ----------
    look
        One round.
    every_s
        Seconds between the end of a round and the next.
    what
        Names the rounds in the log.
    """
    while True:
        try:
            await look()
        except LedgerError as error:
            LOG.warning("%s put off: %s", what, error.code)
        except Exception:  # the task's outer edge: one bad round must not be the last
            LOG.exception("a round of %s failed", what)
        await asyncio.sleep(every_s)


class Rounds:
    """Own the task that looks; see `keep_on`."""

    def __init__(self, look: Callable[[], Awaitable[object]], *, every_s: float, what: str) -> None:
        self._look = look
        self._every_s = every_s
        self._what = what
        self._task: asyncio.Task[None] | None = None

    async def look(self) -> None:
        """Look once, now; what it raises is the caller's."""
        await self._look()

    def start(self) -> None:
        """Begin to look, at once."""
        rounds = keep_on(self._look, every_s=self._every_s, what=self._what)
        self._task = asyncio.create_task(rounds, name=self._what)

    async def close(self) -> None:
        """Stop, also in the middle of a look; what never began is closed too."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
