"""A challenger is recorded, never acts, and never holds the acting model up."""

import asyncio
import json
import time
from collections.abc import Iterator

import pytest

from clawmarshal.errors import DecisionError, DecisionUnavailableError
from clawmarshal.router.challenger import LATE, Challenger
from clawmarshal.router.decider import Decider
from clawmarshal.router.decision import Decision, DecisionModel
from clawmarshal.router.explanation import Evidence, decision_then, explanation
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.scripted import ScriptedModel, scripted_answers
from clawmarshal.router.policy import Circumstances
from clawmarshal.router.route import Route
from tests.support.challengers import Blocking, Sleeping, second
from tests.support.deciding import FLEET

MESSAGE = InboundMessage("Which invoices are due?")


def acting() -> ScriptedModel:
    return ScriptedModel(
        lambda ballot, _: scripted_answers(ballot, agent={"finance": 0.9}, risk={"low": 0.96})
    )


@pytest.fixture
def blocking() -> Iterator[Blocking]:
    model = Blocking()
    yield model
    model.free.set()


def decided(model: DecisionModel, *, wait_s: float = 20.0) -> tuple[Route, Evidence]:
    challenger = Challenger(model, wait_s=wait_s)
    decider = Decider(acting(), FLEET, deadline_s=30.0, challenger=challenger)
    try:
        return asyncio.run(decider.decide(MESSAGE, circumstances=Circumstances()))
    finally:
        challenger.close()


def test_its_answer_is_kept_beside_the_acting_one() -> None:
    route, evidence = decided(second())
    assert route.agent == "finance"
    assert isinstance(evidence.challenger, Decision)
    assert evidence.challenger.agent.option == "security"


def test_it_survives_the_way_into_the_ledger() -> None:
    _, evidence = decided(second())
    kept = json.loads(json.dumps(explanation(evidence, policy=Decider(acting(), FLEET).policy)))
    read = decision_then(kept["challenger"])
    assert isinstance(read, Decision)
    assert read.agent.option == "security"


def test_without_one_nothing_is_kept() -> None:
    decider = Decider(acting(), FLEET)
    _, evidence = asyncio.run(decider.decide(MESSAGE, circumstances=Circumstances()))
    assert evidence.challenger is None
    assert "challenger" not in explanation(evidence, policy=decider.policy)


def test_its_failure_is_recorded_and_the_route_stands() -> None:
    route, evidence = decided(ScriptedModel(DecisionUnavailableError("away", code="away")))
    assert route.agent == "finance"
    assert isinstance(evidence.challenger, DecisionError)
    assert evidence.challenger.code == "away"


def test_one_that_blocks_its_thread_holds_nobody_up(blocking: Blocking) -> None:
    begin = time.monotonic()
    route, evidence = decided(blocking, wait_s=0.05)
    assert time.monotonic() - begin < 10
    assert route.routable
    assert isinstance(evidence.challenger, DecisionError)
    assert evidence.challenger.code == LATE


def test_one_that_is_late_is_told_to_stop() -> None:
    model = Sleeping()
    _, evidence = decided(model, wait_s=0.2)
    assert isinstance(evidence.challenger, DecisionError)
    assert evidence.challenger.code == LATE
    assert model.ended.wait(10)


def test_the_seal_and_the_gates_do_not_know_it() -> None:
    with_it, _ = decided(second())
    without, _ = asyncio.run(
        Decider(acting(), FLEET).decide(MESSAGE, circumstances=Circumstances())
    )
    assert (with_it.gates, with_it.candidates, with_it.notes) == (
        without.gates,
        without.candidates,
        without.notes,
    )


def test_closing_twice_is_fine_and_it_can_be_asked_again() -> None:
    challenger = Challenger(second(), wait_s=20)
    decider = Decider(acting(), FLEET, deadline_s=30.0, challenger=challenger)
    for _ in range(2):
        _, evidence = asyncio.run(decider.decide(MESSAGE, circumstances=Circumstances()))
        assert isinstance(evidence.challenger, Decision)
        challenger.close()
        challenger.close()
