"""Every captured output of the real CLI, file by file, to what it means."""

import json
from pathlib import Path
from typing import Any

import pytest

from clawmarshal.transport.outcome import ToolSend, TurnState
from clawmarshal.transport.reply import Asked, Output, Reading, read_turn
from tests.support.openclaw_lab import SAMPLES

DONE, RAN, NOT_RUN, UNKNOWN = (
    TurnState.DONE,
    TurnState.FAILED_RAN,
    TurnState.FAILED_NOT_RUN,
    TurnState.UNKNOWN,
)

EXPECTED = {
    "agent-ok-gateway.json": (DONE, "ok"),
    "agent-ok-local.json": (UNKNOWN, "no-status"),
    "agent-ok-ansi.json": (DONE, "ok"),
    "agent-ok-media.json": (DONE, "ok"),
    "agent-ok-message-tool-sent.json": (DONE, "ok"),
    "agent-ok-deliver.json": (DONE, "ok"),
    "agent-timeout.json": (RAN, "turn-timeout"),
    "agent-provider-500.json": (UNKNOWN, "failed-after-acceptance"),
    "agent-provider-400.json": (UNKNOWN, "failed-after-acceptance"),
    "agent-provider-401.json": (UNKNOWN, "failed-after-acceptance"),
    "agent-provider-cooldown.json": (UNKNOWN, "failed-after-acceptance"),
    "agent-unknown-agent.json": (NOT_RUN, "unknown-agent"),
    "agent-no-selector.json": (NOT_RUN, "argument"),
    "agent-blank-agent.json": (NOT_RUN, "argument"),
    "agent-option-like-agent.json": (UNKNOWN, "cli-error"),
    "agent-unknown-option.json": (NOT_RUN, "argument"),
    "agent-file-missing.json": (NOT_RUN, "message-file"),
    "agent-file-dash.json": (NOT_RUN, "message-file"),
    "agent-file-empty.json": (NOT_RUN, "message-file"),
    "agent-file-not-utf8.json": (NOT_RUN, "message-file"),
    "agent-file-too-large.json": (NOT_RUN, "message-file"),
    "agent-bad-timeout.json": (NOT_RUN, "argument"),
    "agent-session-mismatch.json": (NOT_RUN, "argument"),
    "agent-gateway-down.json": (NOT_RUN, "gateway-down"),
    "agent-gateway-bad-token.json": (NOT_RUN, "gateway-unauthorized"),
    "agent-gateway-killed.json": (UNKNOWN, "failed-after-acceptance"),
    "agent-gateway-frozen.json": (UNKNOWN, "failed-after-acceptance"),
    "agent-session-changed.json": (UNKNOWN, "failed-after-acceptance"),
    "agent-env-shell-exec.json": (NOT_RUN, "environment"),
    "agent-env-gateway-url.json": (NOT_RUN, "environment"),
    "agent-config-invalid.json": (NOT_RUN, "config-invalid"),
    "agent-local-busy.json": (NOT_RUN, "state-busy"),
    "agent-local-sigterm.json": (UNKNOWN, "cli-error"),
    "agent-slash-new.json": (UNKNOWN, "session-unnamed"),
    "agent-slash-compact.txt": (UNKNOWN, "no-document"),
    "agents-list.json": (UNKNOWN, "no-document"),
    "agents-bindings.json": (UNKNOWN, "no-document"),
    "config-get-agents-entries.json": (UNKNOWN, "no-document"),
    "gateway-call-agents-list.json": (UNKNOWN, "no-document"),
    "health.json": (UNKNOWN, "no-document"),
    "version.txt": (UNKNOWN, "no-document"),
    "http-chat-completions.json": (UNKNOWN, "no-document"),
    "http-responses.json": (UNKNOWN, "no-document"),
    "gateway-status.json": (UNKNOWN, "no-document"),
}
SESSIONS = {
    "agent-ok-gateway.json": ("finance", "demo"),
    "agent-ok-ansi.json": ("finance", "an"),
    "agent-ok-media.json": ("finance", "med"),
    "agent-ok-message-tool-sent.json": ("personal", "dt1"),
    "agent-ok-deliver.json": ("personal", "main"),
    "agent-timeout.json": ("personal", "tmo2"),
}
INDEX: list[dict[str, Any]] = json.loads((SAMPLES / "INDEX.json").read_text(encoding="utf-8"))


def read(entry: dict[str, Any], **changes: Any) -> Reading:
    agent, key = SESSIONS.get(entry["file"], ("finance", "demo"))
    output = {
        "stdout": (SAMPLES / entry["file"]).read_bytes(),
        "stderr": entry.get("stderr", "").encode(),
        "exit_code": entry["exit_code"],
    }
    asked = {"agent_id": agent, "session_key": key, "text": "x", "cli_version": "2026.9.6"}
    for name, value in changes.items():
        (asked if name in asked else output)[name] = value
    return read_turn(Output(**output), Asked(**asked))


def sample(name: str) -> dict[str, Any]:
    return next(entry for entry in INDEX if entry["file"] == name)


@pytest.mark.parametrize("entry", INDEX, ids=[entry["file"] for entry in INDEX])
def test_sample_means_what_the_table_says(entry: dict[str, Any]) -> None:
    reading = read(entry)

    assert (reading.state, reading.code) == EXPECTED[entry["file"]], reading
    assert len(reading.detail) > 10
    assert (reading.reply_text is not None) == (reading.state is DONE)


def test_every_sample_is_in_the_table() -> None:
    files = {path.name for path in Path(SAMPLES).iterdir()} - {"INDEX.json"}

    assert files == set(EXPECTED) == {entry["file"] for entry in INDEX}


@pytest.mark.parametrize("name", [n for n, (state, _) in EXPECTED.items() if state is NOT_RUN])
def test_untested_version_proves_nothing(name: str) -> None:
    assert read(sample(name), cli_version="2026.10.1").state is UNKNOWN


@pytest.mark.parametrize("name", [n for n, (state, _) in EXPECTED.items() if state is NOT_RUN])
@pytest.mark.parametrize(
    "changes",
    [
        {"exit_code": 0},
        {"exit_code": 2},
        {"exit_code": None, "signal": 9},
        {"stopped": "linger"},
        {"is_lost": True},
    ],
    ids=["exit-0", "exit-2", "signal", "our-stop", "lost"],
)
def test_only_exit_1_proves_that_nothing_ran(name: str, changes: dict[str, Any]) -> None:
    assert read(sample(name), **changes).state is UNKNOWN


def test_refusal_on_stderr_alone_proves_nothing() -> None:
    name = "agent-gateway-down.json"
    document = (SAMPLES / name).read_text(encoding="utf-8")

    assert read(sample(name), stdout=b"", stderr=document.encode()).state is UNKNOWN


@pytest.mark.parametrize("name", SESSIONS)
def test_answer_for_another_session_is_unknown(name: str) -> None:
    agent, key = SESSIONS[name]

    assert read(sample(name), session_key=key + "x").code == "wrong-session"
    assert read(sample(name), agent_id=agent + "x").code == "wrong-agent"


@pytest.mark.parametrize("name", [n for n, (state, _) in EXPECTED.items() if state is DONE])
def test_cut_anywhere_no_sample_is_done(name: str) -> None:
    whole = (SAMPLES / name).read_bytes().rstrip()
    step = max(1, len(whole) // 300)

    for size in range(0, len(whole), step):
        assert read(sample(name), stdout=whole[:size]).state is UNKNOWN, size


def test_ansi_sample_is_cleaned_and_kept_raw() -> None:
    reading = read(sample("agent-ok-ansi.json"))

    assert reading.reply_text is not None and reading.raw_text is not None
    assert not any(c in reading.reply_text for c in "\x1b\x07\x08\u202e\u200b\u2028\r")
    assert "red" in reading.reply_text and "café" in reading.reply_text
    assert "\x1b[31m" in reading.raw_text and "\u202e" in reading.raw_text


def test_what_a_turn_sent_by_itself_is_told() -> None:
    reading = read(sample("agent-ok-message-tool-sent.json"))

    assert reading.tool_sends == (ToolSend("telegram", "telegram:555", "SENT BY TOOL"),)


@pytest.mark.parametrize(
    ("name", "run_id"),
    [
        ("agent-ok-gateway.json", "b6151c96-3351-4287-9ddb-515fbd58f547"),
        ("agent-gateway-killed.json", "80bd6eae-91da-4621-99aa-c8bb71059be8"),
    ],
)
def test_run_id_is_read(name: str, run_id: str) -> None:
    assert read(sample(name)).run_id == run_id


def test_facts_hold_no_text_of_the_message() -> None:
    facts = read(sample("agent-ok-gateway.json")).facts

    assert facts["model"] == "echo-finance"
    assert facts["tokens"] == 27
    assert "budget" not in json.dumps(facts)
