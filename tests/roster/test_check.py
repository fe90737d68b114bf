import random
from typing import Any

import pytest

from clawmarshal.roster.agent import AgentSpec
from clawmarshal.roster.check import RosterWarning, WarningCode, check_roster, telling_words
from clawmarshal.roster.roster import Roster

BILLING = AgentSpec("billing", "Customer invoices, overdue reminders, refunds, credit notes.")
GARDEN = AgentSpec("garden", "Watering plants, pruning hedges, mowing lawns, compost.")


def found(*agents: AgentSpec) -> list[tuple[str, tuple[str, ...]]]:
    return [(str(warning.code), warning.agents) for warning in check_roster(Roster(agents))]


def agent(agent_id: str, **fields: Any) -> AgentSpec:
    remit = f"Keeps {agent_id}1, {agent_id}2, {agent_id}3, {agent_id}4, {agent_id}5."
    return AgentSpec(agent_id, fields.pop("description", remit), **fields)


def test_good_roster_has_no_warnings() -> None:
    assert found(BILLING, GARDEN) == []


@pytest.mark.parametrize(
    "description",
    [
        pytest.param("Finance.", id="one-word"),
        pytest.param("Handles everything that is not for the others and more.", id="empty-words"),
        pytest.param("Money, money, money and moneys.", id="repeated"),
        pytest.param("???", id="no-words"),
    ],
)
def test_thin_remit_is_named(description: str) -> None:
    assert found(agent("a", description=description)) == [("thin-remit", ("a",))]


def test_same_remit_twice_is_named_once() -> None:
    copy = AgentSpec("copy", BILLING.description.upper())
    assert found(BILLING, copy) == [("duplicate-remit", ("billing", "copy"))]


def test_overlapping_remits_are_named_with_their_words() -> None:
    books = AgentSpec("books", "Customer invoices, refunds, credit notes, VAT returns.")
    (warning,) = check_roster(Roster([BILLING, books, GARDEN]))
    assert warning.code is WarningCode.OVERLAPPING_REMITS
    assert warning.agents == ("billing", "books")
    assert "share 5 of 7 telling words (credit, customer, invoice, note, refund)" in warning.message


def test_not_for_settles_an_overlap() -> None:
    books = AgentSpec(
        "books",
        "Customer invoices, refunds, credit notes, VAT returns.",
        not_for=("invoices to customers, their refunds and credit notes",),
    )
    assert found(BILLING, books) == []


def test_small_share_of_long_remits_is_no_overlap() -> None:
    shared = "Server backups, disk space"
    one = AgentSpec("one", f"{shared}, uptime, alerts, deployments, certificates, printers.")
    two = AgentSpec("two", f"{shared}, laptops, phones, orders, desks, monitors, repairs.")
    assert found(one, two) == []


def test_thin_remits_are_not_called_overlapping_as_well() -> None:
    one, two = AgentSpec("one", "Card payments."), AgentSpec("two", "Card payment problems.")
    assert found(one, two) == [("thin-remit", ("one",)), ("thin-remit", ("two",))]


def test_two_shared_words_are_no_overlap() -> None:
    one = AgentSpec("one", "Server backups, disk space, uptime.")
    two = AgentSpec("two", "Server certificates, disk purchases, printers.")
    assert found(one, two) == []


@pytest.mark.parametrize(("count", "warned"), [(0, False), (1, True), (3, True), (4, False)])
def test_few_examples_are_named(count: int, warned: bool) -> None:
    few = agent("a", examples=[f"example {number}" for number in range(count)])
    assert (("few-examples", ("a",)) in found(few)) is warned


@pytest.mark.parametrize(
    ("fields", "warned"),
    [
        pytest.param({"capabilities": ["money"], "max_risk": "high"}, True, id="unguarded"),
        pytest.param({"capabilities": ["money"], "max_risk": "medium"}, False, id="medium"),
        pytest.param({"capabilities": ["money"]}, False, id="default"),
        pytest.param({"max_risk": "high"}, False, id="cannot-act"),
    ],
)
def test_agent_that_acts_without_a_person_is_named(fields: dict[str, Any], warned: bool) -> None:
    assert (("unguarded-capability", ("a",)) in found(agent("a", **fields))) is warned


def test_example_of_two_agents_is_named_once_for_the_pair() -> None:
    texts = ["Pay this bill.", "Send it.", "Third one.", "Fourth one."]
    one, two = agent("one", examples=texts), agent("two", examples=["pay this bill!", *texts])
    assert found(one, two) == [("shared-example", ("one", "two"))]


def test_own_repeated_example_is_not_shared() -> None:
    assert found(agent("a", examples=["Pay."] * 4)) == []


def test_long_lists_of_agents_are_cut_in_the_message_only() -> None:
    same = [AgentSpec(f"a{number}", BILLING.description) for number in range(8)]
    (warning,) = check_roster(Roster(same))
    assert len(warning.agents) == 8
    assert warning.message.startswith("a0, a1, a2, a3, a4 and 3 more have the same remit")


def test_words_that_stand_in_very_many_remits_tell_none_apart() -> None:
    many = [AgentSpec(f"a{n}", f"Store branch desk team unit{n} area{n}.") for n in range(60)]
    assert found(*many) == []
    assert len(found(*many[:10])) == 45


def test_result_does_not_depend_on_order() -> None:
    agents = [agent("x", description="Thin."), BILLING, AgentSpec("b2", BILLING.description)]
    results = {check_roster(Roster(random.Random(n).sample(agents, 3))) for n in range(20)}
    assert len(results) == 1
    assert all(isinstance(warning, RosterWarning) for warning in results.pop())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Deliveries", {"delivery"}),
        ("Buses, class, analysis, status", {"buse", "class", "analysis", "status"}),
        ("tax_return 2", {"tax", "return"}),
        ("Daň und Rechnungen", {"daň", "und", "rechnungen"}),
    ],
    ids=["ies", "endings", "underscore", "other-languages"],
)
def test_telling_words_are_folded(text: str, words: set[str]) -> None:
    assert telling_words(text) == words
