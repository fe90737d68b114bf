"""Workers that reach different agents: each takes its own, and no rule ends at a host."""

from dataclasses import replace

import pytest

from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.reaches import LIVE_S, Reach
from clawmarshal.router.ledger.records import LaunchOrder
from clawmarshal.router.ledger.states import RouteState
from clawmarshal.router.route import Outcome
from tests.support.clock import FakeClock
from tests.support.ledger_cases import (
    ANNA,
    DONE,
    FINANCE,
    SECURITY,
    TERMS,
    decision,
    ready,
    submission,
    terms_of,
)

S = RouteState
OF_FINANCE = Reach(frozenset({"finance"}))
OF_SECURITY = Reach(frozenset({"security"}))
OTHER_HOST = {"finance": terms_of(version="other host"), "security": TERMS["security"]}


def claim(
    ledger: Ledger, worker: str, reach: Reach | None = None, **more: object
) -> LaunchOrder | None:
    settings: dict[str, object] = {"terms": TERMS, "max_children": 8} | more
    return ledger.claim(worker, reach=reach, **settings)  # type: ignore[arg-type]  # as they are named


def for_security(ledger: Ledger, **origin: str) -> str:
    route_id = ledger.accept(submission("Who logged in?", **origin)).route_id  # type: ignore[arg-type]  # texts only
    ledger.record(route_id, decision(agent="security"), explanation={}, terms=TERMS["security"])
    return route_id


def approved(ledger: Ledger, version: str) -> str:
    """Bring a route to ``ready`` that was approved for what one host would run."""
    route_id = ledger.accept(submission("Wire it.")).route_id
    terms = terms_of(version=version)
    record = ledger.record(route_id, decision(Outcome.HOLD), explanation={}, terms=terms)
    assert record.hold is not None
    ledger.approve(record.hold.id, ANNA, terms=terms)
    return route_id


def test_worker_takes_only_what_is_for_agents_it_reaches(ledger: Ledger) -> None:
    first, second = ready(ledger), for_security(ledger)
    worker = ledger.register_worker("b")
    order = claim(ledger, worker, OF_SECURITY)
    assert order is not None and order.route_id == second
    assert claim(ledger, worker, OF_SECURITY) is None
    assert ledger.route(first).state is S.READY


@pytest.mark.parametrize(
    ("takes_strays", "state"), [(True, S.HELD), (False, S.READY)], ids=["service", "worker"]
)
def test_only_a_service_sends_back_what_no_roster_knows(
    ledger: Ledger, takes_strays: bool, state: RouteState
) -> None:
    route_id = ready(ledger)
    terms = {"security": TERMS["security"]}
    reach = Reach(frozenset({"security"}), takes_strays=takes_strays)
    assert claim(ledger, ledger.register_worker("a"), reach, terms=terms) is None
    assert ledger.route(route_id).state is state


def test_agent_s_concurrency_holds_across_workers(ledger: Ledger) -> None:
    ready(ledger, conversation="a")
    second = ready(ledger, conversation="b")
    workers = [ledger.register_worker(name) for name in ("a", "b")]
    order = claim(ledger, workers[0])
    assert order is not None
    assert claim(ledger, workers[1]) is None
    assert ledger.finish(order, DONE)
    order = claim(ledger, workers[1])
    assert order is not None and order.route_id == second


def test_session_s_order_holds_across_workers(ledger: Ledger) -> None:
    two_at_once = {"finance": terms_of(replace(FINANCE, concurrency=2))}
    first = ready(ledger, conversation="a")
    second = ready(ledger, conversation="a")
    workers = [ledger.register_worker(name) for name in ("a", "b")]
    order = claim(ledger, workers[0], terms=two_at_once)
    assert order is not None and order.route_id == first
    assert claim(ledger, workers[1], terms=two_at_once) is None
    assert ledger.finish(order, DONE)
    order = claim(ledger, workers[1], terms=two_at_once)
    assert order is not None and order.route_id == second


def test_what_only_another_host_would_run_as_approved_is_left_to_it(ledger: Ledger) -> None:
    route_id = approved(ledger, "other host")
    here, there = ledger.register_worker("here"), ledger.register_worker("there")
    ledger.seen(there, OTHER_HOST.values())
    assert claim(ledger, here) is None
    assert ledger.route(route_id).state is S.READY
    order = claim(ledger, there, terms=OTHER_HOST)
    assert order is not None and order.route_id == route_id


def test_what_no_host_would_run_as_approved_goes_back_to_a_human(ledger: Ledger) -> None:
    route_id = approved(ledger, "old version")
    here, there = ledger.register_worker("here"), ledger.register_worker("there")
    ledger.seen(there, OTHER_HOST.values())
    assert claim(ledger, here) is None
    record = ledger.route(route_id)
    assert (record.state, record.reason) == (S.HELD, "digest_changed")


def test_left_route_keeps_no_other_from_being_launched(ledger: Ledger) -> None:
    approved(ledger, "other host")
    second = ready(ledger, conversation="b")
    here, there = ledger.register_worker("here"), ledger.register_worker("there")
    ledger.seen(there, OTHER_HOST.values())
    order = claim(ledger, here)
    assert order is not None and order.route_id == second


def test_agent_that_is_missing_here_is_left_to_where_it_is(ledger: Ledger) -> None:
    route_id = ready(ledger)
    here, there = ledger.register_worker("here"), ledger.register_worker("there")
    missing = {"finance": terms_of(available=False)}
    ledger.seen(there, [TERMS["finance"]])
    assert claim(ledger, here, terms=missing) is None
    assert ledger.route(route_id).state is S.READY
    order = claim(ledger, there)
    assert order is not None and order.route_id == route_id


@pytest.mark.parametrize("end", ["silence", "released", "missing there too"])
def test_what_nobody_can_launch_any_more_goes_back_to_a_human(
    ledger: Ledger, clock: FakeClock, end: str
) -> None:
    route_id = ready(ledger)
    here, there = ledger.register_worker("here"), ledger.register_worker("there")
    missing = {"finance": terms_of(available=False)}
    ledger.seen(there, [missing["finance"] if end == "missing there too" else TERMS["finance"]])
    if end == "silence":
        clock.advance(LIVE_S + 1)
    elif end == "released":
        ledger.release_worker(there)
    assert claim(ledger, here, terms=missing) is None
    record = ledger.route(route_id)
    assert (record.state, record.reason) == (S.HELD, "agent_unavailable")


def test_last_word_about_an_agent_is_that_of_a_live_worker(
    ledger: Ledger, clock: FakeClock
) -> None:
    old, new = ledger.register_worker("old"), ledger.register_worker("new")
    ledger.seen(old, [TERMS["finance"], TERMS["security"]])
    clock.advance(1)
    ledger.seen(new, [OTHER_HOST["finance"]])
    found = ledger.reached()
    assert found["finance"].template_digest == OTHER_HOST["finance"].template_digest
    assert found["security"].agent_digest == SECURITY.digest
    ledger.release_worker(new)
    found = ledger.reached()
    assert found["finance"].template_digest == TERMS["finance"].template_digest
    clock.advance(LIVE_S + 1)
    found = ledger.reached()
    assert not found["finance"].is_live  # and yet the newest word is known
    assert found["finance"].template_digest == OTHER_HOST["finance"].template_digest


def test_workers_are_those_that_live(ledger: Ledger, clock: FakeClock) -> None:
    here, there = ledger.register_worker("here"), ledger.register_worker("there")
    ledger.seen(here, TERMS.values())
    ledger.seen(there, [TERMS["finance"]])
    assert {w.name: w.agents for w in ledger.workers()} == {
        "here": ("finance", "security"),
        "there": ("finance",),
    }
    ledger.release_worker(here)
    clock.advance(LIVE_S - 1)
    assert [w.id for w in ledger.workers()] == [there]
    clock.advance(2)
    assert ledger.workers() == ()
