"""Export: the whole audit trail as JSON objects that a stranger can verify without this program."""

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Row, select

from clawmarshal.router.ledger import checkpoints, schema
from clawmarshal.router.ledger.database import Transaction

_CHUNK = 1_000


def lines(tx: Transaction, *, after: int, through: int | None) -> Iterator[Mapping[str, object]]:
    """Yield events over the number ``after``, and each checkpoint behind the last it covers.

    Notes
    -----
    ``facts`` is text: exactly what was hashed. docs/audit.md has the rule.
    """
    sealed = [row for row in checkpoints.all_of(tx) if row.through > after]
    last = 2**62 if through is None else through
    for event in _events(tx, after, last):
        while sealed and sealed[0].through < event.number:
            yield _checkpoint(sealed.pop(0))
        yield _event(event)
    for row in sealed:
        if row.through <= last:
            yield _checkpoint(row)


def _events(tx: Transaction, after: int, last: int) -> Iterator[Row[Any]]:
    events = schema.events
    while True:
        query = select(events).where(events.c.number > after, events.c.number <= last)
        rows = tx.connection.execute(query.order_by(events.c.number).limit(_CHUNK)).all()
        yield from rows
        if len(rows) < _CHUNK:
            return
        after = rows[-1].number


def _event(row: Row[Any]) -> Mapping[str, object]:
    return {
        "number": row.number,
        "chain": row.chain,
        "ordinal": row.ordinal,
        "at_us": schema.microseconds(row.at),
        "actor": row.actor,
        "address": row.address,
        "kind": row.kind,
        "facts": row.facts,
        "digest": row.digest,
    }


def _checkpoint(row: Row[Any]) -> Mapping[str, object]:
    return {
        "checkpoint": row.through,
        "at_us": schema.microseconds(row.at),
        "count": row.covered,
        "content": row.content,
        "previous": row.previous,
        "digest": row.digest,
        "seal": row.seal,
    }
