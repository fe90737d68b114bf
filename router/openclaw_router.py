"""OpenClawRouter: the one flow in a program of your own, sync and async."""

import asyncio
import concurrent.futures
import threading
import time
from collections import OrderedDict
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar, assert_never

from clawmarshal.errors import (
    NotLaunchedError,
    OutcomeUnknownError,
    RouteRefusedError,
    TransportError,
    TurnFailedError,
)
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.roster.roster import Roster
from clawmarshal.router.decider import Decider
from clawmarshal.router.decision import DecisionModel
from clawmarshal.router.directives import neutralise
from clawmarshal.router.lanes import Lanes
from clawmarshal.router.ledger.clock import SystemClock
from clawmarshal.router.ledger.ids import new_id
from clawmarshal.router.memory import ConversationMemory
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.policy import Circumstances, Directives, Policy
from clawmarshal.router.route import Route
from clawmarshal.router.session import lone_conversation, session_key
from clawmarshal.transport.openclaw import OpenClawTransport
from clawmarshal.transport.outcome import Transport, Turn, TurnResult, TurnState

T = TypeVar("T")

LAUNCH_WINDOW_S = 15.0
"""A launch that could not begin within this time is refused by the launcher."""
DEFAULT_TIMEOUT_S = 600


@dataclass(frozen=True, slots=True)
class Reply:
    """What an agent answered."""

    text: str
    """Cleaned of control and bidi characters."""
    agent: str
    route_id: str
    raw_text: str
    """As the agent wrote it; hostile in terminals and pages."""
    result: TurnResult

    def __str__(self) -> str:
        """Return the text, so that ``print(reply)`` shows the answer."""
        return self.text


class OpenClawRouter:
    """Decide which agent of a fleet gets a message, and launch that agent once.

    Usable with no service, no key and no network. Without a ledger nothing outlives the object:
    holds are returned, not queued, and duplicates are only seen within it.

    Parameters
    ----------
    model
        Who decides, such as ``LocalDecisionModel()``.
    agents
        A `Roster`, or the agents of one.
    policy
        The gates' thresholds; the defaults of DESIGN section 3 where None.
    transport
        How agents are launched; an OpenClaw found on this machine, at the first dispatch, where
        None.
    deadline_s
        Seconds for one decision, over 0.
    max_children
        Turns at once over all agents; one at a time per session always.
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
        transport: Transport | None = None,
        deadline_s: float = 4.0,
        max_children: int = 2,
        max_remembered: int = 10_000,
    ) -> None:
        roster = agents if isinstance(agents, Roster) else Roster(agents)
        self._decider = Decider(model, roster, policy=policy, deadline_s=deadline_s)
        self._memory = ConversationMemory()
        self._transport = transport
        self._decided: OrderedDict[str, InboundMessage] = OrderedDict()
        self._turns: OrderedDict[str, asyncio.Future[TurnResult]] = OrderedDict()
        self._lanes = Lanes(max_children)
        self._max_remembered = max_remembered
        self._loop = _LoopThread()

    @property
    def roster(self) -> Roster:
        """The fleet."""
        return self._decider.roster

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
            The turn certainly did not run.
        TurnFailedError
            It ran and gave no reply.
        OutcomeUnknownError
            It may have run. Never repeat it by machine.
        """
        return await asyncio.wrap_future(self._loop.start(self._dispatch(route, text)))

    def close(self) -> None:
        """Stop what runs, the transport included, and end the thread."""
        self._loop.start(self._close()).result()
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

    async def _route(self, text: str | InboundMessage, pin: str | None) -> Route:
        message = text if isinstance(text, InboundMessage) else InboundMessage(text)
        if pin is not None:
            self.roster[pin]
        policy = self._decider.policy
        view = self._memory.view(
            message, window_s=policy.rate_window_s, repeat_window_s=policy.loop_window_s
        )
        circumstances = Circumstances(
            pin=pin,
            conversation_agent=view.agent,
            repeats=view.repeats,
            in_conversation=view.in_conversation,
            from_sender=view.from_sender,
        )
        route, _ = await self._decider.decide(message, circumstances=circumstances)
        self._remember(self._decided, route.id, message)
        return route

    async def _dispatch(self, route: Route, text: str) -> Reply:
        self._check(route, text)
        turn = self._turns.get(route.id)
        if turn is None:
            # Taken out: a route whose turn is forgotten can never be launched again.
            message = self._decided.pop(route.id, None)
            if message is None:
                raise RouteRefusedError("the route is too old; decide again")
            turn = asyncio.ensure_future(self._launch(route, message))
            self._remember(self._turns, route.id, turn)
        # The caller may go away; the launch goes on, and its outcome stays to be asked for.
        return _reply(route, await asyncio.shield(turn))

    async def _close(self) -> None:
        if self._transport is not None:
            await self._transport.close()

    def _check(self, route: Route, text: str) -> None:
        if not route.routable:
            raise RouteRefusedError(f"the route is a {route.outcome}: {route.reason}")
        if not self._decider.is_own(route):
            raise RouteRefusedError("this router did not make this route, or it was changed")
        if InboundMessage(text).digest != route.message_digest:
            raise RouteRefusedError("the text is not the one that was decided")

    def _remember(self, kept: OrderedDict[str, T], route_id: str, value: T) -> None:
        kept[route_id] = value
        while len(kept) > self._max_remembered:
            kept.popitem(last=False)

    async def _launch(self, route: Route, message: InboundMessage) -> TurnResult:
        agent = self.roster[route.agent or ""]
        transport = self._transport
        if transport is None:
            transport = self._transport = await asyncio.to_thread(OpenClawTransport.discover)
        key = session_key(
            owner="local",
            channel=message.channel,
            account=message.account,
            conversation=message.conversation or lone_conversation(route.id),
            agent=agent.id,
            generation=1,
        )
        self._memory.dispatched(message, agent.id)
        neutral = self._decider.policy.directives is Directives.NEUTRALISE
        async with self._lanes.turn(agent, key):
            turn = Turn(
                agent=agent,
                session_key=key,
                text=neutralise(message.text) if neutral else message.text,
                timeout_s=agent.timeout_s or DEFAULT_TIMEOUT_S,
                attempt_id=new_id("at", now_ms=time.time_ns() // 1_000_000),
                not_after_boot_s=SystemClock().boot_s() + LAUNCH_WINDOW_S,
            )
            return await transport.launch(turn)


def _reply(route: Route, result: TurnResult) -> Reply:
    said = f"{result.code}: {result.detail}" if result.detail else result.code
    match result.state:
        case TurnState.DONE:
            return Reply(
                text=result.reply_text or "",
                agent=route.agent or "",
                route_id=route.id,
                raw_text=result.raw_text or "",
                result=result,
            )
        case TurnState.FAILED_NOT_RUN:
            raise NotLaunchedError(said, code=result.code)
        case TurnState.FAILED_RAN:
            raise TurnFailedError(said, code=result.code)
        case TurnState.CANCELLED:
            raise TransportError(said, code=result.code)
        case TurnState.UNKNOWN:
            raise OutcomeUnknownError(said, code=result.code)
        case _:
            assert_never(result.state)


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
