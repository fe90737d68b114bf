"""What is read out of the Gateway's answers about a lost turn, and what never is."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmarshal.transport.evidence import (
    SKEW_MS,
    Evidence,
    EvidenceCode,
    LostTurn,
    is_aborted,
    parse,
    read_evidence,
    run_in,
)

KIT = Path(__file__).parents[1] / "support" / "openclaw"
RUN = "c0f1303c-caf9-44ff-8d7b-f8099a37541b"
TEXT = "Message (untrusted, routed by clawmarshal):\nword-alpha please [[slow=6]]"
AT_MS = 1796104777133
C = EvidenceCode


def sample(name: str) -> Any:
    """Return what the real Gateway 2026.9.6 answered."""
    return json.loads((KIT / f"gateway-call-{name}.json").read_text())


RUNNING, DONE = sample("chat-history-running"), sample("chat-history-done")
ENDED = sample("agent-wait-done")
UNKNOWN_RUN = {"runId": RUN, "status": "timeout"}
NO_SESSION: dict[str, Any] = {"sessionKey": "agent:finance:x", "messages": [], "totalMessages": 0}


def lost(run_id: str | None = RUN, *, text: str = TEXT, launched_ms: int = AT_MS) -> LostTurn:
    return LostTurn("finance", "cm-" + "a" * 16, run_id, {text}, launched_ms)


def read(history: object, wait: object = None, **more: Any) -> Evidence:
    return read_evidence(history, wait, turn=lost(**more))


@pytest.mark.parametrize("run_id", [RUN, None], ids=["run-known", "run-not-known"])
def test_answer_in_the_transcript_is_found(run_id: str | None) -> None:
    found = read(DONE, ENDED, run_id=run_id)
    assert (found.code, found.run_id) == (C.ANSWERED, RUN)
    assert found.found_by == ("run-id" if run_id else "text")
    assert (found.reply_text or "").startswith("[echo-finance] echo:")
    assert found.code.is_final
    assert "word-alpha" not in json.dumps(dict(found.facts))


def test_run_of_a_message_is_named_by_the_transcript() -> None:
    assert run_in(RUNNING, lost(None)) == RUN
    assert run_in(DONE, lost(None, text="another")) is None
    assert run_in(None, lost()) == RUN


@pytest.mark.parametrize("run_id", [RUN, None], ids=["run-known", "run-not-known"])
def test_run_under_way_is_running(run_id: str | None) -> None:
    found = read(RUNNING, UNKNOWN_RUN, run_id=run_id)
    assert (found.code, found.run_id, found.reply_text) == (C.RUNNING, RUN, None)
    assert not found.code.is_final


def test_answer_of_the_run_alone_is_enough() -> None:
    found = read(None, ENDED)
    assert (found.code, found.found_by) == (C.ANSWERED, "run-id")


def without(document: Any, *, drop: Callable[[Any], object]) -> Any:
    changed = copy.deepcopy(document)
    drop(changed)
    return changed


def test_run_that_ended_without_an_answer_is_ended() -> None:
    silent = without(ENDED, drop=lambda d: (d.pop("terminalReply"), d.update(status="error")))
    found = read(NO_SESSION, silent)
    assert (found.code, found.facts["run_status"]) == (C.ENDED, "error")
    assert read(NO_SESSION, {**ENDED, "status": "error"}).reply_text is None


def test_message_without_an_answer_has_arrived() -> None:
    idle = without(RUNNING, drop=lambda d: d.pop("inFlightRun"))
    assert read(idle, UNKNOWN_RUN).code is C.ARRIVED


@pytest.mark.parametrize("wait", [None, UNKNOWN_RUN], ids=["not-asked", "run-not-known"])
def test_nothing_is_never_more_than_nothing_found(wait: object) -> None:
    found = read(NO_SESSION, wait)
    assert (found.code, found.code.is_final) == (C.NOTHING_FOUND, False)


def test_model_that_calls_a_tool_or_fails_has_not_answered() -> None:
    for reason in ("toolUse", "error", "aborted", None):
        cut = copy.deepcopy(DONE)
        cut["messages"][1]["stopReason"] = reason
        assert read(cut, UNKNOWN_RUN).code is C.ARRIVED, reason


def test_answer_to_somebody_elses_message_is_not_ours() -> None:
    other = json.loads(json.dumps(DONE).replace(RUN, "f" * 36))
    assert read(other, UNKNOWN_RUN).code is C.NOTHING_FOUND
    assert read(DONE, text="Another text.", run_id=None).code is C.NOTHING_FOUND


def test_same_words_of_long_before_are_not_ours() -> None:
    assert read(DONE, run_id=None, launched_ms=AT_MS + SKEW_MS).code is C.ANSWERED
    late = read(DONE, run_id=None, launched_ms=AT_MS + SKEW_MS + 1)
    assert late.code is C.NOTHING_FOUND


def test_newest_message_of_the_same_words_is_ours() -> None:
    twice = copy.deepcopy(DONE)
    again = json.loads(json.dumps(RUNNING["messages"]).replace(RUN, "e" * 36))
    twice["messages"] += again
    found = read(twice, run_id=None)
    assert (found.code, found.run_id) == (C.ARRIVED, "e" * 36)


def test_what_other_runs_answered_behind_it_is_counted_and_is_not_its_answer() -> None:
    recovered = json.loads(json.dumps(DONE))
    recovered["messages"][1]["__openclaw"]["runId"] = "e" * 36
    found = read(recovered, UNKNOWN_RUN)
    assert (found.code, found.reply_text) == (C.ARRIVED, None)
    assert found.facts["answers_of_other_runs"] == 1
    assert "answers_of_other_runs" not in read(DONE).facts


@pytest.mark.parametrize(
    ("shown", "code"),
    [
        pytest.param(300, C.ANSWERED, id="cut-by-the-gateway"),
        pytest.param(100, C.NOTHING_FOUND, id="too-short-to-tell"),
    ],
)
def test_text_that_the_gateway_cut_is_recognised_by_its_beginning(
    shown: int, code: EvidenceCode
) -> None:
    text = "".join(f"word {n} " for n in range(500)).strip()
    cut = copy.deepcopy(DONE)
    cut["messages"][0]["content"] = [{"type": "text", "text": text[:shown] + "…"}]
    assert read(cut, run_id=None, text=text).code is code


def test_answer_is_cleaned_and_bounded() -> None:
    loud = copy.deepcopy(DONE)
    loud["messages"][1]["content"][0]["text"] = "\x1b[2Jok\u202e" + "y" * 200_000
    reply = read(loud).reply_text or ""
    assert reply.startswith("oky")
    assert len(reply) == 100_000


@pytest.mark.parametrize(
    "history",
    [
        None,
        {},
        [],
        "x",
        {"messages": None},
        {"messages": {}},
        {"payload": {"messages": []}},
    ],
    ids=repr,
)
def test_other_shapes_are_not_understood(history: object) -> None:
    assert read(history).code is C.NOT_UNDERSTOOD


@pytest.mark.parametrize(
    "printed",
    [
        b"",
        b"\xff\xfe",
        b'{"messages": [',
        b"<html>502</html>",
        b"[]",
        b"[" * 100_000,
        b'{"ok": false, "error": {"message": "unauthorized"}}',
    ],
    ids=lambda value: repr(value[:12]),
)
def test_what_is_no_answer_is_not_read(printed: bytes) -> None:
    assert parse(printed) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["messages", "role", "content", "text", "type", "timestamp", "idempotencyKey", "status",
             "__openclaw", "runId", "inFlightRun", "sessionInfo", "endedAt", "terminalReply"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=20,
)  # fmt: skip


@given(JSON, JSON, st.sampled_from([RUN, None]))
def test_no_shape_breaks_the_reading(history: object, wait: object, run_id: str | None) -> None:
    found = read(history, wait, run_id=run_id)
    json.dumps(dict(found.facts))
    assert found.reply_text is None or found.code is C.ANSWERED


@pytest.mark.parametrize("ended", [2**53, -(10**400), True, 1.5, "soon"], ids=repr)
def test_time_that_no_ledger_holds_is_no_time(ended: object) -> None:
    found = read_evidence(NO_SESSION, {"status": "error", "endedAt": ended}, turn=lost())

    assert "ended_ms" not in found.facts


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"startedAt": 1000}, True),
        ({"startedAt": 999}, False),
        ({"startedAt": None}, False),
        ({"startedAt": "2000"}, False),
        ({"endedAt": None}, False),
        ({"endedAt": 1999}, False),
        ({"stopReason": "stop"}, False),
        ({"stopReason": None}, False),
        ({"status": "ok"}, False),
        ({"status": "timeout"}, False),
    ],
    ids=repr,
)
def test_only_an_abort_since_the_launch_is_the_gateways_word(
    changes: dict[str, object], expected: bool
) -> None:
    told = {"status": "error", "stopReason": "rpc", "startedAt": 2000, "endedAt": 3000}

    assert is_aborted(told | changes, since_ms=1000) is expected


def test_no_answer_is_no_abort() -> None:
    nothing: tuple[object, ...] = (None, [], "rpc", {})
    assert not any(is_aborted(told, since_ms=0) for told in nothing)
