"""A model is foreign code: whatever it does, the message is held and never lost."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from clawmarshal.errors import DecisionError
from clawmarshal.router.asking import Loading, ask
from clawmarshal.router.ballot import Ballot, fleet_ballot
from clawmarshal.router.decision import Answers, Decision
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.scripted import ScriptedModel
from tests.support.rooms import FLEET, SAFE, says

MESSAGE = InboundMessage(SAFE)
BALLOT = fleet_ballot(FLEET, MESSAGE)
Behaviour = Callable[[Answers], Awaitable[Answers]]


class Model:
    """Answers well, after it did what it does."""

    name = "model"

    def __init__(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour

    async def answer(
        self, ballot: Ballot, message: InboundMessage, *, deadline_s: float
    ) -> Answers:
        good = await ScriptedModel(says()).answer(ballot, message, deadline_s=deadline_s)
        return await self._behaviour(good)


def asked(behaviour: Behaviour, *, deadline_s: float = 5.0) -> Decision | DecisionError:
    async def run() -> Decision | DecisionError:
        return await ask(Model(behaviour), BALLOT, MESSAGE, deadline_s=deadline_s)

    return asyncio.run(run())


def raising(error: BaseException) -> Behaviour:
    async def behaviour(_: Answers) -> Answers:
        raise error

    return behaviour


def with_aside(**fields: object) -> Behaviour:
    async def behaviour(good: Answers) -> Answers:
        return replace(good, **fields)  # type: ignore[arg-type]  # what no model should say

    return behaviour


async def blocks_past_its_deadline(good: Answers) -> Answers:
    end = time.monotonic() + 0.2
    while time.monotonic() < end:
        pass
    return good


async def ignores_its_cancellation(good: Answers) -> Answers:
    for _ in range(3):
        try:
            await asyncio.sleep(0.2)
        except asyncio.CancelledError:
            continue
    return good


@pytest.mark.parametrize(
    "error",
    [KeyError("x"), asyncio.CancelledError(), SystemExit(3), GeneratorExit(), MemoryError()],
    ids=lambda error: type(error).__name__,
)
def test_nothing_a_model_raises_comes_through(error: BaseException) -> None:
    answer = asked(raising(error))
    assert isinstance(answer, DecisionError)
    assert answer.code == "model-failed"


@pytest.mark.parametrize("behaviour", [blocks_past_its_deadline, ignores_its_cancellation])
def test_a_late_answer_is_none(behaviour: Behaviour) -> None:
    answer = asked(behaviour, deadline_s=0.1)
    assert isinstance(answer, DecisionError)
    assert answer.code == "deadline"


@pytest.mark.parametrize(
    "fields",
    [
        {"model": "a\ud800"},
        {"model": 7},
        {"notes": ("fine", object())},
        {"notes": (3,)},
        {"usage": {"tokens": float("nan")}},
        {"usage": 3},
        {"request_id": ["a"]},
        {"latency_ms": float("inf")},
        {"notes": ("x" * 70_000,)},
    ],
    ids=str,
)
def test_what_could_not_be_kept_with_the_route_is_refused(fields: dict[str, object]) -> None:
    answer = asked(with_aside(**fields))
    assert isinstance(answer, DecisionError)
    assert answer.code == "aside-invalid"


def test_what_can_be_kept_is_kept() -> None:
    aside = {"usage": {"tokens": 3}, "request_id": "r", "notes": ("n",)}
    answer = asked(with_aside(**aside))
    assert isinstance(answer, Decision)
    assert (answer.usage, answer.request_id, answer.notes) == ({"tokens": 3}, "r", ("n",))


class Loads:
    """Loads as it is told, or for ever."""

    def __init__(self, *errors: BaseException | None) -> None:
        self.errors = list(errors)

    def load(self) -> None:
        error = self.errors.pop(0)
        if error is not None:
            raise error


def test_a_load_that_fails_is_tried_again_and_one_that_went_well_is_not() -> None:
    model = Loads(OSError(), SystemExit(), None)

    async def run() -> list[int]:
        loading, left = Loading([model, object()]), []
        for _ in range(4):
            await loading.done()
            left.append(len(model.errors))
        return left

    assert asyncio.run(run()) == [2, 1, 0, 0]


def test_a_load_that_hangs_is_waited_for_once() -> None:
    async def run() -> tuple[float, float]:
        end = threading.Event()

        class Hangs:
            def load(self) -> None:
                end.wait(30)

        loading, took = Loading([Hangs()], limit_s=0.1), []
        for _ in range(2):
            begin = time.monotonic()
            await loading.done()
            took.append(time.monotonic() - begin)
        end.set()
        return took[0], took[1]

    first, second = asyncio.run(run())
    assert 0.09 <= first < 5
    assert second < 0.09
