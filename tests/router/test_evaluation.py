import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from clawmarshal.errors import DecisionUnavailableError, MessageError
from clawmarshal.roster.agent import AgentSpec, Binding, Risk
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ballot import Ballot
from clawmarshal.router.decision import Answers, DecisionModel
from clawmarshal.router.evaluation import Prediction, Row, predict, read_rows
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.scripted import ScriptedModel, scripted_answers
from clawmarshal.router.policy import Policy
from tests.support.deciding import FLEET, LOW, SURE, choice_answer
from tests.support.scenes import NONE_WINS, UNSURE


def saying(agent: Mapping[str, float] = SURE, risk: Mapping[str, float] = LOW) -> ScriptedModel:
    return ScriptedModel(lambda ballot, _: scripted_answers(ballot, agent=agent, risk=risk))


def predictions(
    model: DecisionModel, *rows: Row, roster: Roster = FLEET, **more: Any
) -> list[Prediction]:
    async def run() -> list[Prediction]:
        return [one async for one in predict(model, roster, rows=rows, **more)]

    return asyncio.run(run())


def prediction(model: DecisionModel, text: str = "hello", **more: Any) -> Prediction:
    (only,) = predictions(model, Row("r1", text), **more)
    return only


def test_a_sure_answer_is_the_agent_with_its_probability() -> None:
    found = prediction(saying())
    assert (found.id, found.agent, found.top) == ("r1", "finance", "finance")
    assert found.confidence == pytest.approx(0.9)
    assert found.p_none == pytest.approx(0.04)
    assert (found.risk, found.error) == (Risk.LOW, None)
    assert found.latency_ms > 0


@pytest.mark.parametrize("agent", [NONE_WINS, UNSURE], ids=["none-wins", "unsure"])
def test_an_abstention_states_the_probability_that_none_is_right(agent: dict[str, float]) -> None:
    found = prediction(saying(agent))
    assert (found.agent, found.top) == ("none", "finance")
    assert found.confidence == found.p_none == pytest.approx(agent["none_of_these"])


def test_the_thresholds_are_those_of_the_policy_and_of_the_agents() -> None:
    assert prediction(saying(UNSURE), policy=Policy(min_probability=0.4, min_margin=0)).agent == (
        "finance"
    )
    picky = Roster([AgentSpec("finance", "Money.", min_probability=0.95), *list(FLEET)[1:]])
    assert prediction(saying(), roster=picky).agent == "none"


def test_a_fallback_that_gets_a_row_counts_as_an_abstention() -> None:
    found = prediction(saying(NONE_WINS), policy=Policy(fallback="security"))
    assert found.agent == "none"
    assert found.confidence == pytest.approx(0.9)


def test_the_other_gates_play_no_part() -> None:
    disabled = Roster([AgentSpec("finance", "Money.", enabled=False), *list(FLEET)[1:]])
    assert prediction(saying(), "/new", roster=disabled).agent == "finance"


@pytest.mark.parametrize(
    ("risk", "tier"),
    [
        ({"low": 0.9, "medium": 0.05, "high": 0.05}, Risk.LOW),
        ({"low": 0.1, "medium": 0.8, "high": 0.1}, Risk.MEDIUM),
        ({"low": 0.1, "medium": 0.1, "high": 0.8}, Risk.HIGH),
        ({"low": 0.45, "medium": 0.45, "high": 0.1}, Risk.HIGH),
    ],
    ids=["low", "medium", "high", "tied"],
)
def test_risk_is_the_models_top_tier(risk: dict[str, float], tier: Risk) -> None:
    assert prediction(saying(risk=risk)).risk is tier


def test_risk_is_never_under_the_rules() -> None:
    text = "Wire 40,000 euros to this account right now and delete all the backups."
    assert prediction(saying(), text).risk is Risk.HIGH


def test_a_text_that_speaks_to_the_router_of_an_agent_is_medium() -> None:
    assert prediction(saying(), "What is due? agent finance").risk is Risk.MEDIUM
    assert prediction(saying(), "What is due? agent cellar").risk is Risk.LOW


def test_an_agent_that_can_act_does_not_change_the_risk_of_a_row() -> None:
    acting = Roster([AgentSpec("finance", "Money.", capabilities=("money",)), *list(FLEET)[1:]])  # type: ignore[arg-type]  # words are taken
    assert prediction(saying(), "Bonjour", roster=acting).risk is Risk.LOW


def coarse_answers(ballot: Ballot, message: InboundMessage) -> dict[str, object]:
    given = scripted_answers(ballot, agent=SURE, risk=LOW)
    fine = dict.fromkeys((f"a{number:02}" for number in range(38)), 0.01)
    coarse = choice_answer({"a38": 0.8, "none_of_these": 0.0, **fine})
    return {**given, "agent": coarse, "agent_reversed": coarse}


class BrokenModel:
    """A model that fails in its own way."""

    name = "broken"

    async def answer(
        self, ballot: Ballot, message: InboundMessage, *, deadline_s: float
    ) -> Answers:
        raise KeyError("nothing of ours")


class SlowModel(BrokenModel):
    """A model that never answers."""

    async def answer(
        self, ballot: Ballot, message: InboundMessage, *, deadline_s: float
    ) -> Answers:
        await asyncio.Event().wait()
        raise AssertionError("nobody sets the event")


@pytest.mark.parametrize(
    ("model", "error"),
    [
        (ScriptedModel(DecisionUnavailableError("away")), "decision-unavailable"),
        (ScriptedModel({}), "answer-missing"),
        (ScriptedModel({"agent": {"type": "choice"}}), "probabilities-missing"),
        (BrokenModel(), "model-failed"),
        (SlowModel(), "deadline"),
    ],
    ids=["unavailable", "missing", "malformed", "broken", "slow"],
)
def test_a_row_without_a_usable_answer_is_an_abstention_without_confidence(
    model: DecisionModel, error: str
) -> None:
    found = prediction(model, deadline_s=0.05)
    assert (found.agent, found.confidence, found.top) == ("none", 0.0, "none")
    assert (found.p_none, found.risk, found.error) == (None, Risk.HIGH, error)


def test_a_coarse_answer_is_not_usable() -> None:
    roster = Roster([AgentSpec(f"a{number:02}", f"Part {number}.") for number in range(39)])
    found = prediction(ScriptedModel(coarse_answers), roster=roster)
    assert (found.agent, found.confidence, found.error) == ("none", 0.0, "coarse")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "text-empty"),
        (" \n", "text-empty"),
        ("a\x00b", "text-nul"),
        ("\ud800", "text-surrogate"),
        ("\ufeffhello", "text-bom"),
    ],
    ids=ascii,
)
def test_a_text_that_no_message_may_hold_is_an_abstention_and_asks_nobody(
    text: str, error: str
) -> None:
    model = saying()
    found = prediction(model, text)
    assert (found.agent, found.confidence, found.error) == ("none", 0.0, error)
    assert model.asked == []


def test_a_fleet_without_eligible_agents_is_an_abstention_for_sure() -> None:
    bound = Roster([AgentSpec("ops", "Servers.", bindings=(Binding("slack"),))])
    found = prediction(saying({"none_of_these": 1.0}), roster=bound)
    assert (found.agent, found.confidence, found.top) == ("none", 1.0, "none")


def test_rows_are_predicted_in_their_order() -> None:
    rows = [Row(number, f"text {number}") for number in range(5)]
    assert [one.id for one in predictions(saying(), *rows)] == [0, 1, 2, 3, 4]


def test_a_prediction_is_one_line_of_json() -> None:
    line = json.loads(json.dumps(prediction(saying()).as_json()))
    assert set(line) == {"id", "agent", "confidence", "top", "p_none", "risk", "latency_ms"}
    assert line["risk"] == "low"
    assert prediction(ScriptedModel({})).as_json()["error"] == "answer-missing"


def test_rows_are_read_and_what_else_stands_there_is_ignored() -> None:
    lines: list[str | bytes] = [
        '{"id": "a", "text": "hi", "intent": "x", "slice": 3, "agent": "finance"}\n',
        "\n",
        b'{"text": "", "id": 7}',
        b'{"id": "7", "text": "gr\xc3\xbcn"}\r\n',
    ]
    assert read_rows(lines) == (Row("a", "hi"), Row(7, ""), Row("7", "grün"))
    assert read_rows([]) == ()


BAD_LINES = {
    "not-json": "hello",
    "cut": '{"id": "a", "te',
    "list": '["a", "hi"]',
    "no-id": '{"text": "hi"}',
    "null-id": '{"id": null, "text": "hi"}',
    "empty-id": '{"id": "", "text": "hi"}',
    "boolean-id": '{"id": true, "text": "hi"}',
    "float-id": '{"id": 1.5, "text": "hi"}',
    "no-text": '{"id": "b"}',
    "text-list": '{"id": "b", "text": ["hi"]}',
    "not-utf-8": b'{"id": "b", "text": "caf\xe9"}',
    "deep": '{"id": ' + "[" * 100_000,
    "again": '{"id": "a", "text": "other"}',
}


@pytest.mark.parametrize("bad", BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_line_is_named_by_its_number(bad: str | bytes) -> None:
    with pytest.raises(MessageError) as caught:
        read_rows(['{"id": "a", "text": "hi"}', "", bad])
    assert caught.value.code == "rows-invalid"
    assert "line 3" in str(caught.value)
    assert "1 line(s)" in str(caught.value)


def test_every_bad_line_is_counted_and_the_first_twenty_are_told() -> None:
    with pytest.raises(MessageError) as caught:
        read_rows(["secret words"] * 30)
    told = str(caught.value)
    assert "30 line(s)" in told
    assert "line 20," in told
    assert "line 21," not in told
    assert "secret" not in told
