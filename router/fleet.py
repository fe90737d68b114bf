"""FleetWatch: what is known of the live OpenClaw's agents, or that nobody knows."""

import asyncio
import logging
import time
from typing import Protocol, runtime_checkable

from clawmarshal.roster.openclaw import LiveFleet
from clawmarshal.router.elsewhere import Elsewhere
from clawmarshal.router.rounds import Rounds

LOG = logging.getLogger("clawmarshal")


@runtime_checkable
class FleetSource(Protocol):
    """Say which agents there are."""

    async def fleet(self) -> frozenset[str] | None:
        """Return the ids of the live agents; None means unknown, never empty."""
        ...


@runtime_checkable
class LiveFleetSource(Protocol):
    """Say which agents there are, and what they are like."""

    async def live_fleet(self) -> LiveFleet | None:
        """Return the live agents; None means unknown, never empty."""
        ...


class FleetWatch:
    """Ask a source again and again, and keep its last word.

    Parameters
    ----------
    source
        Usually the transport; None for a fleet that is never known.
    every_s
        Seconds between two questions, over 0. Each costs about two CPU seconds of the real CLI;
        decisions never wait for it.
    reached
        The agents whose OpenClaw the source speaks of; those `elsewhere` are others' to know.
    elsewhere
        What other hosts say; None where the source speaks of all.
    """

    def __init__(
        self,
        source: FleetSource | LiveFleetSource | None,
        *,
        every_s: float = 300.0,
        reached: frozenset[str] = frozenset(),
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self._source = source
        self._rounds = Rounds(self.refresh, every_s=every_s, what="looking at the fleet")
        self.reached = reached
        self._elsewhere = elsewhere
        self._asking = asyncio.Lock()
        self._heard_s: float | None = None
        self.own: frozenset[str] | None = None
        """The ids the source said last; None while that is unknown."""
        self.live: LiveFleet | None = None
        """What they are like; None while that is unknown."""
        self.unasked: frozenset[str] = frozenset()
        """Who could send or run by itself, as it was last known: not knowing is no permission."""

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
        own = self.reached if self.own is None else self.own
        return own | (self._elsewhere.agents - missing)

    @property
    def age_s(self) -> float | None:
        """Seconds since the source last knew the fleet; None where it never did."""
        return None if self._heard_s is None else time.monotonic() - self._heard_s

    async def refresh(self) -> frozenset[str] | None:
        """Ask once, now. A source that fails means unknown."""
        if self._source is None:
            return None
        async with self._asking:  # an answer of before must not come after one of now
            return await self._refresh(self._source)

    async def _refresh(self, source: FleetSource | LiveFleetSource) -> frozenset[str] | None:
        was_known = self.own is not None
        try:
            await self._ask(source)
        except Exception as error:  # a source is foreign code, and not knowing is a known state
            LOG.warning("fleet unknown: %s", type(error).__name__)
            self.own = self.live = None
        else:
            if was_known and self.own is None:
                LOG.warning(
                    "fleet unknown: the Gateway's answer is not understood, or there is none"
                )
        if self.own is not None:
            self._heard_s = time.monotonic()
        return self.agents

    async def _ask(self, source: FleetSource | LiveFleetSource) -> None:
        if not isinstance(source, LiveFleetSource):
            self.own = await source.fleet()
            return
        self.live = await source.live_fleet()
        self.own = None if self.live is None else self.live.ids
        if self.live is not None and self.live.agents is not None:
            self.unasked = frozenset(agent.id for agent in self.live.agents if agent.unasked)

    def start(self) -> None:
        """Begin to ask in the background."""
        self._rounds.start()

    async def close(self) -> None:
        """Stop asking."""
        await self._rounds.close()
