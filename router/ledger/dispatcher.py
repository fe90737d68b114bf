"""Dispatcher: claim what is ready, launch it, keep its lease alive, and write what it came to."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from clawmarshal.errors import LedgerError
from clawmarshal.router.directives import neutralise
from clawmarshal.router.ledger.binding import LaunchTerms
from clawmarshal.router.ledger.clock import Clock, SystemClock
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.reaches import LIVE_S, Reach
from clawmarshal.router.ledger.records import LaunchOrder
from clawmarshal.router.ledger.states import RouteState
from clawmarshal.router.threads import in_thread
from clawmarshal.transport.outcome import Transport, Turn, TurnResult, TurnState

_log = logging.getLogger(__name__)
_KEEPS_US_ASLEEP = frozenset({RouteState.RECEIVED, RouteState.LAUNCHING, RouteState.RUNNING})
"""Moves after which nothing new can be launched; any other may make room in a session."""


def _nobody(_route_id: str) -> None:
    """Be the listener where nobody listens."""


@runtime_checkable
class Stops(Protocol):
    """A transport that can end a launch and still say what became of it."""

    def stop(self, attempt_id: str) -> bool:
        """Stop it; its ``launch`` returns then. False: there is no such launch."""
        ...


@dataclass(slots=True, eq=False)
class _Turn:
    """A turn under way."""

    order: LaunchOrder
    lease_ends_boot_s: float
    transport: Transport
    request: Turn
    watcher: "_Watcher"
    launch: asyncio.Task[TurnResult] = field(init=False)
    is_begun: bool = False
    """True once the transport has the turn; before, it certainly did not run."""
    is_stale: bool = False
    """True once the lease is lost: nothing but evidence can be written."""
    is_stopping: bool = False

    def begin(self) -> None:
        """Give the turn to the transport."""
        self.launch = asyncio.create_task(self._carry())

    def stop(self) -> None:
        """Ask the transport to stop the child; once, so that its clearing up is not broken off.

        A cancelled await would throw away what the transport read on the way: a reply, or that
        nothing was started.
        """
        if self.is_stopping:
            return
        self.is_stopping = True
        transport, attempt_id = self.transport, self.order.attempt_id
        if not (isinstance(transport, Stops) and transport.stop(attempt_id)):
            self.launch.cancel()

    async def result(self) -> TurnResult:
        """Return what the launch came to; one that broke is unknown."""
        try:
            return await self.launch
        except asyncio.CancelledError:
            if not self.is_begun:
                return TurnResult(TurnState.FAILED_NOT_RUN, "called-off")
            return TurnResult(TurnState.UNKNOWN, "stopped")
        except Exception:  # a transport must not raise; what it left behind nobody knows
            _log.exception("the transport broke its promise")
            return TurnResult(TurnState.UNKNOWN, "transport-broken")

    async def _carry(self) -> TurnResult:
        self.is_begun = True
        return await self.transport.launch(self.request, self.watcher)

    def lose(self) -> None:
        """Stop the child, since the lease is lost."""
        self.is_stale = True
        self.stop()


class Dispatcher:
    """Launch ready routes, each at most once; one per service or worker process.

    Ledger calls run in threads. Neither a failing launch nor an unusable ledger ends the loop.

    Parameters
    ----------
    terms
        Asked before every claim: each agent of the fleet as it stands now.
    max_children
        How many turns may be under way at once.
    lease_s
        How long a launch stays ours without a heartbeat; renewed three times as often.
    poll_s
        How often the ledger is looked at when nothing wakes us: other processes write too.
    sweep_s
        How often lost leases and expiries are looked for.
    backoff_s
        How long to wait before an unusable ledger is tried again.
    changed
        Told, on the event loop, the id of every route that any part of this process moved.
    reach
        Which routes may be touched; all where None.
    """

    def __init__(
        self,
        ledger: Ledger,
        transport: Transport,
        *,
        terms: Callable[[], Mapping[str, LaunchTerms]],
        max_children: int = 2,
        lease_s: float = 30.0,
        poll_s: float = 1.0,
        sweep_s: float = 5.0,
        backoff_s: float = 0.5,
        name: str = "dispatcher",
        clock: Clock | None = None,
        changed: Callable[[str], None] = _nobody,
        reach: Reach | None = None,
    ) -> None:
        self._ledger = ledger
        self._transport = transport
        self._terms = terms
        self._max_children = max_children
        self._lease_s = lease_s
        self._poll_s = poll_s
        self._sweep_s = sweep_s
        self._backoff_s = backoff_s
        self._name = name
        self._clock = clock or SystemClock()
        self._changed = changed
        self.reach = reach
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="clawmarshal-ledger")
        self._wake = asyncio.Event()
        self._turns: dict[str, _Turn] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop_task: asyncio.Task[None] | None = None
        self._is_closing = False
        self._swept_boot_s = float("-inf")
        self._seen_boot_s = float("-inf")
        self._worker = ""
        self._unlisten: Callable[[], None] = lambda: None
        self.last_error: str | None = None
        """Code of the error that stopped the last round, None when it went well."""

    @property
    def worker(self) -> str:
        """The id under which it claims; empty before `start`."""
        return self._worker

    @property
    def running(self) -> tuple[str, ...]:
        """Ids of the routes whose turn is under way here."""
        return tuple(turn.order.route_id for turn in self._turns.values())

    async def start(self) -> None:
        """Register as a worker, sweep what dead services left, and begin to claim.

        Raises
        ------
        LedgerUnavailableError
            Nothing was begun. Retryable.
        """
        self._worker = await in_thread(self._threads, self._ledger.register_worker, self._name)
        await self._sweep()
        loop = asyncio.get_running_loop()

        def tell(route_id: str, state: RouteState) -> None:
            with contextlib.suppress(RuntimeError):  # the loop ended while a thread still wrote
                loop.call_soon_threadsafe(self._hear, route_id, state)

        self._unlisten = self._ledger.listen(tell)
        self._loop_task = asyncio.create_task(self._loop())

    def wake(self) -> None:
        """Look for ready routes at once; call from the event loop."""
        self._wake.set()

    async def cancel(self, route_id: str) -> bool:
        """Ask the route's turn to stop; False when none is under way here."""
        stopped = [turn for turn in self._turns.values() if turn.order.route_id == route_id]
        for turn in stopped:
            turn.stop()
        return bool(stopped)

    async def close(self, *, drain_s: float = 10.0) -> None:
        """Stop claiming, give running turns ``drain_s`` to end, stop the rest, record all."""
        self._is_closing = True
        self._wake.set()
        self._unlisten()
        if self._loop_task is not None:
            await self._loop_task
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=drain_s)
        for turn in self._turns.values():
            turn.stop()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self._worker:
            with contextlib.suppress(LedgerError):
                await in_thread(self._threads, self._ledger.release_worker, self._worker)
        self._threads.shutdown()

    def _hear(self, route_id: str, state: RouteState) -> None:
        self._changed(route_id)
        if state not in _KEEPS_US_ASLEEP:
            self._wake.set()

    async def _loop(self) -> None:
        while not self._is_closing:
            self._wake.clear()
            wait_s = self._poll_s
            try:
                await self._round()
                self.last_error = None
            except LedgerError as error:
                self.last_error = error.code
                wait_s = max(self._backoff_s, self._poll_s)
                _log.warning("the ledger cannot be used: %s", error.code)
            except Exception:  # the task's outer edge: one bad round must not end dispatching
                self.last_error = "dispatcher-error"
                _log.exception("a round of the dispatcher failed")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._wake.wait()

    async def _round(self) -> None:
        """Be seen and sweep when it is time, then launch whatever has room."""
        await self._be_seen()
        if self._clock.boot_s() - self._swept_boot_s >= self._sweep_s:
            await self._sweep()
        while len(self._turns) < self._max_children and not self._is_closing:
            terms = self._terms()
            claimed_boot_s = self._clock.boot_s()  # before the claim: the lease can only be longer
            order = await in_thread(self._threads, self._claim, terms)
            if order is None:
                return
            self._launch(order, terms[order.agent], claimed_boot_s)

    def _claim(self, terms: Mapping[str, LaunchTerms]) -> LaunchOrder | None:
        return self._ledger.claim(
            self._worker,
            terms=terms,
            max_children=self._max_children,
            lease_s=self._lease_s,
            reach=self.reach,
        )

    async def _be_seen(self) -> None:
        """Say that this worker lives and what it would launch, well before that is forgotten."""
        if self._clock.boot_s() - self._seen_boot_s < LIVE_S / 3:
            return
        terms = self._terms()
        own = terms.keys() if self.reach is None else terms.keys() & self.reach.agents
        reached = [terms[agent] for agent in sorted(own)]
        await in_thread(self._threads, self._ledger.seen, self._worker, reached)
        self._seen_boot_s = self._clock.boot_s()

    async def _sweep(self) -> None:
        await in_thread(self._threads, self._ledger.sweep)
        await in_thread(self._threads, self._ledger.expire)
        self._swept_boot_s = self._clock.boot_s()

    def _launch(self, order: LaunchOrder, terms: LaunchTerms, claimed_boot_s: float) -> None:
        text = order.message.text
        request = Turn(
            agent=terms.spec,
            session_key=order.session_key,
            text=neutralise(text) if terms.neutralises else text,
            timeout_s=order.timeout_s,
            attempt_id=order.attempt_id,
            not_after_boot_s=claimed_boot_s + order.launch_window_s,
        )
        turn = _Turn(
            order,
            claimed_boot_s + order.lease_s,
            self._transport,
            request,
            _Watcher(self, order),
        )
        turn.begin()
        self._turns[order.attempt_id] = turn
        task = asyncio.create_task(self._see_through(turn))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _see_through(self, turn: _Turn) -> None:
        """Keep one turn's lease alive until its end is written."""
        heartbeat = asyncio.create_task(self._beat(turn))
        try:
            await self._finish(turn, await turn.result())
        finally:
            heartbeat.cancel()
            del self._turns[turn.order.attempt_id]
            self._wake.set()

    async def _confirm(self, order: LaunchOrder, pid: int) -> None:
        """Record that the child runs; stop it when the fence is stale."""
        try:
            is_ours = await in_thread(self._threads, self._ledger.started, order, pid)
        except LedgerError:
            return  # the end is written all the same; the heartbeat decides about the lease
        if not is_ours:
            self._turns[order.attempt_id].lose()

    async def _beat(self, turn: _Turn) -> None:
        """Renew the lease until the turn ends; stop the child once it is lost or called off."""
        while True:
            # Asked at once too: a cancel between the claim and here found no turn to stop, and
            # another process's cancel never does.
            if await self._is_called_off(turn):
                turn.stop()
            await asyncio.sleep(self._lease_s / 3)
            if not await self._renew(turn):
                turn.lose()
                return

    async def _renew(self, turn: _Turn) -> bool:
        asked_boot_s = self._clock.boot_s()
        try:
            is_ours = await in_thread(self._threads, self._ledger.renew, turn.order)
        except LedgerError:
            return asked_boot_s < turn.lease_ends_boot_s
        except Exception:  # a child whose lease nobody renews must not run on
            _log.exception("the lease of attempt %s cannot be renewed", turn.order.attempt_id)
            return asked_boot_s < turn.lease_ends_boot_s
        turn.lease_ends_boot_s = asked_boot_s + self._lease_s
        return is_ours

    async def _is_called_off(self, turn: _Turn) -> bool:
        try:
            return await in_thread(self._threads, self._ledger.is_called_off, turn.order)
        except Exception as error:  # asked again with the next heartbeat
            _log.warning(
                "no word about attempt %s: %s", turn.order.attempt_id, type(error).__name__
            )
            return False

    async def _finish(self, turn: _Turn, result: TurnResult) -> None:
        """Write the end; while the ledger is away, try again until the lease is over."""
        while True:
            try:
                await in_thread(self._threads, self._ledger.finish, turn.order, result)
                return
            except LedgerError as error:
                _log.warning("attempt %s cannot be written: %s", turn.order.attempt_id, error.code)
            except Exception:  # the task's outer edge: the sweep turns the attempt into unknown
                _log.exception("attempt %s cannot be written", turn.order.attempt_id)
                return
            if turn.is_stale or self._clock.boot_s() >= turn.lease_ends_boot_s:
                return
            await asyncio.sleep(self._backoff_s)


@dataclass(frozen=True, slots=True)
class _Watcher:
    """Pass on that the child runs."""

    dispatcher: Dispatcher
    order: LaunchOrder

    async def started(self, pid: int) -> None:
        """Record the pid."""
        await self.dispatcher._confirm(self.order, pid)
