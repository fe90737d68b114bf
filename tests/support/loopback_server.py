"""A System One server on a real socket of loopback, that answers with whatever bytes it is told."""

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import httpx

from tests.support.system_one_server import preferring

Scene = Callable[[Mapping[str, Any]], "httpx.Response | bytes | None"]
"""What to send for the body of a request; bytes as they are, then the connection ends; None:
nothing, for as long as the peer waits."""


@dataclass(frozen=True)
class Received:
    """One request."""

    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class LoopbackServer:
    """Answer by a scene, in a thread, until the block ends; remember every request."""

    scene: Scene = field(default_factory=lambda: preferring("finance"))
    requests: list[Received] = field(default_factory=list)
    url: str = ""
    open: int = 0
    """Connections that are open now."""

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._peers: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        host, port = self._server.sockets[0].getsockname()[:2]
        self.url = f"http://{host}:{port}"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    @property
    def sent(self) -> bytes:
        """Everything that it was told: paths, headers and bodies."""
        told = [f"{one.path} {dict(one.headers)}".encode() + one.body for one in self.requests]
        return b"\n".join(told)

    async def _start(self) -> asyncio.Server:
        return await asyncio.start_server(self._peer, "127.0.0.1", 0)

    async def _stop(self) -> None:
        self._server.close()
        for peer in self._peers:
            peer.cancel()
        await asyncio.gather(*self._peers, return_exceptions=True)

    async def _peer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._peers.add(task)
        self.open += 1
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self.open -= 1
            self._peers.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; tell whether the connection goes on."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = [line.partition(": ") for line in head[1:] if line]
        headers = {name.lower(): value for name, _, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        self.requests.append(Received(head[0].split()[1], headers, body))
        answer = self.scene(json.loads(body))
        if answer is None:
            await reader.read()
            return False
        is_whole = isinstance(answer, httpx.Response)
        writer.write(raw(answer) if isinstance(answer, httpx.Response) else answer)
        await writer.drain()
        return is_whole


def raw(response: httpx.Response) -> bytes:
    """Write a response as a network carries it."""
    kept = {k: v for k, v in response.headers.items() if k != "content-length"}
    lines = [f"{name}: {value}" for name, value in kept.items()]
    lines.append(f"content-length: {len(response.content)}")
    head = "\r\n".join([f"HTTP/1.1 {response.status_code} X", *lines, "", ""])
    return head.encode("latin-1") + response.content
