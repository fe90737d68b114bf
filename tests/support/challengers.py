"""Models that stand beside an acting one, well behaved and otherwise."""

import asyncio
import threading
import time

from clawmarshal.router.ballot import Ballot
from clawmarshal.router.decision import Answers
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.scripted import ScriptedModel, scripted_answers


def other(ballot: Ballot, message: InboundMessage) -> dict[str, object]:
    """Answer with another agent than the acting model of the service tests."""
    agent = next(one.id for one in ballot.agents if one.id in ("security", "personal"))
    return scripted_answers(ballot, agent={agent: 0.9}, risk={"low": 0.96})


def second() -> ScriptedModel:
    """Make a model that disagrees."""
    return ScriptedModel(other, name="second")


class Blocking:
    """A model that blocks whatever thread it is asked on, until it is let go."""

    name = "blocking"

    def __init__(self) -> None:
        self.free = threading.Event()

    async def answer(
        self, ballot: Ballot, message: InboundMessage, *, deadline_s: float
    ) -> Answers:
        self.free.wait(30)
        raise RuntimeError("let go")


class Sleeping:
    """A model that answers nobody, and notes that it was asked, cancelled and closed."""

    name = "sleeping"

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.ended = threading.Event()
        self.closed = threading.Event()

    async def answer(
        self, ballot: Ballot, message: InboundMessage, *, deadline_s: float
    ) -> Answers:
        self.begun.set()
        try:
            await asyncio.sleep(3600)
        finally:
            self.ended.set()
        raise AssertionError(f"woke at {time.monotonic()}")

    async def aclose(self) -> None:
        """Note it."""
        self.closed.set()
