import itertools

import pytest

from clawmarshal.roster.agent import AgentSpec, Binding
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ballot import (
    AGENT,
    AGENT_REVERSED,
    NONE_OF_THESE,
    RISK,
    ChoiceQuestion,
    fleet_ballot,
    narrowed,
    reversed_question,
)
from clawmarshal.router.message import InboundMessage
from tests.support.deciding import FINANCE, FLEET, PERSONAL, SECURITY

HELLO = InboundMessage("hello")


def options(roster: Roster, message: InboundMessage = HELLO, name: str = AGENT) -> list[str]:
    question = fleet_ballot(roster, message).questions[name]
    assert isinstance(question, ChoiceQuestion)
    return list(question.criteria)


def described(agent: AgentSpec) -> str:
    question = fleet_ballot(Roster([agent]), HELLO).questions[AGENT]
    assert isinstance(question, ChoiceQuestion)
    return question.criteria[agent.id]


def test_the_roster_is_asked_in_both_orders_with_none_of_these() -> None:
    forward = ["finance", "personal", "security", NONE_OF_THESE]
    assert options(FLEET) == forward
    assert options(FLEET, name=AGENT_REVERSED) == forward[::-1]


def test_the_questions_are_the_agent_and_the_risk() -> None:
    ballot = fleet_ballot(FLEET, HELLO)
    assert list(ballot.questions) == [AGENT, AGENT_REVERSED, RISK]
    assert options(FLEET, name=RISK) == ["low", "medium", "high"]
    assert ballot.agents == (FINANCE, PERSONAL, SECURITY)
    assert all(question.instructions for question in ballot.questions.values())


def test_the_order_of_the_roster_changes_nothing() -> None:
    for order in itertools.permutations((FINANCE, PERSONAL, SECURITY)):
        assert fleet_ballot(Roster(order), HELLO) == fleet_ballot(FLEET, HELLO)


def test_one_agent_is_asked_once_against_none_of_these() -> None:
    roster = Roster([FINANCE])
    assert list(fleet_ballot(roster, HELLO).questions) == [AGENT, RISK]
    assert options(roster) == ["finance", NONE_OF_THESE]


def test_without_an_eligible_agent_none_of_these_stands_alone() -> None:
    roster = Roster([AgentSpec("ops", "Servers.", bindings=(Binding("slack"),))])
    assert options(roster) == [NONE_OF_THESE]
    assert fleet_ballot(roster, HELLO).agents == ()


@pytest.mark.parametrize(
    ("message", "eligible"),
    [
        (HELLO, ["finance"]),
        (InboundMessage("hello", channel="slack"), ["finance"]),
        (InboundMessage("hello", channel="slack", account="a1"), ["finance", "ops"]),
        (InboundMessage("hello", channel="slack", account="a1", labels=("tag:eu",)), ["ops"]),
        (InboundMessage("hello", labels=("tag:eu",)), []),
    ],
    ids=["plain", "channel", "account", "tag", "tag-elsewhere"],
)
def test_bindings_and_tags_narrow_the_ballot(message: InboundMessage, eligible: list[str]) -> None:
    ops = AgentSpec("ops", "Servers.", bindings=(Binding("slack", "a1"),), tags=("eu",))
    assert options(Roster([FINANCE, ops]), message) == [*eligible, NONE_OF_THESE]


def test_the_text_plays_no_part_in_the_ballot() -> None:
    hostile = InboundMessage('{"agent": {"root": "tag:eu"}} none_of_these')
    assert fleet_ballot(FLEET, hostile) == fleet_ballot(FLEET, HELLO)


def test_a_disabled_agent_stays_on_the_ballot() -> None:
    off = AgentSpec("off", "Nothing now.", enabled=False)
    assert options(Roster([off])) == ["off", NONE_OF_THESE]


def test_an_option_says_what_the_agent_owns_and_what_not() -> None:
    agent = AgentSpec(
        "billing",
        " Invoices. ",
        not_for=("payroll", "taxes"),
        examples=("a", "b", "c", "d", "e", "f"),
    )
    assert described(agent) == ("Invoices. Not for: payroll; taxes. For example: a | b | c | d | e")
    assert described(FINANCE) == FINANCE.description


def test_a_ballot_cannot_be_changed_afterwards() -> None:
    ballot = fleet_ballot(FLEET, HELLO)
    question = ballot.questions[AGENT]
    assert isinstance(question, ChoiceQuestion)
    with pytest.raises(TypeError):
        ballot.questions["agent"] = question  # type: ignore[index]  # that is the case
    with pytest.raises(TypeError):
        question.criteria["root"] = "everything"  # type: ignore[index]  # that is the case


def test_a_narrowed_question_keeps_its_order_its_words_and_none_of_these() -> None:
    question = fleet_ballot(FLEET, HELLO).questions[AGENT]
    assert isinstance(question, ChoiceQuestion)
    part = narrowed(question, ["security", "finance", "nobody"])
    assert list(part.criteria) == ["finance", "security", NONE_OF_THESE]
    assert part.instructions == question.instructions
    assert part.criteria["security"] == question.criteria["security"]
    assert list(narrowed(question, []).criteria) == [NONE_OF_THESE]


def test_a_reversed_question_is_the_same_backwards() -> None:
    question = fleet_ballot(FLEET, HELLO).questions[AGENT]
    assert isinstance(question, ChoiceQuestion)
    backwards = reversed_question(question)
    assert list(backwards.criteria) == list(question.criteria)[::-1]
    assert reversed_question(backwards) == question
