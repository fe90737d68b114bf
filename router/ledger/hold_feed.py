"""What happens to holds, over all routes, in the order in which it was written."""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import ColumnElement, and_, exists, func, or_, select

from clawmarshal.router.ledger import audit, schema
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.records import Event
from clawmarshal.router.ledger.states import RouteState

BATCH = 200
STRETCH = 20_000
"""How many numbers one look goes through, so that none takes long."""
LOOK_BACK = 2_000
LOOK_BACK_S = 60.0
"""Longer than any transaction may take on a server: 30 s at work, 15 s idle."""
_NAMES_A_HOLD = '%"hold":"%'


@dataclass(frozen=True, slots=True)
class HoldNews:
    """What one look found."""

    events: tuple[Event, ...]
    reached: int
    """Up to this number everything was looked at."""


def newest(tx: Transaction) -> int:
    """Return the number of the newest event; 0 where there is none."""
    return tx.connection.execute(select(func.max(schema.events.c.number))).scalar_one() or 0


def read(tx: Transaction, *, after: int, owner: str | None, known: frozenset[int]) -> HoldNews:
    """Return what happened since an event; see `Ledger.hold_events`."""
    events, until = schema.events, min(newest(tx), after + STRETCH)
    query = (
        select(events)
        .where(_since(tx, after), events.c.number <= until, _is_of_a_hold())
        .order_by(events.c.number)
        .limit(BATCH + len(known))
    )
    if owner is not None:
        routes = schema.routes
        own = exists().where(routes.c.id == events.c.chain, routes.c.owner == owner)
        query = query.where(own)
    rows = tx.connection.execute(query).all()
    found = [audit.event_of(row) for row in rows if row.number not in known][:BATCH]
    is_cut = len(found) == BATCH or len(rows) == BATCH + len(known)
    reached = max(after, found[-1].number) if is_cut and found else max(after, until)
    return HoldNews(tuple(found), reached)


def _since(tx: Transaction, after: int) -> ColumnElement[bool]:
    """Look at what is new; where several write at once, at what may have come into view late."""
    events = schema.events
    if tx.connection.dialect.name == "sqlite":
        return events.c.number > after
    lately = tx.now - timedelta(seconds=LOOK_BACK_S)
    late = and_(events.c.number > after - LOOK_BACK, events.c.at >= lately)
    return or_(events.c.number > after, late)


def _is_of_a_hold() -> ColumnElement[bool]:
    events, holds = schema.events, schema.holds
    # Facts are canonical JSON of ids, codes and figures: nothing else can look like this member.
    names_one = events.c.facts.like(_NAMES_A_HOLD)
    was_held = exists().where(holds.c.route_id == events.c.chain)
    return or_(names_one, and_(events.c.kind == str(RouteState.CANCELLED), was_held))
