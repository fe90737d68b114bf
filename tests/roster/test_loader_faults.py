import pytest

from tests.support.roster_faults import (
    AGENT,
    AGENTS,
    BLANK,
    FILE,
    GOOD,
    ID,
    LINE,
    NO_MATCH,
    OWN,
    TEXT,
    date,
    faults_of,
    faults_of_agent,
    number,
    odd,
    truth,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("[]", f"{FILE}, not a list", id="list"),
        pytest.param("agents", f"{FILE}, not a text", id="text"),
        pytest.param("5", f"{FILE}, not a number", id="number"),
        pytest.param("name: x", "1, column 1: the field agents is missing", id="no-agents"),
        pytest.param("agents:", f"1, column 8: {AGENTS}{BLANK}", id="cut-after-agents"),
        pytest.param("agents: []", f"1, column 9: {AGENTS}", id="empty-list"),
        pytest.param("agents: {a: b}", f"1, column 9: {AGENTS}, not a mapping", id="map"),
        pytest.param("agents:\n-", f"2, column 2: agent 1: {AGENT}{BLANK}", id="cut-after-dash"),
        pytest.param(
            "agents: [home]", f"1, column 10: agent 1: {AGENT}, not a text", id="text-agent"
        ),
        pytest.param(
            "agents:\n- id: a",
            "2, column 3: agent 'a': the field description is missing",
            id="cut-before-remit",
        ),
        pytest.param(
            "agents:\n- description: a", "2, column 3: agent 1: the field id is missing", id="no-id"
        ),
        pytest.param(
            "agents:\n- id: a\n  description:",
            f"3, column 15: agent 'a': description must be {TEXT}{BLANK}",
            id="cut-in-remit",
        ),
        pytest.param(
            f"agent:\n{GOOD}agents:\n{GOOD}",
            "1, column 1: unknown field 'agent'; did you mean agents?",
            id="unknown-on-file",
        ),
        pytest.param(
            f"qqq: 1\nagents:\n{GOOD}",
            f"1, column 1: unknown field 'qqq'; {OWN}",
            id="unknown-without-near",
        ),
        pytest.param(
            f"name: no\nagents:\n{GOOD}",
            f"1, column 7: name must be {LINE}{truth('no')}",
            id="file-name-bool",
        ),
        pytest.param(
            f'name: "a\\nb"\nagents:\n{GOOD}',
            f"1, column 7: name must be {LINE}",
            id="file-name-lines",
        ),
        pytest.param(
            f"agents:\n{GOOD}---\nagents: 5",
            "4, column 1: a second document begins; write one only",
            id="two-documents",
        ),
        pytest.param(
            f"agents:\n{GOOD}agents: []",
            "4, column 1: the key 'agents' stands twice, first on line 1",
            id="duplicate-top",
        ),
    ],
)
def test_fault_of_a_file_is_named_with_its_place(text: str, expected: str) -> None:
    assert faults_of(text) == [f"line {expected}"]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # ids
        pytest.param(
            "id: Ops\n  description: x", f"4, column 7: agent 'Ops': {NO_MATCH}", id="id-upper"
        ),
        pytest.param(
            'id: "a\\n"\n  description: x',
            f"4, column 7: agent 'a\\n': {NO_MATCH}",
            id="id-newline",
        ),
        pytest.param(
            'id: ""\n  description: x', f"4, column 7: agent '': {NO_MATCH}", id="id-empty"
        ),
        pytest.param(
            "id: --deliver\n  description: x",
            f"4, column 7: agent '--deliver': {NO_MATCH}",
            id="id-option",
        ),
        pytest.param(
            "id: ассистент\n  description: x",
            f"4, column 7: agent 'ассистент': {NO_MATCH}",
            id="id-not-latin",
        ),
        pytest.param(
            'id: "123"\n  description: x',
            "4, column 7: agent '123': the id is all digits (JSON objects re-order such keys)",
            id="id-digits",
        ),
        pytest.param(
            "id: none\n  description: x",
            "4, column 7: agent 'none': the id is reserved",
            id="id-none",
        ),
        pytest.param(
            "id: none_of_these\n  description: x",
            "4, column 7: agent 'none_of_these': the id is reserved",
            id="id-none-of-these",
        ),
        pytest.param(
            "id: All\n  description: x", "4, column 7: agent 'All': the id is reserved", id="id-all"
        ),
        pytest.param(
            "id: __proto__\n  description: x",
            "4, column 7: agent '__proto__': the id is reserved",
            id="id-proto",
        ),
        pytest.param(
            "id: home\n  description: x",
            "4, column 7: agent 'home': the id is taken by 'home' on line 2; "
            "ids must differ in more than case",
            id="id-twice",
        ),
        pytest.param(
            "id: no\n  description: x", f"4, column 7: agent 2: {ID}{truth('no')}", id="id-no"
        ),
        pytest.param(
            "id: on\n  description: x", f"4, column 7: agent 2: {ID}{truth('on')}", id="id-on"
        ),
        pytest.param("id: ~\n  description: x", f"4, column 7: agent 2: {ID}{BLANK}", id="id-null"),
        pytest.param(
            "id: 7\n  description: x", f"4, column 7: agent 2: {ID}{number('7')}", id="id-number"
        ),
        pytest.param(
            "id: [a]\n  description: x", f"4, column 7: agent 2: {ID}, not a list", id="id-list"
        ),
        pytest.param("id: 0777\n  description: x", f"4, column 7: {odd('0777')}", id="id-octal"),
        pytest.param(
            "id: 1_000\n  description: x", f"4, column 7: {odd('1_000')}", id="id-underscore"
        ),
        pytest.param(
            "id: 12:30\n  description: x", f"4, column 7: {odd('12:30')}", id="id-sexagesimal"
        ),
        pytest.param(
            "id: 0x1f\n  description: x", f"4, column 7: {odd('0x1f')}", id="id-hexadecimal"
        ),
        pytest.param(
            "id: 2026-01-01\n  description: x", f"4, column 7: {date('2026-01-01')}", id="id-date"
        ),
        # remits
        pytest.param(
            'id: a\n  description: ""',
            f"5, column 16: agent 'a': description must be {TEXT}",
            id="remit-empty",
        ),
        pytest.param(
            'id: a\n  description: " \\t"',
            f"5, column 16: agent 'a': description must be {TEXT}",
            id="remit-blank",
        ),
        pytest.param(
            "id: a\n  description: yes",
            f"5, column 16: agent 'a': description must be {TEXT}{truth('yes')}",
            id="remit-yes",
        ),
        pytest.param(
            "id: a\n  description: 2026-01-01 10:00:00",
            f"5, column 16: {date('2026-01-01 10:00:00')}",
            id="remit-date",
        ),
        pytest.param(
            "id: a\n  description: .inf", f"5, column 16: {odd('.inf')}", id="remit-infinity"
        ),
        pytest.param(
            "id: a\n  description: 1.5e+999",
            f"5, column 16: {odd('1.5e+999')}",
            id="remit-overflow",
        ),
        pytest.param(
            f"id: a\n  description: {'9' * 5000}",
            f"5, column 16: {odd('9' * 39 + '…')}",
            id="remit-huge-number",
        ),
        pytest.param(
            "id: a\n  description: [x]",
            f"5, column 16: agent 'a': description must be {TEXT}, not a list",
            id="remit-list",
        ),
        pytest.param(
            f"id: a\n  description: {'x' * 4001}",
            f"5, column 16: agent 'a': description must be {TEXT}",
            id="remit-long",
        ),
        pytest.param(
            'id: a\n  description: "x\\0"',
            "5, column 16: the text holds a NUL or half of a surrogate pair; remove it",
            id="remit-nul",
        ),
    ],
)
def test_fault_of_an_id_or_remit_is_named_with_its_place(lines: str, expected: str) -> None:
    assert faults_of_agent(lines) == [f"line {expected}"]
