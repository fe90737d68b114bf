"""What a tool policy leaves to an agent, as OpenClaw 2026.9.6 reads it."""

import pytest

from clawmarshal.roster.agent import Capability
from clawmarshal.roster.tool_policy import RUNNING, SENDING, capabilities_of, unasked_tools

ALL = {*SENDING, *RUNNING}
SHELL = {"exec", "process", "code_execution"}


@pytest.mark.parametrize(
    ("shared", "own", "left"),
    [
        pytest.param(None, None, ALL, id="no-policy"),
        pytest.param("x", ["y"], ALL, id="not-understood"),
        pytest.param(None, {"deny": ["*"]}, set(), id="deny-all"),
        pytest.param({"deny": ["*"]}, {"allow": ["exec"]}, set(), id="deny-wins"),
        pytest.param({"deny": [" BASH "]}, None, ALL - {"exec"}, id="alias-and-case"),
        pytest.param({"deny": ["cron"]}, None, ALL - {"automations"}, id="cron"),
        pytest.param(None, {"deny": ["group:runtime"]}, ALL - SHELL, id="group"),
        pytest.param(None, {"deny": ["conversations_*"]},
                     ALL - {"conversations_send", "conversations_turn"}, id="pattern"),
        pytest.param(None, {"deny": ["a*" * 40, 5, None]}, ALL, id="hostile-pattern"),
        pytest.param({"allow": ["read"]}, None, set(), id="allow-others"),
        pytest.param({"allow": ["exec", "read"]}, {"allow": ["message"]}, set(), id="both-allow"),
        pytest.param({"allow": []}, None, ALL, id="empty-allow"),
        pytest.param({"profile": "minimal"}, None, {"gateway"}, id="minimal"),
        pytest.param({"profile": "minimal"}, {"alsoAllow": ["exec"]}, {"gateway", "exec"},
                     id="also-allow"),
        pytest.param({"profile": "minimal"}, {"profile": "full"}, ALL, id="own-profile"),
        pytest.param({"profile": "messaging"}, None,
                     {*SENDING, "sessions_spawn", "gateway"}, id="messaging"),
        pytest.param({"profile": "unheard-of"}, None, ALL, id="unknown-profile"),
        pytest.param({"exec": {"mode": "deny"}}, None, ALL - {"exec"}, id="exec-denied"),
        pytest.param({"exec": {"mode": "deny"}}, {"exec": {"mode": "full"}}, ALL, id="exec-own"),
        pytest.param({"exec": {"mode": "ask"}}, None, ALL - {"exec"}, id="a-person-is-asked"),
        pytest.param({"exec": {"mode": "auto"}}, None, ALL, id="a-model-is-asked"),
    ],
)  # fmt: skip
def test_what_is_left_is_what_no_layer_withholds(
    shared: object, own: object, left: set[str]
) -> None:
    assert set(unasked_tools(shared, own)) == left


def test_what_is_named_ends_what_is_left() -> None:
    left = unasked_tools(None, None)
    assert unasked_tools(None, {"deny": list(left)}) == ()


def test_tools_are_told_in_the_words_of_a_roster() -> None:
    assert capabilities_of(["exec"]) == (Capability.EXECUTE,)
    assert capabilities_of(["message"]) == (Capability.MESSAGE,)
    assert capabilities_of(["terminal", "sessions_send"]) == (
        Capability.EXECUTE,
        Capability.MESSAGE,
    )
    assert capabilities_of([]) == ()
