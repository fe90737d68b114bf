import random

import pytest

from clawmarshal.errors import RosterSchemaError, UnknownAgentError
from clawmarshal.roster.agent import AgentSpec, Binding
from clawmarshal.roster.roster import MAX_AGENTS, Roster

AGENTS = [
    AgentSpec(name, f"The remit of {name}.") for name in ("finance", "security", "travel", "home")
]


def test_agents_stand_in_canonical_order() -> None:
    assert [agent.id for agent in Roster(AGENTS)] == ["finance", "home", "security", "travel"]


def test_digest_does_not_depend_on_order() -> None:
    shuffler = random.Random(7)
    digests = {Roster(shuffler.sample(AGENTS, len(AGENTS))).digest for _ in range(50)}
    assert len(digests) == 1


def test_digest_changes_with_an_agent() -> None:
    changed = [AgentSpec("finance", "Other."), *AGENTS[1:]]
    assert Roster(changed).digest != Roster(AGENTS).digest


def test_empty_roster_is_refused() -> None:
    with pytest.raises(RosterSchemaError, match="at least one agent"):
        Roster([])


def test_same_id_twice_is_refused() -> None:
    with pytest.raises(RosterSchemaError, match="two agents are called 'home'"):
        Roster([*AGENTS, AgentSpec("home", "Again.")])


def test_too_many_agents_are_refused() -> None:
    many = (AgentSpec(f"a{number}", "Remit.") for number in range(MAX_AGENTS + 1))
    with pytest.raises(RosterSchemaError, match="more than 10000 agents"):
        Roster(many)


def test_agent_is_found_by_id() -> None:
    roster = Roster(AGENTS)
    assert roster["home"].id == "home"
    assert "home" in roster
    assert "attic" not in roster
    assert len(roster) == 4


def test_unknown_agent_names_near_matches() -> None:
    with pytest.raises(UnknownAgentError, match="Did you mean finance") as caught:
        Roster(AGENTS)["Finanze"]
    assert caught.value.near == ("finance",)


def test_unknown_agent_without_near_match_says_so_plainly() -> None:
    with pytest.raises(UnknownAgentError) as caught:
        Roster(AGENTS)["zzzz"]
    assert str(caught.value) == "no agent 'zzzz' in the roster."


def test_eligible_applies_bindings_and_tags() -> None:
    bound = AgentSpec("bound", "Remit.", bindings=(Binding("telegram"),))
    tagged = AgentSpec("tagged", "Remit.", tags=("eu",))
    roster = Roster([bound, tagged, AgentSpec("free", "Remit.")])
    assert [a.id for a in roster.eligible(channel="slack")] == ["free", "tagged"]
    assert [a.id for a in roster.eligible(channel="telegram")] == ["bound", "free", "tagged"]
    assert [a.id for a in roster.eligible(required_tags=frozenset({"eu"}))] == ["tagged"]


def test_repr_shows_size_and_digest() -> None:
    roster = Roster(AGENTS)
    assert repr(roster) == f"Roster(4 agents, digest={roster.digest[:12]})"
