"""A challenger is asked on a loop of its own: what it does there, and how it ends."""

import asyncio
import time
from collections.abc import Iterator

import pytest

from clawmarshal.errors import DecisionError, DecisionUnavailableError
from clawmarshal.router.ballot import fleet_ballot
from clawmarshal.router.challenger import BUSY, LATE, STOPPED, Challenger
from clawmarshal.router.decision import Decision, DecisionModel
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.scripted import ScriptedModel
from tests.support.challengers import Blocking, Sleeping, second
from tests.support.deciding import FLEET
from tests.support.turns import wait_until

MESSAGE = InboundMessage("Which invoices are due?")
BALLOT = fleet_ballot(FLEET, MESSAGE)


@pytest.fixture
def blocking() -> Iterator[Blocking]:
    model = Blocking()
    yield model
    model.free.set()


def said(model: DecisionModel, *, deadline_s: float = 20.0) -> Decision | DecisionError:
    async def asked() -> Decision | DecisionError:
        challenger = Challenger(model, deadline_s=deadline_s)
        try:
            return await challenger.answer(BALLOT, MESSAGE)
        finally:
            await challenger.close()

    return asyncio.run(asked())


def code_of(answer: Decision | DecisionError) -> str:
    assert isinstance(answer, DecisionError)
    return answer.code


def test_its_answer_is_validated_and_returned() -> None:
    answer = said(second())
    assert isinstance(answer, Decision)
    assert (answer.model, answer.agent.option) == ("second", "personal")


def test_its_failure_is_a_value() -> None:
    away = ScriptedModel(DecisionUnavailableError("away", code="away"))
    assert code_of(said(away)) == "away"


def test_one_that_does_not_answer_is_cancelled_at_its_deadline() -> None:
    model = Sleeping()
    assert code_of(said(model, deadline_s=0.1)) == "deadline"
    assert model.ended.is_set()


def test_it_is_closed_on_the_loop_it_was_asked_on_and_also_unasked() -> None:
    for asks in (True, False):
        model = Sleeping()

        async def scene(model: Sleeping, asks: bool) -> None:
            challenger = Challenger(model, deadline_s=0.05)
            if asks:
                await challenger.answer(BALLOT, MESSAGE)
            await challenger.close()

        asyncio.run(scene(model, asks))
        assert model.closed.is_set(), asks


def test_what_is_asked_when_it_is_closed_says_so() -> None:
    model = Sleeping()

    async def scene() -> Decision | DecisionError:
        challenger = Challenger(model)
        asked = asyncio.create_task(challenger.answer(BALLOT, MESSAGE))
        while not model.begun.is_set():
            await asyncio.sleep(0.01)
        await challenger.close()
        return await asked

    assert code_of(asyncio.run(scene())) == STOPPED
    assert model.ended.is_set()


def test_one_that_blocks_its_thread_is_late_and_leaves_a_bounded_heap(blocking: Blocking) -> None:
    async def scene() -> list[str]:
        challenger = Challenger(blocking, deadline_s=0.05, max_open=2)
        codes = [code_of(await challenger.answer(BALLOT, MESSAGE)) for _ in range(2)]
        begin = time.monotonic()
        codes += [code_of(await challenger.answer(BALLOT, MESSAGE)) for _ in range(3)]
        assert time.monotonic() - begin < 0.5
        blocking.free.set()
        while challenger._open:
            await asyncio.sleep(0.01)
        codes.append(code_of(await challenger.answer(BALLOT, MESSAGE)))
        await challenger.close()
        return codes

    assert asyncio.run(scene()) == [LATE, LATE, BUSY, BUSY, BUSY, "model-failed"]


def test_closing_twice_is_fine_and_it_can_be_asked_again() -> None:
    async def scene() -> None:
        challenger = Challenger(second())
        for _ in range(2):
            assert isinstance(await challenger.answer(BALLOT, MESSAGE), Decision)
            await challenger.close()
            await challenger.close()

    asyncio.run(scene())


def test_it_leaves_no_thread() -> None:
    import threading

    said(second())
    assert wait_until(
        lambda: not any(one.name == "clawmarshal-challenger" for one in threading.enumerate())
    )
