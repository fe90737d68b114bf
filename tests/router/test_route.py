import json
from dataclasses import replace
from types import MappingProxyType

import pytest

from clawmarshal.roster.agent import Risk
from clawmarshal.router.route import (
    Candidate,
    Gate,
    Outcome,
    Reason,
    RiskView,
    Route,
    Via,
    route_json,
)

ROUTE = Route(
    id="rt_" + "0" * 32,
    outcome=Outcome.HOLD,
    agent="finance",
    reason=Reason.RISK,
    gates=(
        Gate(3, Reason.RISK, "The rules say high."),
        Gate(5, Reason.DIRECTIVE, "A command."),
        Gate(5, Reason.UNDISPLAYABLE, "Bidi."),
    ),
    via=Via.MODEL,
    candidates=(
        Candidate("finance", 0.5),
        Candidate("none_of_these", 0.2),
        Candidate("security", 0.15),
        Candidate("personal", 0.1),
        Candidate("travel", 0.05),
    ),
    confidence=0.5,
    margin=0.3,
    risk=RiskView(Risk.HIGH, MappingProxyType({Risk.LOW: 0.2, "high": 0.8}), Risk.HIGH, ("money",)),
    model="test-1",
    message_digest="a" * 64,
    roster_digest="b" * 64,
    agent_digest="c" * 64,
    latency_ms=1.5,
    notes=("lexical-only",),
    seal="secret-proof",
)


@pytest.mark.parametrize("outcome", Outcome)
def test_only_a_dispatch_is_routable(outcome: Outcome) -> None:
    assert replace(ROUTE, outcome=outcome).routable is (outcome is Outcome.DISPATCH)


def test_the_reasons_are_all_that_fired_in_order_and_once() -> None:
    twice = replace(ROUTE, gates=(*ROUTE.gates, Gate(3, Reason.RISK, "Again.")))
    assert twice.reasons == ("risk", "directive", "undisplayable")
    assert replace(ROUTE, reason=Reason.MATCHED, gates=()).reasons == ("matched",)


def test_suggestions_are_the_three_best_real_agents() -> None:
    assert [one.agent for one in ROUTE.suggestions] == ["finance", "security", "personal"]
    assert replace(ROUTE, candidates=()).suggestions == ()


def test_a_route_is_printed_with_everything_an_operator_reads() -> None:
    printed = json.loads(json.dumps(route_json(ROUTE)))
    assert printed["outcome"] == "hold"
    assert printed["agent"] == "finance"
    assert (printed["reason"], printed["via"]) == ("risk", "model")
    assert printed["reasons"] == ["risk", "directive", "undisplayable"]
    assert (printed["confidence"], printed["margin"]) == (0.5, 0.3)
    assert printed["candidates"][0] == {"agent": "finance", "probability": 0.5}
    assert len(printed["candidates"]) == 5
    assert printed["risk"] == {
        "top": "high",
        "probabilities": {"low": 0.2, "high": 0.8},
        "floor": "high",
        "codes": ["money"],
    }
    assert printed["gates"][0] == {
        "number": 3,
        "reason": "risk",
        "detail": "The rules say high.",
    }
    assert (printed["model"], printed["latency_ms"]) == ("test-1", 1.5)
    assert printed["roster_digest"] == "b" * 64
    assert printed["notes"] == ["lexical-only"]


def test_the_seal_is_never_printed() -> None:
    assert "secret-proof" not in json.dumps(route_json(ROUTE))
    assert "secret-proof" not in repr(ROUTE)
