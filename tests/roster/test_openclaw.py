import json
from pathlib import Path

import pytest

from clawmarshal.roster.openclaw import agent_ids

SAMPLE = Path(__file__).parents[1] / "support" / "openclaw" / "gateway-call-agents-list.json"


def test_ids_are_read_from_what_the_cli_printed() -> None:
    printed = SAMPLE.read_bytes()
    expected = frozenset({"finance", "personal", "security"})
    assert agent_ids(printed) == expected
    assert agent_ids(printed.decode()) == expected
    assert agent_ids(json.loads(printed)) == expected


def test_ids_are_folded_as_openclaw_folds_them() -> None:
    assert agent_ids({"agents": [{"id": "Ops"}, {"id": " main "}]}) == frozenset({"ops", "main"})


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(None, id="nothing"),
        pytest.param("", id="empty-text"),
        pytest.param(b"", id="empty-bytes"),
        pytest.param("{", id="cut-off"),
        pytest.param(b"\xff\xfe", id="not-utf8"),
        pytest.param("[" * 100_000, id="deep"),
        pytest.param("9" * 5000, id="huge-number"),
        pytest.param({}, id="empty-mapping"),
        pytest.param([], id="empty-list"),
        pytest.param([{"id": "main"}], id="answer-of-agents-list"),
        pytest.param({"main": {}}, id="answer-of-config-get"),
        pytest.param({"agents": []}, id="no-agents"),
        pytest.param({"agents": None}, id="null-agents"),
        pytest.param({"agents": {"main": {}}}, id="agents-as-a-map"),
        pytest.param({"agents": ["main"]}, id="agent-as-a-text"),
        pytest.param({"agents": [{"id": "a"}, {"name": "b"}]}, id="agent-without-id"),
        pytest.param({"agents": [{"id": "a"}, {"id": 5}]}, id="number-id"),
        pytest.param({"agents": [{"id": "  "}]}, id="blank-id"),
        pytest.param('{"agents": [{"id": "\\ud800"}]}', id="half-a-character"),
        pytest.param({"agents": [{"id": "a"}, {"id": "b\x1b[31m"}]}, id="terminal-code"),
        pytest.param({"agents": [{"id": "a\u202eb"}]}, id="turns-its-direction"),
        pytest.param({"agents": [{"id": "a" * 129}]}, id="long-id"),
        pytest.param({"agents": [{"id": f"a{n}"} for n in range(10_001)]}, id="too-many"),
        pytest.param({"ok": False, "error": {"type": "cli_error"}}, id="error-document"),
        pytest.param(5, id="number"),
    ],
)
def test_what_is_not_understood_means_fleet_unknown(document: object) -> None:
    assert agent_ids(document) is None
