"""The first answer wins, for what was shown, in time."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from clawmarshal.errors import ConflictError, ExpiredError, LedgerError, NotFoundError
from clawmarshal.roster.agent import AgentSpec, Risk
from clawmarshal.router.ledger.binding import GateLike, LaunchTerms, Session, launch_digest
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import HoldRecord
from clawmarshal.router.ledger.states import HoldState, RouteState
from clawmarshal.router.route import Gate, Outcome, Reason
from tests.contracts.ledger.conftest import OpenLedger
from tests.support.clock import FakeClock
from tests.support.ledger_cases import (
    ANNA,
    BELA,
    DONE,
    FINANCE,
    SECURITY,
    TERMS,
    decision,
    held,
    lost,
    submission,
    terms_of,
)

FINANCE_TERMS = TERMS["finance"]
ANOTHER_GATE = {"number": 5, "reason": "directive", "detail": "Begins with a slash."}


def test_hold_says_what_was_shown(ledger: Ledger, clock: FakeClock) -> None:
    hold = held(ledger)
    assert (hold.state, hold.suggestion, hold.reason) == (HoldState.OPEN, "finance", "risk")
    assert hold.gates == (
        {"number": 3, "reason": "risk", "detail": "P(high) is 0.61, the limit is 0.30."},
    )
    assert (hold.risk, hold.owner, hold.created_at) == (Risk.HIGH, "carla", clock.now())
    assert hold.expires_at is None and hold.decision is None
    assert ledger.route(hold.route_id).hold == hold == ledger.hold(hold.id)


def test_approved_hold_makes_the_route_ready(ledger: Ledger, clock: FakeClock) -> None:
    hold = held(ledger)
    answered = ledger.approve(hold.id, ANNA, terms=FINANCE_TERMS, note="I asked her.")
    assert (answered.state, answered.decision) == (HoldState.APPROVED, "approve")
    assert (answered.person, answered.agent, answered.note) == ("anna", "finance", "I asked her.")
    assert answered.decided_at == clock.now()
    assert ledger.route(hold.route_id).state is RouteState.READY


def test_hold_can_be_approved_as_another_agent(ledger: Ledger, worker: str) -> None:
    hold = held(ledger)
    assert ledger.approve(hold.id, ANNA, terms=TERMS["security"]).agent == "security"
    order = ledger.claim(worker, terms=TERMS, max_children=2)
    assert order is not None and order.agent == "security"


def test_hold_without_suggestion_can_be_approved_for_an_agent(ledger: Ledger) -> None:
    route_id = ledger.accept(submission()).route_id
    no_match = decision(Outcome.HOLD, agent=None, reason=Reason.NO_MATCH, gates=())
    hold = ledger.record(route_id, no_match, explanation={}, terms=None).hold
    assert hold is not None and hold.suggestion is None
    assert ledger.approve(hold.id, ANNA, terms=FINANCE_TERMS).agent == "finance"


def test_rejected_hold_ends_the_route(ledger: Ledger) -> None:
    hold = held(ledger)
    answered = ledger.reject(hold.id, BELA, reason="No.")
    assert (answered.decision, answered.person, answered.note) == ("reject", "bela", "No.")
    route = ledger.route(hold.route_id)
    assert (route.state, route.reason) == (RouteState.REJECTED, "rejected")


def test_reject_needs_a_reason(ledger: Ledger) -> None:
    hold = held(ledger)
    with pytest.raises(LedgerError) as refused:
        ledger.reject(hold.id, BELA, reason=" ")
    assert refused.value.code == "reason-required"
    assert ledger.hold(hold.id).state is HoldState.OPEN


def test_same_answer_again_changes_nothing(ledger: Ledger, clock: FakeClock) -> None:
    approved, rejected = held(ledger), held(ledger)
    first = ledger.approve(approved.id, ANNA, terms=FINANCE_TERMS, note="one")
    no = ledger.reject(rejected.id, ANNA, reason="one")
    clock.advance(5)
    changed = terms_of(version="2")
    assert ledger.approve(approved.id, BELA, terms=changed, note="two") == first
    assert ledger.reject(rejected.id, BELA, reason="two") == no


def test_another_answer_is_told_who_won(ledger: Ledger, clock: FakeClock) -> None:
    hold = held(ledger)
    ledger.approve(hold.id, ANNA, terms=FINANCE_TERMS)
    answers: list[Callable[[], HoldRecord]] = [
        lambda: ledger.reject(hold.id, BELA, reason="No."),
        lambda: ledger.approve(hold.id, BELA, terms=TERMS["security"]),
    ]
    for answer in answers:
        with pytest.raises(ConflictError) as refused:
            answer()
        assert refused.value.code == "hold-decided"
        assert refused.value.winner == {
            "decision": "approve",
            "agent": "finance",
            "person": "anna",
            "at": clock.now().isoformat(),
        }


def test_unknown_hold_is_not_found(ledger: Ledger) -> None:
    with pytest.raises(NotFoundError):
        ledger.approve("hd_" + "0" * 32, ANNA, terms=FINANCE_TERMS)
    with pytest.raises(NotFoundError):
        ledger.reject("hd_" + "0" * 32, ANNA, reason="No.")


def test_fifty_answers_to_one_hold_have_one_winner(ledger: Ledger) -> None:
    hold = held(ledger)

    def answer(number: int) -> HoldRecord | ConflictError:
        try:
            if number % 2:
                return ledger.approve(hold.id, ANNA, terms=FINANCE_TERMS)
            return ledger.reject(hold.id, BELA, reason="No.")
        except ConflictError as error:
            return error

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(answer, range(50)))
    winners = [answer for answer in answers if isinstance(answer, HoldRecord)]
    losers = [answer for answer in answers if isinstance(answer, ConflictError)]
    assert len({winner.decision for winner in winners}) == 1
    assert len(losers) == 25 and {loser.code for loser in losers} == {"hold-decided"}
    kinds = [event.kind for event in ledger.events(hold.route_id)]
    assert sum(kind in ("approved", "rejected") for kind in kinds) == 1


@pytest.mark.parametrize("answer", ["approve", "reject"])
def test_expired_hold_cannot_be_answered(
    open_ledger: OpenLedger, clock: FakeClock, answer: str
) -> None:
    ledger = open_ledger(hold_ttl_s={Risk.HIGH: 60})
    hold = held(ledger)
    clock.advance(60)  # at the very moment it is over
    for _ in range(2):  # before and after somebody swept
        with pytest.raises(ExpiredError):
            if answer == "approve":
                ledger.approve(hold.id, ANNA, terms=FINANCE_TERMS)
            else:
                ledger.reject(hold.id, ANNA, reason="No.")
        assert ledger.hold(hold.id).state is HoldState.EXPIRED
    route = ledger.route(hold.route_id)
    assert (route.state, route.reason) == (RouteState.EXPIRED, "expired")


def test_hold_can_be_answered_until_its_last_moment(
    open_ledger: OpenLedger, clock: FakeClock
) -> None:
    ledger = open_ledger(hold_ttl_s={Risk.HIGH: 60})
    hold = held(ledger)
    clock.advance(59.999999)
    assert ledger.approve(hold.id, ANNA, terms=FINANCE_TERMS).state is HoldState.APPROVED


def test_expiry_takes_only_what_is_due(open_ledger: OpenLedger, clock: FakeClock) -> None:
    ledger = open_ledger(hold_ttl_s={Risk.HIGH: 60, Risk.LOW: None})
    due, patient, other = held(ledger), held(ledger, risk=Risk.LOW), held(ledger, risk=Risk.MEDIUM)
    clock.advance(60)
    assert ledger.expire() == (due.route_id,)
    assert ledger.expire() == ()
    assert {hold.id for hold in ledger.holds()[0]} == {patient.id, other.id}


def test_clock_that_jumps_back_does_not_bring_an_expired_hold_back(
    open_ledger: OpenLedger, clock: FakeClock
) -> None:
    ledger = open_ledger(hold_ttl_s={Risk.HIGH: 60})
    hold = held(ledger)
    clock.advance(60)
    ledger.expire()
    clock.jump(-3600)
    with pytest.raises(ExpiredError):
        ledger.approve(hold.id, ANNA, terms=FINANCE_TERMS)


def test_shown_digest_must_be_the_digest_that_would_run(ledger: Ledger) -> None:
    hold = held(ledger)
    with pytest.raises(ConflictError) as refused:
        ledger.approve(hold.id, ANNA, terms=FINANCE_TERMS, digest="0" * 64)
    assert refused.value.code == "digest-changed"
    assert refused.value.detail["digest"] == hold.digest
    assert refused.value.detail["gates"] == list(hold.gates)
    assert ledger.hold(hold.id).state is HoldState.OPEN
    assert ledger.approve(hold.id, ANNA, terms=FINANCE_TERMS, digest=hold.digest).agent == "finance"


@pytest.mark.parametrize(
    "changed",
    [
        terms_of(version="2"),
        terms_of(AgentSpec("finance", "Something else by now.")),
    ],
    ids=["template", "agent"],
)
def test_change_since_the_hold_must_be_looked_at(ledger: Ledger, changed: LaunchTerms) -> None:
    hold = held(ledger)
    with pytest.raises(ConflictError) as refused:
        ledger.approve(hold.id, ANNA, terms=changed)
    offered = str(refused.value.detail["digest"])
    assert offered == ledger.hold_digest(hold.id, changed)
    answered = ledger.approve(hold.id, ANNA, terms=changed, digest=offered)
    assert answered.digest == offered


def test_change_of_another_agent_voids_nothing(ledger: Ledger) -> None:
    hold = held(ledger)
    terms_of(AgentSpec("security", "Changed."))
    assert ledger.approve(hold.id, ANNA, terms=FINANCE_TERMS, digest=hold.digest).agent == "finance"


def test_digest_covers_every_part(ledger: Ledger) -> None:
    hold = held(ledger, conversation="a")
    digests = [
        hold.digest,
        held(ledger, conversation="b").digest,
        ledger.hold_digest(hold.id, terms_of(version="2")),
        ledger.hold_digest(hold.id, TERMS["security"]),
        ledger.hold_digest(hold.id, terms_of(replace(FINANCE, description="Changed."))),
        ledger.hold_digest(hold.id, FINANCE_TERMS, gates=(*hold.gates, ANOTHER_GATE)),
    ]
    assert len(set(digests)) == len(digests)
    assert ledger.hold_digest(hold.id, FINANCE_TERMS) == hold.digest


def test_launch_digest_covers_text_session_and_reply_target() -> None:
    parts: dict[str, Any] = {
        "message_seal": "1",
        "agent": "finance",
        "agent_digest": "2",
        "template_digest": "3",
        "session": Session("cm-4", 1),
        "reply_target": None,
    }
    changes: list[dict[str, Any]] = [
        {"message_seal": "x"},
        {"agent": "x"},
        {"agent_digest": "x"},
        {"template_digest": "x"},
        {"session": Session("cm-x", 1)},
        {"session": Session("cm-4", 2)},
        {"reply_target": ""},
    ]
    digests = {launch_digest(**{**parts, **change}) for change in [{}, *changes]}
    assert len(digests) == len(changes) + 1


def test_gates_that_were_not_shown_are_answered_with_their_own_digest(ledger: Ledger) -> None:
    hold = held(ledger)
    gates: tuple[GateLike, ...] = (*hold.gates, Gate(5, Reason.DIRECTIVE, "Begins with a slash."))
    offered = ledger.hold_digest(hold.id, TERMS["security"], gates)
    with pytest.raises(ConflictError):
        ledger.approve(hold.id, ANNA, terms=TERMS["security"], digest=offered)
    answered = ledger.approve(hold.id, ANNA, terms=TERMS["security"], digest=offered, gates=gates)
    assert [gate["reason"] for gate in answered.gates] == ["risk", "directive"]


@pytest.mark.parametrize("reason", ["digest_changed", "agent_unavailable"])
def test_change_after_the_approval_goes_back_to_a_human(
    ledger: Ledger, worker: str, reason: str
) -> None:
    hold = held(ledger)
    ledger.approve(hold.id, ANNA, terms=FINANCE_TERMS)
    changed = {
        "digest_changed": {"finance": terms_of(version="2")},
        "agent_unavailable": {"finance": terms_of(available=False)},
    }[reason]
    assert ledger.claim(worker, terms=changed, max_children=2) is None
    route = ledger.route(hold.route_id)
    assert route.hold is not None and route.hold.id != hold.id
    assert (route.state, route.reason) == (RouteState.HELD, reason)
    assert (route.hold.state, route.hold.reason) == (HoldState.OPEN, reason)
    assert [gate["reason"] for gate in route.hold.gates] == ["risk", reason]
    assert route.attempts == ()
    assert ledger.hold(hold.id).state is HoldState.APPROVED


def test_route_that_went_back_launches_after_a_new_approval(ledger: Ledger, worker: str) -> None:
    hold = held(ledger)
    ledger.approve(hold.id, ANNA, terms=FINANCE_TERMS)
    changed = {"finance": terms_of(version="2")}
    ledger.claim(worker, terms=changed, max_children=2)
    again = ledger.route(hold.route_id).hold
    assert again is not None
    ledger.approve(again.id, ANNA, terms=changed["finance"], digest=again.digest)
    order = ledger.claim(worker, terms=changed, max_children=2)
    assert order is not None and order.route_id == hold.route_id


def test_reason_for_going_back_is_shown_once(ledger: Ledger, worker: str) -> None:
    gone = {"finance": terms_of(available=False)}
    hold = held(ledger)
    for _ in range(3):
        digest = ledger.hold_digest(hold.id, gone["finance"])
        ledger.approve(hold.id, ANNA, terms=gone["finance"], digest=digest)
        assert ledger.claim(worker, terms=gone, max_children=2) is None
        again = ledger.route(hold.route_id).hold
        assert again is not None
        assert [gate["reason"] for gate in again.gates] == ["risk", "agent_unavailable"]
        hold = again


def test_new_session_generation_after_the_approval_goes_back_to_a_human(
    ledger: Ledger, worker: str, clock: FakeClock
) -> None:
    unknown = lost(ledger, conversation="a")
    hold = held(ledger, conversation="a")
    ledger.approve(hold.id, ANNA, terms=FINANCE_TERMS)
    clock.advance(3600)
    ledger.resolve(unknown.id, ANNA, answer="rerun")
    order = ledger.claim(worker, terms=TERMS, max_children=1)
    assert order is not None and order.route_id == unknown.id
    ledger.finish(order, DONE)
    assert ledger.claim(worker, terms=TERMS, max_children=1) is None
    assert ledger.route(hold.route_id).reason == "digest_changed"


def test_agent_gone_from_the_roster_holds_what_was_to_be_dispatched(
    ledger: Ledger, worker: str
) -> None:
    route_id = ledger.accept(submission()).route_id
    ledger.record(route_id, decision(), explanation={}, terms=FINANCE_TERMS)
    only_security = {"security": terms_of(SECURITY)}
    assert ledger.claim(worker, terms=only_security, max_children=2) is None
    route = ledger.route(route_id)
    assert route.hold is not None
    assert (route.state, route.hold.reason) == (RouteState.HELD, "agent_unavailable")
    assert [gate["number"] for gate in route.hold.gates] == [9]


def test_pages_of_holds_hold_each_once(ledger: Ledger) -> None:
    expected = [held(ledger, owner=name).id for name in ("a", "b", "a", "a")]
    seen: list[str] = []
    cursor = None
    while True:
        page, cursor = ledger.holds(limit=2, cursor=cursor)
        seen += [hold.id for hold in page]
        if cursor is None:
            break
    assert seen == expected
    assert [hold.id for hold in ledger.holds(owner="b")[0]] == [expected[1]]


def test_answered_holds_are_listed_when_asked_for(ledger: Ledger) -> None:
    hold, waiting = held(ledger), held(ledger)
    ledger.reject(hold.id, ANNA, reason="No.")
    assert [h.id for h in ledger.holds(state="rejected")[0]] == [hold.id]
    assert {h.id for h in ledger.holds(state=None)[0]} == {hold.id, waiting.id}


def test_hold_of_another_owner_is_not_found(ledger: Ledger) -> None:
    hold = held(ledger, owner="carla")
    assert ledger.hold(hold.id, owner="carla") == hold
    with pytest.raises(NotFoundError):
        ledger.hold(hold.id, owner="dora")


@pytest.mark.parametrize("cursor", ["x", "-1", "1.5", "9" * 19, "²"])
def test_foreign_cursor_is_refused(ledger: Ledger, cursor: str) -> None:
    with pytest.raises(LedgerError) as refused:
        ledger.holds(cursor=cursor)
    assert refused.value.code == "cursor-invalid"
