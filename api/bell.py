"""Bell: tell the streams of an application, from any thread, that something moved."""

import asyncio
import contextlib
from collections.abc import Iterator

from clawmarshal.router.waiters import News, Waiters

_ALL = "all"


class Bell:
    """Ring for everybody who listens on one event loop."""

    def __init__(self) -> None:
        self._waiters = Waiters()
        self._loop: asyncio.AbstractEventLoop | None = None

    def ring(self) -> None:
        """Wake all who listen; from any thread, and never waits."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop ended while a thread still wrote
                self._loop.call_soon_threadsafe(self._waiters.tell, _ALL)

    @contextlib.contextmanager
    def heard(self) -> Iterator[News]:
        """Listen until the block ends."""
        self._loop = asyncio.get_running_loop()
        with self._waiters.listen(_ALL) as news:
            yield news
