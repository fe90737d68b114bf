from typing import Any

import pytest

from clawmarshal.errors import DecisionInvalidError
from clawmarshal.router.ballot import (
    AGENT,
    AGENT_REVERSED,
    RISK,
    Ballot,
    NoulQuestion,
    ScoreQuestion,
)
from clawmarshal.router.decision import (
    Answers,
    validate_fleet,
)
from clawmarshal.router.models.scripted import scripted_answers
from tests.support.deciding import (
    LOW,
    SURE,
    answers,
    ballot_for,
    choice_answer,
    choice_question,
    decision,
    example,
)

THREE = choice_question("finance", "personal", "security")
GOOD = {"finance": 0.9, "personal": 0.07, "security": 0.03}
FORTY = choice_question("target", *(f"agent-{number:02}" for number in range(39)))
SCALE = ScoreQuestion("How bad?", ("Cosmetic", "Degraded", "Blocking"))


def fleet_answers(**changes: object) -> dict[str, object]:
    given = scripted_answers(ballot_for(), agent=SURE, risk=LOW)
    return {**given, **changes}


def fleet_refusal(ballot: Ballot, given: object) -> str:
    with pytest.raises(DecisionInvalidError) as caught:
        validate_fleet(ballot, answers(given) if isinstance(given, dict) else given)  # type: ignore[arg-type]  # foreign models return anything
    return caught.value.code


def test_a_fleet_decision_carries_what_the_model_said_of_itself() -> None:
    given = Answers(
        fleet_answers(surprise={"type": "box"}, more=None),
        model="jev-1.13.0",
        truncated=False,
        latency_ms=12.5,
        usage={"input_tokens": 5},
        request_id="req_1",
        notes=("lexical-only",),
    )
    found = validate_fleet(ballot_for(), given)
    assert found.agent.option == "finance"
    assert found.risk is not None
    assert (found.risk.option, found.risk_fault) == ("low", None)
    assert found.orders_agree is True
    assert found.extra_answers == 2
    assert (found.model, found.latency_ms, found.request_id) == ("jev-1.13.0", 12.5, "req_1")
    assert found.usage == {"input_tokens": 5}
    assert found.notes == ("lexical-only",)
    assert found.truncated is False


@pytest.mark.parametrize("said", [True, None, 0, "no"], ids=repr)
def test_anything_but_a_plain_no_counts_as_truncated(said: Any) -> None:
    given = Answers(fleet_answers(), model="m", truncated=said, latency_ms=0.0)
    assert validate_fleet(ballot_for(), given).truncated is True


@pytest.mark.parametrize("name", [AGENT, AGENT_REVERSED])
def test_a_missing_answer_about_the_agent_is_an_error(name: str) -> None:
    given = fleet_answers()
    del given[name]
    assert fleet_refusal(ballot_for(), given) == "answer-missing"


@pytest.mark.parametrize("name", [AGENT, AGENT_REVERSED])
def test_a_refused_answer_about_the_agent_is_an_error(name: str) -> None:
    given = fleet_answers(**{name: {"type": "unsupported", "reason": "other readout"}})
    assert fleet_refusal(ballot_for(), given) == "answer-type"


@pytest.mark.parametrize(
    "given",
    [None, "finance", Answers([], model="m", truncated=False, latency_ms=0.0)],  # type: ignore[arg-type]  # foreign models return anything
    ids=["none", "text", "list"],
)
def test_no_answers_object_is_an_error(given: object) -> None:
    assert fleet_refusal(ballot_for(), given) == "answers-malformed"


def test_a_ballot_that_asks_for_no_agent_makes_no_decision() -> None:
    assert fleet_refusal(Ballot({}), fleet_answers()) == "ballot-invalid"
    assert fleet_refusal(Ballot({AGENT: NoulQuestion("So?")}), fleet_answers()) == "ballot-invalid"


def risk_answer(low: float, medium: float, high: float) -> dict[str, object]:
    return choice_answer({"low": low, "medium": medium, "high": high})


@pytest.mark.parametrize(
    ("risk", "fault"),
    [
        (risk_answer(0.45, 0.45, 0.10), "tied"),
        ({"type": "unsupported"}, "answer-type"),
        (risk_answer(0.9, 0.9, 0.9), "mass-off"),
        (None, "answer-malformed"),
        (choice_answer({"low": 1.0}), "options-differ"),
    ],
    ids=["tied", "unsupported", "too-much-mass", "null", "one-tier"],
)
def test_an_unusable_risk_answer_leaves_the_agent_usable(risk: object, fault: str) -> None:
    found = validate_fleet(ballot_for(), answers(fleet_answers(risk=risk)))
    assert (found.risk, found.risk_fault) == (None, fault)
    assert found.agent.option == "finance"


def test_a_missing_risk_answer_is_a_fault_and_never_low() -> None:
    given = fleet_answers()
    del given[RISK]
    found = validate_fleet(ballot_for(), answers(given))
    assert (found.risk, found.risk_fault) == (None, "answer-missing")


def test_a_coarse_risk_answer_is_a_fault() -> None:
    tiers = {f"tier{number:02}": 0.01 for number in range(38)}
    question = choice_question("low", "medium", *tiers)
    ballot = ballot_for()
    wide = Ballot({**ballot.questions, RISK: question}, ballot.agents)
    coarse = choice_answer({"low": 0.78, "medium": 0.01, **tiers})
    found = validate_fleet(wide, answers(fleet_answers(risk=coarse)))
    assert (found.risk, found.risk_fault) == (None, "coarse")


def both_orders(forward: dict[str, float], backward: dict[str, float]) -> Answers:
    return answers(
        fleet_answers(agent=choice_answer(forward), agent_reversed=choice_answer(backward))
    )


def shares(finance: float, personal: float, security: float, none: float) -> dict[str, float]:
    return {
        "finance": finance,
        "personal": personal,
        "security": security,
        "none_of_these": none,
    }


def test_forward_and_reversed_answers_are_averaged() -> None:
    given = both_orders(shares(0.8, 0.1, 0.05, 0.05), shares(0.6, 0.3, 0.05, 0.05))
    found = validate_fleet(ballot_for(), given)
    assert found.orders_agree is True
    assert found.agent.confidence == pytest.approx(0.7)
    assert found.agent.probabilities["personal"] == pytest.approx(0.2)
    assert found.agent.margin == pytest.approx(0.5)
    assert found.agent.stated_confidence is None


def test_orders_that_name_different_options_disagree() -> None:
    given = both_orders(shares(0.6, 0.3, 0.05, 0.05), shares(0.3, 0.55, 0.1, 0.05))
    found = validate_fleet(ballot_for(), given)
    assert found.orders_agree is False
    assert found.agent.option == "finance"


def test_orders_disagree_where_only_the_named_options_differ() -> None:
    even = shares(0.452, 0.448, 0.05, 0.05)
    given = answers(
        fleet_answers(
            agent=choice_answer(even, choice="finance"),
            agent_reversed=choice_answer(even, choice="personal"),
        )
    )
    assert validate_fleet(ballot_for(), given).orders_agree is False


def test_an_average_can_be_tied_although_neither_order_is() -> None:
    given = both_orders(shares(0.6, 0.3, 0.05, 0.05), shares(0.3, 0.6, 0.05, 0.05))
    assert validate_fleet(ballot_for(), given).agent.is_tied is True


def test_the_smaller_of_stated_and_renormalised_survives_averaging() -> None:
    given = both_orders(shares(0.76, 0.1, 0.05, 0.06), shares(0.76, 0.1, 0.05, 0.06))
    assert validate_fleet(ballot_for(), given).agent.confidence == pytest.approx(0.76)


@pytest.mark.parametrize("name", [AGENT, AGENT_REVERSED])
def test_one_coarse_order_makes_the_agent_answer_coarse(name: str) -> None:
    ballot = Ballot({AGENT: FORTY, AGENT_REVERSED: FORTY, RISK: choice_question("low", "high")})
    rest = list(FORTY.criteria)[1:]
    fine = choice_answer({"target": 0.61, **dict.fromkeys(rest, 0.01)})
    coarse = choice_answer({"target": 0.79, **dict.fromkeys(rest, 0.01)})
    given = {AGENT: fine, AGENT_REVERSED: fine, name: coarse}
    assert validate_fleet(ballot, answers({**given, name: fine})).agent.is_coarse is False
    assert validate_fleet(ballot, answers(given)).agent.is_coarse is True


def test_a_partly_unsupported_answer_is_partly_usable() -> None:
    file: Any = example("21")
    ballot = Ballot({AGENT: THREE, RISK: choice_question("low", "medium", "high")})
    found = validate_fleet(ballot, answers(file["body"]["answers"]))
    assert (found.agent.option, found.risk, found.risk_fault) == ("finance", None, "answer-type")


def test_an_unexpected_box_answer_is_ignored_and_counted() -> None:
    file: Any = example("22")
    found = validate_fleet(ballot_for(), answers(fleet_answers(**file["body"]["answers"])))
    assert found.extra_answers == 1


def test_strict_mode_reaches_every_answer_of_a_fleet() -> None:
    given = fleet_answers(
        risk={k: v for k, v in risk_answer(0.9, 0.1, 0).items() if k != "confidence"}
    )
    assert validate_fleet(ballot_for(), answers(given)).risk_fault is None
    found = validate_fleet(ballot_for(), answers(given), strict=True)
    assert found.risk_fault == "confidence-missing"


def test_a_decision_does_not_depend_on_the_order_of_the_answers() -> None:
    given = dict(reversed(fleet_answers().items()))
    assert validate_fleet(ballot_for(), answers(given)) == decision()
