"""No input can put another argument into an argv."""

import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmarshal.errors import NotLaunchedError
from clawmarshal.transport.command import (
    ARGUMENTS,
    CALLS,
    ReadOnly,
    history_argv,
    read_only_argv,
    run_argv,
    turn_argv,
)

CLOSED = re.compile(
    r"/node\0/openclaw\.mjs\0agent\0--agent=[a-z0-9][a-z0-9_-]*\0--session-key=cm-[0-9a-f]{16,64}"
    r"\0--message-file=(/[A-Za-z0-9._+@ -]+)+\0--timeout=[1-9][0-9]{0,3}\0--json"
)
KEY = "cm-" + "a" * 32
GOOD = {"agent_id": "finance", "session_key": KEY, "message_file": "/tmp/m.txt", "timeout_s": 60}
EXECUTABLE = ("/node", "/openclaw.mjs")


def build(**changes: object) -> tuple[str, ...]:
    return turn_argv(EXECUTABLE, **{**GOOD, **changes})  # type: ignore[arg-type]  # bad on purpose


def test_turn_has_exactly_these_arguments() -> None:
    assert build() == (
        "/node",
        "/openclaw.mjs",
        "agent",
        "--agent=finance",
        f"--session-key={KEY}",
        "--message-file=/tmp/m.txt",
        "--timeout=60",
        "--json",
    )


BAD: tuple[tuple[str, tuple[object, ...]], ...] = (
    ("agent_id", ("--deliver", "-x", "", "a b", "A", "a\n", "a\0", "a=b", "none", "9", "é", None)),
    ("session_key", ("main", "cm-", "cm-xyz", "CM-" + "a" * 32, "cm-" + "A" * 32, "agent:x:cm-a")),
    ("session_key", ("cm-" + "a" * 65, "cm-" + "a" * 15, KEY + "\n", "--deliver", None)),
    ("session_key", ("cm-" + "١" * 16,)),
    ("message_file", ("m.txt", "-", "", "/", "//a", "/a/../b", "/a/./b", "/a\nb", "/a\0", "/é")),
    ("message_file", ("/tmp/$(id)", "/tmp/a;b", "file:///a", None)),
    ("timeout_s", (0, -1, 3601, 1.5, True, "60", None)),
)


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in BAD for v in values], ids=repr)
def test_anything_else_is_refused(name: str, value: object) -> None:
    with pytest.raises(NotLaunchedError) as caught:
        build(**{name: value})

    assert caught.value.code == "argument-refused"


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "agent_id": st.text() | st.from_regex(r"[a-z0-9_-]{1,5}"),
            "session_key": st.text() | st.from_regex(r"cm-[0-9a-f]{16,20}"),
            "message_file": st.text() | st.from_regex(r"(/[a-z.-]{1,4}){1,3}"),
            "timeout_s": st.integers() | st.integers(1, 3600) | st.floats(),
        },
    )
)
def test_every_argv_that_comes_out_is_closed(changes: dict[str, object]) -> None:
    with suppress(NotLaunchedError):
        assert CLOSED.fullmatch("\0".join(build(**changes)))


@pytest.mark.parametrize("executable", [(), ("node",), ("/node", "a\0b")], ids=repr)
def test_executable_must_be_absolute(executable: tuple[str, ...]) -> None:
    with pytest.raises(NotLaunchedError):
        read_only_argv(executable, ReadOnly.VERSION)


def every_call() -> list[tuple[str, ...]]:
    """Return each read-only argv there is, behind the executable."""
    return [
        *(read_only_argv(("/x",), call)[1:] for call in ReadOnly),
        history_argv(("/x",), agent_id="finance", session_key=KEY)[1:],
        run_argv(("/x",), "run-1")[1:],
    ]


def test_read_only_calls_are_exactly_these() -> None:
    session = '{"limit":50,"sessionKey":"agent:finance:' + KEY + '"}'

    assert every_call() == [
        ("--version",),
        ("agent", "--help"),
        ("gateway", "call", "config.get", "--json"),
        ("gateway", "call", "agents.list", "--json"),
        ("gateway", "call", "health", "--json"),
        ("gateway", "call", "status", "--json"),
        ("gateway", "call", "chat.history", f"--params={session}", "--json"),
        ("gateway", "call", "agent.wait", '--params={"runId":"run-1","timeoutMs":1000}', "--json"),
    ]


def test_read_only_call_cannot_be_made_up() -> None:
    with pytest.raises(NotLaunchedError):
        read_only_argv(("/x",), ("agent", "--deliver"))  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize(
    "run_id", ["", "-x", 'a"b', "a,b", "a b", "a\n", "é", "x" * 129, None], ids=repr
)
def test_look_up_takes_no_other_run_id(run_id: object) -> None:
    with pytest.raises(NotLaunchedError) as caught:
        run_argv(("/x",), run_id)  # type: ignore[arg-type]  # bad on purpose
    assert caught.value.code == "argument-refused"


@pytest.mark.parametrize(
    ("name", "value"),
    [(n, v) for n, values in BAD if n in ("agent_id", "session_key") for v in values],
    ids=repr,
)
def test_look_up_takes_no_other_session(name: str, value: object) -> None:
    told = {"agent_id": "finance", "session_key": KEY, name: value}

    with pytest.raises(NotLaunchedError):
        history_argv(("/x",), **told)  # type: ignore[arg-type]  # bad on purpose


def test_published_arguments_are_those_of_a_turn() -> None:
    argv = turn_argv(
        ("/node", "--max-old-space-size=64", "/openclaw.mjs"),
        **GOOD,  # type: ignore[arg-type]  # a mapping of every kind
    )

    published = [argument.form.partition("=")[0] for argument in ARGUMENTS]
    assert published[3:] == [part.partition("=")[0] for part in argv[3:]]
    assert published[:3] == ["NODE", "[NODE OPTION]", "OPENCLAW.MJS"]
    assert all(row.origin and row.reason and row.evidence for row in ARGUMENTS)


def test_published_calls_are_the_calls() -> None:
    forms = [
        " ".join(call).replace("finance", "ID").replace(KEY, "KEY").replace("run-1", "RUN")
        for call in every_call()
    ]

    assert [call.form for call in CALLS] == forms
    assert all(call.reason and call.evidence for call in CALLS)
