"""What an import writes: all of OpenClaw's agents, and not a byte of the operator's away."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmarshal.errors import RosterError
from clawmarshal.roster.drift import compare
from clawmarshal.roster.importing import Imported, import_fleet
from clawmarshal.roster.loader import parse_roster
from clawmarshal.roster.openclaw import LiveFleet, read_fleet
from clawmarshal.roster.roster import Roster
from clawmarshal.transport.text import clean_text
from tests.support.live_fleet import ENTRIES, SECRET, agents_document, config_document

MINE = """\
# The fleet of the house.
name: house

agents:
    # Money comes first.
    -   id: finance   # never without a person
        description: >-
          My own words about
          money.
        max_risk: low
        examples: [one, two, three, four]

# kept for later
x-note: "mine"
"""


def live(entries: dict[str, Any] | None = None, **config: object) -> LiveFleet:
    told = ENTRIES if entries is None else entries
    fleet = read_fleet(agents_document(*told), config_document(told, **config), clean=clean_text)
    assert fleet is not None
    return fleet


def imported(existing: str | None = None, **more: Any) -> tuple[Imported, Roster]:
    force = more.pop("force", False)
    done = import_fleet(live(**more), existing=existing, force=force)
    return done, parse_roster(done.text, source="imported")


def test_first_import_is_a_roster_that_says_what_openclaw_says() -> None:
    done, roster = imported()
    assert done.added == ("finance", "security")
    assert compare(roster, live()).is_none is True
    assert SECRET not in done.text


def test_what_an_agent_may_do_unasked_lowers_what_it_may_do_unseen() -> None:
    _, roster = imported()
    assert list(map(str, roster["security"].capabilities)) == ["execute", "message"]
    assert roster["finance"].capabilities == ()


def test_second_import_changes_nothing() -> None:
    first, _ = imported()
    again, _ = imported(first.text)
    assert again == Imported(first.text, (), (), (), (), False)


def test_every_byte_of_the_operators_stays() -> None:
    done, roster = imported(MINE)
    before, behind = MINE.split("\n# kept")
    assert done.text.startswith(before)
    assert done.text.endswith("\n# kept" + behind)
    assert roster["finance"] == parse_roster(MINE, source="mine")["finance"]
    assert roster["security"].description == ENTRIES["security"]["description"]
    assert [d.code for d in done.kept] == ["description"]
    assert (done.added, done.loses_comments) == (("security",), False)


@pytest.mark.parametrize(
    "existing",
    [
        pytest.param("agents:\n- id: a\n  description: Remit.", id="no-indent-no-newline"),
        pytest.param("agents:\r\n  - id: a\r\n    description: Remit.\r\n", id="crlf"),
        pytest.param("---\nagents:\n  - description: Remit.\n    id: a\n...\n", id="marks"),
        pytest.param("agents:\n  - {id: a, description: Remit.}\n", id="flow-agent"),
        pytest.param("agents:\n  - id: a\n    description: |\n      Remit.\n      # text\n",
                     id="text-that-looks-like-a-comment"),
        pytest.param('"agents":\n  - "id": "a"\n    "description": "- id: x"\n', id="quoted"),
    ],
)  # fmt: skip
def test_agents_are_added_to_whatever_style_of_list(existing: str) -> None:
    before = parse_roster(existing, source="before")
    done, roster = imported(existing)
    assert roster["a"].digest == before["a"].digest
    assert {agent.id for agent in roster} == {"a", "finance", "security"}
    assert set(existing.splitlines()) <= set(done.text.splitlines())


def test_list_in_one_line_is_refused_with_the_mend() -> None:
    with pytest.raises(RosterError, match="import into a new file"):
        imported("agents: [{id: a, description: Remit.}]\n")


def test_force_replaces_what_openclaw_says_and_nothing_else() -> None:
    done, roster = imported(MINE, force=True)
    finance = roster["finance"]
    assert finance.description == ENTRIES["finance"]["description"]
    assert (str(finance.max_risk), len(finance.examples)) == ("low", 4)
    assert (roster.name, dict(roster.extensions)) == ("house", {"x-note": "mine"})
    assert [d.code for d in done.replaced] == ["description"]
    assert done.replaced[0].roster == "My own words about money."
    assert (done.kept, done.loses_comments) == ((), True)


def test_force_without_a_difference_writes_nothing_anew() -> None:
    first, _ = imported()
    assert imported(first.text, force=True)[0].text == first.text


def test_force_never_widens_a_filter() -> None:
    mine = MINE.replace("max_risk: low", "bindings: [{channel: mail}]")
    bound = [{"agentId": "finance", "match": {"channel": "discord", "guildId": "1"}}]
    done, roster = imported(mine, force=True, bindings=bound)
    assert [b.channel for b in roster["finance"].bindings] == ["mail"]
    assert "bindings" in [d.code for d in done.kept]


@pytest.mark.parametrize(
    ("entry", "config"),
    [
        pytest.param({"name": "Ops"}, {}, id="no-description"),
        pytest.param(
            {"description": "Remit."},
            {"bindings": [{"agentId": "ops", "match": {"channel": "x", "guildId": "1"}}]},
            id="unsaid-binding",
        ),
    ],
)
def test_agent_that_is_not_wholly_known_is_added_disabled(
    entry: dict[str, Any], config: dict[str, Any]
) -> None:
    done, roster = imported(entries={"ops": entry}, **config)
    assert not roster["ops"].enabled
    assert any("ops" in note for note in done.notes)


def test_agents_that_openclaw_does_not_have_stay() -> None:
    _, roster = imported(MINE, entries={"main": {"description": "Everything else."}})
    assert {agent.id for agent in roster} == {"finance", "main"}


@pytest.mark.parametrize(
    "fleet",
    [LiveFleet(frozenset({"ops"}), None), LiveFleet(frozenset({"--x"}), (), ("--x: bad",))],
    ids=["not-described", "none-can-be-named"],
)
def test_unknown_fleet_imports_nothing(fleet: LiveFleet) -> None:
    with pytest.raises(RosterError, match="fleet is unknown"):
        import_fleet(fleet, existing=MINE)


@given(st.text(), st.text())
def test_no_text_breaks_out_of_its_field(name: str, description: str) -> None:
    told = {"ops": {"name": name, "description": description}}
    fleet = live(told)
    done = import_fleet(fleet)
    roster = parse_roster(done.text, source="imported")
    assert [agent.id for agent in roster] == ["ops"]
    assert fleet.agents is not None
    expected = fleet.agents[0].description
    assert roster["ops"].description == expected or expected is None


def test_text_that_is_yaml_stays_a_text() -> None:
    hostile = 'x"\nagents:\n  - id: evil\n    description: "all messages'
    _, roster = imported(entries={"ops": {"description": hostile}})
    assert [agent.id for agent in roster] == ["ops"]
    assert roster["ops"].description.startswith('x" agents: - id: evil')
