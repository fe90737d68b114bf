"""FleetWatch: which agents the live OpenClaw is known to have, or that nobody knows."""

import asyncio
import contextlib
import logging
from typing import Protocol, runtime_checkable

from clawmarshal.router.elsewhere import Elsewhere

LOG = logging.getLogger("clawmarshal")


@runtime_checkable
class FleetSource(Protocol):
    """Say which agents there are."""

    async def fleet(self) -> frozenset[str] | None:
        """Return the ids of the live agents; None means unknown, never empty."""
        ...


class FleetWatch:
    """Ask a source again and again, and keep its last word.

    Parameters
    ----------
    source
        Usually the transport; None for a fleet that is never known.
    every_s
        Seconds between two questions, over 0. Each costs about a CPU second of the real CLI.
    reached
        The agents whose OpenClaw the source speaks of; those `elsewhere` are others' to know.
    elsewhere
        What other hosts say; None where the source speaks of all.
    """

    def __init__(
        self,
        source: FleetSource | None,
        *,
        every_s: float = 300.0,
        reached: frozenset[str] = frozenset(),
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self._source = source
        self._every_s = every_s
        self._reached = reached
        self._elsewhere = elsewhere
        self._task: asyncio.Task[None] | None = None
        self.own: frozenset[str] | None = None
        """What the source said last; None means unknown."""

    @property
    def agents(self) -> frozenset[str] | None:
        """Who is there, as far as anybody knows; None where nothing is known.

        An agent of another host is missing only where that host says so.
        """
        if self._elsewhere is None or not self._elsewhere.agents:
            return self.own
        missing = self._elsewhere.missing
        if self.own is None and not missing:
            return None
        own = self._reached if self.own is None else self.own
        return own | (self._elsewhere.agents - missing)

    async def refresh(self) -> frozenset[str] | None:
        """Ask once, now. A source that fails means unknown."""
        if self._source is None:
            return None
        try:
            self.own = await self._source.fleet()
        except Exception as error:  # a source is foreign code, and not knowing is a known state
            LOG.warning("fleet unknown: %s", type(error).__name__)
            self.own = None
        return self.agents

    def start(self) -> None:
        """Begin to ask in the background."""
        self._task = asyncio.create_task(self._watch(), name="fleet-watch")

    async def close(self) -> None:
        """Stop asking."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def _watch(self) -> None:
        while True:
            await self.refresh()
            await asyncio.sleep(self._every_s)
