"""What would have changed a decision: each claim is checked by running the gates with it."""

import json
from dataclasses import replace
from typing import Any

import pytest

from clawmarshal.errors import DecisionError, DecisionUnavailableError
from clawmarshal.roster.agent import AgentSpec, Risk
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ballot import fleet_ballot
from clawmarshal.router.counterfactual import Hindsight, look_back
from clawmarshal.router.decision import Decision
from clawmarshal.router.explanation import Evidence, explanation
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.policy import Circumstances, Policy
from clawmarshal.router.risk import RiskFloor
from tests.support.deciding import FINANCE, FLEET, LOW, PERSONAL, SECURITY, SURE, decision

NONE = {"finance": 0.2, "personal": 0.1, "security": 0.1, "none_of_these": 0.6}
UNSURE = {"finance": 0.42, "personal": 0.40, "security": 0.1, "none_of_these": 0.08}
HIGH = {"low": 0.02, "medium": 0.08, "high": 0.9}


def back(
    said: Decision | DecisionError,
    *,
    policy: Policy | None = None,
    roster: Roster = FLEET,
    now: Roster | None = None,
    text: str = "hello there",
    floor: RiskFloor | None = None,
    **circumstances: Any,
) -> Hindsight:
    message = InboundMessage(text)
    told = replace(Circumstances(is_english=True), **circumstances)
    evidence = Evidence(fleet_ballot(roster, message), said, floor or RiskFloor(Risk.LOW, ()), told)
    kept = json.loads(json.dumps(explanation(evidence, policy=policy or Policy())))
    return look_back(kept, message=message, roster=now or roster)


def settings(found: Hindsight, gate: int) -> list[dict[str, str]]:
    return [
        {one.what: one.instead for one in change.settings}
        for change in found.changes
        if change.gate == gate
    ]


def test_uncertain_names_the_figures_that_pass() -> None:
    found = back(decision(UNSURE))
    values, pin = settings(found, 8)
    assert values == {"policy.min_probability": "0.42", "policy.min_margin": "0.02"}
    assert "for finance" in pin.values()
    assert {change.outcome for change in found.changes} == {"dispatch"}


def test_the_figures_are_the_least_that_pass() -> None:
    policy = Policy(min_probability=0.42, min_margin=0.02)
    assert back(decision(UNSURE), policy=policy).verdict.outcome == "dispatch"
    stricter = replace(policy, min_probability=0.4202)
    assert back(decision(UNSURE), policy=stricter).verdict.outcome == "hold"


def test_the_threshold_of_the_agent_itself_is_named() -> None:
    fleet = Roster([replace(FINANCE, min_probability=0.95), PERSONAL, SECURITY])
    values, _ = settings(back(decision(SURE, roster=fleet), roster=fleet), 8)
    assert values == {"min_probability of finance": "0.9"}


def test_a_dispatch_names_what_would_have_held_it() -> None:
    fleet = Roster([replace(FINANCE, min_probability=0.6), PERSONAL, SECURITY])
    found = back(decision(SURE, roster=fleet), roster=fleet)
    assert {change.passes for change in found.changes} == {False}
    assert settings(found, 8)[0] == {"min_probability of finance": "over 0.9000"}
    assert settings(found, 3) == [{"policy.max_high_probability": "under 0.0200"}]
    assert found.together is None


def test_a_tier_under_the_limit_would_have_held_if_the_limit_were_lower() -> None:
    found = back(decision(SURE), floor=RiskFloor(Risk.MEDIUM, ("change",)))
    assert {"max_risk of finance": "low"} in settings(found, 3)


def test_risk_by_the_rules_names_the_limit() -> None:
    found = back(decision(SURE), floor=RiskFloor(Risk.HIGH, ("money",)))
    assert settings(found, 3) == [{"max_risk of finance": "high"}]


def test_risk_of_the_model_names_both_limits() -> None:
    found = back(decision(SURE, HIGH))
    assert settings(found, 3) == [
        {"max_risk of finance": "high", "policy.max_high_probability": "0.9"}
    ]


def test_a_pin_is_judged_by_its_own_limits() -> None:
    found = back(decision(NONE, HIGH), pin="security")
    assert settings(found, 3)[0]["max_risk of security"] == "high"
    assert found.changes[0].outcome == "dispatch"


def test_nobody_names_a_pin_and_a_fallback() -> None:
    found = back(decision(NONE))
    assert [list(names) for names in settings(found, 7)] == [
        ["a pin, or a reviewer's approval,"],
        ["policy.fallback"],
    ]


@pytest.mark.parametrize(
    ("circumstances", "expected"),
    [
        ({"repeats": 4}, {"policy.loop_repeats": "5"}),
        ({"from_sender": 30}, {"policy.max_messages": "30"}),
        (
            {"repeats": 3, "in_conversation": 21},
            {"policy.loop_repeats": "4", "policy.max_messages": "21"},
        ),
    ],
    ids=["repeats", "sender", "both"],
)
def test_a_loop_names_the_counts_that_pass(
    circumstances: dict[str, Any], expected: dict[str, str]
) -> None:
    assert settings(back(decision(SURE), **circumstances), 6) == [expected]


def test_a_directive_names_the_switch() -> None:
    found = back(decision(SURE), text="/new start over")
    assert settings(found, 5) == [{"policy.directives": "neutralise"}]


def test_a_disabled_and_a_missing_agent_are_named_together() -> None:
    fleet = Roster([replace(FINANCE, enabled=False), PERSONAL, SECURITY])
    found = back(decision(SURE, roster=fleet), roster=fleet, live_agents=frozenset({"security"}))
    assert settings(found, 9) == [
        {"enabled of finance": "yes", "finance in the live OpenClaw": "yes"}
    ]


def test_what_no_setting_moves_is_said_so() -> None:
    away = back(DecisionUnavailableError("away", code="deadline"))
    assert "There is no usable answer about the agent (deadline)." in away.unmovable
    part = back(decision(SURE, truncated=True))
    assert part.unmovable == ("The model saw only a part of the text.",)


def test_everything_together_takes_one_change_per_gate() -> None:
    found = back(decision(UNSURE, HIGH), repeats=9)
    assert {gate.number for gate in found.verdict.gates} == {3, 6, 8}
    assert found.together is not None
    assert (found.together.outcome, found.together.agent) == ("dispatch", "finance")


def test_limits_are_those_of_then() -> None:
    fleet = Roster([replace(FINANCE, max_risk=Risk.HIGH, min_probability=0.2), PERSONAL, SECURITY])
    said = decision(UNSURE, LOW, roster=fleet)
    policy = Policy(min_margin=0.0)
    then = back(said, roster=fleet, policy=policy)
    now = Roster([AgentSpec("finance", "Quite another remit by now, with stricter limits.")])
    later = back(said, roster=fleet, policy=policy, now=now)
    assert later.verdict == then.verdict
    assert later.changes == then.changes
    assert later.changed_agents == {"finance", "personal", "security"}
    assert then.changed_agents == frozenset()
