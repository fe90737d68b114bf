"""Reconciler: look for traces of turns whose outcome is unknown, and lay them before a person."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from clawmarshal.errors import LedgerError, NotFoundError
from clawmarshal.router.directives import neutralise
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import Lost, Principal
from clawmarshal.router.ledger.states import RouteState
from clawmarshal.router.threads import in_thread
from clawmarshal.transport.evidence import Evidence, EvidenceSource, LostTurn

LOG = logging.getLogger("clawmarshal")
PAUSES_S = (5.0, 30.0, 180.0, 900.0)
"""Seconds before each look at one route; then it is left to a person's `reconcile`."""
MAX_WAITING = 100
"""Routes that are looked after at once; more wait for a person's `reconcile`."""


async def look_up(
    ledger: Ledger,
    source: EvidenceSource,
    route_id: str,
    *,
    pool: ThreadPoolExecutor,
    principal: Principal | None = None,
    agents: frozenset[str] | None = None,
) -> Evidence | None:
    """Look for traces of one route's newest launch, and append what was found.

    Parameters
    ----------
    agents
        Whose OpenClaw the source can ask; None where it can ask everybody's.

    Returns
    -------
    Evidence | None
        None where the route is not unknown, or its agent lives elsewhere: then nothing was
        looked up.

    Raises
    ------
    NotFoundError, LedgerUnavailableError
        There is no such route, or the ledger cannot be used.
    """
    lost = await in_thread(pool, ledger.lost, route_id)
    if lost is None or (agents is not None and lost.agent not in agents):
        return None
    found = await source.evidence(_turn(lost))
    await in_thread(
        pool,
        ledger.attach_evidence,
        route_id,
        lost.attempt_id,
        found,
        principal=principal,
    )
    return found


def _turn(lost: Lost) -> LostTurn:
    return LostTurn(
        agent_id=lost.agent,
        session_key=lost.session_key,
        run_id=lost.run_id,
        texts={lost.text, neutralise(lost.text)},
        launched_ms=int(lost.launched_at.timestamp() * 1000),
    )


class Reconciler:
    """Look after each route that becomes unknown while this runs, and what was left before.

    It never changes a state, and finding nothing is never taken for "did not run". One look-up at
    a time; each route is looked at a few times with growing pauses, until a look is final.

    Parameters
    ----------
    source
        Usually the transport.
    pauses_s
        Seconds before each look at one route.
    agents
        Whose OpenClaw the source can ask; the others' turns are left to their own hosts.
    """

    def __init__(
        self,
        ledger: Ledger,
        source: EvidenceSource,
        *,
        pauses_s: Sequence[float] = PAUSES_S,
        agents: frozenset[str] | None = None,
    ) -> None:
        self._ledger = ledger
        self._source = source
        self._pauses_s = tuple(pauses_s)
        self.agents = agents
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="clawmarshal-reconcile")
        self._one_at_a_time = asyncio.Semaphore(1)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._unlisten: Callable[[], None] = lambda: None

    @property
    def waiting(self) -> frozenset[str]:
        """Ids of the routes that will be looked at again."""
        return frozenset(self._tasks)

    async def start(self) -> None:
        """Begin with what was left, and listen for what comes.

        Raises
        ------
        LedgerUnavailableError
            Nothing was begun. Retryable.
        """
        loop = asyncio.get_running_loop()

        def tell(route_id: str, state: RouteState) -> None:
            if state is RouteState.UNKNOWN:
                with contextlib.suppress(RuntimeError):  # the loop ended while a thread wrote
                    loop.call_soon_threadsafe(self._take, route_id)

        self._unlisten = self._ledger.listen(tell)
        for route_id in await in_thread(self._pool, self._ledger.unsearched, limit=MAX_WAITING):
            self._take(route_id)

    async def close(self) -> None:
        """Stop looking; a look under way is not waited for."""
        self._unlisten()
        tasks = tuple(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._pool.shutdown(wait=True)

    def _take(self, route_id: str) -> None:
        if route_id in self._tasks:
            self._tasks.pop(route_id).cancel()  # another launch of it was lost
        elif len(self._tasks) >= MAX_WAITING:
            LOG.warning(
                "route %s waits for `clawmarshal reconcile`: too many are unknown", route_id
            )
            return
        task = asyncio.create_task(self._look_after(route_id), name=f"reconcile-{route_id}")
        self._tasks[route_id] = task
        task.add_done_callback(lambda done: self._forget(route_id, done))

    def _forget(self, route_id: str, task: "asyncio.Task[None]") -> None:
        if self._tasks.get(route_id) is task:
            del self._tasks[route_id]

    async def _look_after(self, route_id: str) -> None:
        for pause_s in self._pauses_s:
            await asyncio.sleep(pause_s)
            try:
                async with self._one_at_a_time:
                    found = await look_up(
                        self._ledger,
                        self._source,
                        route_id,
                        pool=self._pool,
                        agents=self.agents,
                    )
            except NotFoundError:
                return
            except LedgerError as error:
                LOG.warning("no evidence for route %s: %s", route_id, error.code)
            except Exception:  # the task's outer edge: a source is foreign code
                LOG.exception("no evidence for route %s", route_id)
            else:
                if found is None or found.code.is_final:
                    return
