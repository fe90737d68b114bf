"""SIGKILL at every edge: nothing lost, nothing launched twice, the rest unknown."""

import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.states import RouteState
from tests.support.doomed import service_at
from tests.support.ledger_cases import ANNA, DONE, TERMS, decision, submission

S = RouteState


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/ledger.db"


def killed_at(edge: str, url: str) -> tuple[str, Ledger]:
    """Kill a service at an edge; return its route and the ledger that comes after it."""
    with service_at(edge, url) as (route_id, process):
        process.kill()
        process.wait()
    return route_id, Ledger(url)


def until(holds: Callable[[], object]) -> None:
    """Look until something holds, at most twenty seconds."""
    limit = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < limit, "it never came to hold"
        time.sleep(0.01)


@pytest.mark.parametrize("edge", ["claimed", "started"])
def test_killed_in_mid_turn_is_unknown_and_never_launched_again(url: str, edge: str) -> None:
    route_id, ledger = killed_at(edge, url)
    worker = ledger.register_worker("next")
    assert ledger.claim(worker, terms=TERMS, max_children=2) is None
    assert ledger.sweep() == (route_id,)
    route = ledger.route(route_id)
    assert (route.state, route.reason, len(route.attempts)) == (S.UNKNOWN, "worker_gone", 1)
    assert ledger.claim(worker, terms=TERMS, max_children=2) is None
    assert ledger.verify_chain(route_id).is_intact
    ledger.close()


def test_killed_before_the_claim_goes_on_after_a_restart(url: str) -> None:
    route_id, ledger = killed_at("ready", url)
    worker = ledger.register_worker("next")
    assert ledger.sweep() == ()
    order = ledger.claim(worker, terms=TERMS, max_children=2)
    assert order is not None and order.route_id == route_id
    ledger.close()


def test_killed_before_the_decision_is_decided_after_a_restart(url: str) -> None:
    route_id, ledger = killed_at("accepted", url)
    assert ledger.undecided() == (route_id,)
    repeat = ledger.accept(submission(key="k"))
    assert (repeat.route_id, repeat.deduplicated_by) == (route_id, "key")
    record = ledger.record(route_id, decision(), explanation={}, terms=TERMS["finance"])
    assert record.state is S.READY
    ledger.close()


def test_killed_after_the_end_stays_done(url: str) -> None:
    route_id, ledger = killed_at("finished", url)
    assert ledger.sweep() == ()
    assert ledger.route(route_id).state is S.DONE
    ledger.close()


def test_killed_inside_a_transaction_leaves_no_trace_of_it(url: str) -> None:
    route_id, ledger = killed_at("writing", url)
    assert ledger.route(route_id).state is S.READY
    assert ledger.verify_chain(route_id).is_intact
    ledger.close()


def test_live_service_keeps_its_turn_while_a_second_one_starts(url: str) -> None:
    with service_at("started", url) as (route_id, process):
        ledger = Ledger(url)
        worker = ledger.register_worker("second")
        assert ledger.sweep() == ()
        assert ledger.route(route_id).state is S.RUNNING
        process.kill()
        process.wait()
        assert ledger.sweep() == (route_id,)
        assert ledger.claim(worker, terms=TERMS, max_children=2) is None
        ledger.close()


def test_service_paused_between_commit_and_exec_cannot_launch_beside_a_second_run(
    url: str,
) -> None:
    with service_at("launching", url) as (route_id, process):
        assert process.stdin is not None and process.stdout is not None
        process.send_signal(signal.SIGSTOP)
        ledger = Ledger(url, rerun_margin_s=-30)  # no turn of ours waits so long
        launches = Path(f"{ledger.path}.launches")
        until(ledger.sweep)
        assert ledger.route(route_id).state is S.UNKNOWN
        ledger.resolve(route_id, ANNA, answer="rerun")
        order = ledger.claim(ledger.register_worker("next"), terms=TERMS, max_children=1)
        assert order is not None and order.route_id == route_id
        with launches.open("a") as log:
            log.write("second\n")
        assert ledger.finish(order, DONE)
        process.send_signal(signal.SIGCONT)
        process.stdin.write("go\n")
        process.stdin.flush()
        assert process.stdout.readline() == "refused\n"
        until(lambda: ledger.route(route_id).attempts[0].late_evidence)
        assert launches.read_text() == "second\n"
        assert ledger.route(route_id).state is S.DONE
        ledger.close()


def test_service_that_is_not_paused_launches(url: str) -> None:
    with service_at("launching", url) as (route_id, process):
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write("go\n")
        process.stdin.flush()
        assert process.stdout.readline() == "launched\n"
        ledger = Ledger(url)
        until(lambda: ledger.route(route_id).state is S.DONE)
        assert Path(f"{ledger.path}.launches").read_text() == "first\n"
        ledger.close()
