"""OpenClawRouter: the one flow in a program of your own, sync and async."""

import asyncio
import concurrent.futures
import threading
from collections.abc import Coroutine, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from clawmarshal.errors import ClawmarshalError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.roster.roster import Roster
from clawmarshal.router.decider import Decider
from clawmarshal.router.decision import DecisionModel
from clawmarshal.router.in_memory import InMemoryFlow
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.policy import Policy
from clawmarshal.router.reply import Reply
from clawmarshal.router.route import Route
from clawmarshal.transport.outcome import Transport

if TYPE_CHECKING:
    from clawmarshal.router.ledger.ledger import Ledger

T = TypeVar("T")

LAST_WORDS_S = 5.0
"""How long calls under way may take to return when the router is closed."""


class Flow(Protocol):
    """What carries a message from text to reply, on one event loop."""

    async def route(self, message: InboundMessage, *, pin: str | None) -> Route:
        """Decide; launches nothing."""
        ...

    async def dispatch(self, route: Route, text: str) -> Reply:
        """Launch once."""
        ...

    async def waiting(self) -> int:
        """Count what waits for its launch."""
        ...

    async def close(self) -> None:
        """Stop what runs."""
        ...


class OpenClawRouter:
    """Decide which agent of a fleet gets a message, and launch that agent once.

    Usable with no service, no key and no network. Without a ledger nothing outlives the object:
    holds are returned, not queued, and duplicates are only seen within it. With a ledger, messages
    are durable, holds enter its queue, and what a reviewer approves is launched while the router
    lives (or by a service on the same ledger).

    Parameters
    ----------
    model
        Who decides, such as ``LocalDecisionModel()``.
    agents
        A `Roster`, or the agents of one.
    policy
        The gates' thresholds; the defaults of DESIGN section 3 where None.
    fallback
        Answers when `model` gives no usable answer; such routes say ``via: offline``.
    fallback_policy
        The fallback's own thresholds; `policy` where None.
    transport
        How agents are launched; an OpenClaw found on this machine, at the first dispatch, where
        None.
    ledger
        A `Ledger`, or the URL of one such as ``sqlite:///desk.db``; None keeps all in memory. With
        a ledger the transport is needed at the first call: approvals are bound to it.
    deadline_s
        Seconds for one decision, over 0.
    max_children
        Turns at once over all agents; one at a time per session always.
    max_wait_s
        Seconds a dispatch waits for room; then it is refused with ``waited-too-long``. A ledger
        has its own ``ready_max_age_s``.
    max_waiting
        Dispatches that may wait at once; one more is refused with ``queue-full``. A ledger's queue
        is on disk and has no such bound.
    max_remembered
        Routes that can still be dispatched, and replies that are kept; older ones are refused.

    Raises
    ------
    RosterSchemaError
        The agents do not make a roster.
    """

    def __init__(
        self,
        model: DecisionModel,
        agents: Roster | Iterable[AgentSpec],
        *,
        policy: Policy | None = None,
        fallback: DecisionModel | None = None,
        fallback_policy: Policy | None = None,
        transport: Transport | None = None,
        ledger: "Ledger | str | None" = None,
        deadline_s: float = 4.0,
        max_children: int = 2,
        max_wait_s: float = 600.0,
        max_waiting: int = 1000,
        max_remembered: int = 10_000,
    ) -> None:
        roster = agents if isinstance(agents, Roster) else Roster(agents)
        self._decider = Decider(
            model,
            roster,
            policy=policy,
            deadline_s=deadline_s,
            fallback=fallback,
            fallback_policy=fallback_policy,
        )
        self._transport = transport
        self._ledger = ledger
        self._max_children = max_children
        self._max_wait_s = max_wait_s
        self._max_waiting = max_waiting
        self._max_remembered = max_remembered
        self._flow: asyncio.Future[Flow] | None = None
        self._loop = _LoopThread()

    @property
    def roster(self) -> Roster:
        """The fleet."""
        return self._decider.roster

    @property
    def waiting(self) -> int:
        """How many dispatches wait for room now."""
        return self._loop.start(self._waiting()).result()

    def route(self, text: str | InboundMessage, *, pin: str | None = None) -> Route:
        """Decide; see `aroute`. Works beside a running event loop too: it has one of its own."""
        return self._loop.start(self._route(text, pin)).result()

    def dispatch(self, route: Route, text: str) -> Reply:
        """Launch; see `adispatch`."""
        return self._loop.start(self._dispatch(route, text)).result()

    async def aroute(self, text: str | InboundMessage, *, pin: str | None = None) -> Route:
        """Decide what should happen to a message; launches nothing.

        Parameters
        ----------
        text
            The message, or its text alone.
        pin
            An agent named by the program, never by the text.

        Raises
        ------
        MessageError
            The text cannot be routed at all.
        UnknownAgentError
            `pin` is not in the roster.
        """
        return await asyncio.wrap_future(self._loop.start(self._route(text, pin)))

    async def adispatch(self, route: Route, text: str) -> Reply:
        """Launch the agent of a routable route, once.

        A second call returns the first reply, or raises the first failure, and launches nothing.

        Parameters
        ----------
        route
            From this router's `route`, unchanged.
        text
            The text that was decided.

        Raises
        ------
        RouteRefusedError
            Not routable, not from this router, changed since, or another text.
        NotLaunchedError
            The turn certainly did not run; ``waited-too-long``: there was no room for it.
        TurnFailedError
            It ran and gave no reply.
        OutcomeUnknownError
            It may have run. Never repeat it by machine.
        """
        return await asyncio.wrap_future(self._loop.start(self._dispatch(route, text)))

    def close(self) -> None:
        """Stop what runs, the transport included, and end the thread.

        Connections that the model opened for this router are closed; the model itself, which may
        serve others, is not.
        """
        try:
            self._loop.start(self._close()).result()
        finally:
            self._loop.stop()

    async def aclose(self) -> None:
        """Stop what runs; see `close`."""
        await asyncio.to_thread(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def _route(self, text: str | InboundMessage, pin: str | None) -> Route:
        message = text if isinstance(text, InboundMessage) else InboundMessage(text)
        if pin is not None:
            self.roster[pin]
        return await (await self._started()).route(message, pin=pin)

    async def _dispatch(self, route: Route, text: str) -> Reply:
        return await (await self._started()).dispatch(route, text)

    async def _waiting(self) -> int:
        return await (await self._started()).waiting()

    async def _close(self) -> None:
        try:
            await self._close_flow()
        finally:
            # Last of all: a decision that was still under way would open another connection.
            await self._decider.close_connections()

    async def _close_flow(self) -> None:
        if self._flow is not None:
            await (await self._flow).close()
        # Whoever still waits gets an answer: a loop that just stopped would leave them for ever.
        calls = asyncio.all_tasks() - {asyncio.current_task()}
        if calls:
            _, waiting = await asyncio.wait(calls, timeout=LAST_WORDS_S)
            for call in waiting:
                call.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    async def _started(self) -> Flow:
        if self._flow is None:
            self._flow = asyncio.ensure_future(self._start())
        flow = self._flow
        try:
            return await asyncio.shield(flow)
        except ClawmarshalError:
            if self._flow is flow:  # what could not start may be mended and tried again
                self._flow = None
            raise

    async def _start(self) -> Flow:
        if self._ledger is None:
            return InMemoryFlow(
                self._decider,
                self._transport,
                max_children=self._max_children,
                max_remembered=self._max_remembered,
                max_wait_s=self._max_wait_s,
                max_waiting=self._max_waiting,
            )
        # Here, since the ledger's library takes longer to import than everything else together.
        from clawmarshal.router.on_ledger import LedgerFlow

        return await LedgerFlow.start(
            self._decider, self._ledger, self._transport, max_children=self._max_children
        )


class _LoopThread:
    """An event loop in a thread of its own, started at the first use.

    Both forms of every call run on it, so that the sync ones work beside a running loop (Jupyter),
    and the transport and what waits for it stay on one loop whoever calls.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def start(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Start work and return its future."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="clawmarshal-router", daemon=True
                )
                self._thread.start()
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def stop(self) -> None:
        """End the thread."""
        with self._lock:
            if self._loop is not None and self._thread is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)
                self._thread.join()
                self._loop.close()
                self._loop = self._thread = None
