from dataclasses import replace
from typing import Any

import pytest

from clawmarshal.errors import RosterSchemaError
from clawmarshal.roster.agent import AgentSpec, Binding, Capability, Risk

REMIT = "Invoices, bookkeeping, tax deadlines."


def faults_of(agent_id: Any = "finance", description: Any = REMIT, **fields: Any) -> list[str]:
    with pytest.raises(RosterSchemaError) as caught:
        AgentSpec(agent_id, description, **fields)
    return [fault.message for fault in caught.value.faults]


def test_agent_takes_id_and_remit_by_position() -> None:
    agent = AgentSpec("finance", REMIT)
    assert (agent.id, agent.description, agent.label) == ("finance", REMIT, "finance")


@pytest.mark.parametrize("agent_id", ["a", "a" * 64, "0a", "a-b_c", "5-minutes"])
def test_well_formed_id_is_accepted(agent_id: str) -> None:
    assert AgentSpec(agent_id, REMIT).id == agent_id


@pytest.mark.parametrize(
    ("agent_id", "expected"),
    [
        pytest.param("", "does not match", id="empty"),
        pytest.param("a" * 65, "does not match", id="too-long"),
        pytest.param("Ops", "does not match", id="upper-case"),
        pytest.param("ассистент", "does not match", id="not-latin"),
        pytest.param("ops_é", "does not match", id="diacritic"),
        pytest.param("--deliver", "does not match", id="option"),
        pytest.param("_ops", "does not match", id="leading-underscore"),
        pytest.param("ops\n", "does not match", id="trailing-newline"),
        pytest.param("a.b", "does not match", id="dot"),
        pytest.param("123", "all digits", id="all-digits"),
        pytest.param("none", "reserved", id="none"),
        pytest.param("none_of_these", "reserved", id="none-of-these"),
        pytest.param("all", "reserved", id="all"),
        pytest.param("__proto__", "reserved", id="proto"),
        pytest.param("NONE", "reserved", id="reserved-upper-case"),
        pytest.param(None, "not a text", id="null"),
        pytest.param(7, "not a text", id="number"),
    ],
)
def test_bad_id_is_refused(agent_id: object, expected: str) -> None:
    assert expected in faults_of(agent_id)[0]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({"description": ""}, "is empty", id="empty-remit"),
        pytest.param({"description": " \n"}, "is empty", id="blank-remit"),
        pytest.param({"description": None}, "is empty", id="no-remit"),
        pytest.param({"description": "x" * 4001}, "at most 4000", id="long-remit"),
        pytest.param({"description": "a\ud800"}, "no surrogate", id="surrogate-remit"),
        pytest.param({"description": "a\x00"}, "no NUL", id="nul-remit"),
        pytest.param({"name": ""}, "name is one line", id="empty-name"),
        pytest.param({"name": "a\nb"}, "name is one line", id="two-line-name"),
        pytest.param({"name": 5}, "name is one line", id="number-name"),
        pytest.param({"name": "x" * 201}, "name is one line", id="long-name"),
        pytest.param({"examples": ["ok", " "]}, "examples are non-blank", id="blank-example"),
        pytest.param({"examples": 5}, "examples are non-blank", id="number-examples"),
        pytest.param({"examples": b"ab"}, "examples are non-blank", id="bytes-examples"),
        pytest.param({"examples": ["x"] * 101}, "more than 100 examples", id="many-examples"),
        pytest.param({"not_for": ["x" * 4001]}, "not_for are non-blank", id="long-not-for"),
        pytest.param({"not_for": ["x"] * 101}, "more than 100 not_for", id="many-not-for"),
        pytest.param({"tags": ["A"]}, "tags are slugs", id="upper-tag"),
        pytest.param({"tags": [1]}, "tags are slugs", id="number-tag"),
        pytest.param({"env": ["KEY=value"]}, "env lists names", id="env-value"),
        pytest.param({"env": [None]}, "env lists names", id="env-null"),
        pytest.param({"bindings": [{"channel": "x"}]}, "bindings are", id="mapping-binding"),
        pytest.param({"bindings": None}, "bindings are", id="null-bindings"),
        pytest.param({"enabled": "no"}, "enabled is true or false", id="text-enabled"),
        pytest.param({"enabled": 1}, "enabled is true or false", id="number-enabled"),
        pytest.param({"max_risk": "extreme"}, "max_risk is one of", id="unknown-risk"),
        pytest.param({"max_risk": ["low"]}, "max_risk is one of", id="list-risk"),
        pytest.param({"capabilities": ["gold"]}, "capabilities are among", id="capability"),
        pytest.param({"capabilities": 5}, "capabilities are among", id="number-capability"),
        pytest.param({"min_probability": 1.01}, "min_probability is", id="probability-over"),
        pytest.param({"min_probability": -0.1}, "min_probability is", id="probability-under"),
        pytest.param({"min_probability": float("nan")}, "min_probability is", id="nan"),
        pytest.param({"min_probability": True}, "min_probability is", id="bool-probability"),
        pytest.param({"timeout_s": 0}, "timeout_s is", id="no-time"),
        pytest.param({"timeout_s": 3601}, "timeout_s is", id="long-time"),
        pytest.param({"timeout_s": 2.5}, "timeout_s is", id="broken-time"),
        pytest.param({"timeout_s": True}, "timeout_s is", id="bool-time"),
        pytest.param({"concurrency": 0}, "concurrency is", id="no-turns"),
        pytest.param({"concurrency": 65}, "concurrency is", id="many-turns"),
        pytest.param({"concurrency": None}, "concurrency is", id="null-turns"),
        pytest.param({"extensions": 5}, "extensions map", id="number-extensions"),
    ],
)
def test_bad_field_is_refused(fields: dict[str, Any], expected: str) -> None:
    messages = faults_of(**fields)
    assert len(messages) == 1
    assert messages[0].startswith("agent 'finance': ")
    assert expected in messages[0]


def test_every_fault_of_an_agent_is_listed_at_once() -> None:
    messages = faults_of("Ops", " ", tags=["A"], timeout_s=0, capabilities=["gold"])
    assert len(messages) == 5


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param({"channel": ""}, "channel", id="empty-channel"),
        pytest.param({"channel": None}, "channel", id="null-channel"),
        pytest.param({"channel": "a\x1b"}, "channel", id="control-character"),
        pytest.param({"channel": "a", "account": ""}, "account", id="empty-account"),
        pytest.param({"channel": "a", "conversation": 5}, "conversation", id="number"),
        pytest.param({"channel": "x" * 513}, "channel", id="long"),
    ],
)
def test_bad_binding_is_refused(parts: dict[str, Any], expected: str) -> None:
    with pytest.raises(RosterSchemaError, match=f"binding: {expected} is a text"):
        Binding(**parts)


def test_single_text_stands_for_a_list_of_one() -> None:
    agent = AgentSpec("a", REMIT, examples="Pay it.", capabilities="money")  # type: ignore[arg-type]  # the point
    assert agent.examples == ("Pay it.",)
    assert agent.capabilities == (Capability.MONEY,)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({}, Risk.MEDIUM, id="default"),
        pytest.param({"capabilities": ["execute"]}, Risk.LOW, id="capabilities-lower-it"),
        pytest.param({"capabilities": ["money"], "max_risk": "medium"}, Risk.MEDIUM, id="stated"),
        pytest.param({"max_risk": "high"}, Risk.HIGH, id="stated-high"),
    ],
)
def test_risk_limit_follows_capabilities_unless_stated(
    fields: dict[str, Any], expected: Risk
) -> None:
    assert AgentSpec("a", REMIT, **fields).risk_limit is expected


def test_risk_tiers_are_ordered_by_level() -> None:
    assert [tier.level for tier in (Risk.LOW, Risk.MEDIUM, Risk.HIGH)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("origin", "accepted"),
    [
        pytest.param(("telegram", "a1", "c1"), True, id="all-parts-equal"),
        pytest.param(("telegram", "a1", "c2"), True, id="conversation-open"),
        pytest.param(("telegram", "a2", "c1"), False, id="other-account"),
        pytest.param(("slack", "a1", "c1"), False, id="other-channel"),
        pytest.param((None, None, None), False, id="no-origin"),
    ],
)
def test_binding_filters_by_origin(origin: tuple[str | None, ...], accepted: bool) -> None:
    agent = AgentSpec("a", REMIT, bindings=(Binding("telegram", "a1"),))
    channel, account, conversation = origin
    said = agent.accepts(channel=channel, account=account, conversation=conversation)
    assert said is accepted


def test_required_tags_must_all_be_carried() -> None:
    agent = AgentSpec("a", REMIT, tags=("eu", "finance"))
    nowhere: dict[str, None] = {"channel": None, "account": None, "conversation": None}
    assert agent.accepts(**nowhere, required_tags=frozenset({"eu"}))
    assert not agent.accepts(**nowhere, required_tags=frozenset({"eu", "us"}))


@pytest.mark.parametrize(
    "change",
    [
        {"description": "Other."},
        {"name": "F"},
        {"examples": ("x",)},
        {"not_for": ("x",)},
        {"tags": ("x",)},
        {"enabled": False},
        {"max_risk": Risk.LOW},
        {"min_probability": 0.7},
        {"capabilities": (Capability.MONEY,)},
        {"bindings": (Binding("x"),)},
        {"timeout_s": 5},
        {"concurrency": 2},
        {"env": ("X",)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_digest_changes_with_every_field(change: dict[str, Any]) -> None:
    agent = AgentSpec("finance", REMIT)
    assert replace(agent, **change).digest != agent.digest


def test_digest_ignores_extensions_and_the_order_of_sets() -> None:
    one = AgentSpec("a", REMIT, tags=("x", "y"), capabilities=("money", "execute"), env=("A", "B"))  # type: ignore[arg-type]  # names are accepted
    two = AgentSpec(
        "a",
        REMIT,
        tags=("y", "x"),
        capabilities=("execute", "money"),  # type: ignore[arg-type]  # names are accepted
        env=("B", "A"),
        extensions={"x-note": 1},
    )
    assert one.digest == two.digest


def test_equal_thresholds_give_equal_digests() -> None:
    assert (
        AgentSpec("a", REMIT, min_probability=1).digest
        == AgentSpec("a", REMIT, min_probability=1.0).digest
    )


def test_extensions_cannot_be_changed_afterwards() -> None:
    agent = AgentSpec("a", REMIT, extensions={"x-note": 1})
    with pytest.raises(TypeError):
        agent.extensions["x-note"] = 2  # type: ignore[index]  # the point
