"""The flow of a router with a ledger: durable, its holds in the queue, its replies kept."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace

from clawmarshal.errors import NotFoundError, NotLaunchedError, RouteRefusedError
from clawmarshal.router.decider import Decider
from clawmarshal.router.desk import RoutingDesk
from clawmarshal.router.fleet import FleetWatch
from clawmarshal.router.ledger.dispatcher import Dispatcher
from clawmarshal.router.ledger.endings import READY_TOO_LONG
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import Mode, RouteRecord, Submission
from clawmarshal.router.ledger.states import RouteState
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.reply import Reply, failure_of
from clawmarshal.router.route import Route
from clawmarshal.transport.openclaw import OpenClawTransport
from clawmarshal.transport.outcome import Transport, TurnState

OWNER = "local"
_ENDS = {
    (RouteState.FAILED, False): TurnState.FAILED_NOT_RUN,
    (RouteState.FAILED, True): TurnState.FAILED_RAN,
    (RouteState.CANCELLED, True): TurnState.CANCELLED,
    (RouteState.UNKNOWN, None): TurnState.UNKNOWN,
}


class LedgerFlow:
    """Carry messages from text to reply over a ledger; see `OpenClawRouter`."""

    def __init__(
        self, decider: Decider, ledger: Ledger, transport: Transport, *, max_children: int
    ) -> None:
        self._ledger = ledger
        self._transport = transport
        self._desk = RoutingDesk(decider, ledger, transport=transport, fleet=FleetWatch(None))
        self._dispatcher = Dispatcher(
            ledger, transport, terms=self._desk.terms, max_children=max_children, name="router"
        )
        self._desk.connect(on_cancel=self._dispatcher.cancel)

    @classmethod
    async def start(
        cls,
        decider: Decider,
        ledger: Ledger | str,
        transport: Transport | None,
        *,
        max_children: int,
    ) -> "LedgerFlow":
        """Open what is not open yet, and begin to launch what is approved."""
        async with AsyncExitStack() as undo:  # what cannot start leaves nothing open behind
            if transport is None:
                transport = found = await asyncio.to_thread(OpenClawTransport.discover)
                undo.push_async_callback(found.close)
                await found.probe()
            if isinstance(ledger, str):
                ledger = await asyncio.to_thread(Ledger, ledger)
                undo.callback(ledger.close)
            flow = cls(decider, ledger, transport, max_children=max_children)
            undo.push_async_callback(flow._desk.close)
            undo.push_async_callback(flow._dispatcher.close)
            await flow._dispatcher.start()
            await flow._desk.start()
            undo.pop_all()
        return flow

    async def waiting(self) -> int:
        """Count the routes that wait for their launch, whoever sent them."""
        return (await asyncio.to_thread(self._ledger.queue)).waiting

    async def route(self, message: InboundMessage, *, pin: str | None) -> Route:
        """Accept and decide; what a gate holds is in the queue, the rest waits for `dispatch`."""
        submission = Submission(message, owner=OWNER, mode=Mode.PROPOSE, pin=pin)
        record, _ = await self._desk.submit(submission)
        if record.route is None:
            raise RouteRefusedError("the message is accepted and not decided yet")
        return record.route

    async def dispatch(self, route: Route, text: str) -> Reply:
        """Launch once, also over restarts; a held route is refused until it is approved."""
        try:
            record = await asyncio.to_thread(self._ledger.route, route.id, owner=OWNER)
        except NotFoundError:
            raise RouteRefusedError("the ledger does not know this route") from None
        _check(record, route, text)
        return _reply(await self._desk.launch(route.id))

    async def close(self) -> None:
        """Stop launching, and close the transport and the ledger."""
        async with AsyncExitStack() as in_reverse:  # whatever fails on the way
            in_reverse.callback(self._ledger.close)
            in_reverse.push_async_callback(self._transport.close)
            in_reverse.push_async_callback(self._desk.close)
            in_reverse.push_async_callback(self._dispatcher.close)


def _check(record: RouteRecord, route: Route, text: str) -> None:
    # The seal is of the process that decided; what the ledger holds is the proof here.
    if record.route is None or replace(record.route, seal="") != replace(route, seal=""):
        raise RouteRefusedError("the ledger holds another route under this id")
    if InboundMessage(text).digest != route.message_digest:
        raise RouteRefusedError("the text is not the one that was decided")


def _reply(record: RouteRecord) -> Reply:
    last = record.attempts[-1] if record.attempts else None
    if record.state is RouteState.DONE:
        raw = last.facts.get("raw_text") if last else None
        return Reply(
            text=record.reply_text or "",
            agent=record.agent or "",
            route_id=record.id,
            raw_text=str(raw or record.reply_text or ""),
            run_id=last.run_id if last else None,
            tool_sends=record.tool_sends,
        )
    if record.state is RouteState.EXPIRED and record.reason == READY_TOO_LONG:
        raise NotLaunchedError("the route waited too long for its launch", code="waited-too-long")
    end = _ENDS.get((record.state, record.ran))
    if end is None:
        raise RouteRefusedError(f"the route is {record.state}: {record.reason}")
    raise failure_of(end, record.reason or str(record.state), (last.detail or "") if last else "")
