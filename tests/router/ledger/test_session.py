"""Session keys: ours, one per conversation and agent, never ambiguous."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmarshal.errors import MessageError
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.session import hash_parts, lone_conversation, session_key

PART = st.none() | st.text(max_size=6) | st.text("0123456789:-", max_size=8)
ORIGIN: dict[str, Any] = {
    "owner": "carla",
    "channel": "chat",
    "account": None,
    "conversation": "a",
    "agent": "finance",
    "generation": 1,
}


@pytest.mark.parametrize(
    "name", ["main", "global", "telegram:direct:555", "cron:zz", "conv-AbC", "\ud800"]
)
def test_key_is_hexadecimal_whatever_the_conversation_is_called(name: str) -> None:
    key = session_key(**{**ORIGIN, "conversation": name})
    assert re.fullmatch(r"cm-[0-9a-f]{64}", key)


def test_conversations_that_differ_in_case_are_two_sessions() -> None:
    keys = {session_key(**{**ORIGIN, "conversation": c}) for c in ("conv-AbC", "conv-aBc")}
    assert len(keys) == 2


@pytest.mark.parametrize(
    "change",
    [
        {"owner": "dora"},
        {"channel": None},
        {"account": ""},
        {"conversation": "b"},
        {"agent": "security"},
        {"generation": 2},
    ],
    ids=lambda change: "-".join(change),
)
def test_every_part_makes_another_key(change: dict[str, Any]) -> None:
    assert session_key(**{**ORIGIN, **change}) != session_key(**ORIGIN)


@given(st.lists(PART, max_size=4), st.lists(PART, max_size=4))
def test_different_parts_never_hash_alike(one: list[str | None], other: list[str | None]) -> None:
    assert (hash_parts(*one) == hash_parts(*other)) is (one == other)


def test_no_delimiter_can_move_a_boundary() -> None:
    assert hash_parts("a", "1:b") != hash_parts("a1:", "b")
    assert hash_parts("ab", "") != hash_parts("a", "b")
    assert hash_parts(None) != hash_parts("") != hash_parts("-")


def test_nobody_can_call_a_conversation_like_a_lone_message() -> None:
    with pytest.raises(MessageError):
        InboundMessage("Hello.", conversation=lone_conversation("rt_1"))
