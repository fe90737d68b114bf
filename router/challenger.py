"""Challenger: a second model asked about live messages; its answer is recorded and never acts."""

import asyncio
import concurrent.futures
import threading
import time

from clawmarshal.errors import DecisionError, DecisionUnavailableError
from clawmarshal.router.asking import Loading, ask
from clawmarshal.router.ballot import Ballot
from clawmarshal.router.decision import Decision, DecisionModel
from clawmarshal.router.message import InboundMessage

WAIT_S = 0.5
LATE = "challenger-late"


class Challenger:
    """Ask a model beside the acting one, on an event loop of its own.

    Whatever it does, it cannot block the acting model's loop; and once that model has answered,
    it is waited for a moment only.

    Parameters
    ----------
    model
        Who is asked; not the acting model's object.
    wait_s
        Seconds that it may be waited for once the acting model has answered, inside the deadline.
    """

    def __init__(self, model: DecisionModel, *, wait_s: float = WAIT_S) -> None:
        self.model = model
        self._wait_s = wait_s
        self._loading = Loading((model,))
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self, ballot: Ballot, message: InboundMessage, *, deadline_s: float) -> "Challenge":
        """Begin to ask."""
        asked = asyncio.run_coroutine_threadsafe(
            self._asked(ballot, message, deadline_s), self._running()
        )
        return Challenge(asked, time.monotonic() + deadline_s, self._wait_s)

    def close(self) -> None:
        """End its thread; what is still asked is left."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)

    async def _asked(
        self, ballot: Ballot, message: InboundMessage, deadline_s: float
    ) -> Decision | DecisionError:
        await self._loading.done()
        return await ask(self.model, ballot, message, deadline_s=deadline_s)

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(
                    target=_run, args=(self._loop,), name="clawmarshal-challenger", daemon=True
                ).start()
            return self._loop


class Challenge:
    """One question that is under way."""

    def __init__(
        self,
        asked: "concurrent.futures.Future[Decision | DecisionError]",
        deadline: float,
        wait_s: float,
    ) -> None:
        self._asked = asked
        self._deadline = deadline
        self._wait_s = wait_s

    async def answer(self) -> Decision | DecisionError:
        """Return the answer, or the error in its place; call it when the acting model is done."""
        left = min(self._wait_s, max(0.0, self._deadline - time.monotonic()))
        waiting = asyncio.wrap_future(self._asked)
        await asyncio.wait({waiting}, timeout=left)
        if not waiting.done():
            self._asked.cancel()
            return DecisionUnavailableError("the challenger had no answer in time", code=LATE)
        if waiting.cancelled() or (error := waiting.exception()) is not None:
            kind = "cancelled" if waiting.cancelled() else type(error).__name__
            return DecisionUnavailableError(f"the challenger failed ({kind})", code="model-failed")
        return waiting.result()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    for task in asyncio.all_tasks(loop):
        task.cancel()
    # One turn of the loop lets what was cancelled end.
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
