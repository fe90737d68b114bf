"""Server-sent events: a route's trail, and what happens to holds; each can be resumed."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from fastapi import Request
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from clawmarshal.api.auth import parts_of
from clawmarshal.api.event_views import event_view, hold_event_view
from clawmarshal.api.ports import Parts, Records
from clawmarshal.api.seats import Seats
from clawmarshal.errors import LedgerError
from clawmarshal.router.ledger.hold_feed import LOOK_BACK
from clawmarshal.router.ledger.records import Event, Principal
from clawmarshal.router.ledger.states import RESTING, RouteState

MEDIA_TYPE = "text/event-stream"
LOOK_AGAIN_S = 1.0
"""How often a stream looks for what other processes wrote, and whether its key still is valid."""
PULSE_S = 15.0
"""A comment, so that proxies keep the connection and a caller who left is noticed."""
RETRY_MS = 2000
ENDED = RESTING - {RouteState.HELD, RouteState.UNKNOWN}
"""Where a route's stream ends: nothing follows, unless a person has it run again."""
BATCH = 200

Look = Callable[[], Awaitable[tuple[Sequence[str], bool]]]
"""Return what is to be sent, and whether the stream is over."""


def wants_stream(request: Request) -> bool:
    """Tell whether a caller asks for a stream instead of a page."""
    accepted = ",".join(request.headers.getlist("accept")).lower()
    return MEDIA_TYPE in (part.partition(";")[0].strip() for part in accepted.split(","))


def frame(name: str, value: object, *, number: int | None = None) -> str:
    """Write one event; JSON has no line ends, so nothing in it can end or forge one."""
    head = "" if number is None else f"id: {number}\n"
    return f"{head}event: {name}\ndata: {json.dumps(value, separators=(',', ':'))}\n\n"


@dataclass(slots=True)
class RouteTrail:
    """One route's events since a number."""

    records: Records
    route_id: str
    owner: str | None
    after: int

    async def look(self) -> tuple[Sequence[str], bool]:
        """Return the next events; over once the route ended and all were returned."""
        # The route first: what is written between the two looks is found by the second.
        record = await asyncio.to_thread(self.records.route, self.route_id, owner=self.owner)
        found = await asyncio.to_thread(
            self.records.events, self.route_id, owner=self.owner, after=self.after, limit=BATCH
        )
        frames = [_of_event(event) for event in found]
        if found:
            self.after = found[-1].number
        is_over = record.state in ENDED and len(found) < BATCH
        if is_over:
            frames.append(frame("end", {"state": str(record.state)}))
        return frames, is_over


@dataclass(slots=True)
class HoldTrail:
    """What happens to holds since a number."""

    records: Records
    owner: str | None
    after: int
    known: set[int] = field(default_factory=set)

    async def look(self) -> tuple[Sequence[str], bool]:
        """Return the next events; never over."""
        news = await asyncio.to_thread(
            self.records.hold_events,
            after=self.after,
            owner=self.owner,
            known=frozenset(self.known),
        )
        self.after = max(self.after, news.reached)
        self.known |= {event.number for event in news.events}
        self.known = {number for number in self.known if number > self.after - LOOK_BACK}
        return [
            frame(event.kind, hold_event_view(event).model_dump(mode="json"), number=event.number)
            for event in news.events
        ], False


class EventStream(StreamingResponse):
    """An answer that takes a seat for as long as it is sent.

    Raises
    ------
    Problem
        ``too-many-waits``, when it is about to be sent.
    """

    media_type = MEDIA_TYPE

    def __init__(self, frames: AsyncIterator[str], *, seats: Seats, key_id: str) -> None:
        super().__init__(frames, headers={"X-Accel-Buffering": "no"})
        self._seats = seats
        self._key_id = key_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until it is over or the caller left."""
        with self._seats.take(self._key_id):
            await super().__call__(scope, receive, send)


def stream(request: Request, principal: Principal, look: Look, *, first: str = "") -> EventStream:
    """Answer with a stream that ends with its key, its subject, its caller or the service."""
    parts = parts_of(request)
    stopping: asyncio.Event = request.app.state.stopping

    async def frames() -> AsyncIterator[str]:
        yield f"retry: {RETRY_MS}\n\n{first}"
        async for text in _followed(parts, principal, look, stopping=stopping):
            yield text

    return EventStream(frames(), seats=parts.seats, key_id=principal.key_id)


async def _followed(
    parts: Parts, principal: Principal, look: Look, *, stopping: asyncio.Event
) -> AsyncIterator[str]:
    """Look, send, and wait for news, until it is over."""
    loop = asyncio.get_running_loop()
    spoke = loop.time()
    with parts.bell.heard() as news:
        while not stopping.is_set():
            news.clear()
            if not await _is_valid(parts.records, principal):
                yield frame("revoked", {})
                return
            try:
                frames, is_over = await look()
            except LedgerError:
                frames, is_over = (), False  # said by /readyz; looked at again in a moment
            for text in frames:
                yield text
            if is_over:
                return
            if frames:
                spoke = loop.time()
                continue  # there may be more
            if loop.time() - spoke >= PULSE_S:
                spoke = loop.time()
                yield ": here\n\n"
            await _news_or_stop(news, stopping)


async def _is_valid(records: Records, principal: Principal) -> bool:
    try:
        return await asyncio.to_thread(records.key_is_alive, principal.key_id)
    except LedgerError:
        return True  # nothing can be read either


async def _news_or_stop(news: asyncio.Event, stopping: asyncio.Event) -> None:
    waits = [asyncio.ensure_future(event.wait()) for event in (news, stopping)]
    try:
        await asyncio.wait(waits, timeout=LOOK_AGAIN_S, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


def _of_event(event: Event) -> str:
    return frame(event.kind, event_view(event).model_dump(mode="json"), number=event.number)
