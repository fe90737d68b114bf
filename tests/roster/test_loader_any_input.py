import string

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clawmarshal.errors import RosterError
from clawmarshal.roster.loader import parse_roster
from clawmarshal.roster.roster import Roster

VALID = """\
name: fleet
agents:
- id: finance
  description: "Invoices, taxes – and 🧾"
  examples: [one, 'two', "three"]
  bindings: [{channel: telegram, account: "a"}]
  capabilities: [money]
  x-note: {a: [1, 2.5, null]}
- {id: home, description: >-}
""".replace(">-", "Lights")

FRAGMENTS = [
    "agents:", "- ", "id: a", "description: b", "  ", "\n", "{", "}", "[", "]", ",", ": ", "&a ",
    "*a", "!!python/object:x ", "<<: ", "? ", "---\n", "...\n", "%YAML 1.1\n", "|\n", ">-\n", "'",
    '"', "no", "010", "1_0", "2026-01-01", "~", ".nan", "\t", "#", "x-a", "\\ud800", "\\0", "=",
    "bindings", "examples", "!", "@", "`", "\u2028", "\x85", "é", "🧾", "\ufeff", "9" * 50, "\r",
]  # fmt: skip
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(string.printable, max_size=8),
    st.sampled_from(["a", "home", "no", "low", "money", "telegram"]),
)
FIELDS = st.sampled_from(
    ["id", "description", "name", "examples", "not_for", "tags", "enabled", "max_risk", "env",
     "min_probability", "capabilities", "bindings", "timeout_s", "concurrency", "x-a", "channel",
     "agents", "zzz"]
)  # fmt: skip
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(FIELDS, inner, max_size=6),
    max_leaves=12,
)

quick = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


def read(text: str | bytes) -> bool:
    """Tell whether the text is a roster; raise only what `parse_roster` promises."""
    try:
        roster = parse_roster(text, source="any")
    except RosterError as error:
        assert str(error)
        assert all(f.line and f.column for f in getattr(error, "faults", ()))
        return False
    assert isinstance(roster, Roster)
    return True


@quick
@given(st.binary(max_size=200))
def test_any_bytes_are_a_roster_or_a_roster_error(raw: bytes) -> None:
    read(raw)


@quick
@given(st.text(max_size=200))
def test_any_text_is_a_roster_or_a_roster_error(text: str) -> None:
    read(text)


@quick
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join))
def test_text_like_yaml_is_a_roster_or_a_roster_error(text: str) -> None:
    read(text)


@quick
@given(VALUES)
def test_well_formed_yaml_of_any_shape_is_a_roster_or_a_roster_error(value: object) -> None:
    import yaml

    read(yaml.safe_dump(value, allow_unicode=True))


@quick
@given(st.lists(st.dictionaries(FIELDS, VALUES, max_size=8), max_size=4))
def test_agents_of_any_shape_are_a_roster_or_a_roster_error(agents: object) -> None:
    import yaml

    read(yaml.safe_dump({"agents": agents}))


@quick
@given(st.data())
def test_damaged_file_is_a_roster_or_a_roster_error(data: st.DataObject) -> None:
    raw = bytearray(VALID.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    read(bytes(raw))


@pytest.mark.parametrize("cut", range(len(VALID.encode())))
def test_half_written_file_is_a_shorter_roster_or_a_roster_error(cut: int) -> None:
    read(VALID.encode()[:cut])


def test_whole_file_is_a_roster() -> None:
    assert read(VALID)
