"""What only a person may say: cancel, and what became of an unknown."""

from collections.abc import Callable

import pytest

from clawmarshal.errors import ConflictError, LedgerError, NotFoundError
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.states import HoldState, RouteState
from clawmarshal.transport.outcome import TurnResult, TurnState
from tests.support.clock import FakeClock
from tests.support.ledger_cases import (
    ANNA,
    DONE,
    TERMS,
    held,
    launching,
    lost,
    ready,
    submission,
    terms_of,
)

S = RouteState
NOT_RUN = TurnResult(TurnState.FAILED_NOT_RUN, "gateway-down")
LONG_AFTER = 60 + 30 + 30
"""The turn's own limit, the CLI's patience, and the margin."""


@pytest.mark.parametrize(
    "bring",
    [
        lambda ledger: ledger.accept(submission()).route_id,
        ready,
        lambda ledger: held(ledger).route_id,
    ],
    ids=["received", "ready", "held"],
)
def test_what_was_not_launched_can_be_cancelled(
    ledger: Ledger, worker: str, bring: Callable[[Ledger], str]
) -> None:
    route_id = bring(ledger)
    record = ledger.cancel(route_id, ANNA)
    assert (record.state, record.reason) == (S.CANCELLED, "cancelled")
    assert record.hold is None or record.hold.state is HoldState.CANCELLED
    assert ledger.cancel(route_id, ANNA) == record
    assert ledger.claim(worker, terms=TERMS, max_children=2) is None
    assert ledger.events(route_id)[-1].actor == "person:anna"


def test_hold_of_a_cancelled_route_cannot_be_answered(ledger: Ledger) -> None:
    hold = held(ledger)
    ledger.cancel(hold.route_id, ANNA)
    with pytest.raises(ConflictError) as refused:
        ledger.approve(hold.id, ANNA, terms=TERMS["finance"])
    assert refused.value.code == "hold-cancelled"


def test_running_turn_is_only_asked_to_stop(ledger: Ledger, worker: str) -> None:
    order = launching(ledger, worker)
    ledger.started(order, 1)
    assert ledger.cancel(order.route_id, ANNA).state is S.RUNNING
    assert ledger.events(order.route_id)[-1].kind == "cancel_requested"
    assert ledger.finish(order, DONE)
    assert ledger.route(order.route_id).state is S.DONE


def test_what_has_ended_cannot_be_cancelled(ledger: Ledger, worker: str) -> None:
    order = launching(ledger, worker)
    ledger.finish(order, DONE)
    for route_id in (order.route_id, lost(ledger).id):
        with pytest.raises(ConflictError) as refused:
            ledger.cancel(route_id, ANNA)
        assert refused.value.code == "not-cancellable"


@pytest.mark.parametrize(
    ("answer", "state", "ran", "reason"),
    [
        ("ran", S.DONE, True, "resolved_ran"),
        ("not_run", S.FAILED, False, "resolved_not_run"),
        ("leave", S.UNKNOWN, None, "worker_gone"),
    ],
)
def test_person_says_what_became_of_an_unknown(
    ledger: Ledger, answer: str, state: RouteState, ran: bool | None, reason: str
) -> None:
    route_id = lost(ledger).id
    record = ledger.resolve(route_id, ANNA, answer=answer, note="Looked \ud800 it up.")
    assert (record.state, record.ran, record.reason) == (state, ran, reason)
    assert record.reply_text is None
    last = ledger.events(route_id)[-1]
    assert (last.actor, last.facts["answer"], last.facts["note"]) == (
        "person:anna",
        answer,
        "Looked ? it up.",
    )


def test_unknown_answer_is_refused(ledger: Ledger) -> None:
    with pytest.raises(LedgerError) as refused:
        ledger.resolve(lost(ledger).id, ANNA, answer="retry")
    assert refused.value.code == "answer-invalid"


def test_unknown_id_is_not_found(ledger: Ledger) -> None:
    with pytest.raises(NotFoundError):
        ledger.resolve("rt_" + "0" * 32, ANNA, answer="ran")
    with pytest.raises(NotFoundError):
        ledger.cancel("rt_" + "0" * 32, ANNA)


@pytest.mark.parametrize("answer", ["ran", "not_run", "rerun", "leave"])
def test_only_an_unknown_can_be_resolved(ledger: Ledger, worker: str, answer: str) -> None:
    done = launching(ledger, worker)
    ledger.finish(done, DONE)
    ran = launching(ledger, worker)
    ledger.finish(ran, TurnResult(TurnState.FAILED_RAN, "timeout"))
    for route_id in (done.route_id, ran.route_id, ready(ledger)):
        with pytest.raises(ConflictError) as refused:
            ledger.resolve(route_id, ANNA, answer=answer)
        assert refused.value.code == "not-resolvable"


@pytest.mark.parametrize("answer", ["ran", "not_run", "leave"])
def test_certain_failure_can_only_be_run_again(ledger: Ledger, worker: str, answer: str) -> None:
    order = launching(ledger, worker)
    ledger.finish(order, NOT_RUN)
    with pytest.raises(ConflictError):
        ledger.resolve(order.route_id, ANNA, answer=answer)
    assert ledger.resolve(order.route_id, ANNA, answer="rerun").state is S.READY


def test_run_again_waits_until_nothing_can_come_of_the_first(
    ledger: Ledger, clock: FakeClock
) -> None:
    route_id = lost(ledger).id
    clock.advance(LONG_AFTER - 0.001)
    with pytest.raises(ConflictError) as refused:
        ledger.resolve(route_id, ANNA, answer="rerun")
    assert refused.value.code == "rerun-too-early"
    clock.advance(0.001)
    assert refused.value.detail["opens_at"] == clock.now().isoformat()
    assert ledger.resolve(route_id, ANNA, answer="rerun").state is S.READY


def test_run_again_opens_at_once_when_the_worker_is_through(
    ledger: Ledger, worker: str, clock: FakeClock
) -> None:
    order = launching(ledger, worker)
    clock.advance(order.lease_s)
    ledger.finish(order, DONE)  # late: the worker acknowledges its stale fence
    assert ledger.route(order.route_id).state is S.UNKNOWN
    assert ledger.resolve(order.route_id, ANNA, answer="rerun").state is S.READY


def test_run_again_is_a_linked_attempt_in_a_new_session(
    ledger: Ledger, worker: str, clock: FakeClock
) -> None:
    first = lost(ledger, conversation="a")
    clock.advance(LONG_AFTER)
    record = ledger.resolve(first.id, ANNA, answer="rerun")
    assert (record.reason, record.ran) == ("rerun", None)
    assert ledger.events(first.id)[-1].facts["after_attempt"] == first.attempts[0].id
    order = ledger.claim(worker, terms=TERMS, max_children=2)
    assert order is not None and order.route_id == first.id
    ledger.finish(order, DONE)
    one, two = ledger.route(first.id).attempts
    assert (one.number, one.generation, one.state) == (1, 1, "unknown")
    assert (two.number, two.generation, two.state) == (2, 2, "done")
    assert one.session_key != two.session_key
    later = launching(ledger, worker, conversation="a")
    assert later.session_key == two.session_key


def test_generation_grows_with_every_run(ledger: Ledger, worker: str) -> None:
    order = launching(ledger, worker)
    keys = {order.session_key}
    for _ in range(3):
        ledger.finish(order, NOT_RUN)
        ledger.resolve(order.route_id, ANNA, answer="rerun")
        again = ledger.claim(worker, terms=TERMS, max_children=2)
        assert again is not None
        keys.add(again.session_key)
        order = again
    assert len(keys) == 4


def test_approval_goes_on_for_a_run_of_the_same_thing(ledger: Ledger, worker: str) -> None:
    hold = held(ledger)
    ledger.approve(hold.id, ANNA, terms=TERMS["finance"])
    order = ledger.claim(worker, terms=TERMS, max_children=2)
    assert order is not None
    ledger.finish(order, NOT_RUN)
    ledger.resolve(order.route_id, ANNA, answer="rerun")
    again = ledger.claim(worker, terms=TERMS, max_children=2)
    assert again is not None and again.session_key != order.session_key


def test_approval_does_not_go_on_for_a_run_of_something_else(ledger: Ledger, worker: str) -> None:
    hold = held(ledger)
    ledger.approve(hold.id, ANNA, terms=TERMS["finance"])
    order = ledger.claim(worker, terms=TERMS, max_children=2)
    assert order is not None
    ledger.finish(order, NOT_RUN)
    ledger.resolve(order.route_id, ANNA, answer="rerun")
    changed = {"finance": terms_of(version="2")}
    assert ledger.claim(worker, terms=changed, max_children=2) is None
    assert ledger.route(hold.route_id).state is S.HELD
