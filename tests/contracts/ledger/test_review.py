"""What reviewers ask of the ledger: sign-ins, claims, the queue in their order, and figures."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from clawmarshal.errors import ConflictError, ExpiredError, LedgerError, NotFoundError
from clawmarshal.roster.agent import Risk
from clawmarshal.router.ledger.figures import MAX_COUNTED, Group
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import HoldRecord, RouteFilter
from clawmarshal.router.ledger.states import RouteState
from clawmarshal.router.ledger.triage import EXCERPT_CHARS, TriageFilter
from clawmarshal.router.route import Outcome
from tests.contracts.ledger.conftest import OpenLedger
from tests.support.clock import FakeClock
from tests.support.ledger_cases import (
    ANNA,
    BELA,
    DONE,
    TERMS,
    decision,
    held,
    launching,
    lost,
    ready,
    submission,
)

WEEK_S = 7 * 86_400.0


def signed_in(ledger: Ledger, key: str, lifetime_s: float = 60.0) -> str:
    principal, token = ledger.sign_in(key, scope="review", lifetime_s=lifetime_s)
    assert principal is not None and token is not None
    return token


def test_a_key_signs_its_person_in(ledger: Ledger) -> None:
    key = ledger.create_key("phone", "rita", ["review"])
    token = signed_in(ledger, key)
    found = ledger.signed_in(token, "10.0.0.7")
    assert found is not None
    assert (found.person, found.address) == ("rita", "10.0.0.7")
    assert found.scopes == {"review"}
    assert key not in token and token not in key
    assert ledger.signed_in(key) is None
    assert ledger.signed_in(token[:-1]) is None


def test_nobody_signs_in_without_the_scope_or_with_an_unknown_key(ledger: Ledger) -> None:
    key = ledger.create_key("sender", "ann", ["route"])
    principal, token = ledger.sign_in(key, scope="review", lifetime_s=60)
    assert (principal and principal.person, token) == ("ann", None)
    assert ledger.sign_in("cmk_x", scope="review", lifetime_s=60) == (None, None)


def test_a_sign_in_ends_with_its_time_its_key_and_by_itself(
    ledger: Ledger, clock: FakeClock
) -> None:
    key = ledger.create_key("phone", "rita", ["review"])
    first, second, third = (signed_in(ledger, key) for _ in range(3))
    (principal,) = {ledger.signed_in(first)}
    assert principal is not None
    ledger.sign_out(first, principal)
    ledger.sign_out(first, principal)
    assert ledger.signed_in(first) is None
    clock.advance(59)
    assert ledger.signed_in(second) is not None
    clock.advance(1)
    assert ledger.signed_in(second) is None
    fresh = signed_in(ledger, key)
    ledger.revoke_key(principal.key_id)
    assert ledger.signed_in(fresh) is None
    assert ledger.signed_in(third) is None
    assert ledger.sign_in(key, scope="review", lifetime_s=60) == (None, None)


def test_a_sign_in_outlives_a_restart(open_ledger: OpenLedger) -> None:
    before = open_ledger()
    token = signed_in(before, before.create_key("phone", "rita", ["review"]))
    before.close()
    assert open_ledger().signed_in(token) is not None


def test_a_claim_keeps_others_out_until_it_ends(ledger: Ledger, clock: FakeClock) -> None:
    hold = held(ledger)
    claim = ledger.claim_hold(hold.id, ANNA, lease_s=60)
    assert (claim.person, claim.claimed_at) == ("anna", clock.now())
    assert ledger.claims([hold.id]) == {hold.id: claim}
    with pytest.raises(ConflictError) as refused:
        ledger.claim_hold(hold.id, BELA)
    assert refused.value.code == "hold-claimed"
    assert refused.value.winner == {"person": "anna", "until": claim.until.isoformat()}
    clock.advance(30)
    assert ledger.claim_hold(hold.id, ANNA, lease_s=60).until > claim.until
    clock.advance(60)
    assert ledger.claims([hold.id]) == {}
    assert ledger.claim_hold(hold.id, BELA).person == "bela"


def test_only_its_person_releases_a_claim(ledger: Ledger) -> None:
    hold = held(ledger)
    ledger.release_hold(hold.id, ANNA)  # nobody has it
    ledger.claim_hold(hold.id, ANNA)
    with pytest.raises(ConflictError, match="somebody else"):
        ledger.release_hold(hold.id, BELA)
    ledger.release_hold(hold.id, ANNA)
    assert ledger.claims([hold.id]) == {}
    kinds = [event.kind for event in ledger.events(hold.route_id)]
    assert kinds[-2:] == ["claimed", "released"]
    assert ledger.verify_chain(hold.route_id).is_intact


def test_a_claim_answers_nothing(ledger: Ledger) -> None:
    hold = held(ledger)
    ledger.claim_hold(hold.id, ANNA)
    assert ledger.reject(hold.id, BELA, reason="no").person == "bela"
    with pytest.raises(ConflictError) as refused:
        ledger.claim_hold(hold.id, ANNA)
    assert refused.value.code == "hold-decided"


def test_what_is_over_or_not_there_cannot_be_claimed(
    open_ledger: OpenLedger, clock: FakeClock
) -> None:
    ledger = open_ledger(hold_ttl_s={Risk.HIGH: 60})
    hold = held(ledger)
    clock.advance(60)
    with pytest.raises(ExpiredError):
        ledger.claim_hold(hold.id, ANNA)
    with pytest.raises(NotFoundError):
        ledger.claim_hold("hd_0", ANNA)
    with pytest.raises(NotFoundError):
        ledger.release_hold("hd_0", ANNA)


def test_of_many_who_claim_at_once_one_has_it(ledger: Ledger) -> None:
    hold = held(ledger)

    def claim(number: int) -> bool:
        try:
            ledger.claim_hold(hold.id, BELA if number % 2 else ANNA)
        except ConflictError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(claim, range(16)))
    person = ledger.claims([hold.id])[hold.id].person
    assert [number % 2 for number, has in enumerate(won) if has] == [int(person == "bela")] * 8


def some_holds(ledger: Ledger, count: int) -> list[HoldRecord]:
    risks = random.Random(7).choices(list(Risk), k=count)
    return [held(ledger, f"text {n}", risk=risk) for n, risk in enumerate(risks)]


@pytest.mark.parametrize("limit", [1, 2, 7, 50])
def test_the_queue_comes_by_risk_then_age_page_by_page(ledger: Ledger, limit: int) -> None:
    expected = [hold.id for hold in sorted(some_holds(ledger, 23), key=lambda one: -one.risk.level)]
    seen: list[str] = []
    cursor = None
    while True:
        page = ledger.triage(TriageFilter(), limit=limit, cursor=cursor)
        assert len(page.rows) <= limit
        assert sum(page.by_risk.values()) == 23
        seen += [row.hold.id for row in page.rows]
        if (cursor := page.next) is None:
            break
    assert seen == expected


def test_a_hold_that_comes_while_somebody_reads_shifts_no_page(ledger: Ledger) -> None:
    holds = [held(ledger, f"low {n}", risk=Risk.LOW) for n in range(4)]
    first = ledger.triage(TriageFilter(), limit=2)
    held(ledger, "high", risk=Risk.HIGH)
    ledger.reject(holds[0].id, ANNA, reason="no")
    second = ledger.triage(TriageFilter(), limit=2, cursor=first.next)
    assert [row.hold.id for row in second.rows] == [holds[2].id, holds[3].id]


def test_counts_and_rows_come_from_one_filter(ledger: Ledger) -> None:
    some_holds(ledger, 20)
    for risk in (None, *Risk):
        page = ledger.triage(TriageFilter(risk=risk, words="text 1"), limit=500)
        shown = [row.hold.risk for row in page.rows]
        for tier in Risk:
            if risk in (None, tier):
                assert page.by_risk.get(tier, 0) == shown.count(tier)
        assert page.reasons.get("risk", 0) == page.agents.get("finance", 0) == len(shown)


def test_words_are_never_a_pattern(ledger: Ledger) -> None:
    texts = ("50% off", "50 off", "a_b", "axb", "c\\d", "x' OR 1=1 --")
    for text in texts:
        held(ledger, text)
    for text in texts:
        found = ledger.triage(TriageFilter(words=text)).rows
        assert [row.excerpt for row in found] == [text]
        routes, _ = ledger.find_routes(RouteFilter(words=text))
        assert [route.excerpt for route in routes] == [text]


def test_a_row_tells_enough_and_no_more(ledger: Ledger) -> None:
    hold = held(ledger, "x" * 1000, sender="kim", conversation="c")
    ledger.claim_hold(hold.id, ANNA)
    (row,) = ledger.triage(TriageFilter(claimed_by="anna")).rows
    assert (row.hold, row.sender, row.channel, row.conversation) == (hold, "kim", "chat", "c")
    assert (len(row.excerpt), row.is_cut) == (EXCERPT_CHARS, True)
    assert row.candidates == (("finance", 0.9), ("none_of_these", 0.1))
    assert row.claim is not None and row.claim.person == "anna"
    assert ledger.triage(TriageFilter(claimed_by="bela")).rows == ()


def test_the_next_hold_is_the_riskiest_other_one(ledger: Ledger) -> None:
    low, high = held(ledger, risk=Risk.LOW), held(ledger, risk=Risk.HIGH)
    assert ledger.next_hold(low.id) == high.id
    assert ledger.next_hold(high.id) == low.id
    ledger.reject(low.id, ANNA, reason="no")
    assert ledger.next_hold(high.id) is None


@pytest.mark.parametrize(
    "cursor", ["", "x", "high", "high.x", "odd.1", "high.-1", "high." + "9" * 19]
)
def test_a_cursor_of_somebody_else_is_refused(ledger: Ledger, cursor: str) -> None:
    with pytest.raises(LedgerError) as refused:
        ledger.triage(TriageFilter(), cursor=cursor)
    assert refused.value.code == "cursor-invalid"


def test_routes_are_found_by_state_agent_and_words_newest_first(ledger: Ledger) -> None:
    first = ready(ledger, "alpha")
    second = held(ledger, "beta alpha").route_id
    undecided = ledger.accept(submission("gamma")).route_id
    every, following = ledger.find_routes(RouteFilter())
    assert ([route.id for route in every], following) == ([undecided, second, first], None)
    assert (every[0].risk, every[0].confidence, every[0].agent) == (None, None, None)
    found, _ = ledger.find_routes(RouteFilter(words="alpha", state="ready"))
    assert [route.id for route in found] == [first]
    found, _ = ledger.find_routes(RouteFilter(agent="finance", words="alpha"), limit=1)
    assert len(found) == 1
    found, cursor = ledger.find_routes(RouteFilter(), limit=2)
    rest, end = ledger.find_routes(RouteFilter(), limit=2, cursor=cursor)
    assert ([route.id for route in (*found, *rest)], end) == ([undecided, second, first], None)
    with pytest.raises(LedgerError):
        ledger.find_routes(RouteFilter(), cursor="x")


def test_what_was_said_before_is_of_the_same_conversation(ledger: Ledger, worker: str) -> None:
    order = launching(ledger, worker, conversation="c", sender="kim")
    ledger.started(order, 1)
    ledger.finish(order, DONE)
    ready(ledger, "elsewhere", conversation="other")
    hold = held(ledger, "and now this", conversation="c")
    (turn,) = ledger.said_before(hold.route_id)
    assert (turn.route_id, turn.sender, turn.agent) == (order.route_id, "kim", "finance")
    assert (turn.reply, turn.state) == ("fine", RouteState.DONE)
    lone = held(ledger, "no conversation")
    assert ledger.said_before(lone.route_id) == ()


def test_figures_count_what_came_in_its_time(ledger: Ledger, clock: FakeClock) -> None:
    ready(ledger, "old")
    clock.advance(8 * 86_400)
    ready(ledger, "a")
    clock.advance(3600)
    held(ledger, "b", risk=Risk.HIGH)
    ledger.accept(submission("undecided"))
    found = ledger.lately(window_s=WEEK_S, buckets=7)
    assert not found.is_cut and MAX_COUNTED > 1000
    assert sum(group.count for group in found.groups) == 3
    assert {group.bucket for group in found.groups} == {6}
    assert Group(6, "ready", "dispatch", "low", "matched", 9, 1) in found.groups
    assert Group(6, "received", None, None, None, None, 1) in found.groups
    (was_held,) = [group for group in found.groups if group.outcome == "hold"]
    assert (was_held.risk, was_held.state, was_held.reason) == ("high", "held", "risk")
    assert found.ages == {"high": (1, 0, 0, 0, 0)}


def test_the_age_of_open_holds_is_told_by_risk(ledger: Ledger, clock: FakeClock) -> None:
    for wait_s, risk in ((80_000, Risk.LOW), (7000, Risk.LOW), (400, Risk.HIGH), (10, Risk.HIGH)):
        held(ledger, f"{wait_s}", risk=risk)
        clock.advance(wait_s)
    ages = ledger.lately(window_s=60, buckets=1).ages
    assert ages == {"low": (0, 0, 1, 0, 1), "high": (1, 1, 0, 0, 0)}


def test_agents_are_told_by_how_their_launches_ended(
    ledger: Ledger, worker: str, clock: FakeClock
) -> None:
    lost(ledger)
    clock.advance(8 * 86_400)
    for seconds in (2, 4):
        order = launching(ledger, worker, conversation=f"c{seconds}")
        ledger.started(order, 1)
        clock.advance(seconds)
        ledger.finish(order, DONE)
    lost(ledger, conversation="lost")
    held(ledger, "waits")
    figures = ledger.agent_figures(window_s=WEEK_S)
    assert set(figures) == {"finance"}
    assert figures["finance"].states == {"done": 2, "unknown": 1}
    assert [s for s in figures["finance"].seconds if s > 0] == [2.0, 4.0]
    assert (figures["finance"].last, figures["finance"].waiting) == (clock.now(), 1)


def test_a_decline_and_a_hold_are_different_outcomes(ledger: Ledger) -> None:
    for outcome in (Outcome.DECLINE, Outcome.HOLD, Outcome.HOLD):
        route_id = ledger.accept(submission()).route_id
        ledger.record(route_id, decision(outcome), explanation={}, terms=TERMS["finance"])
    groups = ledger.lately(window_s=60, buckets=1).groups
    counts: dict[str | None, int] = {}
    for group in groups:
        counts[group.outcome] = counts.get(group.outcome, 0) + group.count
    assert counts == {"decline": 1, "hold": 2}
