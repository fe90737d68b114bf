from dataclasses import replace
from typing import Any

import pytest

from clawmarshal.roster.agent import Binding, Risk
from clawmarshal.router.decision import Decision
from clawmarshal.router.policy import OnNoMatch
from clawmarshal.router.risk import RiskFloor
from clawmarshal.router.route import Outcome, Reason, Via
from tests.support.deciding import FINANCE, PERSONAL, SECURITY
from tests.support.scenes import (
    CALM,
    FIRE,
    NONE_BARELY,
    NONE_WINS,
    UNSURE,
    detail,
    fired,
    shares,
    summary,
    with_finance,
)


def test_a_pin_is_the_target_whatever_the_model_says() -> None:
    verdict = CALM.given(pin="security", conversation_agent="personal").decide()
    assert (verdict.outcome, verdict.agent, verdict.via) == (Outcome.DISPATCH, "security", Via.PIN)
    assert verdict.confidence == pytest.approx(0.03)
    assert verdict.margin == 0.0


def test_a_pin_on_the_top_agent_has_its_figures() -> None:
    verdict = CALM.given(pin="finance").decide()
    assert verdict.confidence == pytest.approx(0.9)
    assert verdict.margin == pytest.approx(0.86)


def test_a_pin_passes_the_hard_filters() -> None:
    bound = replace(SECURITY, bindings=(Binding("slack"),))
    shares = {"finance": 0.9, "personal": 0.05, "none_of_these": 0.05}
    scene = replace(CALM, agents=(FINANCE, PERSONAL, bound), agent=shares)
    verdict = scene.given(pin="security").decide()
    assert (verdict.outcome, verdict.agent, verdict.confidence) == (
        Outcome.DISPATCH,
        "security",
        0.0,
    )


def test_a_pin_that_left_the_roster_holds() -> None:
    verdict = CALM.given(pin="ghost").decide()
    assert summary(verdict) == (Outcome.HOLD, Reason.AGENT_UNAVAILABLE)
    assert (verdict.agent, verdict.via, verdict.confidence) == (None, Via.PIN, 0.0)
    assert "not in the roster" in detail(verdict)


@pytest.mark.parametrize(
    ("other", "kept", "agent", "via"),
    [
        (0.54, 0.40, "personal", Via.CONVERSATION),
        (0.55, 0.40, "finance", Via.MODEL),
        (0.90, 0.02, "finance", Via.MODEL),
        (0.30, 0.60, "personal", Via.CONVERSATION),
    ],
)
def test_a_conversation_keeps_its_agent_unless_beaten_by_the_switch_margin(
    other: float, kept: float, agent: str, via: Via
) -> None:
    shares = {"finance": other, "personal": kept}
    verdict = replace(CALM, agent=shares).given(conversation_agent="personal").decide()
    assert (verdict.outcome, verdict.agent, verdict.via) == (Outcome.DISPATCH, agent, via)


def test_the_switch_margin_is_a_setting() -> None:
    scene = replace(CALM, agent={"finance": 0.9, "personal": 0.05})
    kept = scene.ruled(switch_margin=0.9).given(conversation_agent="personal").decide()
    assert kept.agent == "personal"


def test_an_agent_does_not_beat_itself() -> None:
    verdict = CALM.ruled(switch_margin=0).given(conversation_agent="finance").decide()
    assert verdict.via is Via.CONVERSATION


def test_a_conversation_stays_although_no_agent_matches() -> None:
    verdict = replace(CALM, agent=NONE_WINS).given(conversation_agent="personal").decide()
    assert (verdict.outcome, verdict.agent, verdict.via) == (
        Outcome.DISPATCH,
        "personal",
        Via.CONVERSATION,
    )
    assert verdict.confidence == pytest.approx(0.02)


@pytest.mark.parametrize("gone", ["ghost", "", None], ids=repr)
def test_a_conversation_with_an_agent_that_is_gone_is_no_ground(gone: str | None) -> None:
    assert CALM.given(conversation_agent=gone).decide().via is Via.MODEL


def test_a_conversation_does_not_pass_the_hard_filters() -> None:
    bound = replace(SECURITY, bindings=(Binding("slack"),))
    shares = {"finance": 0.9, "personal": 0.05, "none_of_these": 0.05}
    scene = replace(CALM, agents=(FINANCE, PERSONAL, bound), agent=shares)
    assert scene.given(conversation_agent="security").decide().agent == "finance"


def test_no_match_holds_with_the_best_real_agent_as_a_suggestion() -> None:
    verdict = replace(CALM, agent=NONE_WINS).decide()
    assert summary(verdict) == (Outcome.HOLD, Reason.NO_MATCH)
    assert (verdict.agent, verdict.via) == ("finance", Via.MODEL)
    assert verdict.confidence == pytest.approx(0.9)
    assert "0.90" in detail(verdict)


def test_no_match_declines_where_the_policy_says_so() -> None:
    verdict = replace(CALM, agent=NONE_WINS).ruled(on_no_match=OnNoMatch.DECLINE).decide()
    assert summary(verdict) == (Outcome.DECLINE, Reason.NO_MATCH)
    assert verdict.agent is None


def test_a_ballot_without_agents_is_no_match_and_suggests_nobody() -> None:
    bound = replace(FINANCE, bindings=(Binding("slack"),))
    verdict = replace(CALM, agents=(bound,), agent={"none_of_these": 1.0}).decide()
    assert summary(verdict) == (Outcome.HOLD, Reason.NO_MATCH)
    assert (verdict.agent, verdict.via) == (None, Via.NONE)
    assert fired(verdict) == [7]


def test_without_a_target_risk_is_held_against_medium() -> None:
    bound = replace(FINANCE, bindings=(Binding("slack"),))
    scene = replace(CALM, agents=(bound,), agent={"none_of_these": 1.0})
    assert fired(replace(scene, floor=RiskFloor(Risk.MEDIUM)).decide()) == [7]
    verdict = replace(scene, floor=RiskFloor(Risk.HIGH)).decide()
    assert fired(verdict) == [3, 7]
    assert "without an agent the limit is medium" in detail(verdict)


def test_the_fallback_gets_what_no_agent_covers() -> None:
    verdict = replace(CALM, agent=NONE_WINS).ruled(fallback="personal").decide()
    assert (verdict.outcome, verdict.agent, verdict.via) == (
        Outcome.DISPATCH,
        "personal",
        Via.FALLBACK,
    )
    assert verdict.confidence == pytest.approx(0.9)


def test_the_fallback_gets_nothing_else() -> None:
    assert CALM.ruled(fallback="personal").decide().agent == "finance"


@pytest.mark.parametrize("number", [3, 4, 5, 6, 8, 9])
def test_the_fallback_passes_the_gates_like_any_target(number: int) -> None:
    scene = replace(CALM, agent=NONE_WINS).ruled(fallback="security")
    verdict = FIRE[number](scene).decide()
    assert fired(verdict) == [number]
    assert (verdict.outcome, verdict.agent) == (Outcome.HOLD, "security")


def test_risk_is_held_against_the_limit_of_the_fallback() -> None:
    low = replace(SECURITY, max_risk=Risk.LOW)
    scene = replace(CALM, agents=(FINANCE, PERSONAL, low), agent=NONE_WINS)
    scene = replace(scene, floor=RiskFloor(Risk.MEDIUM))
    assert scene.ruled(fallback="security").decide().reason is Reason.RISK
    assert scene.ruled(fallback="personal").decide().reason is Reason.MATCHED


@pytest.mark.parametrize("fallback", ["ghost", "security"])
def test_a_fallback_that_is_not_on_the_ballot_counts_as_absent(fallback: str) -> None:
    bound = replace(SECURITY, bindings=(Binding("slack"),))
    shares = {"finance": 0.05, "personal": 0.05, "none_of_these": 0.9}
    scene = replace(CALM, agents=(FINANCE, PERSONAL, bound), agent=shares)
    verdict = scene.ruled(fallback=fallback).decide()
    assert summary(verdict) == (Outcome.HOLD, Reason.NO_MATCH)


def test_none_wins_only_where_it_is_more_probable_than_every_agent() -> None:
    even = {"personal": 0.48, "none_of_these": 0.48, "finance": 0.02, "security": 0.02}
    verdict = replace(CALM, agent=even).ruled(on_no_match="decline").decide()
    assert summary(verdict) == (Outcome.HOLD, Reason.UNCERTAIN)
    assert verdict.agent == "personal"


@pytest.mark.parametrize(
    ("finance", "personal", "holds"),
    [(0.50, 0.20, False), (0.49, 0.20, True), (0.51, 0.46, False), (0.51, 0.47, True)],
)
def test_too_little_probability_or_margin_is_uncertain(
    finance: float, personal: float, holds: bool
) -> None:
    verdict = replace(CALM, agent=shares(finance, personal)).decide()
    assert (verdict.reason is Reason.UNCERTAIN) is holds
    if holds:
        assert ("0.49, under 0.50" in detail(verdict)) is (finance == 0.49)
        assert ("0.04, under 0.05" in detail(verdict)) is (finance == 0.51)


@pytest.mark.parametrize(("own", "holds"), [(0.95, True), (0.2, False), (0.0, False)])
def test_an_agent_can_have_its_own_threshold(own: float, holds: bool) -> None:
    scene = replace(with_finance(min_probability=own), agent=shares(0.60, 0.20))
    assert (scene.decide().reason is Reason.UNCERTAIN) is holds
    unsure = replace(with_finance(min_probability=own), agent=shares(0.40, 0.20))
    assert (unsure.decide().reason is Reason.UNCERTAIN) is holds


def test_the_threshold_of_an_agent_is_not_that_of_none() -> None:
    scene = replace(with_finance(min_probability=0.95), agent=NONE_WINS)
    assert fired(scene.decide()) == [7]


def test_a_tie_is_uncertain_even_without_a_margin() -> None:
    scene = replace(CALM, agent=shares(0.475, 0.47)).ruled(min_margin=0, min_probability=0)
    verdict = scene.decide()
    assert verdict.reason is Reason.UNCERTAIN
    assert "0.01 apart" in detail(verdict)


@pytest.mark.parametrize("said", [False, None], ids=repr)
def test_orders_that_disagree_are_uncertain(said: Any) -> None:
    scene = replace(CALM, change=lambda found: replace(found, orders_agree=said))
    verdict = scene.decide()
    assert summary(verdict) == (Outcome.HOLD, Reason.UNCERTAIN)
    assert verdict.notes == ("orders-disagree",)


@pytest.mark.parametrize("given", [{"pin": "finance"}, {"conversation_agent": "finance"}], ids=str)
def test_a_pin_or_a_kept_conversation_skips_gate_8_and_the_doubt_is_recorded(
    given: dict[str, str],
) -> None:
    scene = replace(CALM, agent=UNSURE).given(**given)
    verdict = scene.decide()
    assert (verdict.outcome, verdict.gates) == (Outcome.DISPATCH, ())
    assert verdict.notes == ("uncertain-skipped",)
    torn = replace(scene, change=lambda found: replace(found, orders_agree=False))
    assert torn.decide().notes == ("uncertain-skipped", "orders-disagree")


def test_a_conversation_that_was_switched_does_not_skip_gate_8() -> None:
    verdict = replace(CALM, agent=shares(0.45, 0.1)).given(conversation_agent="personal").decide()
    assert (verdict.agent, verdict.reason) == ("finance", Reason.UNCERTAIN)


@pytest.mark.parametrize(
    ("asked", "outcome"),
    [
        ("clarify", Outcome.CLARIFY),
        ("hold", Outcome.HOLD),
        ("CLARIFY", Outcome.HOLD),
        (None, Outcome.HOLD),
    ],
)
def test_clarify_is_only_for_callers_that_asked_for_it(asked: Any, outcome: Outcome) -> None:
    verdict = replace(CALM, agent=UNSURE).given(on_uncertain=asked).decide()
    assert summary(verdict) == (outcome, Reason.UNCERTAIN)
    assert verdict.agent == ("finance" if outcome is Outcome.HOLD else None)


def test_one_agent_alone_cannot_be_clarified() -> None:
    scene = replace(CALM, agents=(FINANCE,), agent={"finance": 0.52, "none_of_these": 0.48})
    assert scene.given(on_uncertain="clarify").decide().outcome is Outcome.HOLD


def test_none_that_barely_wins_is_no_match_and_uncertain() -> None:
    assert fired(replace(CALM, agent=NONE_BARELY).decide()) == [7, 8]


@pytest.mark.parametrize(
    "figure", [{"confidence": float("nan")}, {"margin": float("nan")}], ids=str
)
def test_a_figure_that_is_not_a_number_fails_closed(figure: dict[str, Any]) -> None:
    scene = replace(CALM, change=lambda found: replace(found, agent=replace(found.agent, **figure)))
    assert scene.decide().reason is Reason.UNCERTAIN


def test_a_probability_of_high_that_is_not_a_number_fails_closed() -> None:
    def spoilt(found: Decision) -> Decision:
        assert found.risk is not None
        odd = {"low": 0.9, "medium": 0.1, "high": float("nan")}
        return replace(found, risk=replace(found.risk, probabilities=odd))

    assert replace(CALM, change=spoilt).decide().reason is Reason.RISK


def test_a_disabled_target_holds() -> None:
    verdict = with_finance(enabled=False).decide()
    assert summary(verdict) == (Outcome.HOLD, Reason.AGENT_UNAVAILABLE)
    assert verdict.agent == "finance"


@pytest.mark.parametrize(
    ("live", "holds"),
    [
        (None, False),
        (frozenset({"finance"}), False),
        (frozenset({"personal"}), True),
        (frozenset(), True),
    ],
    ids=repr,
)
def test_only_a_known_absence_from_the_live_fleet_holds(
    live: frozenset[str] | None, holds: bool
) -> None:
    verdict = CALM.given(live_agents=live).decide()
    assert (verdict.reason is Reason.AGENT_UNAVAILABLE) is holds


def test_a_pin_does_not_pass_gate_9() -> None:
    scene = with_finance(enabled=False).given(pin="finance")
    assert scene.decide().reason is Reason.AGENT_UNAVAILABLE
