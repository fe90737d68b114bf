"""The flow of a router without a ledger: decided, launched once, remembered while it lives."""

import asyncio
import time
from collections import OrderedDict
from typing import TypeVar

from clawmarshal.errors import NotLaunchedError, RouteRefusedError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.router.conversation import kept_agent
from clawmarshal.router.decider import Decider
from clawmarshal.router.directives import neutralise
from clawmarshal.router.lanes import Lanes
from clawmarshal.router.ledger.clock import SystemClock
from clawmarshal.router.ledger.ids import new_id
from clawmarshal.router.memory import ConversationMemory
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.policy import Circumstances, Directives
from clawmarshal.router.reply import Reply, reply_of
from clawmarshal.router.route import Route
from clawmarshal.router.session import lone_conversation, session_key
from clawmarshal.transport.openclaw import OpenClawTransport
from clawmarshal.transport.outcome import Transport, Turn, TurnResult, TurnState

T = TypeVar("T")

LAUNCH_WINDOW_S = 15.0
"""A launch that could not begin within this time is refused by the launcher."""
DEFAULT_TIMEOUT_S = 600


class InMemoryFlow:
    """Carry messages from text to reply on one event loop; see `OpenClawRouter`."""

    def __init__(
        self,
        decider: Decider,
        transport: Transport | None,
        *,
        max_children: int,
        max_remembered: int,
        max_wait_s: float,
        max_waiting: int,
    ) -> None:
        self._decider = decider
        self._transport = transport
        policy = decider.policy
        # A track shorter than what gate 6 counts to would never make it fire.
        counted = max(policy.max_messages, policy.loop_repeats) + 1
        self._memory = ConversationMemory(min_track=counted)
        self._discovering = asyncio.Lock()
        self._is_closing = False
        has_others = len(decider.roster) > 1
        self._lanes = Lanes(
            max_children,
            # One agent that hangs must not keep the others from being launched.
            per_agent=max(1, max_children - 1) if has_others else None,
            max_wait_s=max_wait_s,
            max_waiting=max_waiting,
        )
        self._max_remembered = max_remembered
        self._decided: OrderedDict[str, InboundMessage] = OrderedDict()
        self._turns: OrderedDict[str, asyncio.Future[TurnResult]] = OrderedDict()

    async def waiting(self) -> int:
        """Count the turns that wait for room."""
        return self._lanes.waiting

    async def route(self, message: InboundMessage, *, pin: str | None) -> Route:
        """Decide; launches nothing."""
        policy = self._decider.policy
        view = self._memory.view(
            message, window_s=policy.rate_window_s, repeat_window_s=policy.loop_window_s
        )
        circumstances = Circumstances(
            pin=pin,
            conversation_agent=kept_agent(view.agent, message),
            repeats=view.repeats,
            in_conversation=view.in_conversation,
            from_sender=view.from_sender,
        )
        route, _ = await self._decider.decide(message, circumstances=circumstances, past=view.past)
        self._memory.decided(message, route)
        self._remember(self._decided, route.id, message)
        return route

    async def dispatch(self, route: Route, text: str) -> Reply:
        """Launch once; a repeat returns the first reply or raises the first failure."""
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
        result = await asyncio.shield(turn)
        return reply_of(result, agent=route.agent or "", route_id=route.id)

    async def close(self) -> None:
        """Stop what runs, the transport included; what waits for room is not launched any more."""
        self._is_closing = True
        if self._transport is not None:
            await self._transport.close()
        await asyncio.gather(*self._turns.values(), return_exceptions=True)

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
        agent = self._decider.roster[route.agent or ""]
        transport = await self._found()
        key = session_key(
            owner="local",
            channel=message.channel,
            account=message.account,
            conversation=message.conversation or lone_conversation(route.id),
            agent=agent.id,
            generation=1,
        )
        self._memory.dispatched(message, agent.id)
        try:
            async with self._lanes.turn(agent, key):
                if self._is_closing:
                    return TurnResult(TurnState.FAILED_NOT_RUN, "closing")
                result = await transport.launch(self._turn(agent, key, message.text))
        except NotLaunchedError as error:  # from waiting alone: a launch raises nothing
            return TurnResult(TurnState.FAILED_NOT_RUN, error.code, detail=str(error))
        self._memory.replied(message, route.id, result.reply_text)
        return result

    def _turn(self, agent: AgentSpec, key: str, text: str) -> Turn:
        is_neutral = self._decider.policy.directives is Directives.NEUTRALISE
        return Turn(
            agent=agent,
            session_key=key,
            text=neutralise(text) if is_neutral else text,
            timeout_s=agent.timeout_s or DEFAULT_TIMEOUT_S,
            attempt_id=new_id("at", now_ms=time.time_ns() // 1_000_000),
            not_after_boot_s=SystemClock().boot_s() + LAUNCH_WINDOW_S,
        )

    async def _found(self) -> Transport:
        """Return the transport, and find the one of this machine once for all who ask at once."""
        async with self._discovering:
            if self._transport is None:
                self._transport = await asyncio.to_thread(OpenClawTransport.discover)
                if self._is_closing:
                    await self._transport.close()
            return self._transport
