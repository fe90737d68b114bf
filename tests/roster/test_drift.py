"""Where a roster and a live OpenClaw differ."""

from typing import Any

import pytest

from clawmarshal.roster.agent import AgentSpec
from clawmarshal.roster.drift import Difference, DriftCode, compare
from clawmarshal.roster.openclaw import LiveFleet, read_fleet
from clawmarshal.roster.roster import Roster
from tests.support.live_fleet import agents_document, config_document

REMIT = "Watches servers, restarts services, reads logs."


def live(entries: dict[str, Any], **config: object) -> LiveFleet:
    fleet = read_fleet(agents_document(*entries), config_document(entries, **config))
    assert fleet is not None
    return fleet


def differences(fleet: LiveFleet, **fields: Any) -> list[Difference]:
    spec = AgentSpec(**{"id": "ops", "description": REMIT, **fields})
    return list(compare(Roster([spec]), fleet).differences)


def test_same_agents_in_the_same_words_do_not_differ() -> None:
    drift = compare(Roster([AgentSpec("ops", REMIT)]), live({"ops": {"description": REMIT}}))
    assert (drift.is_none, drift.is_whole, drift.differences) == (True, True, ())


@pytest.mark.parametrize(
    ("entry", "fields"),
    [
        pytest.param({}, {}, id="no-description-in-openclaw"),
        pytest.param({"description": REMIT.replace(" ", "\n ")}, {}, id="spacing"),
        pytest.param({"name": "Operations"}, {}, id="name-in-openclaw-alone"),
        pytest.param({}, {"name": "Mine", "examples": ["x"], "tags": ["t"]}, id="ours-alone"),
    ],
)
def test_what_only_one_of_them_says_is_no_difference(
    entry: dict[str, Any], fields: dict[str, Any]
) -> None:
    assert differences(live({"ops": entry}), **fields) == []


@pytest.mark.parametrize(
    ("entry", "fields", "code"),
    [
        pytest.param({"description": "Cooks."}, {}, DriftCode.DESCRIPTION, id="description"),
        pytest.param({"name": "Ops"}, {"name": "Mine"}, DriftCode.NAME, id="name"),
    ],
)
def test_what_they_say_differently_differs(
    entry: dict[str, Any], fields: dict[str, Any], code: DriftCode
) -> None:
    (found,) = differences(live({"ops": entry}), **fields)
    assert (found.code, found.agent) == (code, "ops")
    assert found.openclaw == next(iter(entry.values()))


@pytest.mark.parametrize("match", [{"channel": "irc"}, {"channel": "x", "teamId": "t"}], ids=repr)
def test_binding_that_the_roster_does_not_have_differs(match: dict[str, str]) -> None:
    fleet = live({"ops": {}}, bindings=[{"agentId": "ops", "match": match}])
    (found,) = differences(fleet)
    assert found.code is DriftCode.BINDINGS


def test_missing_and_unlisted_agents_differ() -> None:
    fleet = live({"main": {}})
    assert [(d.code, d.agent) for d in differences(fleet)] == [
        (DriftCode.UNLISTED, "main"),
        (DriftCode.MISSING, "ops"),
    ]


def test_ids_alone_never_prove_that_nothing_differs() -> None:
    roster = Roster([AgentSpec("ops", REMIT)])
    same = compare(roster, LiveFleet(frozenset({"ops"}), None))
    other = compare(roster, LiveFleet(frozenset({"main"}), None))
    assert (same.is_none, same.is_whole) == (None, False)
    assert other.is_none is False
