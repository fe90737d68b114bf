import itertools
from dataclasses import replace
from typing import Any

import pytest

from clawmarshal.errors import (
    DecisionError,
    DecisionInvalidError,
    DecisionUnavailableError,
    SettingsError,
    UnknownAgentError,
)
from clawmarshal.roster.agent import AgentSpec, Binding, Capability, Risk
from clawmarshal.router.decision import Decision
from clawmarshal.router.gates import GATES
from clawmarshal.router.message import Attachment
from clawmarshal.router.policy import Directives, OnNoMatch, Policy, Verdict
from clawmarshal.router.risk import RiskFloor
from clawmarshal.router.route import Outcome, Reason, Via
from tests.support.deciding import FINANCE, PERSONAL, SECURITY, SURE
from tests.support.scenes import FIRE, NONE_BARELY, NONE_WINS, UNSURE, Scene, coarse

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
CALM = Scene()
TELLING = CALM.ruled(on_no_match="decline").given(on_uncertain="clarify")
"""Under these switches the outcomes of gates 7 and 8 differ from those of their neighbours."""
PAIRS = list(itertools.combinations(FIRE, 2))


def fired(verdict: Verdict) -> list[int]:
    return [gate.number for gate in verdict.gates]


def detail(verdict: Verdict) -> str:
    return verdict.gates[0].detail


def summary(verdict: Verdict) -> tuple[Outcome, Reason]:
    return verdict.outcome, verdict.reason


# ---- the order


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


# ---- gate 1


def test_a_caller_that_is_gone_cancels() -> None:
    verdict = CALM.given(caller_gone=True).decide()
    assert (verdict.outcome, verdict.agent) == (Outcome.CANCELLED, None)


@pytest.mark.parametrize("odd", [None, 1, "no"], ids=repr)
def test_an_unexpected_word_about_the_caller_cancels(odd: Any) -> None:
    assert CALM.given(caller_gone=odd).decide().outcome is Outcome.CANCELLED


# ---- gate 2


def failing(error: object) -> Scene:
    change: Any = lambda _: error  # noqa: E731 -- anything may come
    return replace(CALM, change=change)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (DecisionUnavailableError("away"), Reason.DECISION_UNAVAILABLE),
        (DecisionError("something"), Reason.DECISION_UNAVAILABLE),
        (DecisionInvalidError("bad", code="mass-off"), Reason.DECISION_INVALID),
        (None, Reason.DECISION_INVALID),
        ({"agent": "finance"}, Reason.DECISION_INVALID),
    ],
    ids=["unavailable", "other", "invalid", "none", "mapping"],
)
def test_a_missing_answer_is_never_a_permission(error: object, reason: Reason) -> None:
    verdict = failing(error).decide()
    assert summary(verdict) == (Outcome.HOLD, reason)
    assert fired(verdict) == [2, 3]
    assert (verdict.agent, verdict.via) == (None, Via.NONE)
    assert (verdict.candidates, verdict.confidence, verdict.margin) == ((), 0.0, 0.0)
    assert (verdict.risk.top, dict(verdict.risk.probabilities)) == (Risk.HIGH, {})


def test_the_detail_of_a_missing_answer_names_its_code() -> None:
    assert "mass-off" in detail(failing(DecisionInvalidError("x", code="mass-off")).decide())


def test_a_pin_does_not_pass_gate_2() -> None:
    verdict = failing(DecisionUnavailableError("away")).given(pin="security").decide()
    assert summary(verdict) == (Outcome.HOLD, Reason.DECISION_UNAVAILABLE)
    assert (verdict.agent, verdict.via) == ("security", Via.PIN)


@pytest.mark.parametrize(
    ("given", "agent", "via"),
    [
        ({"conversation_agent": "security"}, "security", Via.CONVERSATION),
        ({}, "personal", Via.FALLBACK),
    ],
)
def test_without_an_answer_the_conversation_or_the_fallback_is_suggested(
    given: dict[str, object], agent: str, via: Via
) -> None:
    scene = failing(DecisionUnavailableError("away")).ruled(fallback="personal").given(**given)
    verdict = scene.decide()
    assert (verdict.outcome, verdict.agent, verdict.via) == (Outcome.HOLD, agent, via)


def test_a_coarse_answer_is_shown_and_not_acted_on() -> None:
    verdict = replace(CALM, change=coarse).decide()
    assert summary(verdict) == (Outcome.HOLD, Reason.DECISION_INVALID)
    assert verdict.agent == "finance"
    assert verdict.candidates
    assert "coarse" in detail(verdict)


def test_an_answer_about_another_ballot_holds() -> None:
    def foreign(found: Decision) -> Decision:
        agent = replace(found.agent, probabilities={"finance": 0.9, "none_of_these": 0.1})
        return replace(found, agent=agent)

    verdict = replace(CALM, change=foreign).decide()
    assert summary(verdict) == (Outcome.HOLD, Reason.DECISION_INVALID)
    assert "options of this ballot" in detail(verdict)


# ---- gate 3


def with_finance(**changes: Any) -> Scene:
    return replace(CALM, agents=(replace(FINANCE, **changes), PERSONAL, SECURITY))


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


# ---- gate 4


@pytest.mark.parametrize("said", [True, None, 1], ids=repr)
def test_a_model_that_did_not_see_the_whole_text_holds(said: Any) -> None:
    verdict = replace(CALM, change=lambda found: replace(found, truncated=said)).decide()
    assert summary(verdict) == (Outcome.HOLD, Reason.TRUNCATED)
    assert detail(verdict) == "The model saw only a part of the text."


def test_an_attachment_that_nobody_judged_holds() -> None:
    scene = replace(CALM, attachments=(Attachment("image"), Attachment("file", "a.pdf")))
    verdict = scene.decide()
    assert summary(verdict) == (Outcome.HOLD, Reason.TRUNCATED)
    assert "2 attachment(s)" in detail(verdict)


# ---- gate 5


@pytest.mark.parametrize("text", ["/new", " \u200b/deploy prod", "please $admin do"])
def test_a_directive_holds(text: str) -> None:
    assert summary(replace(CALM, text=text).decide()) == (Outcome.HOLD, Reason.DIRECTIVE)


def test_a_directive_passes_where_the_launcher_neutralises_it() -> None:
    assert replace(CALM, text="/new").ruled(directives="neutralise").decide().gates == ()


def test_what_cannot_be_shown_holds_whatever_becomes_of_directives() -> None:
    scene = replace(CALM, text="pay \u202e$invoice")
    verdict = scene.decide()
    assert [gate.reason for gate in verdict.gates] == [Reason.DIRECTIVE, Reason.UNDISPLAYABLE]
    verdict = scene.ruled(directives="neutralise").decide()
    assert summary(verdict) == (Outcome.HOLD, Reason.UNDISPLAYABLE)


# ---- gate 6


@pytest.mark.parametrize(
    ("given", "holds"),
    [
        ({"repeats": 2}, False),
        ({"repeats": 3}, True),
        ({"in_conversation": 20}, False),
        ({"in_conversation": 21}, True),
        ({"from_sender": 20}, False),
        ({"from_sender": 21}, True),
        ({"from_sender": 0}, False),
    ],
    ids=str,
)
def test_a_loop_holds(given: dict[str, int], holds: bool) -> None:
    verdict = CALM.given(**given).decide()
    assert (verdict.reason is Reason.LOOP) is holds
    if holds:
        assert str(next(iter(given.values()))) in detail(verdict)


def test_the_limits_of_a_loop_are_settings() -> None:
    strict = CALM.ruled(loop_repeats=2, max_messages=1)
    assert strict.given(repeats=2).decide().reason is Reason.LOOP
    assert strict.given(in_conversation=2, from_sender=2).decide().reason is Reason.LOOP


# ---- the target, and gate 7


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


# ---- gate 8


def shares(finance: float, personal: float) -> dict[str, float]:
    rest = (1 - finance - personal) / 2
    return {"finance": finance, "personal": personal, "security": rest, "none_of_these": rest}


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


# ---- gate 9


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


# ---- reconsidering


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


# ---- the policy itself


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
