"""One child from its exec to its end: heard, bounded, stopped when it lingers or is called off."""

import asyncio
from dataclasses import dataclass

from clawmarshal.transport.process import Child, Ending
from clawmarshal.transport.readers import in_reader
from clawmarshal.transport.reply import Output, has_answer

_LOOK_S = 0.1
"""The shortest time between two searches for a complete document."""
_BIG = 256 * 1024
"""More bytes than this are searched beside the event loop."""


@dataclass(frozen=True, slots=True)
class Finished:
    """Everything there is to know about a child that is gone."""

    output: Output
    ending: Ending
    pid: int


class Run:
    """Watch one child; let it be stopped from outside."""

    def __init__(self, child: Child, *, linger_s: float | None = None) -> None:
        self._child = child
        self._linger_s = linger_s
        self._reason: str | None = None
        self._had_document = False

    def stop(self, reason: str) -> None:
        """Call the child off; only the first reason counts, a later call asks again."""
        if self._reason is None:
            self._reason = reason
            self._had_document = has_answer(self._child.stdout.kept())
        self._child.stop()

    async def finish(self) -> Finished:
        """Wait for the end of everything the child started."""
        watch = None
        if self._linger_s is not None:
            watch = asyncio.create_task(self._end_lingering(self._linger_s))
        try:
            ending = await self._child.end()
        finally:
            if watch is not None:
                watch.cancel()
            self._child.close()
        return Finished(self._gather(ending), ending, self._child.pid)

    def _gather(self, ending: Ending) -> Output:
        child = self._child
        stopped = self._reason
        if child.is_flooded:
            stopped = "flood"
        elif stopped is None and ending.stopped in ("deadline", "service-gone"):
            stopped = ending.stopped
        return Output(
            stdout=child.stdout.kept(),
            stderr=child.stderr.kept(),
            exit_code=ending.exit_code,
            signal=ending.signal,
            stopped=stopped,
            had_document=self._had_document,
            is_cut=child.stdout.is_cut,
            is_lost=ending.is_lost,
        )

    async def _end_lingering(self, linger_s: float) -> None:
        """Stop a process that stays although its answer stands there."""
        child, loop = self._child, asyncio.get_running_loop()
        since: float | None = None
        while True:
            pause = None if since is None else max(0.0, since + linger_s - loop.time())
            try:
                await asyncio.wait_for(child.changed.wait(), pause)
            except TimeoutError:
                self.stop("linger")
                return
            child.changed.clear()
            await asyncio.sleep(_LOOK_S)
            if not await _has_answer(child.stdout.kept()):
                since = None
            elif since is None:
                since = loop.time()


async def _has_answer(stdout: bytes) -> bool:
    if len(stdout) > _BIG:
        return await in_reader(has_answer, stdout)
    return has_answer(stdout)
