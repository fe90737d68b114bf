"""FleetWatch: which agents the live OpenClaw is known to have, or that nobody knows."""

import asyncio
import contextlib
import logging
from typing import Protocol, runtime_checkable

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
    """

    def __init__(self, source: FleetSource | None, *, every_s: float = 300.0) -> None:
        self._source = source
        self._every_s = every_s
        self._task: asyncio.Task[None] | None = None
        self.agents: frozenset[str] | None = None

    async def refresh(self) -> frozenset[str] | None:
        """Ask once, now. A source that fails means unknown."""
        if self._source is None:
            return None
        try:
            self.agents = await self._source.fleet()
        except Exception as error:  # a source is foreign code, and not knowing is a known state
            LOG.warning("fleet unknown: %s", type(error).__name__)
            self.agents = None
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
