import itertools
from dataclasses import replace
from typing import Any

import pytest

from clawmarshal.errors import (
    DecisionUnavailableError,
    SettingsError,
    UnknownAgentError,
)
from clawmarshal.roster.agent import AgentSpec, Binding, Risk
from clawmarshal.router.gates import GATES
from clawmarshal.router.policy import Directives, OnNoMatch, Policy
from clawmarshal.router.risk import RiskFloor
from clawmarshal.router.route import Outcome, Reason, Via
from tests.support.deciding import FINANCE, PERSONAL, SECURITY, SURE
from tests.support.scenes import (
    CALM,
    FIRE,
    failing,
    fired,
    summary,
)

REASONS = {
    1: (Outcome.CANCELLED, Reason.CANCELLED),
    2: (Outcome.HOLD, Reason.DECISION_INVALID),
    3: (Outcome.HOLD, Reason.RISK),
    4: (Outcome.HOLD, Reason.TRUNCATED),
    5: (Outcome.HOLD, Reason.DIRECTIVE),
    6: (Outcome.HOLD, Reason.LOOP),
    7: (Outcome.DECLINE, Reason.NO_MATCH),
    8: (Outcome.CLARIFY, Reason.UNCERTAIN),
    9: (Outcome.HOLD, Reason.AGENT_UNAVAILABLE),
}
TELLING = CALM.ruled(on_no_match="decline").given(on_uncertain="clarify")
"""Under these switches the outcomes of gates 7 and 8 differ from those of their neighbours."""
PAIRS = list(itertools.combinations(FIRE, 2))


def test_where_no_gate_fires_the_top_agent_is_dispatched() -> None:
    verdict = CALM.decide()
    assert summary(verdict) == (Outcome.DISPATCH, Reason.MATCHED)
    assert (verdict.agent, verdict.via, verdict.gates) == ("finance", Via.MODEL, ())
    assert verdict.confidence == pytest.approx(0.9)
    assert verdict.margin == pytest.approx(0.86)
    assert [candidate.agent for candidate in verdict.candidates] == [
        "finance",
        "none_of_these",
        "personal",
        "security",
    ]
    assert (verdict.risk.top, verdict.risk.floor, verdict.notes) == (Risk.LOW, Risk.LOW, ())


@pytest.mark.parametrize("number", FIRE)
def test_each_gate_fires_alone(number: int) -> None:
    verdict = FIRE[number](TELLING).decide()
    assert fired(verdict) == [number]
    assert summary(verdict) == REASONS[number]


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_of_two_gates_the_earlier_decides_and_both_are_recorded(first: int, second: int) -> None:
    verdict = FIRE[second](FIRE[first](TELLING)).decide()
    assert fired(verdict) == [first, second]
    assert summary(verdict) == REASONS[first]


@pytest.mark.parametrize("number", FIRE)
def test_a_removed_gate_changes_its_case(number: int) -> None:
    rest = GATES[: number - 1] + GATES[number:]
    verdict = FIRE[number](TELLING).decide(rest)
    assert summary(verdict) == (Outcome.DISPATCH, Reason.MATCHED)


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_a_moved_gate_changes_the_case_of_its_pair(first: int, second: int) -> None:
    moved = list(GATES)
    moved.insert(second - 1, moved.pop(first - 1))
    verdict = FIRE[second](FIRE[first](TELLING)).decide(tuple(moved))
    assert verdict.reason == REASONS[second][1]
    earlier = list(GATES)
    earlier.insert(first - 1, earlier.pop(second - 1))
    verdict = FIRE[second](FIRE[first](TELLING)).decide(tuple(earlier))
    assert verdict.reason == REASONS[second][1]


def test_all_gates_that_fire_are_recorded_in_order() -> None:
    scene = TELLING
    for fire in FIRE.values():
        scene = fire(scene)
    verdict = scene.decide()
    assert fired(verdict) == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert verdict.outcome is Outcome.CANCELLED


def test_an_empty_policy_allows_nothing() -> None:
    verdict = CALM.decide(())
    assert summary(verdict) == (Outcome.HOLD, Reason.DECISION_INVALID)


def test_nobody_is_never_dispatched_even_if_every_gate_that_says_so_is_gone() -> None:
    tagged = replace(FINANCE, bindings=(Binding("slack"),))
    scene = replace(CALM, agents=(tagged,), agent={"none_of_these": 1.0})
    assert scene.decide((GATES[0],)).outcome is Outcome.HOLD
    assert scene.decide((GATES[0],)).agent is None


def test_details_never_repeat_the_text() -> None:
    scene = replace(TELLING, text="/wire xyzzy")
    for number, fire in FIRE.items():
        if number != 5:
            scene = fire(scene)
    assert all("xyzzy" not in gate.detail for gate in scene.decide().gates)


def test_another_target_is_judged_by_its_own_limits() -> None:
    low = replace(SECURITY, max_risk=Risk.LOW, enabled=False)
    scene = replace(CALM, agents=(FINANCE, PERSONAL, low), floor=RiskFloor(Risk.MEDIUM))
    assert scene.decide().outcome is Outcome.DISPATCH
    verdict = scene.reconsider("security")
    assert fired(verdict) == [3, 9]
    assert (verdict.agent, verdict.via) == ("security", Via.PIN)


def test_reconsidering_leaves_out_the_gates_that_know_no_target() -> None:
    scene = FIRE[8](FIRE[7](FIRE[2](FIRE[1](CALM))))
    verdict = scene.reconsider("personal")
    assert (verdict.outcome, verdict.gates) == (Outcome.DISPATCH, ())


@pytest.mark.parametrize("number", [3, 4, 5, 6])
def test_reconsidering_repeats_the_gates_about_the_message(number: int) -> None:
    assert fired(FIRE[number](CALM).reconsider("personal")) == [number]


def test_reconsidering_without_a_decision_counts_risk_as_high() -> None:
    verdict = failing(DecisionUnavailableError("away")).reconsider("personal")
    assert fired(verdict) == [3]


def test_reconsidering_for_an_unknown_agent_is_an_error() -> None:
    with pytest.raises(UnknownAgentError):
        CALM.reconsider("ghost")


def test_the_defaults_are_those_of_the_design() -> None:
    policy = Policy()
    assert (policy.min_probability, policy.min_margin) == (0.5, 0.05)
    assert policy.max_high_probability == 0.30
    assert (policy.on_no_match, policy.directives) == (OnNoMatch.HOLD, Directives.HOLD)
    assert policy.fallback is None
    assert (policy.loop_repeats, policy.loop_window_s) == (3, 600)
    assert (policy.max_messages, policy.rate_window_s) == (20, 60)


@pytest.mark.parametrize(
    "wrong",
    [
        {"min_probability": 1.1},
        {"min_probability": -0.1},
        {"min_probability": True},
        {"min_probability": "0.5"},
        {"min_probability": float("nan")},
        {"min_margin": None},
        {"max_high_probability": 30},
        {"switch_margin": -1},
        {"on_no_match": "dispatch"},
        {"directives": "ignore"},
        {"non_english_floor": "some"},
        {"fallback": "None of these"},
        {"fallback": "none_of_these"},
        {"fallback": ""},
        {"loop_repeats": 1},
        {"loop_repeats": 2.5},
        {"loop_repeats": True},
        {"loop_window_s": 0},
        {"max_messages": 0},
        {"rate_window_s": "60"},
    ],
    ids=str,
)
def test_a_policy_out_of_range_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError) as caught:
        Policy(**wrong)
    assert next(iter(wrong)) in str(caught.value)


def test_every_fault_of_a_policy_is_listed_at_once() -> None:
    with pytest.raises(SettingsError) as caught:
        Policy(min_margin=2, loop_repeats=0, on_no_match="x")  # type: ignore[arg-type]  # from a file
    assert len(caught.value.faults) == 3


def test_words_of_a_file_become_words_of_the_policy() -> None:
    policy = Policy(on_no_match="decline", directives="neutralise", non_english_floor="high")  # type: ignore[arg-type]  # from a file
    assert policy.on_no_match is OnNoMatch.DECLINE
    assert policy.directives is Directives.NEUTRALISE
    assert policy.non_english_floor is Risk.HIGH


def test_the_order_of_the_roster_changes_nothing() -> None:
    verdicts = [
        replace(CALM, agents=tuple(order)).decide()
        for order in itertools.permutations((FINANCE, PERSONAL, SECURITY))
    ]
    assert all(verdict == verdicts[0] for verdict in verdicts)


def test_a_fleet_of_one_is_dispatched_like_any_other() -> None:
    only = AgentSpec("only", "Everything there is.")
    scene = replace(CALM, agents=(only,), agent={"only": SURE["finance"], "none_of_these": 0.1})
    assert scene.decide().agent == "only"
