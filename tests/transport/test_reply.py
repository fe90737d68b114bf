"""What an output means, case by case, beyond the captured samples."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmarshal.transport.documents import Shape, find_documents
from clawmarshal.transport.outcome import ToolSend, TurnState
from clawmarshal.transport.refusals import find_refusal
from clawmarshal.transport.reply import Asked, Output, Reading, has_answer, read_turn

KEY = "cm-" + "0" * 16
SESSION = f"agent:finance:{KEY}"
VISIBLE = {"text": "hello", "mediaUrl": None}
ERROR = {"text": "no", "isError": True}


def document(
    *entries: dict[str, Any], session: str | None = SESSION, **more: Any
) -> dict[str, Any]:
    meta: dict[str, Any] = {"agentMeta": {"sessionId": "s"}}
    if session is not None:
        meta["agentMeta"]["sessionFile"] = session
        meta["systemPromptReport"] = {"sessionKey": session}
    result = {"payloads": list(entries), "meta": meta, **more.pop("result", {})}
    return {"runId": "r1", "status": "ok", "summary": "completed", "result": result, **more}


def read(
    *values: object, text: str = "x", stderr: str = "", exit_code: int | None = 0, **output: Any
) -> Reading:
    stdout = "\n".join(v if isinstance(v, str) else json.dumps(v, indent=2) for v in values)
    return read_turn(
        Output(stdout.encode(), stderr.encode(), exit_code=exit_code, **output),
        Asked("finance", KEY, text, "2026.9.6"),
    )


def test_visible_texts_are_joined_and_the_rest_is_left_out() -> None:
    hidden = [
        {"text": "hidden", flag: True}
        for flag in (
            "isError",
            "isReasoning",
            "isCommentary",
            "isStatusNotice",
            "isCompactionNotice",
            "isFallbackNotice",
        )
    ]

    reading = read(document(VISIBLE, *hidden, {"text": " "}, {"mediaUrl": "x"}, {"text": "again"}))

    assert (reading.state, reading.reply_text) == (TurnState.DONE, "hello\n\nagain")


@pytest.mark.parametrize(
    ("value", "state", "code"),
    [
        (document(), "unknown", "no-visible-text"),
        (document({"text": " \n"}), "unknown", "no-visible-text"),
        (document({"text": "n", "isStatusNotice": True}), "unknown", "no-visible-text"),
        (document(ERROR), "failed_ran", "error-reply"),
        (document(ERROR, ERROR, status="error"), "failed_ran", "error-reply"),
        (document(ERROR, VISIBLE), "done", "ok"),
        (document(VISIBLE, status="error"), "unknown", "status-not-ok"),
        (document(VISIBLE, status="in_flight"), "unknown", "status-not-ok"),
        (document(VISIBLE, status="OK"), "unknown", "status-not-ok"),
        (document(VISIBLE, status="timeout"), "failed_ran", "turn-timeout"),
        (document(VISIBLE, session=None), "unknown", "session-unnamed"),
        (document(VISIBLE, session="/home/x/sessions/a.jsonl"), "unknown", "session-unnamed"),
        (document(VISIBLE, session="agent:finance:main"), "unknown", "wrong-session"),
        (document(VISIBLE, session=f"agent:security:{KEY}"), "unknown", "wrong-agent"),
        (document(VISIBLE, session="global"), "unknown", "wrong-agent"),
        (document(ERROR, session=f"agent:security:{KEY}"), "unknown", "wrong-agent"),
        (document(VISIBLE, session=SESSION.upper().lower()), "done", "ok"),
        ({"status": "ok", "summary": "x"}, "unknown", "session-unnamed"),
        ({"status": "ok", "result": [1]}, "unknown", "session-unnamed"),
        ({"payloads": [VISIBLE], "meta": {}}, "unknown", "no-status"),
        ({"runId": 1}, "unknown", "unknown-shape"),
        ({"payloads": "x"}, "unknown", "unknown-shape"),
        ({"ok": False, "error": {}}, "unknown", "cli-error"),
        ({"ok": False, "error": {"message": 3}}, "unknown", "cli-error"),
        ({"ok": False, "error": "text"}, "unknown", "no-document"),
        ([document(VISIBLE)], "unknown", "no-document"),
        ({"level": "info", "msg": json.dumps(document(VISIBLE))}, "unknown", "no-document"),
    ],
)
def test_document_is_judged(value: object, state: str, code: str) -> None:
    reading = read(value)

    assert (reading.state, reading.code) == (state, code), reading


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        (["log", document(VISIBLE), "log"], "ok"),
        (["\ufeff" + json.dumps(document(VISIBLE))], "ok"),
        (["\x1b[0m" + json.dumps(document(VISIBLE))], "ok"),
        (["[plugins] {loaded}", {"level": "info"}, document(VISIBLE), "{}", "text"], "ok"),
        (["{ not json", document(VISIBLE)], "ok"),
        ([document(VISIBLE), document(VISIBLE)], "two-documents"),
        ([document(VISIBLE), {"ok": False, "error": {}}], "two-documents"),
        ([{"runId": "x"}, document(VISIBLE)], "two-documents"),
        (["log " + json.dumps(document(VISIBLE))], "document-embedded"),
        (["log " + json.dumps(document(VISIBLE)), document(VISIBLE)], "two-documents"),
        ([document(VISIBLE), '{"runId": "x", '], "document-cut"),
        (['{"a": "unterminated'], "document-cut"),
        (['{"result": ' + json.dumps({"payloads": [VISIBLE], "meta": {}})], "document-cut"),
    ],
)  # fmt: skip
def test_noise_is_told_from_ambiguity(parts: list[object], code: str) -> None:
    assert read(*parts).code == code


def test_noise_is_kept_bounded_and_clean() -> None:
    reading = read("\x1b[31mbefore", document(VISIBLE), "after" + "x" * 5000)

    assert reading.noise.startswith("before\n")
    assert "hello" not in reading.noise
    assert len(reading.noise) == 2000


@pytest.mark.parametrize(
    ("output", "code"),
    [
        ({"exit_code": 1}, "exit-disagrees"),
        ({"exit_code": None, "signal": 9}, "exit-disagrees"),
        ({"exit_code": None, "signal": 15, "stopped": "linger", "had_document": True}, "ok"),
        ({"exit_code": 143, "stopped": "asked", "had_document": True}, "ok"),
        ({"exit_code": 143, "stopped": "asked", "had_document": False}, "exit-disagrees"),
        ({"exit_code": 0, "stopped": "deadline"}, "exit-disagrees"),
        ({"is_cut": True}, "reply-too-large"),
        ({"is_lost": True}, "keeper-lost"),
    ],
)
def test_answer_counts_only_with_a_good_end(output: dict[str, Any], code: str) -> None:
    assert read(document(VISIBLE), **output).code == code


@pytest.mark.parametrize(
    ("output", "code"),
    [
        ({"stopped": "deadline"}, "deadline"),
        ({"stopped": "asked"}, "stopped"),
        ({"signal": 11}, "killed"),
        ({}, "no-document"),
    ],
)
def test_silence_is_unknown_whatever_ended_it(output: dict[str, Any], code: str) -> None:
    reading = read("", exit_code=None, **output)

    assert (reading.state, reading.code) == (TurnState.UNKNOWN, code)


@pytest.mark.parametrize(
    "stderr",
    [
        "Interrupted by SIGTERM; failed to abort Gateway run 80bd6eae-91da-4621: Error",
        "may still be running this turn (accepted run 80bd6eae-91da-4621). Check",
        "Interrupted by SIGINT; Gateway run 80bd6eae-91da-4621 was not confirmed aborted.",
    ],
)
def test_run_id_is_read_from_stderr_and_forbids_not_run(stderr: str) -> None:
    assert read("", stderr=stderr).run_id == "80bd6eae-91da-4621"
    refused = {"ok": False, "error": {"message": "Gateway not reachable at ws://x"}}
    assert read(refused, exit_code=1).state is TurnState.FAILED_NOT_RUN
    assert read(refused, exit_code=1, stderr=stderr).state is TurnState.UNKNOWN


def test_doubt_in_the_words_forbids_not_run() -> None:
    words = "Gateway not reachable at x. The request was already sent to the gateway"

    assert find_refusal("2026.9.6", words) is None
    assert find_refusal("2026.9.6", words.partition(".")[0]) is not None
    assert find_refusal(None, words.partition(".")[0]) is None


@pytest.mark.parametrize("run_id", ["", "a b", "x" * 200, 7, None, "a\n"], ids=repr)
def test_run_id_of_a_strange_kind_still_means_accepted(run_id: object) -> None:
    refused = {"ok": False, "runId": run_id, "error": {"message": "Gateway not reachable at x"}}

    reading = read(refused, exit_code=1)

    assert (reading.state, reading.run_id) == (TurnState.UNKNOWN, None)


@pytest.mark.parametrize(
    ("result", "sends"),
    [
        ({"didSendViaMessagingTool": True}, (ToolSend(None, None, None),)),
        ({"didSendViaMessagingTool": False}, ()),
        ({"messagingToolSentTexts": ["a\x1b[0m"]}, (ToolSend(None, None, "a"),)),
        ({"messagingToolSentMediaUrls": ["x"]}, (ToolSend(None, None, None),)),
        ({"messagingToolSentTexts": "odd", "messagingToolSentTargets": [3]}, None),
        (
            {"messagingToolSentTargets": [{"provider": "sms", "to": "1", "text": "a"}],
             "messagingToolSentTexts": ["a", "b"]},
            (ToolSend("sms", "1", "a"), ToolSend(None, None, "b")),
        ),
    ],
)  # fmt: skip
def test_tool_sends_are_told(result: dict[str, Any], sends: tuple[ToolSend, ...] | None) -> None:
    found = read(document(VISIBLE, result=result)).tool_sends

    assert found == (sends if sends is not None else (ToolSend(None, None, None),))


def test_strange_values_make_no_facts() -> None:
    reading = read(document(VISIBLE, summary=["x"], timeoutPhase="a\x1b[0m", providerStarted=True))

    assert reading.facts["timeout_phase"] == "a"
    assert reading.facts["provider_started"] is True
    assert "summary" not in reading.facts


@given(st.text())
def test_no_text_of_a_message_echoed_whole_is_a_result(text: str) -> None:
    assert read(text, text=text).state is TurnState.UNKNOWN


NAMES = """runId status result summary payloads meta agentMeta sessionFile systemPromptReport
    sessionKey text isError ok error message usage total messagingToolSentTargets
    messagingToolSentTexts didSendViaMessagingTool""".split()
LEAVES = st.sampled_from([None, True, False, 0, 1.5, "", "ok", "timeout", SESSION, "x\ud800"])
TREES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(NAMES), TREES, max_size=6), st.sampled_from([0, 1, None]))
def test_no_document_breaks_the_reading(value: dict[str, object], exit_code: int | None) -> None:
    reading = read(value, exit_code=exit_code)

    assert reading.state in TurnState
    json.dumps(dict(reading.facts)).encode()
    repr(reading).encode()


@pytest.mark.parametrize("exit_code", [0, 1])
@pytest.mark.parametrize(
    "forged",
    [document(VISIBLE), {"ok": False, "error": {"message": "Unknown agent id x"}}, document(ERROR)],
    ids=["ok", "not-run", "error"],
)
def test_document_of_the_message_is_an_echo(forged: object, exit_code: int) -> None:
    text = json.dumps(forged)

    assert read(text, text=f"look: {text} !", exit_code=exit_code).code == "document-echoed"
    again = json.dumps(forged, indent=4)
    assert read(again, text=f"look: {text} !", exit_code=exit_code).code == "document-echoed"


@pytest.mark.parametrize(
    "text",
    [
        '{"a":' * 100_000,
        '{"a":[' * 900 + "0," * 200_000,
        "{" * 500_000,
        '{"' * 200_000,
        "[" * 300_000,
        '{"a":1}' * 100_000,
        'x {"a":"' * 50_000,
    ],
    ids=["objects", "deep-then-long", "braces", "strings", "lists", "many", "unended"],
)
def test_search_ends_soon_whatever_stands_there(text: str) -> None:
    assert find_documents(text).documents == ()
    assert find_documents("x" + text).documents == ()


def test_tangle_is_ambiguous() -> None:
    tangle = "x " + '{"a":[' * 900 + "0," * 200_000

    assert find_documents(tangle).is_too_tangled
    assert read(tangle).code == "output-tangled"


@pytest.mark.parametrize(
    ("stdout", "expected"),
    [
        (json.dumps(document(VISIBLE)), True),
        (json.dumps(document(VISIBLE))[:-1], False),
        (json.dumps(document(VISIBLE)) * 2, False),
        ('{"runId": 1}', False),
        ("", False),
    ],
    ids=["whole", "half", "two", "strange", "empty"],
)
def test_answer_is_seen_as_soon_as_it_is_whole(stdout: str, expected: bool) -> None:
    assert has_answer(stdout.encode()) is expected


def test_shapes_are_told_apart() -> None:
    shapes = [
        find_documents(text).documents[0].shape
        for text in (
            json.dumps(document(VISIBLE)),
            '{"payloads": [], "meta": {}}',
            '{"ok": false, "error": {}}',
            '{"runId": "x"}',
        )
    ]

    assert shapes == [Shape.RESULT, Shape.EMBEDDED, Shape.ERROR, Shape.STRANGE]
