"""AsyncClient: talk to a service from an event loop."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

import httpx

from clawmarshal.api.client import calls
from clawmarshal.api.client.calls import Call
from clawmarshal.api.client.errors import ClientError, UnreachableError, problem_of
from clawmarshal.api.client.exchange import (
    HOLD_STREAM,
    LONGEST_WAIT_S,
    headers_for,
    is_news,
    read_answer,
    stream_headers,
    stream_timeout,
    timeout_of,
)
from clawmarshal.api.client.results import Agent, Event, Hold, HoldPage, Route, RoutePage
from clawmarshal.api.client.retries import Retries
from clawmarshal.api.client.sse import EventReader

T = TypeVar("T")


class AsyncClient:
    """Ask a service for everything that its HTTP API does; `Client` says what each call does.

    Every method raises `ClientError`: a `Problem` that the service answered with,
    `UnreachableError`, or `UnreadableAnswerError`.

    Parameters
    ----------
    address
        Such as ``http://127.0.0.1:8484``.
    key
        ``cmk_…``; it is sent to this address alone, and in no error.
    timeout_s
        How long an answer may take, beside what was asked to be waited.
    retries
        When a request is sent again.
    transport
        Instead of the network, for tests.
    sleep
        Waits between two tries.
    """

    def __init__(
        self,
        address: str,
        key: str,
        *,
        timeout_s: float = 30.0,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._http = httpx.AsyncClient(
            base_url=address,
            headers=headers_for(key),
            timeout=timeout_s,
            transport=transport,
            follow_redirects=False,
        )
        self._timeout_s = timeout_s
        self._retries = retries or Retries()
        self._sleep = sleep

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every connection."""
        await self._http.aclose()

    async def send(
        self, text: str, *, wait_s: float = 0.0, idempotency_key: str | None = None, **fields: Any
    ) -> Route:
        """Send a message, and return its route once it rests or after ``wait_s``.

        Parameters
        ----------
        text
            The message.
        idempotency_key
            Makes a later repeat a repeat; one for this call alone where None.
        fields
            More of ``POST /route``: channel, sender, conversation, message_id, agent, mode, ….
        """
        return await self.call(
            calls.send(text, idempotency_key=idempotency_key, wait_s=wait_s, fields=fields)
        )

    async def route(self, route_id: str, *, wait_s: float = 0.0) -> Route:
        """Return a route with everything that explains it, once it rests or after ``wait_s``."""
        return await self.call(calls.route(route_id, wait_s=wait_s))

    async def wait(self, route_id: str, *, timeout_s: float) -> Route:
        """Return a route once it rests; as it stands when the time is over.

        A wait outlives a restart of the service.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            left = deadline - time.monotonic()
            found = await self.route(route_id, wait_s=max(0.0, min(left, LONGEST_WAIT_S)))
            if found.is_resting or time.monotonic() >= deadline:
                return found

    async def routes(
        self, *, limit: int = 50, cursor: str | None = None, **filters: Any
    ) -> RoutePage:
        """Return a page of routes, newest first; the filters are those of ``GET /routes``."""
        return await self.call(calls.routes({"limit": limit, "cursor": cursor, **filters}))

    async def every_route(self, **filters: Any) -> AsyncIterator[Route]:
        """Go through all routes, newest first, page by page."""
        cursor: str | None = None
        while True:
            page = await self.routes(limit=500, cursor=cursor, **filters)
            for one in page.routes:
                yield one
            if (cursor := page.next) is None:
                return

    async def cancel(self, route_id: str) -> Route:
        """Cancel what can still be cancelled; never sent twice by itself."""
        return await self.call(calls.cancel(route_id), is_repeatable=False)

    async def resolve(
        self,
        route_id: str,
        answer: Literal["ran", "not_run", "rerun", "leave"],
        *,
        note: str | None = None,
    ) -> Route:
        """Say what became of an unknown route; never sent twice by itself."""
        return await self.call(calls.resolve(route_id, answer, note), is_repeatable=False)

    async def events(self, route_id: str, *, after: int = 0, limit: int = 500) -> tuple[Event, ...]:
        """Return a route's audit trail, oldest first."""
        return await self.call(calls.events(route_id, after=after, limit=limit))

    async def hold(self, hold_id: str) -> Hold:
        """Return a hold with its route."""
        return await self.call(calls.hold(hold_id))

    async def holds(
        self, *, limit: int = 50, cursor: str | None = None, **filters: Any
    ) -> HoldPage:
        """Return a page of holds, oldest first; the filters are those of ``GET /holds``."""
        return await self.call(calls.holds({"limit": limit, "cursor": cursor, **filters}))

    async def every_hold(self, **filters: Any) -> AsyncIterator[Hold]:
        """Go through all holds, oldest first, page by page."""
        cursor: str | None = None
        while True:
            page = await self.holds(limit=500, cursor=cursor, **filters)
            for one in page.holds:
                yield one
            if (cursor := page.next) is None:
                return

    async def approve(
        self,
        hold: Hold | str,
        *,
        agent: str | None = None,
        note: str | None = None,
        digest: str | None = None,
    ) -> Hold:
        """Say yes: launch it once. A `Hold` that was read is approved exactly as it was shown."""
        return await self.call(calls.approve(hold, agent=agent, note=note, digest=digest))

    async def reject(self, hold: Hold | str, *, reason: str) -> Hold:
        """Say no, and why."""
        return await self.call(calls.reject(hold, reason))

    async def agents(self) -> tuple[Agent, ...]:
        """Return the fleet."""
        return await self.call(calls.agents())

    def follow(self, route_id: str, *, after: int | None = None) -> AsyncGenerator[Event, None]:
        """Go through a route's events as they come, until it has ended.

        Parameters
        ----------
        after
            The number of the last event that is known; from the first where None.
        """
        path = calls.route(route_id).path + "/events"
        return self._follow(path, after)

    def follow_holds(self, *, after: int | None = None) -> AsyncGenerator[Event, None]:
        """Go through what happens to holds, without end; the first event is ``ready``.

        Read `holds` after it, and nothing falls between. Broken connections are made again.
        """
        return self._follow(HOLD_STREAM, after)

    async def call(self, call: Call[T], *, is_repeatable: bool = True) -> T:
        """Send a call, again where that is safe and may help."""
        tried = 0
        while True:
            tried += 1
            try:
                return await self._exchange(call)
            except ClientError as error:
                wait_s = self._retries.wait_s(error, tried=tried) if is_repeatable else None
                if wait_s is None:
                    raise
            await self._sleep(wait_s)

    async def _exchange(self, call: Call[T]) -> T:
        timeout = timeout_of(self._timeout_s, call)
        try:
            answer = await self._http.request(
                call.method,
                call.path,
                params=dict(call.query),
                json=call.body,
                headers=dict(call.headers),
                timeout=timeout,
            )
        except httpx.HTTPError as error:
            raise UnreachableError(f"no answer ({type(error).__name__})") from error
        return read_answer(call, answer)

    async def _follow(self, path: str, after: int | None) -> AsyncGenerator[Event, None]:
        reader, tried = EventReader(after), 0
        known: dict[int, None] = {}
        while not reader.is_over:
            try:
                async with contextlib.aclosing(self._connection(path, reader)) as events:
                    async for event in events:
                        tried = 0
                        if is_news(event.number, known):
                            yield event
                wait_s = 0.0
            except ClientError as error:
                tried += 1
                retry_s = self._retries.wait_s(error, tried=tried)
                if retry_s is None:
                    raise
                wait_s = retry_s
            if not reader.is_over:
                await self._sleep(max(wait_s, reader.retry_s))

    async def _connection(self, path: str, reader: EventReader) -> AsyncGenerator[Event, None]:
        reader.broken_off()
        async with contextlib.AsyncExitStack() as stack:
            try:
                answer = await stack.enter_async_context(
                    self._http.stream(
                        "GET",
                        path,
                        headers=stream_headers(reader),
                        timeout=stream_timeout(self._timeout_s),
                    )
                )
                reader.is_over = answer.status_code == 204
                if not answer.is_success:
                    raise problem_of(answer.status_code, await answer.aread(), answer.headers)
                async for line in answer.aiter_lines():
                    for event in reader.line(line):
                        yield event
                    if reader.is_over:
                        return
            except httpx.HTTPError as error:
                raise UnreachableError(f"the stream broke ({type(error).__name__})") from error
