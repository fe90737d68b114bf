"""An approval answers what was shown, and some gates no approval answers."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from clawmarshal.errors import ConflictError
from clawmarshal.roster.agent import Risk
from clawmarshal.router.approval import answered_gates
from clawmarshal.router.ledger.records import HoldRecord
from clawmarshal.router.ledger.states import HoldState
from clawmarshal.router.policy import Verdict
from clawmarshal.router.route import Gate, Outcome, Reason, RiskView, Via

SHOWN = {"number": 3, "reason": "risk", "detail": "P(high) is 0.61, over 0.30."}
HOLD = HoldRecord(
    id="hd_1",
    route_id="rt_1",
    owner="ann",
    state=HoldState.OPEN,
    suggestion="finance",
    reason="risk",
    gates=(SHOWN,),
    risk=Risk.HIGH,
    digest="d",
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
    expires_at=None,
)


def verdict(*gates: Gate) -> Verdict:
    return Verdict(
        outcome=Outcome.HOLD,
        agent="finance",
        via=Via.PIN,
        reason=Reason.RISK,
        gates=gates,
        candidates=(),
        confidence=0.9,
        margin=0.8,
        risk=RiskView(Risk.HIGH, {}, Risk.LOW),
    )


def test_what_was_shown_is_answered() -> None:
    again = Gate(3, Reason.RISK, "P(high) is 0.70, over 0.30.")
    assert answered_gates(HOLD, target="finance", verdict=verdict(again)) == ((SHOWN,), False)


def test_what_no_longer_fires_stays_on_record() -> None:
    assert answered_gates(HOLD, target="finance", verdict=verdict()) == ((SHOWN,), False)


def test_a_gate_that_was_not_shown_is_news() -> None:
    gates, is_news = answered_gates(
        HOLD, target="personal", verdict=verdict(Gate(6, Reason.LOOP, "Too many."))
    )
    assert is_news
    assert [gate["reason"] for gate in gates] == ["risk", "loop"]


@pytest.mark.parametrize("reason", [Reason.UNDISPLAYABLE, Reason.AGENT_UNAVAILABLE])
def test_what_cannot_be_waived_is_refused_even_when_it_was_shown(reason: Reason) -> None:
    hold = replace(HOLD, gates=({"number": 5, "reason": str(reason), "detail": ""},))
    with pytest.raises(ConflictError) as caught:
        answered_gates(hold, target="finance", verdict=verdict(Gate(5, reason, "It cannot.")))
    assert caught.value.code == "not-waivable"
