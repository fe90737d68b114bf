"""Checkpoints: a second chain over all events, so that a whole route cannot go unnoticed."""

import hashlib
import hmac
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, func, select

from clawmarshal.router.ledger import schema
from clawmarshal.router.ledger.audit import GENESIS, canonical
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.records import Checkpoint

SETTLED_S = 120.0
"""On a server, numbers are given before commits: an event this old has none before it to come."""
MAX_EVENTS = 50_000
"""Of one checkpoint; what is left is for the next."""
_CHUNK = 2_000


def due(tx: Transaction, *, every_s: float) -> bool:
    """Tell whether it is time for a checkpoint: some events are settled, and the last is old."""
    last = newest(tx)
    if last is not None and last.at + timedelta(seconds=every_s) > tx.now:
        return False
    return _settled_through(tx, last.through if last else 0) is not None


def seal(tx: Transaction, *, key: bytes | None) -> Checkpoint | None:
    """Seal the settled events that no checkpoint covers; None where there are none."""
    last = newest(tx)
    after = last.through if last else 0
    through = _settled_through(tx, after)
    if through is None:
        return None
    content, count = content_of(tx, after, through)
    previous = last.digest if last else GENESIS
    digest = digest_of(previous, tx.now, through=through, count=count, content=content)
    row = {
        "at": tx.now,
        "through": through,
        "covered": count,
        "content": content,
        "previous": previous,
        "digest": digest,
        "seal": None if key is None else sealed(digest, key),
    }
    # Two services that seal at once name the same predecessor, and only one of them can.
    if not tx.insert_or_ignore(schema.checkpoints, row):
        return None
    return Checkpoint(tx.now, through, count, digest)


def newest(tx: Transaction) -> Checkpoint | None:
    """Return the last checkpoint; None before the first."""
    table = schema.checkpoints
    query = select(table).order_by(table.c.through.desc()).limit(1)
    row = tx.connection.execute(query).one_or_none()
    return None if row is None else Checkpoint(row.at, row.through, row.covered, row.digest)


def all_of(tx: Transaction) -> Iterator[Row[Any]]:
    """Go through every checkpoint, the oldest first."""
    table = schema.checkpoints
    yield from tx.connection.execute(select(table).order_by(table.c.through))


def content_of(tx: Transaction, after: int, through: int) -> tuple[str, int]:
    """Hash the digests of the events over ``after`` up to ``through``, by number; count them."""
    running, count = hashlib.sha256(), 0
    for number, digest in _digests(tx, after, through):
        running.update(f"{number}:{digest}\n".encode())
        count += 1
    return running.hexdigest(), count


def digest_of(previous: str, at: datetime, *, through: int, count: int, content: str) -> str:
    """Chain a checkpoint to the one before."""
    parts = [previous, schema.microseconds(at), through, count, content]
    return hashlib.sha256(canonical(parts).encode()).hexdigest()


def sealed(digest: str, key: bytes) -> str:
    """Return the seal of a digest under a key that the database does not hold."""
    return hmac.new(key, digest.encode(), hashlib.sha256).hexdigest()


def _settled_through(tx: Transaction, after: int) -> int | None:
    events = schema.events
    settled = tx.now - timedelta(seconds=SETTLED_S)
    within = (
        select(events.c.number)
        .where(events.c.number > after, events.c.at <= settled)
        .order_by(events.c.number)
        .limit(MAX_EVENTS)
        .subquery()
    )
    found: int | None = tx.connection.execute(select(func.max(within.c.number))).scalar_one()
    return found


def _digests(tx: Transaction, after: int, through: int) -> Iterator[tuple[int, str]]:
    """Read numbers and digests in stretches, so that memory stays flat."""
    events = schema.events
    while True:
        query = select(events.c.number, events.c.digest).where(
            events.c.number > after, events.c.number <= through
        )
        rows = tx.connection.execute(query.order_by(events.c.number).limit(_CHUNK)).all()
        if not rows:
            return
        yield from ((row.number, row.digest) for row in rows)
        after = rows[-1].number
