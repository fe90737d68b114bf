import pytest

from tests.support.roster_faults import (
    BLANK,
    LINE,
    ORIGIN,
    OWN,
    SLUG,
    TEXT,
    WHOLE,
    date,
    faults_of_agent,
    number,
    odd,
    truth,
)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param(
            "desciption: y",
            "3: agent 'a': unknown field 'desciption'; did you mean description?",
            id="near-miss",
        ),
        pytest.param(
            "Timeout_S: 5",
            "3: agent 'a': unknown field 'Timeout_S'; did you mean timeout_s?",
            id="near-miss-case",
        ),
        pytest.param(
            "x_note: 5",
            f"3: agent 'a': unknown field 'x_note'; {OWN}",
            id="not-an-extension",
        ),
        pytest.param(
            "name: 5", f"9: agent 'a': name must be {LINE}{number('5')}", id="name-number"
        ),
        pytest.param("name: ''", f"9: agent 'a': name must be {LINE}", id="name-empty"),
        pytest.param(
            "examples: one",
            "13: agent 'a': examples must be a list of at most 100 texts, not a text",
            id="examples-text",
        ),
        pytest.param(
            "examples: [ok, no]",
            f"18: agent 'a': examples[1] must be {TEXT}{truth('no')}",
            id="example-no",
        ),
        pytest.param(
            "examples: [ok, '']", f"18: agent 'a': examples[1] must be {TEXT}", id="example-empty"
        ),
        pytest.param(
            f"examples: [{', '.join(['x'] * 101)}]",
            "13: agent 'a': examples must be a list of at most 100 texts",
            id="examples-many",
        ),
        pytest.param(
            "not_for: {a: b}",
            "12: agent 'a': not_for must be a list of at most 100 texts, not a mapping",
            id="not-for-map",
        ),
        pytest.param(
            "not_for: [~]", f"13: agent 'a': not_for[0] must be {TEXT}{BLANK}", id="not-for-null"
        ),
        pytest.param("tags: [A]", f"10: agent 'a': tags[0] must be {SLUG}", id="tag-upper"),
        pytest.param(
            "tags: [on]", f"10: agent 'a': tags[0] must be {SLUG}{truth('on')}", id="tag-on"
        ),
        pytest.param(
            "enabled: 'no'",
            "12: agent 'a': enabled must be true or false, not a text",
            id="enabled-text",
        ),
        pytest.param(
            "enabled: 1",
            "12: agent 'a': enabled must be true or false, not a number",
            id="enabled-number",
        ),
        pytest.param(
            "enabled:", f"11: agent 'a': enabled must be true or false{BLANK}", id="enabled-null"
        ),
        pytest.param(
            "max_risk: extreme",
            "13: agent 'a': max_risk must be one of low, medium and high",
            id="risk-unknown",
        ),
        pytest.param(
            "max_risk: off",
            f"13: agent 'a': max_risk must be one of low, medium and high{truth('off')}",
            id="risk-off",
        ),
        pytest.param(
            "min_probability: 1.5",
            "20: agent 'a': min_probability must be a number from 0 to 1",
            id="probability-over",
        ),
        pytest.param(
            "min_probability: high",
            "20: agent 'a': min_probability must be a number from 0 to 1, not a text",
            id="probability-text",
        ),
        pytest.param("min_probability: .nan", f"20: {odd('.nan')}", id="probability-nan"),
        pytest.param(
            "capabilities: [gold]",
            "18: agent 'a': capabilities[0] must be one of money, execute and message",
            id="capability-unknown",
        ),
        pytest.param(
            "capabilities: money",
            "17: agent 'a': capabilities must be a list of money, execute and message, not a text",
            id="capability-text",
        ),
        pytest.param(
            "bindings: [telegram]",
            "14: agent 'a': bindings[0] must be a mapping with the field channel, not a text",
            id="binding-text",
        ),
        pytest.param(
            "bindings: [{account: x}]",
            "14: agent 'a': the field channel is missing",
            id="binding-no-channel",
        ),
        pytest.param(
            "bindings: [{channel: x, chanel: y}]",
            "27: agent 'a': unknown field 'chanel'; did you mean channel?",
            id="binding-unknown",
        ),
        pytest.param(
            "bindings: [{channel: x, x-y: y}]",
            f"27: agent 'a': unknown field 'x-y'; {OWN}",
            id="binding-extension",
        ),
        pytest.param(
            "bindings: [{channel: x, account: 7}]",
            f"36: agent 'a': bindings[0].account must be {ORIGIN}{number('7')}",
            id="binding-number",
        ),
        pytest.param(
            'bindings: [{channel: "x\\n"}]',
            f"24: agent 'a': bindings[0].channel must be {ORIGIN}",
            id="binding-newline",
        ),
        pytest.param("timeout_s: 010", f"14: {odd('010')}", id="timeout-octal"),
        pytest.param("timeout_s: 1_000", f"14: {odd('1_000')}", id="timeout-underscore"),
        pytest.param("timeout_s: 1:30", f"14: {odd('1:30')}", id="timeout-sexagesimal"),
        pytest.param("timeout_s: +5", f"14: {odd('+5')}", id="timeout-plus"),
        pytest.param("timeout_s: 0", f"14: agent 'a': {WHOLE}", id="timeout-zero"),
        pytest.param(
            "timeout_s: 2.5", f"14: agent 'a': {WHOLE}, not a number", id="timeout-broken"
        ),
        pytest.param(
            "timeout_s: yes", f"14: agent 'a': {WHOLE}, not a truth value", id="timeout-yes"
        ),
        pytest.param(
            "concurrency: 65",
            "16: agent 'a': concurrency must be a whole number from 1 to 64",
            id="concurrency-over",
        ),
        pytest.param(
            "concurrency: '2'",
            "16: agent 'a': concurrency must be a whole number from 1 to 64, not a text",
            id="concurrency-text",
        ),
        pytest.param(
            "env: [KEY=secret]",
            "9: agent 'a': env[0] must be the name of an environment variable, never a value",
            id="env-value",
        ),
        pytest.param(
            "env: {KEY: secret}",
            "8: agent 'a': env must be a list of names of environment variables, not a mapping",
            id="env-map",
        ),
        pytest.param(
            "<<: {x: 1}", "3: merge keys (<<) are not read; write the fields out", id="merge"
        ),
        pytest.param("on: 1", f"3: a key must be a text{truth('on')}", id="key-on"),
        pytest.param("5: 1", f"3: a key must be a text{number('5')}", id="key-number"),
        pytest.param("? [a]\n  : 1", "5: a key must be a text", id="key-list"),
        pytest.param("? {a: b}\n  : {c: d}", "5: a key must be a text", id="key-map"),
        pytest.param("~: 1", f"3: a key must be a text{BLANK}", id="key-null"),
        pytest.param(
            "name: !!str yes", "9: tags (!) are not read; write a plain value", id="tag-str"
        ),
        pytest.param("name: ! yes", "9: tags (!) are not read; write a plain value", id="tag-bare"),
        pytest.param(
            "name: !!python/object/apply:os.system [x]",
            "9: tags (!) are not read; write a plain value",
            id="tag-python",
        ),
        pytest.param(
            "x-y: !!python/name:os.system x",
            "8: tags (!) are not read; write a plain value",
            id="tag-in-extension",
        ),
        pytest.param(
            "x-y: &anchor {a: b}", "8: anchors (&) are not read; write the value out", id="anchor"
        ),
        pytest.param(
            "x-y: {a: {b: [{c: 1, c: 2}]}}",
            "24: the key 'c' stands twice, first on line 6",
            id="duplicate-deep",
        ),
        pytest.param("x-y: {a: 2026-01-01}", f"12: {date('2026-01-01')}", id="date-in-extension"),
        pytest.param(
            "x-y: {1: a}", f"9: a key must be a text{number('1')}", id="number-key-in-extension"
        ),
        pytest.param(
            "description: y",
            "3: the key 'description' stands twice, first on line 5",
            id="duplicate",
        ),
        pytest.param("? *a\n  : 1", "5: aliases (*) are not read", id="alias-key"),
        pytest.param(
            "? !!str name\n  : x", "5: tags (!) are not read; write a plain value", id="tagged-key"
        ),
    ],
)
def test_fault_of_a_field_is_named_with_its_place(line: str, expected: str) -> None:
    faults = faults_of_agent(f"id: a\n  description: x\n  {line}")
    assert faults == [f"line 6, column {expected}"]
