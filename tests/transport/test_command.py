"""No input can put another argument into an argv."""

import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmarshal.errors import NotLaunchedError
from clawmarshal.transport.command import ReadOnly, read_only_argv, turn_argv

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


def test_read_only_calls_are_exactly_these() -> None:
    assert {read_only_argv(("/x",), call)[1:] for call in ReadOnly} == {
        ("--version",),
        ("agent", "--help"),
        ("gateway", "call", "config.get", "--json"),
        ("gateway", "call", "agents.list", "--json"),
    }


def test_read_only_call_cannot_be_made_up() -> None:
    with pytest.raises(NotLaunchedError):
        read_only_argv(("/x",), ("agent", "--deliver"))  # type: ignore[arg-type]  # on purpose
