"""Challenger: a second model asked about live messages; its answer is recorded and never acts."""

import asyncio
import concurrent.futures
import logging
import threading

from clawmarshal.errors import DecisionError, DecisionUnavailableError
from clawmarshal.router.asking import Loading, ask
from clawmarshal.router.ballot import Ballot
from clawmarshal.router.decision import Decision, DecisionModel
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.closing import CLOSE_S, close_model

LOG = logging.getLogger("clawmarshal")
DEADLINE_S = 10.0
MAX_OPEN = 32
GRACE_S = 1.0
"""Beyond the deadline, after which a model that blocks its event loop counts as late."""
LATE = "challenger-late"
BUSY = "challenger-busy"
STOPPED = "challenger-stopped"


class Challenger:
    """Ask a model beside the acting one, on an event loop of its own.

    Nobody waits for it: whatever it does, it cannot block the acting model's loop.

    Parameters
    ----------
    model
        Who is asked; not the acting model's object. It is closed with the challenger.
    deadline_s
        Seconds for one answer.
    max_open
        Questions that may be open at once; one more is not asked.
    """

    def __init__(
        self, model: DecisionModel, *, deadline_s: float = DEADLINE_S, max_open: int = MAX_OPEN
    ) -> None:
        self.model = model
        self._deadline_s = deadline_s
        self._max_open = max_open
        self._loading = Loading((model,))
        self._lock = threading.Lock()
        self._open = 0
        self._running: tuple[asyncio.AbstractEventLoop, threading.Thread] | None = None

    async def answer(self, ballot: Ballot, message: InboundMessage) -> Decision | DecisionError:
        """Ask, and return the answer, or the error in its place; raises nothing."""
        asked = self._start(ballot, message)
        if asked is None:
            return DecisionUnavailableError("too many questions are open", code=BUSY)
        waiting = asyncio.wrap_future(asked)
        await asyncio.wait({waiting}, timeout=self._deadline_s + GRACE_S)
        if not waiting.done():
            # Not cancelled: its place is free when it has ended, so that what a model that
            # blocks leaves behind has a bound.
            return DecisionUnavailableError("the challenger had no answer in time", code=LATE)
        if waiting.cancelled():
            return DecisionUnavailableError("the challenger was stopped", code=STOPPED)
        return waiting.result()

    async def close(self) -> None:
        """End what is asked, close the model and end the thread; one that blocks is left."""
        with self._lock:
            running, self._running = self._running, None
        if running is None:
            await close_model(self.model)
            return
        loop, thread = running
        loop.call_soon_threadsafe(loop.stop)
        await asyncio.to_thread(thread.join, CLOSE_S)
        if thread.is_alive():
            LOG.warning("the challenger does not end and is left")

    def _start(
        self, ballot: Ballot, message: InboundMessage
    ) -> "concurrent.futures.Future[Decision | DecisionError] | None":
        with self._lock:
            if self._open >= self._max_open:
                return None
            self._open += 1
            asked = asyncio.run_coroutine_threadsafe(self._asked(ballot, message), self._loop())
        asked.add_done_callback(self._ended)
        return asked

    def _ended(self, _: object) -> None:
        with self._lock:
            self._open -= 1

    async def _asked(self, ballot: Ballot, message: InboundMessage) -> Decision | DecisionError:
        await self._loading.done()
        return await ask(self.model, ballot, message, deadline_s=self._deadline_s)

    def _loop(self) -> asyncio.AbstractEventLoop:
        """Return its event loop, started at the first question."""
        if self._running is None:
            loop = asyncio.new_event_loop()
            thread = threading.Thread(
                target=_run, args=(loop, self.model), name="clawmarshal-challenger", daemon=True
            )
            thread.start()
            self._running = (loop, thread)
        return self._running[0]


def _run(loop: asyncio.AbstractEventLoop, model: DecisionModel) -> None:
    loop.run_forever()
    try:
        loop.run_until_complete(_end(model))
    finally:
        loop.close()


async def _end(model: DecisionModel) -> None:
    asked = asyncio.all_tasks() - {asyncio.current_task()}
    for task in asked:
        task.cancel()
    if asked:
        await asyncio.wait(asked, timeout=GRACE_S)
    await close_model(model)
