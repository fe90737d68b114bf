import os
from pathlib import Path

import pytest

from clawmarshal.errors import RosterFileError, RosterSchemaError
from clawmarshal.roster.agent import Binding, Capability, Risk
from clawmarshal.roster.loader import MAX_FILE_BYTES, load_roster, parse_roster
from clawmarshal.roster.shape import roster_schema

SMALL = "agents:\n- id: finance\n  description: Invoices, taxes.\n"
FULL = """\
name: Office
x-owner: {team: ops, since: "2024-02-30", seats: [1, 2.5, yes, null]}
agents:
- id: finance
  description: >-
    Invoices, bookkeeping,
    tax deadlines.
  name: Finance
  examples:
  - Pay this.
  - "Two lines,\\n\\n  with a gap"
  - 'As one would


    write it'
  not_for: [budgets]
  tags: [eu, money.out]
  enabled: off
  max_risk: medium
  min_probability: .7
  capabilities: [money, execute]
  bindings:
  - {channel: telegram, account: a1}
  - {channel: slack, conversation: "7"}
  timeout_s: 90
  concurrency: 2
  env: [LEDGER_URL]
  x-utilities: [ledger]
- {id: home, description: "Lights, heating."}
"""


def test_every_field_of_a_file_is_read() -> None:
    roster = parse_roster(FULL, source="office.yaml")
    agent = roster["finance"]
    assert roster.name == "Office"
    assert [each.id for each in roster] == ["finance", "home"]
    assert agent.description == "Invoices, bookkeeping, tax deadlines."
    assert agent.name == "Finance"
    assert agent.examples == (
        "Pay this.",
        "Two lines,\n\n  with a gap",
        "As one would\n\nwrite it",
    )
    assert agent.not_for == ("budgets",)
    assert agent.tags == ("eu", "money.out")
    assert agent.enabled is False
    assert agent.max_risk is Risk.MEDIUM
    assert agent.min_probability == 0.7
    assert agent.capabilities == (Capability.EXECUTE, Capability.MONEY)
    assert agent.bindings == (Binding("telegram", "a1"), Binding("slack", None, "7"))
    assert (agent.timeout_s, agent.concurrency, agent.env) == (90, 2, ("LEDGER_URL",))


def test_extension_keys_are_kept_as_plain_values() -> None:
    roster = parse_roster(FULL, source="office.yaml")
    assert roster.extensions == {
        "x-owner": {"team": "ops", "since": "2024-02-30", "seats": [1, 2.5, True, None]}
    }
    assert roster["finance"].extensions == {"x-utilities": ["ledger"]}


def test_bytes_and_text_read_the_same() -> None:
    text = SMALL.replace("Invoices", "Fakturácia 🧾")
    assert parse_roster(text, source="t").digest == parse_roster(text.encode(), source="t").digest


def test_json_is_read_too() -> None:
    text = '{"agents": [{"id": "a", "description": "b\\u00e9"}]}'
    assert parse_roster(text, source="t")["a"].description == "bé"


def test_more_than_five_examples_are_read() -> None:
    examples = "".join(f"  - example number {n}\n" for n in range(15))
    roster = parse_roster(f"{SMALL}  examples:\n{examples}", source="t")
    assert len(roster["finance"].examples) == 15


@pytest.mark.parametrize("value", ["True", "TRUE", "yes", "on", "true"])
def test_truth_values_are_read_where_they_are_wanted(value: str) -> None:
    assert parse_roster(f"{SMALL}  enabled: {value}\n", source="t")["finance"].enabled is True


@pytest.mark.parametrize("value", ["1e-1", "0.10", ".1", "1.0e-1"])
def test_plain_decimals_are_read_and_the_rest_is_named(value: str) -> None:
    text = f"{SMALL}  min_probability: {value}\n"
    if value == "1e-1":  # YAML 1.1 reads it as a text
        with pytest.raises(RosterSchemaError, match="a number from 0 to 1, not a text"):
            parse_roster(text, source="t")
    else:
        assert parse_roster(text, source="t")["finance"].min_probability == 0.1


def test_order_of_the_file_changes_nothing() -> None:
    one = parse_roster("agents: [{id: a, description: x}, {id: b, description: y}]", source="t")
    two = parse_roster("agents: [{description: y, id: b}, {id: a, description: x}]", source="t")
    assert one.digest == two.digest


def test_file_is_loaded_from_a_path(tmp_path: Path) -> None:
    path = tmp_path / "fleet.yaml"
    path.write_text(SMALL, encoding="utf-8")
    assert load_roster(path).digest == load_roster(str(path)).digest


def test_path_may_hold_any_character(tmp_path: Path) -> None:
    path = tmp_path / "flôte 'x' {y}.yaml"
    path.write_text(SMALL + "  tag: x\n", encoding="utf-8")
    with pytest.raises(RosterSchemaError, match="unknown field") as caught:
        load_roster(path)
    assert str(caught.value).startswith(str(path))


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RosterFileError, match=r"no roster file .*gone\.yaml'; check the path"):
        load_roster(tmp_path / "gone.yaml")


def test_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RosterFileError, match="is not a regular file; name a YAML file"):
        load_roster(tmp_path)


def test_fifo_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(RosterFileError, match="is not a regular file"):
        load_roster(path)


def test_device_without_end_is_refused() -> None:
    with pytest.raises(RosterFileError, match="is not a regular file"):
        load_roster("/dev/zero")


def test_path_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text(SMALL)
    with pytest.raises(RosterFileError, match="cannot be opened: Not a directory"):
        load_roster(tmp_path / "file" / "fleet.yaml")


def test_path_with_nul_is_refused() -> None:
    with pytest.raises(RosterFileError, match="cannot be opened: embedded null byte"):
        load_roster("a\x00b")


def test_file_that_fails_while_it_is_read_is_refused() -> None:
    # The kernel lets anybody open this file and refuses every read at its start.
    with pytest.raises(RosterFileError, match="cannot be read: Input/output error"):
        load_roster("/proc/self/mem")


def test_file_over_the_cap_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "big.yaml"
    path.write_bytes(SMALL.encode() + b"#" * MAX_FILE_BYTES)
    with pytest.raises(RosterFileError, match="over 8388608 bytes; split the fleet"):
        load_roster(path)


def test_file_at_the_cap_is_read() -> None:
    text = SMALL.encode()
    assert parse_roster(text + b"#" * (MAX_FILE_BYTES - len(text)), source="t")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "t is empty; write `agents:`", id="empty"),
        pytest.param(b"", "t is empty", id="empty-bytes"),
        pytest.param("\n\n  \n", "t is empty", id="blank"),
        pytest.param("# only a comment\n", "t is empty", id="comment"),
        pytest.param("---\n...\n", "t is empty", id="empty-document"),
        pytest.param("null\n", "t is empty", id="null"),
        pytest.param("\ufeff" + SMALL, "byte order mark; save it", id="bom-text"),
        pytest.param(b"\xef\xbb\xbfa: 1", "byte order mark; save it", id="bom-bytes"),
        pytest.param(SMALL.encode("utf-16"), "is UTF-16; save it as UTF-8", id="utf-16"),
        pytest.param(b"\xfe\xff\x00a", "is UTF-16", id="utf-16-big-endian"),
        pytest.param(b"agents:\n- \xe9", "line 2, column 3: not UTF-8", id="latin-1"),
        pytest.param(SMALL.encode()[:-2] + b"\xc3", "line 3, column 31: not", id="cut-character"),
        pytest.param("agents: \x00", "line 1, column 9: the character U\\+0000", id="nul"),
        pytest.param("a: 1\nb: \x1b", "line 2, column 4: the character U\\+001B", id="escape"),
        pytest.param("a: \ud800", "line 1, column 4: the character U\\+D800", id="surrogate"),
        pytest.param("a: \x7f", "U\\+007F", id="delete"),
        pytest.param("agents: 'cut of", "end of stream; if the file was cut", id="cut-quote"),
        pytest.param(
            "agents:\n- {id: a, desc",
            "column 1: while parsing a flow mapping",
            id="cut-braces",
        ),
        pytest.param("a: b: c", "line 1, column 5: mapping values", id="two-colons"),
        pytest.param("\tagents: []", "line 1, column 1", id="tab"),
        pytest.param("agents: @x", "line 1, column 9", id="reserved-character"),
        pytest.param("a: *b", "found undefined alias|aliases", id="undefined-alias"),
        pytest.param('a: "\\ud800"', "invalid Unicode character", id="escaped-surrogate"),
        pytest.param("%YAML 3.0\n---\na: 1", "incompatible YAML", id="yaml-3"),
        pytest.param("[" * 100_000, "nesting|deeper", id="very-deep"),
        pytest.param("agents: []]", "line 1, column 11", id="bracket-too-many"),
    ],
)
def test_what_is_no_yaml_file_is_refused_with_its_place(text: str | bytes, expected: str) -> None:
    with pytest.raises((RosterFileError, RosterSchemaError), match=expected):
        parse_roster(text, source="t")


def test_published_schema_describes_every_field() -> None:
    def described(schema: dict[str, object]) -> bool:
        fields = schema.get("properties", {})
        assert isinstance(fields, dict)
        inner = [*fields.values(), *([schema["items"]] if "items" in schema else [])]
        return "description" in schema and "title" in schema and all(map(described, inner))

    assert described(roster_schema())


def test_a_thousand_agents_load() -> None:
    agents = "".join(
        f"- id: agent-{n}\n  description: Handles case {n}, its papers, its replies.\n"
        "  examples: [one, two, three, four, five]\n"
        for n in range(1000)
    )
    assert len(parse_roster("agents:\n" + agents, source="t")) == 1000
