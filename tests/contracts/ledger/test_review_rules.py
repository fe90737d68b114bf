"""Who may answer a hold, how many it takes, and how long an approval can be called back."""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from clawmarshal.errors import ConflictError, ExpiredError
from clawmarshal.roster.agent import AgentSpec, Risk
from clawmarshal.router.ledger.database import ReviewRules
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import Principal
from clawmarshal.router.ledger.states import HoldState, RouteState
from tests.contracts.ledger.conftest import OpenLedger
from tests.support.clock import FakeClock
from tests.support.ledger_cases import ANNA, BELA, TERMS, held, terms_of

CARLA = Principal("carla", "ck_carla", frozenset({"review"}))
FINANCE = TERMS["finance"]
TWO = ReviewRules(two_reviewers=frozenset({Risk.HIGH}))
GRACE = ReviewRules(grace_s=60)


@pytest.fixture
def two(open_ledger: OpenLedger) -> Ledger:
    return open_ledger(review=TWO)


def test_one_of_two_leaves_the_hold_open_and_is_shown(two: Ledger) -> None:
    hold = held(two)
    voted = two.approve(hold.id, ANNA, terms=FINANCE)
    assert (voted.state, voted.approvals) == (HoldState.OPEN, ("anna",))
    assert two.route(hold.route_id).state is RouteState.HELD
    assert [e.facts["agent"] for e in two.events(hold.route_id) if e.kind == "voted"] == ["finance"]


def test_the_second_person_answers_it(two: Ledger) -> None:
    hold = held(two)
    two.approve(hold.id, ANNA, terms=FINANCE)
    answered = two.approve(hold.id, BELA, terms=FINANCE)
    assert (answered.state, answered.person) == (HoldState.APPROVED, "bela")
    assert answered.approvals == ("anna", "bela")
    assert two.route(hold.route_id).state is RouteState.READY


def test_one_person_has_one_vote_by_whichever_key(two: Ledger) -> None:
    hold = held(two)
    two.approve(hold.id, ANNA, terms=FINANCE)
    again = two.approve(hold.id, replace(ANNA, key_id="ck_other"), terms=FINANCE)
    assert (again.state, again.approvals) == (HoldState.OPEN, ("anna",))


def test_two_votes_for_different_agents_are_no_two(two: Ledger) -> None:
    hold = held(two)
    two.approve(hold.id, ANNA, terms=FINANCE)
    assert two.approve(hold.id, BELA, terms=TERMS["security"]).state is HoldState.OPEN
    assert two.approve(hold.id, ANNA, terms=TERMS["security"]).state is HoldState.APPROVED
    assert two.hold(hold.id).agent == "security"


def test_a_vote_for_what_would_no_longer_run_counts_for_nothing(two: Ledger) -> None:
    hold = held(two)
    two.approve(hold.id, ANNA, terms=FINANCE)
    now = terms_of(AgentSpec("finance", "Something else entirely."))
    digest = two.hold_digest(hold.id, now, hold.gates)
    assert two.approve(hold.id, BELA, terms=now, digest=digest).state is HoldState.OPEN
    assert two.approve(hold.id, ANNA, terms=now, digest=digest).state is HoldState.APPROVED


def test_one_no_is_enough(two: Ledger) -> None:
    hold = held(two)
    two.approve(hold.id, ANNA, terms=FINANCE)
    assert two.reject(hold.id, BELA, reason="No.").state is HoldState.REJECTED
    assert two.route(hold.route_id).state is RouteState.REJECTED


def test_lower_risks_take_one(two: Ledger) -> None:
    hold = held(two, risk=Risk.MEDIUM)
    assert two.approve(hold.id, ANNA, terms=FINANCE).state is HoldState.APPROVED


def test_votes_outlive_the_service(open_ledger: OpenLedger) -> None:
    first = open_ledger(review=TWO)
    hold = held(first)
    first.approve(hold.id, ANNA, terms=FINANCE)
    first.close()
    assert open_ledger(review=TWO).approve(hold.id, BELA, terms=FINANCE).state is HoldState.APPROVED


def test_two_who_say_yes_at_once_answer_it(two: Ledger) -> None:
    for number in range(20):
        hold = held(two, f"Wire the money, {number}.")
        both = threading.Barrier(2)

        def vote(who: Principal, hold_id: str = hold.id, both: threading.Barrier = both) -> None:
            both.wait(20)
            two.approve(hold_id, who, terms=FINANCE)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(vote, (ANNA, BELA)))
        assert two.hold(hold.id).state is HoldState.APPROVED


def test_nobody_approves_what_they_sent_where_that_is_ruled(open_ledger: OpenLedger) -> None:
    ledger = open_ledger(review=ReviewRules(no_self_review=True))
    hold = held(ledger)
    with pytest.raises(ConflictError) as refused:
        ledger.approve(hold.id, CARLA, terms=FINANCE)
    assert refused.value.code == "self-review"
    assert ledger.hold(hold.id).state is HoldState.OPEN
    assert ledger.reject(hold.id, CARLA, reason="I take it back.").state is HoldState.REJECTED


def test_an_unruled_ledger_lets_people_approve_their_own(ledger: Ledger) -> None:
    assert ledger.approve(held(ledger).id, CARLA, terms=FINANCE).state is HoldState.APPROVED


def test_own_vote_is_none_of_the_two(open_ledger: OpenLedger) -> None:
    ledger = open_ledger(review=replace(TWO, no_self_review=True))
    hold = held(ledger)
    with pytest.raises(ConflictError):
        ledger.approve(hold.id, CARLA, terms=FINANCE)
    assert ledger.approve(hold.id, ANNA, terms=FINANCE).state is HoldState.OPEN


@pytest.mark.parametrize("deed", ["approve", "reject"])
def test_a_hold_is_answered_by_who_claimed_it_where_that_is_ruled(
    open_ledger: OpenLedger, clock: FakeClock, deed: str
) -> None:
    ledger = open_ledger(review=ReviewRules(claim_required=True))
    hold = held(ledger)

    def answer(who: Principal) -> HoldState:
        if deed == "approve":
            return ledger.approve(hold.id, who, terms=FINANCE).state
        return ledger.reject(hold.id, who, reason="No.").state

    with pytest.raises(ConflictError) as refused:
        answer(ANNA)
    assert refused.value.code == "claim-required"
    ledger.claim_hold(hold.id, BELA)
    with pytest.raises(ConflictError) as refused:
        answer(ANNA)
    assert refused.value.code == "hold-claimed"
    clock.advance(3600)
    with pytest.raises(ConflictError) as refused:
        answer(BELA)
    assert refused.value.code == "claim-required"
    ledger.claim_hold(hold.id, ANNA)
    assert answer(ANNA) is not HoldState.OPEN


def test_nothing_is_launched_before_the_grace_is_over(
    open_ledger: OpenLedger, clock: FakeClock
) -> None:
    ledger = open_ledger(review=GRACE)
    worker, hold = ledger.register_worker("w"), held(ledger)
    assert ledger.approve(hold.id, ANNA, terms=FINANCE).state is HoldState.APPROVED
    assert ledger.route(hold.route_id).state is RouteState.APPROVED
    clock.advance(59)
    assert ledger.expire() == ()
    assert ledger.claim(worker, terms=TERMS, max_children=8) is None
    clock.advance(2)
    assert ledger.expire() == (hold.route_id,)
    order = ledger.claim(worker, terms=TERMS, max_children=8)
    assert order is not None and order.route_id == hold.route_id


def test_cancel_wins_in_the_grace_and_not_after(open_ledger: OpenLedger, clock: FakeClock) -> None:
    ledger = open_ledger(review=GRACE)
    hold = held(ledger)
    ledger.approve(hold.id, ANNA, terms=FINANCE)
    assert ledger.cancel(hold.route_id, BELA).state is RouteState.CANCELLED
    clock.advance(120)
    assert ledger.expire() == ()
    assert ledger.route(hold.route_id).state is RouteState.CANCELLED


def test_what_changed_in_the_grace_goes_back_to_a_person(
    open_ledger: OpenLedger, clock: FakeClock
) -> None:
    ledger = open_ledger(review=GRACE)
    worker, hold = ledger.register_worker("w"), held(ledger)
    ledger.approve(hold.id, ANNA, terms=FINANCE)
    clock.advance(61)
    ledger.expire()
    changed = {**TERMS, "finance": terms_of(AgentSpec("finance", "Something else entirely."))}
    assert ledger.claim(worker, terms=changed, max_children=8) is None
    assert ledger.route(hold.route_id).state is RouteState.HELD


def test_holds_expire_by_their_risk(open_ledger: OpenLedger, clock: FakeClock) -> None:
    ledger = open_ledger(hold_ttl_s={Risk.HIGH: 60, Risk.MEDIUM: 600})
    high, medium, low = (held(ledger, f"{r}", risk=r) for r in (Risk.HIGH, Risk.MEDIUM, Risk.LOW))
    clock.advance(61)
    assert ledger.expire() == (high.route_id,)
    clock.advance(3600 * 24 * 365)
    assert ledger.expire() == (medium.route_id,)
    assert ledger.hold(low.id).state is HoldState.OPEN
    assert ledger.route(high.route_id).state is RouteState.EXPIRED
    with pytest.raises(ExpiredError):
        ledger.approve(high.id, ANNA, terms=FINANCE)


@pytest.mark.parametrize(
    "rules", [TWO, GRACE, ReviewRules(no_self_review=True), ReviewRules(claim_required=True)]
)
def test_an_answer_after_the_end_of_its_time_is_late_under_every_rule(
    open_ledger: OpenLedger, clock: FakeClock, rules: ReviewRules
) -> None:
    ledger = open_ledger(review=rules, hold_ttl_s={Risk.HIGH: 60})
    hold = held(ledger)
    ledger.claim_hold(hold.id, ANNA)
    clock.advance(61)
    for who, _ in itertools.product((ANNA, BELA), range(2)):
        with pytest.raises(ExpiredError):
            ledger.approve(hold.id, who, terms=FINANCE)
