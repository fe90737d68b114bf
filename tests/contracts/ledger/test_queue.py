"""What waits for its launch is seen, and one agent never takes every place."""

from dataclasses import replace

from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import Waiting
from tests.contracts.ledger.conftest import OpenLedger
from tests.support.clock import FakeClock
from tests.support.ledger_cases import (
    DONE,
    FINANCE,
    SECURITY,
    TERMS,
    decision,
    held,
    launching,
    ready,
    submission,
    terms_of,
)


def place(ledger: Ledger, route_id: str) -> tuple[int, int] | None:
    waiting = ledger.route(route_id).waiting
    return None if waiting is None else (waiting.position, waiting.in_session)


def ready_for_security(ledger: Ledger) -> str:
    route_id = ledger.accept(submission()).route_id
    ledger.record(route_id, decision(agent="security"), explanation={}, terms=TERMS["security"])
    return route_id


def test_place_counts_what_stands_before_in_all_and_in_the_session(
    ledger: Ledger, worker: str, clock: FakeClock
) -> None:
    running = launching(ledger, worker, conversation="a")
    second, third = ready(ledger, conversation="a"), ready(ledger, conversation="a")
    elsewhere = ready(ledger, conversation="b")

    assert place(ledger, running.route_id) is None
    assert ledger.route(second).waiting == Waiting(clock.now(), position=1, in_session=1)
    assert [place(ledger, route) for route in (third, elsewhere)] == [(2, 2), (3, 0)]

    ledger.finish(running, DONE)
    assert [place(ledger, r) for r in (second, third, elsewhere)] == [(1, 0), (2, 1), (3, 0)]


def test_held_message_stands_before_what_it_holds_back(
    ledger: Ledger, open_ledger: OpenLedger
) -> None:
    held(ledger, conversation="a")
    behind = ready(ledger, conversation="a")

    assert place(ledger, behind) == (1, 1)
    assert place(open_ledger(held_blocks_session=False), behind) == (1, 0)


def test_places_stand_in_pages_too(ledger: Ledger) -> None:
    ids = [ready(ledger) for _ in range(3)]
    held(ledger)

    page, _ = ledger.routes(limit=3)

    seen = {record.id: record.waiting and record.waiting.position for record in page}
    assert [seen.get(route_id, "not here") for route_id in ids] == ["not here", 2, 3]
    assert sum(position is None for position in seen.values()) == 1


def test_queue_tells_how_many_and_how_long(ledger: Ledger, worker: str, clock: FakeClock) -> None:
    assert (ledger.queue().waiting, ledger.queue().oldest_s) == (0, 0.0)
    ready(ledger)
    clock.advance(30)
    ready(ledger)

    assert (ledger.queue().waiting, ledger.queue().oldest_s) == (2, 30.0)
    assert ledger.counts()["ready.oldest_s"] == 30.0


def test_agent_that_hangs_never_takes_the_last_place(ledger: Ledger, worker: str) -> None:
    wide = {
        "finance": terms_of(replace(FINANCE, concurrency=9)),
        "security": terms_of(SECURITY),
    }
    first, second = ready(ledger), ready(ledger)
    other = ready_for_security(ledger)

    claims = [ledger.claim(worker, terms=wide, max_children=2) for _ in range(3)]
    elsewhere = ledger.claim(ledger.register_worker("other"), terms=wide, max_children=2)

    assert [order and order.route_id for order in claims] == [first, other, None]
    assert elsewhere is not None and elsewhere.route_id == second


def test_lone_place_is_open_to_every_agent(ledger: Ledger, worker: str) -> None:
    first = ready(ledger)

    order = ledger.claim(worker, terms=TERMS, max_children=1)

    assert order is not None and order.route_id == first
