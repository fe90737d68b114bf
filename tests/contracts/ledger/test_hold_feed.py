"""What happens to holds, in order, for every reader, and nothing left out where several write."""

import threading
from collections.abc import Iterator

import pytest
from sqlalchemy import select

from clawmarshal.router.ledger import audit, schema
from clawmarshal.router.ledger.audit import SERVICE
from clawmarshal.router.ledger.hold_feed import BATCH
from clawmarshal.router.ledger.ledger import Ledger
from tests.support.clock import FakeClock
from tests.support.ledger_cases import ANNA, TERMS, held, ready

PATIENCE_S = 30


def kinds(ledger: Ledger, *, after: int = 0, owner: str | None = None) -> list[str]:
    return [event.kind for event in ledger.hold_events(after=after, owner=owner).events]


def test_what_tells_of_a_hold_comes_in_order_and_nothing_else(ledger: Ledger) -> None:
    ready(ledger)
    first = held(ledger)
    ledger.claim_hold(first.id, ANNA, lease_s=60)
    ledger.release_hold(first.id, ANNA)
    ledger.approve(first.id, ANNA, terms=TERMS["finance"])
    second = held(ledger, "Wire more money.")
    ledger.cancel(second.route_id, ANNA)
    told = ["held", "claimed", "released", "approved", "held", "cancelled"]
    assert kinds(ledger) == told
    events = ledger.hold_events(after=0).events
    assert [event.number for event in events] == sorted(event.number for event in events)
    assert kinds(ledger, after=events[2].number)[-3:] == told[-3:]


def test_an_owner_gets_what_is_theirs(ledger: Ledger) -> None:
    held(ledger, owner="carla")
    hold = held(ledger, "Wire more money.", owner="dora")
    (event,) = ledger.hold_events(after=0, owner="dora").events
    assert event.route_id == hold.route_id
    assert ledger.hold_events(after=0, owner="nobody").events == ()


def test_it_is_read_up_to_the_newest_even_where_nothing_is_of_a_hold(ledger: Ledger) -> None:
    assert ledger.newest_event() == 0
    ready(ledger)
    news = ledger.hold_events(after=0)
    assert (news.events, news.reached) == ((), ledger.newest_event())
    assert ledger.hold_events(after=10**12).reached == 10**12


def test_more_than_a_batch_comes_in_turns(ledger: Ledger) -> None:
    hold = held(ledger)

    def fill(tx: object) -> None:
        for _ in range(BATCH + 5):
            audit.append(tx, hold.route_id, actor=SERVICE, kind="told", facts={"hold": hold.id})  # type: ignore[arg-type]  # a transaction

    ledger._database.write(fill)
    seen: set[int] = set()
    after, turns = 0, 0
    while True:
        news = ledger.hold_events(after=after, known=frozenset(seen))
        if not news.events:
            break
        assert not seen & {event.number for event in news.events}
        seen |= {event.number for event in news.events}
        after, turns = news.reached, turns + 1
    assert (len(seen), turns) == (BATCH + 6, 2)


@pytest.fixture
def two_of_them(postgresql_url: str, clock: FakeClock) -> Iterator[tuple[Ledger, Ledger]]:
    """Two processes on one server; a file has one writer at a time, so nothing comes late."""
    opened = Ledger(postgresql_url, clock=clock), Ledger(postgresql_url, clock=clock)
    yield opened
    for ledger in opened:
        ledger.close()


def test_an_event_that_comes_into_view_late_is_not_left_out(
    two_of_them: tuple[Ledger, Ledger], clock: FakeClock
) -> None:
    slow, fast = two_of_them
    late = held(slow, conversation="c-1")
    early = held(fast, "Wire more money.", conversation="c-2")
    begin = fast.newest_event()
    is_written, may_commit = threading.Event(), threading.Event()

    def write(tx: object) -> None:
        audit.append(tx, late.route_id, actor=SERVICE, kind="slow", facts={"hold": late.id})  # type: ignore[arg-type]  # a transaction
        is_written.set()
        assert may_commit.wait(PATIENCE_S)

    writer = threading.Thread(target=lambda: slow._database.write(write))
    writer.start()
    assert is_written.wait(PATIENCE_S)
    fast.claim_hold(early.id, ANNA, lease_s=60)
    first = fast.hold_events(after=begin)
    may_commit.set()
    writer.join(PATIENCE_S)
    assert [event.kind for event in first.events][-1] == "claimed"
    known = frozenset(event.number for event in first.events)
    second = fast.hold_events(after=first.reached, known=known)
    assert [event.kind for event in second.events] == ["slow"]
    with slow._database.read() as tx:
        numbers = dict(
            tx.connection.execute(select(schema.events.c.kind, schema.events.c.number)).all()
        )
    assert numbers["slow"] < numbers["claimed"]
    # A minute later nobody who wrote then can still be at it.
    clock.advance(61)
    assert fast.hold_events(after=fast.newest_event()).events == ()
