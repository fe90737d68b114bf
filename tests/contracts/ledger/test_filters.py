"""Filters of the two lists mean the same on every back end."""

from datetime import timedelta

import pytest

from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import HoldFilter, Mode, RouteFilter
from tests.support.clock import FakeClock
from tests.support.ledger_cases import ANNA, TERMS, decision, held, submission


def decided(ledger: Ledger, text: str, **more: str) -> str:
    accepted = ledger.accept(submission(text, mode=Mode.DECIDE, **more))  # type: ignore[arg-type]  # texts only
    ledger.record(accepted.route_id, decision(), explanation={}, terms=TERMS["finance"])
    return accepted.route_id


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (RouteFilter(), {"one", "two"}),
        (RouteFilter(outcome="hold"), {"two"}),
        (RouteFilter(outcome="dispatch"), {"one"}),
        (RouteFilter(mode="decide"), {"one"}),
        (RouteFilter(conversation="c-1"), {"one"}),
        (RouteFilter(sender="s-2"), {"two"}),
        (RouteFilter(channel="chat", agent="finance"), {"one", "two"}),
        (RouteFilter(channel="mail"), set()),
        (RouteFilter(words="TWO"), {"two"}),
        (RouteFilter(words="%"), set()),
        (RouteFilter(since=FakeClock().now() + timedelta(seconds=60)), {"two"}),
        (RouteFilter(until=FakeClock().now() + timedelta(seconds=60)), {"one"}),
    ],
    ids=str,
)
def test_routes(ledger: Ledger, clock: FakeClock, wanted: RouteFilter, expected: set[str]) -> None:
    decided(ledger, "one", conversation="c-1", sender="s-1")
    clock.advance(60)
    held(ledger, "two", sender="s-2")
    assert {route.message.text for route in ledger.routes(wanted=wanted)[0]} == expected


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (HoldFilter(), {"open"}),
        (HoldFilter(None), {"open", "gone"}),
        (HoldFilter(None, person="anna"), {"gone"}),
        (HoldFilter(None, agent="finance"), {"open", "gone"}),
        (HoldFilter(None, agent="security"), set()),
        (HoldFilter(None, risk="high", reason="risk"), {"open", "gone"}),
        (HoldFilter(None, risk="low"), set()),
        (HoldFilter(None, until=FakeClock().now() + timedelta(seconds=60)), {"gone"}),
        (HoldFilter(None, since=FakeClock().now() + timedelta(seconds=60)), {"open"}),
    ],
    ids=str,
)
def test_holds(ledger: Ledger, clock: FakeClock, wanted: HoldFilter, expected: set[str]) -> None:
    gone = held(ledger, "gone")
    ledger.reject(gone.id, ANNA, reason="no")
    clock.advance(60)
    still = held(ledger, "open")
    names = {gone.id: "gone", still.id: "open"}
    assert {names[hold.id] for hold in ledger.holds(wanted=wanted)[0]} == expected
    mine = HoldFilter(None, route_id=still.route_id)
    assert [hold.id for hold in ledger.holds(wanted=mine)[0]] == [still.id]
