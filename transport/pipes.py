"""The service's ends of one launch: two pipes read as they fill, one socket to the keeper."""

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import Callable
from typing import Any

_CHUNK = 65_536
_LAST_READS = 64
"""Bounds what is read after the end: a pipe holds far less, unless somebody still writes."""


class Drain:
    """Read one pipe as it fills; keep a head and a tail of it, count the rest."""

    def __init__(
        self, fd: int, *, head: int, tail: int = 0, on_change: Callable[[], None] | None = None
    ) -> None:
        self._fd = fd
        self._head_limit = head
        self._tail_limit = tail
        self._head = bytearray()
        self._tail = bytearray()
        self._on_change = on_change
        self._loop = asyncio.get_running_loop()
        self.total = 0
        self.ended = asyncio.Event()
        os.set_blocking(fd, False)
        self._loop.add_reader(fd, self._read)

    @property
    def is_cut(self) -> bool:
        """Whether bytes are missing from `kept`."""
        return self.total > len(self._head) + len(self._tail)

    def kept(self) -> bytes:
        """Return the head, and the tail behind it."""
        return bytes(self._head + self._tail)

    def close(self) -> None:
        """Stop reading and give the descriptor back; what is in the pipe now is still read."""
        for _ in range(_LAST_READS):
            if self.ended.is_set() or not self._read():
                break
        self._finish()

    def _read(self) -> bool:
        try:
            chunk = os.read(self._fd, _CHUNK)
        except (BlockingIOError, InterruptedError):
            return False
        except OSError:
            chunk = b""
        if not chunk:
            self._finish()
            return False
        self.total += len(chunk)
        room = self._head_limit - len(self._head)
        self._head += chunk[:room]
        if self._tail_limit and len(chunk) > room:
            self._tail = (self._tail + chunk[max(room, 0) :])[-self._tail_limit :]
        if self._on_change is not None:
            self._on_change()
        return True

    def _finish(self) -> None:
        if not self.ended.is_set():
            self.ended.set()
            self._loop.remove_reader(self._fd)
            os.close(self._fd)


class Control:
    """Hear what the keeper says, one JSON line after another."""

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)
        self._end = end
        self._buffer = b""
        self._heard: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(end.fileno(), self._read)
        self._is_open = True

    def _read(self) -> None:
        try:
            chunk = self._end.recv(_CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            chunk = b""
        if not chunk:
            self._loop.remove_reader(self._end.fileno())
            self._heard.put_nowait(None)
        *lines, self._buffer = (self._buffer + chunk).split(b"\n")
        for line in lines:
            self._heard.put_nowait(json.loads(line))

    async def next(self, timeout_s: float) -> dict[str, Any] | None:
        """Return the next event, or None when the keeper is gone.

        Raises
        ------
        TimeoutError
            Nothing was said in time; what was said while we were stopped is heard all the same.
        """
        try:
            async with asyncio.timeout(max(0.0, timeout_s)):
                return await self._heard.get()
        except TimeoutError:
            self._read()
            if self._heard.empty():
                raise
            return self._heard.get_nowait()

    async def send(self, body: bytes) -> None:
        """Say something; a keeper that is gone shows as such in `next`."""
        with contextlib.suppress(OSError):
            await self._loop.sock_sendall(self._end, body)

    def send_now(self, body: bytes) -> None:
        """Say a few bytes without waiting."""
        with contextlib.suppress(OSError):
            self._end.send(body)

    def close(self) -> None:
        """Hang up; a keeper that still has a child stops it."""
        if self._is_open:
            self._is_open = False
            self._loop.remove_reader(self._end.fileno())
            self._end.close()
