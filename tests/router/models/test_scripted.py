import asyncio

import pytest

from clawmarshal.errors import DecisionUnavailableError
from clawmarshal.router.decision import Answers, validate_fleet
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.scripted import ScriptedModel, scripted_answers
from tests.support.deciding import LOW, SURE, ballot_for

HELLO = InboundMessage("hello")


def ask(model: ScriptedModel) -> Answers:
    return asyncio.run(model.answer(ballot_for(), HELLO, deadline_s=1))


def test_scenes_are_played_in_order_and_the_last_repeats() -> None:
    model = ScriptedModel({"agent": 1}, {"agent": 2}, name="rehearsal")
    assert [ask(model).answers["agent"] for _ in range(3)] == [1, 2, 2]
    assert ask(model).model == model.name == "rehearsal"
    assert len(model.asked) == 4
    assert model.asked[0][1] is HELLO


def test_an_error_in_the_script_is_raised_and_then_the_script_goes_on() -> None:
    model = ScriptedModel(DecisionUnavailableError("away"), {"agent": 2})
    with pytest.raises(DecisionUnavailableError):
        ask(model)
    assert ask(model).answers == {"agent": 2}


def test_whole_answers_pass_through_untouched() -> None:
    whole = Answers({}, model="other", truncated=True, latency_ms=3.0)
    assert ask(ScriptedModel(whole)) is whole


def test_a_function_makes_the_scene_of_ballot_and_message() -> None:
    model = ScriptedModel(lambda ballot, message: {"seen": message.text, "n": len(ballot.agents)})
    assert ask(model).answers == {"seen": "hello", "n": 3}
    failing = ScriptedModel(lambda *_: DecisionUnavailableError("away"))
    with pytest.raises(DecisionUnavailableError):
        ask(failing)


def test_an_empty_script_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        ScriptedModel()


def test_a_few_probabilities_make_answers_that_pass_validation() -> None:
    ballot = ballot_for()
    given = scripted_answers(ballot, agent={"finance": 0.7}, risk=LOW)
    found = validate_fleet(ballot, ask(ScriptedModel(given)), strict=True)
    assert found.agent.probabilities["security"] == pytest.approx(0.1)
    whole = scripted_answers(ballot, agent=SURE, risk={"low": 1.0})
    assert validate_fleet(ballot, ask(ScriptedModel(whole))).risk is not None
