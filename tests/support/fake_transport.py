"""A transport that runs nothing and answers as told."""

import asyncio
from collections.abc import Callable, Mapping

from clawmarshal.roster.agent import AgentSpec
from clawmarshal.transport.outcome import Turn, TurnResult, TurnState, TurnWatcher

Answer = Callable[[Turn], TurnResult]


def done(text: str = "fine") -> Answer:
    """Answer every turn with a reply."""
    return lambda turn: TurnResult(
        TurnState.DONE, "ok", reply_text=text, raw_text=text, run_id=f"run-{turn.attempt_id}"
    )


def ending(state: TurnState, code: str) -> Answer:
    """Answer every turn with one end."""
    return lambda turn: TurnResult(state, code)


class FakeTransport:
    """Record the turns it is given; answer at once, or when `release` is called.

    Parameters
    ----------
    answer
        What each turn comes to; may raise, as a transport must not.
    is_holding
        Turns wait for `release` after they have started.
    starts
        False: the child is never confirmed to have started.
    before_start
        Called when the child is about to be confirmed.
    stopped
        What a turn comes to when its await is cancelled; None: it raises, as most do.
    """

    def __init__(
        self,
        answer: Answer | None = None,
        *,
        is_holding: bool = False,
        starts: bool = True,
        before_start: Callable[[], None] | None = None,
        stopped: TurnResult | None = None,
    ) -> None:
        self.answer = answer or done()
        self.turns: list[Turn] = []
        self.stopped_turns: list[Turn] = []
        self.templates: dict[str, Mapping[str, object]] = {}
        self.is_closed = False
        self._starts = starts
        self._before_start = before_start
        self._stopped = stopped
        self._loop: asyncio.AbstractEventLoop | None = None
        self._gate = asyncio.Event()
        self._arrived = asyncio.Event()
        if not is_holding:
            self._gate.set()

    @property
    def label(self) -> str:
        """Say that it is none."""
        return "fake"

    async def launch(self, turn: Turn, watcher: TurnWatcher | None = None) -> TurnResult:
        """Record the turn and answer it."""
        self._loop = asyncio.get_running_loop()
        self.turns.append(turn)
        try:
            if self._before_start is not None:
                self._before_start()
            if watcher is not None and self._starts:
                await watcher.started(4000 + len(self.turns))
            self._arrived.set()
            await self._gate.wait()
        except asyncio.CancelledError:
            self.stopped_turns.append(turn)
            await asyncio.sleep(0.02)  # stopping a real child takes its time
            if self._stopped is None:
                raise
            return self._stopped
        return self.answer(turn)

    def template(self, agent: AgentSpec) -> Mapping[str, object]:
        """Describe nothing that runs."""
        return self.templates.get(agent.id, {"argv": ["agent", f"--agent={agent.id}"]})

    async def close(self) -> None:
        """Note that it was closed."""
        self.is_closed = True

    def release(self) -> None:
        """Let held turns, and all later ones, answer; from any thread."""
        if self._loop is None or self._loop.is_closed():
            self._gate.set()
        else:
            self._loop.call_soon_threadsafe(self._gate.set)

    async def arrived(self) -> None:
        """Wait until a turn is under way."""
        async with asyncio.timeout(10):
            await self._arrived.wait()
        self._arrived.clear()
