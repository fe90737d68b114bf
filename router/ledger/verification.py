"""Verification: whether the record is the one that was written, as a whole and row by row."""

import hmac
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, Select, select

from clawmarshal.router.ledger import audit, checkpoints, schema
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.records import Checkpoint, Event

MAX_FAULTS = 100
_CHUNK = 1_000

Progress = Callable[[int], None]
"""Told how many events were read so far."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """One thing that is not as it was written."""

    where: str
    """The id of the route or key, or ``checkpoint N``."""
    what: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What came of looking at everything."""

    events: int
    chains: int
    checkpoints: int
    unsealed: int
    """Events behind the last checkpoint: if the newest of them were cut off, nothing here would
    tell."""
    newest: Checkpoint | None
    faults: tuple[Wrong, ...]
    """The first `MAX_FAULTS`; empty where all is intact."""

    @property
    def is_intact(self) -> bool:
        """True when nothing is wrong."""
        return not self.faults


def verify(
    tx: Transaction,
    *,
    key: bytes | None = None,
    against: str | None = None,
    progress: Progress = lambda _: None,
) -> Verification:
    """Recompute every chain, every checkpoint, and what events say of the rows beside them.

    Parameters
    ----------
    key
        Under which checkpoints are sealed; None leaves their seals unread.
    against
        The digest of a checkpoint that was kept elsewhere; it must be among them.
    """
    found = _Findings()
    events = chains = 0
    for chain in _chains(tx):
        chains += 1
        events += len(chain)
        _check_chain(chain, found)
        progress(events)
    for row in _routes(tx):
        _check_route(tx, row, found)
    sealed, through = _check_checkpoints(tx, key, found)
    newest = checkpoints.newest(tx)
    if against is not None and against not in sealed:
        found.say("checkpoint", f"there is none with the digest {against[:16]}…")
    _, unsealed = checkpoints.content_of(tx, through, 2**62)
    return Verification(events, chains, len(sealed), unsealed, newest, tuple(found.faults))


class _Findings:
    def __init__(self) -> None:
        self.faults: list[Wrong] = []

    def say(self, where: str, what: str) -> None:
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(Wrong(where, what))


def _chains(tx: Transaction) -> Iterator[list[Row[Any]]]:
    """Yield the events of each chain, a stretch of events in memory at a time."""
    events = schema.events
    held: list[Row[Any]] = []
    after = ("", 0)
    while True:
        beyond = (events.c.chain > after[0]) | (
            (events.c.chain == after[0]) & (events.c.ordinal > after[1])
        )
        query = select(events).where(beyond).order_by(events.c.chain, events.c.ordinal)
        rows = tx.connection.execute(query.limit(_CHUNK)).all()
        for row in rows:
            if held and held[0].chain != row.chain:
                yield held
                held = []
            held.append(row)
        if len(rows) < _CHUNK:
            break
        after = (rows[-1].chain, rows[-1].ordinal)
    if held:
        yield held


def _check_chain(chain: list[Row[Any]], found: _Findings) -> None:
    fault = audit.fault_in(chain)
    if fault is not None:
        found.say(chain[0].chain, fault)


def _routes(tx: Transaction) -> Iterator[Row[Any]]:
    """Yield every route with its message, oldest first."""
    routes, messages = schema.routes, schema.messages
    after = 0
    while True:
        query: Select[Any] = (
            select(routes, messages.c.text, messages.c.salt)
            .outerjoin(messages, messages.c.route_id == routes.c.id)
            .where(routes.c.number > after)
            .order_by(routes.c.number)
            .limit(_CHUNK)
        )
        rows = tx.connection.execute(query).all()
        yield from rows
        if len(rows) < _CHUNK:
            return
        after = rows[-1].number


def _check_route(tx: Transaction, row: Row[Any], found: _Findings) -> None:
    """Hold a route's rows against what its events bind."""
    events = audit.all_of(tx, row.id)
    if not events:
        found.say(row.id, "it has no events")
        return
    states = [event.kind for event in events if event.kind in audit.STATES]
    if not states or states[-1] != row.state:
        found.say(row.id, f"it stands as {row.state}, its events end with {states[-1:]}")
    bound: dict[str, Any] = {}
    for event in events:
        bound |= {name: event.facts[name] for name in audit.BOUND if name in event.facts}
    for hold in _holds(tx, row.id):
        _check_hold(hold, events, found)
    for name, value in _beside(row):
        if name in bound and value is not None and not hmac.compare_digest(bound[name], value):
            found.say(row.id, f"its {name.partition('_')[0]} is not the one that was recorded")


def _holds(tx: Transaction, route_id: str) -> list[Row[Any]]:
    query = select(schema.holds).where(schema.holds.c.route_id == route_id)
    return list(tx.connection.execute(query))


def _check_hold(hold: Row[Any], events: Sequence[Event], found: _Findings) -> None:
    """Hold an answer against the event that tells of it."""
    about = [event for event in events if event.facts.get("hold") == hold.id]
    if not about:
        found.say(hold.id, "no event tells of it")
        return
    answers = [event for event in about if event.kind in ("approved", "rejected")]
    told = (answers[-1].kind, answers[-1].actor) if answers else (None, None)
    done = {"approve": "approved", "reject": "rejected"}.get(str(hold.decision))
    kept = (done, f"person:{hold.person}" if hold.person else None)
    if told != kept:
        found.say(hold.id, "its answer is not the one that was recorded")
    if answers and "digest" in answers[-1].facts and answers[-1].facts["digest"] != hold.digest:
        found.say(hold.id, "what was approved is not what was recorded")


def _beside(row: Row[Any]) -> Iterator[tuple[str, str | None]]:
    is_erased = row.salt is None or row.salt == ""
    yield "text", None if is_erased else audit.text_seal(row.text, row.salt)
    reply = row.reply_text
    yield "reply", None if is_erased else audit.text_seal(reply or "", row.salt)
    for name in ("decision", "explanation"):
        value = getattr(row, name)
        yield f"{name}_digest", audit.digest(value) if value is not None else "missing"


def _check_checkpoints(
    tx: Transaction, key: bytes | None, found: _Findings
) -> tuple[set[str], int]:
    previous, after, sealed = audit.GENESIS, 0, set()
    for row in checkpoints.all_of(tx):
        where = f"checkpoint {row.through}"
        content, count = checkpoints.content_of(tx, after, row.through)
        digest = checkpoints.digest_of(
            row.previous, row.at, through=row.through, count=row.covered, content=row.content
        )
        if row.previous != previous:
            found.say(where, "the checkpoint before it is missing or another")
        if digest != row.digest:
            found.say(where, "it was changed")
        elif count != row.covered:
            found.say(where, f"it covers {row.covered} events, and {count} are there")
        elif content != row.content:
            found.say(where, "an event that it covers is another")
        if key is not None and not hmac.compare_digest(
            row.seal or "", checkpoints.sealed(row.digest, key)
        ):
            found.say(where, "its seal is not by this key")
        previous, after = row.digest, row.through
        sealed.add(row.digest)
    return sealed, after
