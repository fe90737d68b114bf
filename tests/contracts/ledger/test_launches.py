"""Launched at most once: committed before, fenced after, unknown when in doubt."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from clawmarshal.roster.agent import AgentSpec
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import RouteRecord
from clawmarshal.router.ledger.states import RouteState
from clawmarshal.router.route import Outcome
from clawmarshal.router.session import session_key
from clawmarshal.transport.outcome import ToolSend, TurnResult, TurnState
from tests.contracts.ledger.conftest import OpenLedger
from tests.support.clock import FakeClock
from tests.support.ledger_cases import (
    ANNA,
    DONE,
    FINANCE,
    TERMS,
    decision,
    held,
    launching,
    ready,
    submission,
    terms_of,
)

S = RouteState


def claimed(ledger: Ledger, worker: str, *, max_children: int = 8) -> str | None:
    order = ledger.claim(worker, terms=TERMS, max_children=max_children)
    return order.route_id if order else None


def test_claim_commits_the_attempt_before_it_returns(
    ledger: Ledger, open_ledger: OpenLedger, worker: str, clock: FakeClock
) -> None:
    route_id = ready(ledger)
    order = ledger.claim(worker, terms=TERMS, max_children=2, lease_s=40)
    seen = open_ledger().route(route_id)  # through another connection
    assert order is not None and seen.state is S.LAUNCHING
    (attempt,) = seen.attempts
    assert (attempt.id, attempt.fence, attempt.number) == (order.attempt_id, order.fence, 1)
    assert (attempt.worker, attempt.agent, attempt.state) == (worker, "finance", "launching")
    assert (attempt.launched_at, attempt.generation) == (clock.now(), 1)
    assert (attempt.lease_until - attempt.launched_at).total_seconds() == 40
    assert 0 < order.launch_window_s < order.lease_s == 40
    assert (order.message, order.agent_digest) == (seen.message, FINANCE.digest)
    assert order.timeout_s == 60


def test_attempt_says_what_is_launched_before_and_after(ledger: Ledger, worker: str) -> None:
    ready(ledger)
    files = ("/opt/node", "/opt/openclaw.mjs")
    terms = replace(TERMS["finance"], cli_version="2026.9.6", cli_files=files)

    order = ledger.claim(worker, terms={"finance": terms}, max_children=2)

    assert order is not None
    assert ledger.route(order.route_id).attempts[0].cli_version == "2026.9.6"
    (event,) = [e for e in ledger.events(order.route_id) if e.kind == "launching"]
    assert (event.facts["cli_version"], event.facts["cli_files"]) == ("2026.9.6", list(files))
    ledger.finish(order, TurnResult(TurnState.UNKNOWN, "keeper-lost"))
    assert ledger.route(order.route_id).attempts[0].cli_version == "2026.9.6"


def test_session_key_is_of_the_conversation_and_the_agent(ledger: Ledger, worker: str) -> None:
    order = launching(ledger, worker, conversation="a")
    assert order.session_key == session_key(
        owner="carla",
        channel="chat",
        account=None,
        conversation="a",
        agent="finance",
        generation=1,
    )


def test_nothing_ready_is_nothing_claimed(ledger: Ledger, worker: str) -> None:
    held(ledger)
    ledger.accept(submission())
    assert claimed(ledger, worker) is None


@pytest.mark.parametrize("outcome", [Outcome.HOLD, Outcome.CLARIFY, Outcome.DECLINE])
def test_only_ready_routes_are_claimed(ledger: Ledger, worker: str, outcome: Outcome) -> None:
    route_id = ledger.accept(submission()).route_id
    ledger.record(route_id, decision(outcome), explanation={}, terms=TERMS["finance"])
    ready(ledger)
    assert claimed(ledger, worker) != route_id
    assert claimed(ledger, worker) is None


def test_oldest_is_claimed_first(open_ledger: OpenLedger, worker: str) -> None:
    ledger = open_ledger()
    many = {"finance": terms_of(replace(FINANCE, concurrency=3))}
    ids = [ready(ledger) for _ in range(3)]
    orders = [ledger.claim(worker, terms=many, max_children=3) for _ in range(3)]
    assert [order.route_id for order in orders if order] == ids


def test_agent_runs_no_more_turns_than_it_may(ledger: Ledger, worker: str) -> None:
    other = ledger.register_worker("other")
    first, second = ready(ledger), ready(ledger)
    assert claimed(ledger, worker) == first
    assert claimed(ledger, other) is None  # across workers too
    two = {"finance": terms_of(replace(FINANCE, concurrency=2))}
    order = ledger.claim(other, terms=two, max_children=2)
    assert order is not None and order.route_id == second


def test_full_agent_does_not_keep_others_waiting(ledger: Ledger, worker: str) -> None:
    first, _ = ready(ledger), ready(ledger)
    route_id = ledger.accept(submission()).route_id
    ledger.record(route_id, decision(agent="security"), explanation={}, terms=TERMS["security"])
    assert [claimed(ledger, worker) for _ in range(3)] == [first, route_id, None]


def test_worker_runs_no_more_children_than_it_may(ledger: Ledger, worker: str) -> None:
    ready(ledger)
    route_id = ledger.accept(submission()).route_id
    ledger.record(route_id, decision(agent="security"), explanation={}, terms=TERMS["security"])
    assert claimed(ledger, worker, max_children=1) is not None
    assert claimed(ledger, worker, max_children=1) is None
    assert claimed(ledger, worker, max_children=2) == route_id


def test_one_session_runs_one_turn_in_order(ledger: Ledger, worker: str) -> None:
    wide = {"finance": terms_of(replace(FINANCE, concurrency=9))}
    first = ready(ledger, conversation="a")
    second = ready(ledger, conversation="a")
    elsewhere = ready(ledger, conversation="b")
    order = ledger.claim(worker, terms=wide, max_children=9)
    beside = ledger.claim(worker, terms=wide, max_children=9)
    assert order is not None and order.route_id == first
    assert beside is not None and beside.route_id == elsewhere
    assert ledger.claim(worker, terms=wide, max_children=9) is None
    ledger.finish(order, DONE)
    after = ledger.claim(worker, terms=wide, max_children=9)
    assert after is not None and after.route_id == second
    assert after.session_key == order.session_key


def test_undecided_message_holds_back_its_successors(ledger: Ledger, worker: str) -> None:
    first = ledger.accept(submission(conversation="a")).route_id
    second = ready(ledger, conversation="a")
    assert claimed(ledger, worker) is None
    ledger.record(first, decision(Outcome.DECLINE), explanation={}, terms=None)
    assert claimed(ledger, worker) == second


@pytest.mark.parametrize("is_blocking", [True, False])
def test_held_message_holds_back_its_successors_in_the_same_session(
    open_ledger: OpenLedger, is_blocking: bool
) -> None:
    ledger = open_ledger(held_blocks_session=is_blocking)
    worker = ledger.register_worker("tests")
    hold = held(ledger, conversation="a")
    after = ready(ledger, conversation="a")
    elsewhere = ready(ledger, conversation="b")
    assert claimed(ledger, worker) == (elsewhere if is_blocking else after)
    if is_blocking:
        ledger.reject(hold.id, ANNA, reason="No.")
        wide = {"finance": terms_of(replace(FINANCE, concurrency=2))}
        order = ledger.claim(worker, terms=wide, max_children=2)
        assert order is not None and order.route_id == after


def test_twenty_claims_of_one_route_have_one_winner(ledger: Ledger) -> None:
    route_id = ready(ledger)
    workers = [ledger.register_worker(f"w{n}") for n in range(20)]
    with ThreadPoolExecutor(20) as pool:
        claims = list(pool.map(lambda worker: claimed(ledger, worker), workers))
    assert [claim for claim in claims if claim] == [route_id]
    assert len(ledger.route(route_id).attempts) == 1


def test_confirmed_start_makes_the_route_running(ledger: Ledger, worker: str) -> None:
    order = launching(ledger, worker)
    assert ledger.started(order, 4711)
    route = ledger.route(order.route_id)
    assert (route.state, route.attempts[0].state) == (S.RUNNING, "running")
    assert (route.attempts[0].pid, route.ran) == (4711, None)
    assert not ledger.started(order, 4712)  # once


ENDS = {
    TurnState.DONE: (S.DONE, True),
    TurnState.FAILED_NOT_RUN: (S.FAILED, False),
    TurnState.FAILED_RAN: (S.FAILED, True),
    TurnState.CANCELLED: (S.CANCELLED, True),
    TurnState.UNKNOWN: (S.UNKNOWN, None),
}


@pytest.mark.parametrize("was_started", [True, False], ids=["running", "launching"])
@pytest.mark.parametrize("end", list(TurnState))
def test_result_ends_the_route(
    ledger: Ledger, worker: str, end: TurnState, was_started: bool
) -> None:
    order = launching(ledger, worker)
    if was_started:
        ledger.started(order, 4711)
    assert ledger.finish(order, TurnResult(end, "slug", exit_code=1, signal=15))
    route = ledger.route(order.route_id)
    assert (route.state, route.ran) == ENDS[end]
    assert route.reason == ("matched" if end is TurnState.DONE else "slug")
    (attempt,) = route.attempts
    assert (attempt.state, attempt.code, attempt.exit_code, attempt.signal) == (
        str(end),
        "slug",
        1,
        15,
    )
    assert ledger.verify_chain(route.id).is_intact


def test_reply_and_what_the_agent_sent_are_kept(ledger: Ledger, worker: str) -> None:
    order = launching(ledger, worker)
    result = TurnResult(
        TurnState.DONE,
        "ok",
        reply_text="fine",
        raw_text="\x1b[1mfine\ud800\x00",
        run_id="run-1",
        detail="well",
        stderr_tail="warning",
        noise="banner",
        tool_sends=(ToolSend("telegram", "555", "hello"),),
        cancel_unconfirmed=True,
        cli_version="2026.9.6",
        pid=99,
        wall_s=1.25,
        facts={"model": "echo"},
    )
    ledger.finish(order, result)
    route = ledger.route(order.route_id)
    assert (route.reply_text, route.agent) == ("fine", "finance")
    assert route.tool_sends == ({"provider": "telegram", "to": "555", "text": "hello"},)
    (attempt,) = route.attempts
    assert (attempt.run_id, attempt.detail, attempt.pid) == ("run-1", "well", 99)
    assert (attempt.cli_version, attempt.cancel_unconfirmed) == ("2026.9.6", True)
    assert attempt.facts == {
        "model": "echo",
        "wall_s": 1.25,
        "stderr_tail": "warning",
        "noise": "banner",
        "raw_text": "\x1b[1mfine?\ufffd",
    }


def test_end_written_twice_is_written_once(ledger: Ledger, worker: str) -> None:
    order = launching(ledger, worker)
    assert ledger.finish(order, DONE)
    events = ledger.events(order.route_id)
    assert ledger.finish(order, DONE)
    assert ledger.events(order.route_id) == events


def test_renewed_lease_lives_on(ledger: Ledger, worker: str, clock: FakeClock) -> None:
    order = launching(ledger, worker)
    for _ in range(5):
        clock.advance(order.lease_s - 1)
        assert ledger.renew(order)
        assert ledger.sweep() == ()
    assert ledger.finish(order, DONE)


@pytest.mark.parametrize("is_swept", [True, False], ids=["swept", "unseen"])
def test_lost_lease_is_unknown_and_the_late_result_is_evidence(
    ledger: Ledger, worker: str, clock: FakeClock, is_swept: bool
) -> None:
    order = launching(ledger, worker)
    ledger.started(order, 4711)
    clock.advance(order.lease_s)
    if is_swept:
        assert ledger.sweep() == (order.route_id,)
    assert not ledger.renew(order)
    assert not ledger.started(order, 4712)
    assert not ledger.finish(order, DONE)
    route = ledger.route(order.route_id)
    assert (route.state, route.reason, route.ran) == (S.UNKNOWN, "lease_lost", None)
    assert route.reply_text is None
    (attempt,) = route.attempts
    assert (attempt.state, attempt.code) == ("unknown", "lease_lost")
    assert attempt.late_evidence is not None
    assert attempt.late_evidence["reply_text"] == "fine"
    assert attempt.late_evidence["run_id"] == "run-1"
    assert attempt.late_evidence["state"] == "done"
    assert ledger.events(route.id)[-1].kind == "late_evidence"


def test_stale_fence_of_another_worker_writes_nothing(ledger: Ledger, worker: str) -> None:
    order = launching(ledger, worker)
    forged = replace(order, worker="wk_" + "0" * 32)
    assert not ledger.renew(forged)
    assert not ledger.started(forged, 1)
    assert ledger.route(order.route_id).state is S.LAUNCHING


def test_fences_rise(ledger: Ledger, worker: str) -> None:
    fences = []
    for _ in range(3):
        order = launching(ledger, worker)
        fences.append(order.fence)
        ledger.finish(order, DONE)
    assert fences == sorted(set(fences))


def test_unknown_is_never_relaunched_by_time(ledger: Ledger, worker: str, clock: FakeClock) -> None:
    order = launching(ledger, worker)
    clock.advance(order.lease_s)
    ledger.sweep()
    for _ in range(10):
        clock.advance(7200)
        assert ledger.sweep() == ()
        assert ledger.expire() == ()
        assert claimed(ledger, worker) is None
    assert ledger.route(order.route_id).state is S.UNKNOWN


def test_leases_of_a_dead_worker_end_at_once(ledger: Ledger, worker: str) -> None:
    order = launching(ledger, worker)
    ledger.release_worker(worker)
    assert ledger.sweep() == (order.route_id,)
    route = ledger.route(order.route_id)
    assert (route.state, route.reason) == (S.UNKNOWN, "worker_gone")


def test_worker_given_up_for_dead_changes_nothing_any_more(ledger: Ledger, worker: str) -> None:
    order = launching(ledger, worker)
    ledger.release_worker(worker)
    ledger.sweep()  # long before the end of the lease
    assert not ledger.started(order, 1)
    assert not ledger.renew(order)
    assert not ledger.finish(order, DONE)
    route = ledger.route(order.route_id)
    assert (route.state, route.reply_text, route.attempts[0].state) == (S.UNKNOWN, None, "unknown")
    assert route.attempts[0].late_evidence is not None


def test_second_service_leaves_a_live_turn_alone(
    ledger: Ledger, open_ledger: OpenLedger, worker: str
) -> None:
    order = launching(ledger, worker)
    second = open_ledger()
    other = second.register_worker("second")
    assert second.sweep() == ()
    assert second.claim(other, terms=TERMS, max_children=2) is None
    assert ledger.finish(order, DONE)
    assert ledger.route(order.route_id).state is S.DONE


def test_service_that_closed_leaves_unknown_behind(
    ledger: Ledger, open_ledger: OpenLedger, worker: str
) -> None:
    order = launching(ledger, worker)
    ledger.close()
    assert open_ledger().sweep() == (order.route_id,)


def test_clock_that_jumps_back_keeps_leases_and_order(
    ledger: Ledger, worker: str, clock: FakeClock
) -> None:
    order = launching(ledger, worker, conversation="a")
    clock.jump(-86_400)
    second = ready(ledger, conversation="a")
    third = ready(ledger, conversation="a")
    assert ledger.sweep() == () and ledger.renew(order)
    assert ledger.finish(order, DONE)
    assert claimed(ledger, worker) == second != third
    assert ledger.verify_chain(order.route_id).is_intact


def test_route_that_was_ready_too_long_expires(open_ledger: OpenLedger, clock: FakeClock) -> None:
    ledger = open_ledger(ready_max_age_s=100)
    worker = ledger.register_worker("tests")
    old = ready(ledger)
    clock.advance(60)
    young = ready(ledger)
    clock.advance(40)
    assert claimed(ledger, worker) == young  # not even before somebody swept
    assert ledger.expire() == (old,)
    route: RouteRecord = ledger.route(old)
    assert (route.state, route.reason) == (S.EXPIRED, "ready_too_long")


def test_disabled_agent_is_not_launched(ledger: Ledger, worker: str) -> None:
    spec = AgentSpec("finance", FINANCE.description, enabled=False)
    route_id = ready(ledger)
    terms = {"finance": terms_of(spec, available=False)}
    assert ledger.claim(worker, terms=terms, max_children=2) is None
    assert ledger.route(route_id).state is S.HELD
