"""Waiters: who waits for news of a route, and how they are told."""

import asyncio
import contextlib
from collections.abc import Iterator


class News(asyncio.Event):
    """Set when something may have changed."""

    async def wait_at_most(self, timeout_s: float) -> None:
        """Return at the news or when the time is over."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self.wait()


class Waiters:
    """Let tasks of one event loop listen for news under a name."""

    def __init__(self) -> None:
        self._listening: dict[str, set[News]] = {}

    @contextlib.contextmanager
    def listen(self, name: str) -> Iterator[News]:
        """Be told of every `tell` within the block."""
        news = News()
        self._listening.setdefault(name, set()).add(news)
        try:
            yield news
        finally:
            listeners = self._listening[name]
            listeners.discard(news)
            if not listeners:
                del self._listening[name]

    @property
    def names(self) -> tuple[str, ...]:
        """What is listened for."""
        return tuple(self._listening)

    def tell(self, name: str) -> None:
        """Wake everybody who listens."""
        for news in self._listening.get(name, ()):
            news.set()
