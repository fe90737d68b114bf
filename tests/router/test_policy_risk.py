from dataclasses import replace
from typing import Any

import pytest

from clawmarshal.roster.agent import Capability, Risk
from clawmarshal.router.decision import Decision
from clawmarshal.router.risk import RiskFloor
from clawmarshal.router.route import Outcome, Reason
from tests.support.scenes import (
    CALM,
    UNSURE,
    detail,
    fired,
    summary,
    with_finance,
)


@pytest.mark.parametrize(
    ("changes", "tier", "holds"),
    [
        ({}, Risk.LOW, False),
        ({}, Risk.MEDIUM, False),
        ({}, Risk.HIGH, True),
        ({"max_risk": "low"}, Risk.MEDIUM, True),
        ({"max_risk": "low"}, Risk.LOW, False),
        ({"max_risk": "high"}, Risk.HIGH, False),
        ({"capabilities": (Capability.MONEY,)}, Risk.MEDIUM, True),
        ({"capabilities": (Capability.MONEY,), "max_risk": "medium"}, Risk.MEDIUM, False),
    ],
    ids=str,
)
def test_the_rule_floor_is_held_against_the_limit_of_the_target(
    changes: dict[str, object], tier: Risk, holds: bool
) -> None:
    verdict = replace(with_finance(**changes), floor=RiskFloor(tier, ("money",))).decide()
    assert (verdict.reason is Reason.RISK) is holds
    assert verdict.risk.floor is tier
    if holds:
        assert "money" in detail(verdict)
        assert str(tier) in detail(verdict)


def test_the_limit_is_that_of_the_target_and_of_nobody_else() -> None:
    scene = replace(with_finance(max_risk="low"), floor=RiskFloor(Risk.MEDIUM))
    assert scene.decide().reason is Reason.RISK
    assert scene.given(pin="security").decide().reason is Reason.MATCHED
    assert "finance takes low" in detail(scene.decide())


@pytest.mark.parametrize(("high", "holds"), [(0.30, False), (0.31, True)])
def test_a_probability_of_high_over_its_limit_holds(high: float, holds: bool) -> None:
    scene = replace(CALM, risk={"low": 0.6, "medium": 0.4 - high, "high": high})
    verdict = scene.decide()
    assert (verdict.reason is Reason.RISK) is holds
    if holds:
        assert "0.31" in detail(verdict)
        assert "0.30" in detail(verdict)


def test_the_limit_of_high_is_a_setting_and_holds_for_every_target() -> None:
    scene = replace(with_finance(max_risk="high"), risk={"low": 0.4, "medium": 0.25, "high": 0.35})
    assert scene.decide().reason is Reason.RISK
    assert scene.ruled(max_high_probability=1).decide().reason is Reason.MATCHED


@pytest.mark.parametrize(
    ("limit", "risk", "holds"),
    [
        ("low", {"low": 0.3, "medium": 0.6, "high": 0.1}, True),
        ("medium", {"low": 0.3, "medium": 0.6, "high": 0.1}, False),
        ("medium", {"low": 0.1, "medium": 0.2, "high": 0.7}, True),
        ("low", {"low": 0.6, "medium": 0.3, "high": 0.1}, False),
    ],
    ids=str,
)
def test_the_top_tier_of_the_model_is_held_against_the_limit_of_the_target(
    limit: str, risk: dict[str, float], holds: bool
) -> None:
    scene = replace(with_finance(max_risk=limit), risk=risk).ruled(max_high_probability=1)
    verdict = scene.decide()
    assert (verdict.reason is Reason.RISK) is holds
    if holds:
        assert f"the model says {verdict.risk.top}" in detail(verdict).lower()


def without_risk(fault: str | None) -> Any:
    return lambda found: replace(found, risk=None, risk_fault=fault)


def tied_risk(found: Decision) -> Decision:
    assert found.risk is not None
    return replace(found, risk=replace(found.risk, is_tied=True))


def coarse_risk(found: Decision) -> Decision:
    assert found.risk is not None
    return replace(found, risk=replace(found.risk, is_coarse=True))


def strange_risk(found: Decision) -> Decision:
    assert found.risk is not None
    return replace(found, risk=replace(found.risk, probabilities={"low": 1.0}))


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (without_risk("answer-missing"), "answer-missing"),
        (without_risk(None), "unusable"),
        (tied_risk, "unusable"),
        (coarse_risk, "unusable"),
        (strange_risk, "unusable"),
    ],
    ids=["missing", "unexplained", "tied", "coarse", "strange"],
)
def test_a_risk_answer_that_cannot_be_used_counts_as_high(change: Any, word: str) -> None:
    verdict = replace(CALM, change=change).decide()
    assert summary(verdict) == (Outcome.HOLD, Reason.RISK)
    assert (verdict.risk.top, dict(verdict.risk.probabilities)) == (Risk.HIGH, {})
    assert word in detail(verdict)


def test_a_missing_risk_answer_passes_only_where_high_passes() -> None:
    scene = replace(with_finance(max_risk="high"), change=without_risk("answer-missing"))
    assert scene.decide().reason is Reason.RISK
    assert "answer-missing" in detail(scene.decide())
    assert scene.ruled(max_high_probability=1).decide().reason is Reason.MATCHED


def test_risk_stands_before_confidence() -> None:
    verdict = replace(CALM, agent=UNSURE, floor=RiskFloor(Risk.HIGH)).decide()
    assert verdict.reason is Reason.RISK
    assert fired(verdict) == [3, 8]


@pytest.mark.parametrize(
    ("changes", "is_english", "floor"),
    [
        ({"capabilities": ("execute",)}, False, Risk.MEDIUM),
        ({"capabilities": ("execute",)}, True, Risk.LOW),
        ({}, False, Risk.LOW),
    ],
    ids=["acts-foreign", "acts-english", "only-talks"],
)
def test_a_text_not_recognisably_english_is_medium_for_agents_that_can_act(
    changes: dict[str, object], is_english: bool, floor: Risk
) -> None:
    verdict = with_finance(**changes).given(is_english=is_english).decide()
    assert verdict.risk.floor is floor
    assert verdict.risk.top is floor
    assert (verdict.reason is Reason.RISK) is (floor is Risk.MEDIUM)
    assert ("not-english" in verdict.risk.codes) is (floor is Risk.MEDIUM)


def test_the_floor_for_other_languages_never_lowers_and_can_be_switched_off() -> None:
    scene = replace(with_finance(capabilities=("execute",)), floor=RiskFloor(Risk.HIGH, ("wipe",)))
    foreign = scene.given(is_english=False)
    assert foreign.decide().risk.floor is Risk.HIGH
    assert foreign.ruled(non_english_floor=None).decide().risk.codes == ("wipe",)


MOVED = {"finance": 0.06, "personal": 0.90, "security": 0.02, "none_of_these": 0.02}
"""What a text may make of a message for finance: personal, and finance hardly."""


def test_a_message_moved_to_a_laxer_agent_keeps_the_stricter_limit() -> None:
    scene = replace(with_finance(max_risk="low"), agent=MOVED, floor=RiskFloor(Risk.MEDIUM))
    verdict = scene.decide()
    assert (verdict.agent, verdict.reason) == ("personal", Reason.RISK)
    assert "may be for finance" in verdict.gates[0].detail
    gone = replace(scene, agent=MOVED | {"finance": 0.04, "personal": 0.92})
    assert gone.decide().outcome is Outcome.DISPATCH


def test_a_pin_and_a_follow_up_answer_for_their_own_agent_alone() -> None:
    scene = replace(with_finance(max_risk="low"), agent=MOVED, floor=RiskFloor(Risk.MEDIUM))
    assert scene.given(pin="personal").decide().outcome is Outcome.DISPATCH
    kept = scene.given(conversation_agent="personal", is_follow_up=True)
    assert kept.decide().outcome is Outcome.DISPATCH


def test_a_message_moved_to_a_laxer_agent_keeps_the_floor_for_other_languages() -> None:
    scene = replace(with_finance(capabilities=("money",)), agent=MOVED)
    assert scene.given(is_english=False).decide().reason is Reason.RISK


def test_agent_that_acts_unasked_has_a_floor_of_its_own() -> None:
    scene = CALM.given(unasked=frozenset({"finance"}))
    assert scene.decide().outcome is Outcome.DISPATCH, "off unless configured"
    high = scene.ruled(unasked_floor="high").decide()
    assert (high.outcome, high.reason, high.risk.floor) == (Outcome.HOLD, Reason.RISK, Risk.HIGH)
    assert high.risk.codes == ("acts-unasked",)
    assert scene.ruled(unasked_floor="medium").decide().outcome is Outcome.DISPATCH

    strict = with_finance(max_risk="low").given(unasked=frozenset({"finance"}))
    assert strict.ruled(unasked_floor="medium").decide().reason is Reason.RISK
    others = CALM.given(unasked=frozenset({"personal", "gone"}))
    assert others.ruled(unasked_floor="high").decide().outcome is Outcome.DISPATCH


def test_floor_of_agents_that_act_unasked_only_raises() -> None:
    scene = replace(CALM, floor=RiskFloor(Risk.HIGH, ("wipe",)))
    scene = scene.given(unasked=frozenset({"finance"})).ruled(unasked_floor="low")
    assert scene.decide().risk.floor is Risk.HIGH


def test_message_moved_away_from_an_agent_that_acts_unasked_keeps_its_floor() -> None:
    scene = replace(CALM, agent=MOVED).given(unasked=frozenset({"finance"}))
    assert scene.ruled(unasked_floor="high").decide().reason is Reason.RISK
