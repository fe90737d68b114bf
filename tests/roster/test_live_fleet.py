"""What of a Gateway's answers is taken over, and when the fleet is unknown."""

import json
from pathlib import Path
from typing import Any

import pytest

from clawmarshal.roster.agent import MAX_TEXT_CHARS, Binding
from clawmarshal.roster.openclaw import LiveAgent, LiveFleet, read_fleet
from clawmarshal.transport.text import clean_text
from tests.support.live_fleet import ENTRIES, SECRET, agents_document, config_document

SAMPLE = Path(__file__).parents[1] / "support" / "openclaw" / "gateway-call-agents-list.json"


def read(entries: dict[str, Any], **config: object) -> LiveFleet:
    fleet = read_fleet(
        agents_document(*entries), config_document(entries, **config), clean=clean_text
    )
    assert fleet is not None
    return fleet


def one(entry: dict[str, Any], **config: object) -> LiveAgent:
    agents = read({"ops": entry}, **config).agents
    assert agents is not None
    return agents[0]


def test_remits_and_names_are_read_and_secrets_are_not() -> None:
    fleet = read(ENTRIES)
    assert [(a.id, a.name, a.description) for a in fleet.agents or ()] == [
        (i, entry.get("name"), entry["description"]) for i, entry in ENTRIES.items()
    ]
    assert SECRET not in repr(fleet)


def test_answers_are_read_as_they_were_printed() -> None:
    entries = {i: {"description": f"Remit of {i}."} for i in ("finance", "personal", "security")}
    fleet = read_fleet(SAMPLE.read_bytes(), json.dumps(config_document(entries)))
    assert fleet is not None
    assert fleet.agents is not None
    assert [(a.id, a.name) for a in fleet.agents] == [
        ("finance", "Finance"),
        ("personal", "Personal"),
        ("security", "Security"),
    ]


@pytest.mark.parametrize(
    "config",
    [
        pytest.param(None, id="nothing"),
        pytest.param("", id="empty"),
        pytest.param(b"\xff\xfe{", id="not-utf8"),
        pytest.param('{"valid": true, "config": {"agents"', id="half"),
        pytest.param("<html><body>502 Bad Gateway</body></html>", id="html"),
        pytest.param("[" * 100_000, id="deep"),
        pytest.param([], id="list"),
        pytest.param({}, id="empty-mapping"),
        pytest.param({"main": {}}, id="answer-of-config-get"),
        pytest.param({"config": None}, id="null-config"),
        pytest.param({"config": {"agents": []}}, id="agents-as-a-list"),
        pytest.param({"config": {"agents": {"list": [{"id": "ops"}]}}}, id="older-shape"),
        pytest.param({"config": {"agents": {"entries": [{"id": "ops"}]}}}, id="entries-as-a-list"),
        pytest.param({"config": {"agents": {"entries": {"ops": "x"}}}}, id="entry-as-a-text"),
        pytest.param({"config": {"agents": {"entries": {}}}}, id="without-the-agent"),
        pytest.param({"config": {"agents": {"entries": {"ops": {}, "OPS": {}}}}}, id="same-twice"),
        pytest.param({"config": {"agents": {"entries": {"ops": {}}}, "bindings": {}}},
                     id="bindings-as-a-map"),
        pytest.param({**config_document({"ops": {}}), "valid": False}, id="invalid-file"),
        pytest.param({"ok": False, "error": {"message": "unauthorized"}}, id="error-document"),
    ],
)  # fmt: skip
def test_configuration_that_is_not_understood_leaves_the_ids_alone(config: object) -> None:
    fleet = read_fleet(agents_document("ops"), config)
    assert fleet == LiveFleet(frozenset({"ops"}), None)


@pytest.mark.parametrize("agents", [None, "", "{", [], {}, {"agents": []}], ids=repr)
def test_without_a_list_of_agents_the_fleet_is_unknown(agents: object) -> None:
    assert read_fleet(agents, config_document()) is None


def test_agent_that_openclaw_makes_up_is_known_without_an_entry() -> None:
    fleet = read_fleet(agents_document("main"), {"config": {}})
    assert fleet is not None
    assert fleet.agents is not None
    assert [(a.id, a.description) for a in fleet.agents] == [("main", None)]


def test_id_that_no_roster_can_name_is_known_and_said() -> None:
    fleet = read({"ops": {}, "--deliver": {}, "all": {}, "a b": {}, "x" * 99: {}})
    assert fleet.ids >= {"ops", "--deliver", "all"}
    assert [a.id for a in fleet.agents or ()] == ["ops"]
    assert len(fleet.refused) == 4
    assert max(map(len, fleet.refused)) < 150


@pytest.mark.parametrize(
    ("said", "kept", "is_noted"),
    [
        pytest.param(None, None, False, id="nothing"),
        pytest.param(5, None, False, id="number"),
        pytest.param(" \n ", None, False, id="blank"),
        pytest.param("\u202e\u200b", None, True, id="invisible"),
        pytest.param("Bills,\n  taxes.", "Bills, taxes.", False, id="two-lines"),
        pytest.param("Bills\x1b[2J\u202e, taxes", "Bills, taxes", True, id="escapes"),
        pytest.param("a\x00b\ud800", "ab\ufffd", True, id="nul-and-surrogate"),
        pytest.param("x" * 9000, "x" * MAX_TEXT_CHARS, True, id="long"),
    ],
)
def test_description_is_taken_over_as_far_as_a_roster_can_hold_it(
    said: object, kept: str | None, is_noted: bool
) -> None:
    agent = one({"description": said})
    assert agent.description == kept
    assert bool(agent.notes) is is_noted


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        pytest.param({"name": "Ops"}, "Ops", id="name"),
        pytest.param({"identity": {"name": "Vault"}}, "Vault", id="identity"),
        pytest.param({"name": "O\nps\x1b[1m"}, "O ps", id="hostile"),
        pytest.param({"name": "x" * 999}, "x" * 200, id="long"),
        pytest.param({"name": " "}, None, id="blank"),
        pytest.param({}, None, id="none"),
    ],
)
def test_name_is_one_line_or_none(entry: dict[str, Any], name: str | None) -> None:
    assert one(entry).name == name


@pytest.mark.parametrize(
    ("match", "binding"),
    [
        pytest.param({"channel": "telegram"}, Binding("telegram", "default"), id="default-account"),
        pytest.param({"channel": "telegram", "accountId": "*"}, Binding("telegram"), id="any"),
        pytest.param({"channel": "slack", "accountId": "w"}, Binding("slack", "w"), id="account"),
        pytest.param(
            {"channel": "telegram", "accountId": "*", "peer": {"kind": "direct", "id": "555"}},
            Binding("telegram", None, "555"),
            id="peer",
        ),
    ],
)
def test_binding_becomes_a_hard_filter(match: dict[str, Any], binding: Binding) -> None:
    agent = one({}, bindings=[{"agentId": "OPS", "match": match}])
    assert agent.bindings == (binding,)
    assert not agent.has_unsaid_binding
    assert one({}, bindings=[{"agentId": "other", "match": match}]).bindings == ()


@pytest.mark.parametrize(
    "bound",
    [
        pytest.param({"match": {"channel": "discord", "guildId": "1"}}, id="guild"),
        pytest.param({"match": {"channel": "discord", "roles": ["x"]}}, id="roles"),
        pytest.param({"match": {"channel": "x", "peer": {"kind": "group", "id": "*"}}}, id="kind"),
        pytest.param({"match": {"channel": "x"}, "type": "acp"}, id="acp"),
        pytest.param({"match": {"channel": "x\u202e"}}, id="hostile-channel"),
        pytest.param({"match": {"channel": ""}}, id="no-channel"),
        pytest.param({"match": {"channel": "x", "accountId": 5}}, id="account-as-a-number"),
        pytest.param({"match": "x"}, id="no-match"),
    ],
)
def test_binding_that_no_roster_can_say_is_told(bound: dict[str, Any]) -> None:
    agent = one({}, bindings=[{"agentId": "ops", **bound}])
    assert agent.has_unsaid_binding
    assert agent.bindings == ()
    assert agent.notes


def test_what_an_agent_could_do_unasked_is_told_with_the_list_that_ends_it() -> None:
    agent = one({"tools": {"deny": ["group:runtime"]}})
    assert "exec" not in agent.unasked
    assert "agents.entries.ops.tools.deny" in (agent.warning or "")
    ended = one({"tools": {"deny": ["group:runtime", *agent.unasked]}})
    assert (ended.unasked, ended.warning) == ((), None)
