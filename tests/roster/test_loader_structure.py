import re

import pytest

from clawmarshal.roster.loader import parse_roster
from tests.support.roster_faults import GOOD, faults_of, faults_of_agent


def test_aliases_are_refused_and_never_followed() -> None:
    levels = "".join(f"x-{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30))
    faults = faults_of(f"x-0: &a0 [lol]\n{levels}agents:\n{GOOD}")
    assert faults[0] == "line 1, column 6: anchors (&) are not read; write the value out"
    assert faults[-1] == "line 30, column 61: aliases (*) are not read"
    assert len(faults) == 30 + 29 * 9


def test_alias_to_itself_is_refused() -> None:
    faults = faults_of(f"x-a: &a [*a]\nagents:\n{GOOD}")
    assert [fault.partition(": ")[2] for fault in faults] == [
        "anchors (&) are not read; write the value out",
        "aliases (*) are not read",
    ]


def test_every_fault_is_listed_at_once_in_the_order_of_the_text() -> None:
    text = """\
name: no
agents:
- id: Ops
  desciption: x
  timeout_s: 010
- id: ops
  description: yes
  tags: [A, b, C]
- id: "1"
  description: x
  description: y
- *x
"""
    text = text.replace("*x", "{id: ops, description: &x z}")
    places = [re.match(r"line (\d+), column (\d+)", fault) for fault in faults_of(text)]
    assert [tuple(map(int, place.groups())) for place in places if place] == [
        (1, 7),
        (3, 3),
        (3, 7),
        (4, 3),
        (5, 14),
        (6, 7),
        (7, 16),
        (8, 10),
        (8, 16),
        (9, 7),
        (11, 3),
        (12, 8),
        (12, 26),
    ]


def test_columns_count_characters_not_bytes() -> None:
    (fault,) = faults_of("agents: [{description: '🧾é', id: no}]")
    assert fault.startswith("line 1, column 34: ")


@pytest.mark.parametrize("opening", ["[", "- ", "{a: "], ids=["flow", "block", "map"])
def test_deep_nesting_is_refused_early(opening: str) -> None:
    faults = faults_of("x-a:\n  " + opening * 200)
    assert len(faults) == 1
    assert "nested deeper than 32 levels; reading stops here" in faults[0]


def test_thirty_levels_are_read() -> None:
    text = f"x-a: {'[' * 30}{']' * 30}\nagents:\n{GOOD}"
    assert len(parse_roster(text, source="t")) == 1


def test_too_many_values_stop_the_reading() -> None:
    faults = faults_of("x-a: [" + "0," * 300_001 + "]")
    assert len(faults) == 1
    assert "more than 300000 values; reading stops here" in faults[0]


def test_faults_are_listed_up_to_a_thousand() -> None:
    assert len(faults_of("x-a: [" + "0x1," * 5000 + "]")) == 1000


def test_too_many_agents_are_refused() -> None:
    text = "agents: [" + "".join(f"{{id: a{n}, description: x}}," for n in range(10_001)) + "]"
    assert faults_of(text) == ["line 1, column 9: agents must be a list of 1 to 10,000 agents"]


def test_what_only_an_agent_can_tell_is_placed_at_the_agent() -> None:
    faults = faults_of_agent('id: a\n  description: x\n  timeout_s: 5.0\n  tags: ["a\\n"]')
    assert faults == [
        "line 4, column 3: agent 'a': tags are slugs: lower-case letters, digits, '_', '.', '-'",
        "line 4, column 3: agent 'a': timeout_s is a whole number of seconds, 1 to 3600",
    ]


def test_faults_never_repeat_long_texts() -> None:
    secret = "s3cr3t" * 20
    for fault in faults_of_agent(f"id: a\n  description: x\n  env: ['{secret}=1']\n  {secret}: 1"):
        assert secret not in fault
