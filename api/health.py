"""Whether the service can do its work, and what it works with."""

import asyncio
from collections.abc import Callable, Collection

from clawmarshal._version import __version__
from clawmarshal.api.ports import Readiness
from clawmarshal.errors import LedgerError
from clawmarshal.roster.drift import compare
from clawmarshal.roster.roster import Roster
from clawmarshal.router.fleet import FleetWatch
from clawmarshal.router.ledger.dispatcher import Dispatcher
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import Queue
from clawmarshal.transport.outcome import Transport

PING_S = 2.0
MAX_NAMED = 100


class ServiceHealth:
    """Look at the parts of a running service.

    A Gateway that is down does not make it unready: holds still need answering.
    """

    def __init__(
        self,
        ledger: Ledger,
        transport: Transport,
        fleet: FleetWatch,
        dispatcher: Dispatcher,
        *,
        roster: Roster,
        model: str,
        mode: str,
    ) -> None:
        self._ledger = ledger
        self._transport = transport
        self._fleet = fleet
        self._dispatcher = dispatcher
        self.roster = roster
        self._model = model
        self._mode = mode
        self.revision = ""
        """Of the fleet and the thresholds in force."""
        self.reload_fault: str | None = None
        """Why what was written last is not in force; one line, for callers with a key."""
        self.needs_restart: Collection[str] = ()
        """Settings that were changed since the start and wait for a restart."""
        self.transport_fault: str | None = None
        """Why the CLI does not answer, a stable slug."""
        self.undecided: Callable[[], Collection[str]] = tuple
        """Names the accepted routes that could not be decided; they are tried again and again."""
        self.elsewhere: frozenset[str] = frozenset()
        """Agents of other hosts: of them the live OpenClaw here says nothing."""
        self.unreached: Callable[[], Collection[str]] = tuple
        """Names the agents that no live worker reaches; what is for them waits."""
        self.is_stopping = False

    async def readiness(self) -> Readiness:
        """Look now."""
        reasons = []
        if self.is_stopping:
            reasons.append("stopping")
        queue = await self._look_at_queue()
        if queue is None:
            reasons.append("ledger-unavailable")
        if self.transport_fault is not None:
            reasons.append(self.transport_fault)
        if self._dispatcher.last_error is not None:
            reasons.append("dispatcher")
        if self.undecided():
            reasons.append("undecided")
        return Readiness(not reasons, tuple(dict.fromkeys(reasons)), self._details(queue))

    async def fleet(self) -> frozenset[str] | None:
        """Return the ids the live OpenClaw was last heard to have; None when unknown."""
        return self._fleet.agents

    def _details(self, queue: Queue | None) -> dict[str, object]:
        live = self._fleet.agents
        missing = [agent.id for agent in self.roster if live is not None and agent.id not in live]
        age_s = self._fleet.age_s
        return {
            "version": __version__,
            "mode": self._mode,
            "transport": self._transport.label,
            "fleet": "unknown" if live is None else "known",
            "fleet_age_s": None if age_s is None else round(age_s, 1),
            "missing_agents": missing,
            "drift": self._drift(),
            "unasked_agents": sorted(self._fleet.unasked)[:MAX_NAMED],
            "agents": len(self.roster),
            "revision": self.revision,
            "reload_fault": self.reload_fault,
            "needs_restart": list(self.needs_restart),
            "roster_digest": self.roster.digest,
            "model": self._model,
            "undecided": len(self.undecided()),
            "unreached_agents": sorted(self.unreached()),
            "turns_running": len(self._dispatcher.running),
            "turns_waiting": None if queue is None else queue.waiting,
            "oldest_wait_s": None if queue is None else round(queue.oldest_s, 1),
        }

    def _drift(self) -> list[dict[str, str]] | None:
        """List where roster and OpenClaw differ; None while that is not wholly known."""
        live = self._fleet.live
        if live is None or live.agents is None:
            return None
        differences = compare(self.roster, live).differences
        found = [d for d in differences if d.agent not in self.elsewhere]
        return [{"code": str(d.code), "agent": d.agent} for d in found[:MAX_NAMED]]

    async def _look_at_queue(self) -> Queue | None:
        """Return what waits for its launch; None when the ledger does not answer."""
        try:
            async with asyncio.timeout(PING_S):
                return await asyncio.to_thread(self._ledger.queue)
        except (LedgerError, TimeoutError):
            return None
