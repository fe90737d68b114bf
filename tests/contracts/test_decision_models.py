"""What every decision model that reads the text must hold to."""

import asyncio
import math
import random
from collections.abc import Callable

import pytest

from clawmarshal.errors import DecisionUnavailableError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ballot import (
    AGENT,
    AGENT_REVERSED,
    NONE_OF_THESE,
    Ballot,
    ChoiceQuestion,
    fleet_ballot,
)
from clawmarshal.router.decision import Answers, Decision, DecisionModel, validate_fleet
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.local import LocalDecisionModel
from tests.support.system_one_server import word_counting
from tests.support.tiny_encoder import TinyEncoder

AGENTS = [
    AgentSpec("finance", "Invoices, bookkeeping, tax deadlines and expense reports."),
    AgentSpec(
        "security",
        "Breach alerts, suspicious access and stolen passwords.",
        examples=("someone logged in from abroad", "reset my stolen password"),
    ),
    AgentSpec("travel", "Flights, hotels and rental cars.", not_for=("Expense reports",)),
    AgentSpec("kitchen", "Recipes, ingredients and cooking times."),
]
TEXTS = [
    "When is the tax deadline for this quarter?",
    "someone stole my password",
    "book a hotel near the airport, then file the expense report",
    "qwxz vbnm",
    "请帮我预订机票",
    "invoice " * 3000,
]
MODELS: dict[str, Callable[[], DecisionModel]] = {
    "local": LocalDecisionModel,
    "local-tiny-encoder": lambda: LocalDecisionModel(encoder=TinyEncoder()),
    "local-lexical": lambda: LocalDecisionModel(use_encoder=False),
    "system-one": lambda: word_counting().model("local", strict=True),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest) -> DecisionModel:
    return MODELS[request.param]()


def ask(model: DecisionModel, roster: Roster, text: str, deadline_s: float = 60) -> Answers:
    message = InboundMessage(text)
    return asyncio.run(model.answer(fleet_ballot(roster, message), message, deadline_s=deadline_s))


def decided(model: DecisionModel, roster: Roster, text: str) -> Decision:
    ballot = fleet_ballot(roster, InboundMessage(text))
    return validate_fleet(ballot, ask(model, roster, text), strict=True)


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[:12])
def test_every_answer_is_valid_in_strict_mode(model: DecisionModel, text: str) -> None:
    decision = decided(model, Roster(AGENTS), text)
    assert set(decision.agent.probabilities) == {a.id for a in AGENTS} | {NONE_OF_THESE}
    assert math.isclose(sum(decision.agent.probabilities.values()), 1, abs_tol=1e-6)
    assert not decision.agent.is_coarse
    assert decision.risk is not None
    assert set(decision.risk.probabilities) == {"low", "medium", "high"}


@pytest.mark.parametrize("text", TEXTS[:3], ids=lambda text: text[:12])
def test_fifty_orders_of_a_roster_give_one_answer(model: DecisionModel, text: str) -> None:
    shuffled, draw = list(AGENTS), random.Random(7)
    expected = ask(model, Roster(AGENTS), text).answers
    for _ in range(50):
        draw.shuffle(shuffled)
        assert ask(model, Roster(shuffled), text).answers == expected


def test_an_answer_does_not_depend_on_the_order_of_the_options(model: DecisionModel) -> None:
    text, draw = TEXTS[0], random.Random(11)
    message = InboundMessage(text)
    ballot = fleet_ballot(Roster(AGENTS), message)
    question = ballot.questions[AGENT]
    assert isinstance(question, ChoiceQuestion)
    options = list(question.criteria.items())
    seen = []
    for _ in range(50):
        draw.shuffle(options)
        asked = Ballot({AGENT: ChoiceQuestion("Which?", dict(options))}, ballot.agents)
        answered = asyncio.run(model.answer(asked, message, deadline_s=60)).answers[AGENT]
        assert isinstance(answered, dict)
        assert list(answered["probabilities"]) == [name for name, _ in options]
        seen.append((answered["choice"], sorted(answered["probabilities"].items())))
    assert seen.count(seen[0]) == 50


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[:12])
def test_the_reversed_ballot_gets_the_same_answer(model: DecisionModel, text: str) -> None:
    answers = ask(model, Roster(AGENTS), text).answers
    assert answers[AGENT] == answers[AGENT_REVERSED]
    assert decided(model, Roster(AGENTS), text).orders_agree


def test_a_question_id_is_never_read(model: DecisionModel) -> None:
    message = InboundMessage(TEXTS[0])
    ballot = fleet_ballot(Roster(AGENTS), message)
    renamed = Ballot({f"q{n}": q for n, q in enumerate(ballot.questions.values())}, ballot.agents)
    plain = asyncio.run(model.answer(ballot, message, deadline_s=60)).answers
    other = asyncio.run(model.answer(renamed, message, deadline_s=60)).answers
    assert list(other.values()) == list(plain.values())


@pytest.mark.parametrize("text", ["🙂🙂🙂", "!!! ... ???", "— • —", "\u200b."], ids=ascii)
def test_a_text_without_words_belongs_to_nobody(model: DecisionModel, text: str) -> None:
    decision = decided(model, Roster(AGENTS), text)
    assert decision.agent.option == NONE_OF_THESE
    assert decision.agent.confidence == 1.0


def test_two_agents_with_one_remit_are_a_tie_and_nobody_wins(model: DecisionModel) -> None:
    twins = [AgentSpec("first", "Gardening advice."), AgentSpec("other", "Gardening advice.")]
    same = [AgentSpec(a.id, "Gardening advice.", examples=("trim the hedge",)) for a in twins]
    for text in ("gardening advice", "trim the hedge"):
        decision = decided(model, Roster(same), text)
        if decision.agent.option != NONE_OF_THESE:
            # The ids are part of the remit, and may tell the two apart by a little.
            assert decision.agent.margin < 0.2


def test_an_empty_ballot_belongs_to_nobody(model: DecisionModel) -> None:
    elsewhere = Roster([AgentSpec("far", "Anything.", tags=("far",))])
    message = InboundMessage("hello there", labels=("tag:near",))
    ballot = fleet_ballot(elsewhere, message)
    answers = asyncio.run(model.answer(ballot, message, deadline_s=60))
    decision = validate_fleet(ballot, answers, strict=True)
    assert dict(decision.agent.probabilities) == {NONE_OF_THESE: 1.0}


def test_a_single_agent_still_stands_against_nobody(model: DecisionModel) -> None:
    decision = decided(model, Roster(AGENTS[:1]), "qwxz vbnm")
    assert set(decision.agent.probabilities) == {"finance", NONE_OF_THESE}


def test_a_deadline_that_is_too_short_is_an_error(model: DecisionModel) -> None:
    with pytest.raises(DecisionUnavailableError) as caught:
        ask(model, Roster(AGENTS), "when is the deadline " * 5000, deadline_s=1e-4)
    assert caught.value.retryable


def test_a_missed_deadline_does_not_spoil_the_next_answer(model: DecisionModel) -> None:
    expected = ask(model, Roster(AGENTS), TEXTS[0]).answers
    with pytest.raises(DecisionUnavailableError):
        ask(model, Roster(AGENTS), TEXTS[1] * 50, deadline_s=1e-6)
    assert ask(model, Roster(AGENTS), TEXTS[0]).answers == expected


def test_the_same_question_gets_the_same_answer_twice(model: DecisionModel) -> None:
    first, second = (ask(model, Roster(AGENTS), TEXTS[2]) for _ in range(2))
    assert first.answers == second.answers
    assert first.model == second.model == model.name
