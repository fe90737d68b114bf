"""The audit trail: one chain of events per route, written in the transaction it tells of."""

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from sqlalchemy import Row, insert, select

from clawmarshal.router.ledger import schema
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.records import Event, Principal
from clawmarshal.router.ledger.states import RouteState

GENESIS = "0" * 64
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
_PLAIN = (str, int, bool, type(None))
STATES = frozenset(str(state) for state in RouteState)
"""The kinds of events that say where a route stands."""
BOUND = ("text", "reply", "decision_digest", "explanation_digest")
"""The facts that bind what stands in other tables; the last of each name counts."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who did it, as the audit record names them."""

    name: str
    """``service``, ``worker:ID`` or ``person:NAME``."""
    address: str | None = None
    key_id: str | None = None
    trace: str | None = None
    """32 hex digits: the trace of the request that had it done."""

    @classmethod
    def of(cls, principal: Principal) -> "Actor":
        """Name an authenticated person."""
        return cls(
            f"person:{principal.person}", principal.address, principal.key_id, principal.trace
        )


SERVICE = Actor("service")


@dataclass(frozen=True, slots=True)
class ChainCheck:
    """Whether the events of one route are those that were written."""

    is_intact: bool
    events: int
    """How many were read."""
    fault: str | None
    """The first thing that is wrong, in words; None when intact."""


def canonical(value: object) -> str:
    """Return the one JSON text that stands for a value."""
    return _CANONICAL.encode(plain(value))


def plain(value: object) -> object:
    """Turn what the other rooms use into what JSON knows; NaN and infinities become None."""
    if type(value) in _PLAIN:  # most are, and this is the shortest way to know
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = [plain(item) for item in value]
        return sorted(items, key=str) if isinstance(value, set | frozenset) else items
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, float):
        return value if value - value == 0 else None
    return value if isinstance(value, str | int) else str(value)


def digest(value: object) -> str:
    """Hash a JSON value, so that an event can bind what stands in another table."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def text_seal(text: str, salt: str) -> str:
    """Return what events hold instead of a text: nothing can be guessed once the salt is gone."""
    return hmac.new(bytes.fromhex(salt), text.encode(), hashlib.sha256).hexdigest()


def append(
    tx: Transaction, chain: str, *, actor: Actor, kind: str, facts: Mapping[str, object]
) -> None:
    """Append one event to a chain.

    Parameters
    ----------
    chain
        The id of the route, or of the key, that the event is about.
    facts
        Ids, codes, figures and digests; never text of the message.
    """
    last = _last(tx, chain)
    ordinal, previous = (last.ordinal + 1, last.digest) if last else (1, GENESIS)
    row = _row(tx.now, chain, ordinal, previous, actor=actor, kind=kind, facts=facts)
    tx.connection.execute(insert(schema.events).values(row))


def first(
    tx: Transaction, chain: str, *, actor: Actor, kind: str, facts: Mapping[str, object]
) -> Mapping[str, object]:
    """Return the first event of a new chain, to be inserted by the caller; see `append`."""
    return _row(tx.now, chain, 1, GENESIS, actor=actor, kind=kind, facts=facts)


def _row(
    at: datetime,
    chain: str,
    ordinal: int,
    previous: str,
    *,
    actor: Actor,
    kind: str,
    facts: Mapping[str, object],
) -> Mapping[str, object]:
    asked = {"key": actor.key_id, "trace": actor.trace}
    told = canonical({**facts, **{name: value for name, value in asked.items() if value}})
    digest = _link(
        previous,
        chain=chain,
        ordinal=ordinal,
        at=at,
        actor=actor.name,
        address=actor.address,
        kind=kind,
        facts=told,
    )
    return {
        "chain": chain,
        "ordinal": ordinal,
        "at": at,
        "actor": actor.name,
        "address": actor.address,
        "kind": kind,
        "facts": told,
        "digest": digest,
    }


def read(
    tx: Transaction, chain: str, *, after: int, limit: int, kind: str | None = None
) -> tuple[Event, ...]:
    """Return the events of one chain whose number is over ``after``, oldest first."""
    events = schema.events
    query = select(events).where(events.c.chain == chain, events.c.number > after)
    if kind is not None:
        query = query.where(events.c.kind == kind)
    found = tx.connection.execute(query.order_by(events.c.ordinal).limit(limit))
    return tuple(event_of(row) for row in found)


def of_kind(
    tx: Transaction, chains: Sequence[str], *, kind: str
) -> Mapping[str, tuple[Event, ...]]:
    """Return the events of one kind, by chain, oldest first."""
    if not chains:
        return {}
    events = schema.events
    query = select(events).where(events.c.chain.in_(chains), events.c.kind == kind)
    found: dict[str, tuple[Event, ...]] = {}
    for row in tx.connection.execute(query.order_by(events.c.number)):
        found[row.chain] = (*found.get(row.chain, ()), event_of(row))
    return found


def check(tx: Transaction, chain: str) -> ChainCheck:
    """Recompute a chain from its first event."""
    rows = _rows(tx, chain)
    if not rows:
        return ChainCheck(False, 0, "there are no events")
    fault = fault_in(rows)
    return ChainCheck(fault is None, len(rows), fault)


def fault_in(rows: Sequence[Row[Any]]) -> str | None:
    """Name the first thing that is wrong with a chain, in words; None where it is intact."""
    previous = GENESIS
    for ordinal, row in enumerate(rows, start=1):
        if row.ordinal != ordinal:
            return f"event {ordinal} is missing"
        digest = _link(
            previous,
            chain=row.chain,
            ordinal=row.ordinal,
            at=row.at,
            actor=row.actor,
            address=row.address,
            kind=row.kind,
            facts=row.facts,
        )
        if not hmac.compare_digest(digest, row.digest):
            return f"event {ordinal} was changed"
        previous = row.digest
    return None


def all_of(tx: Transaction, chain: str) -> tuple[Event, ...]:
    """Return every event of a chain, oldest first."""
    return tuple(event_of(row) for row in _rows(tx, chain))


def _link(
    previous: str,
    *,
    chain: str,
    ordinal: int,
    at: datetime,
    actor: str,
    address: str | None,
    kind: str,
    facts: str,
) -> str:
    parts = [previous, chain, ordinal, schema.microseconds(at), actor, address, kind, facts]
    return hashlib.sha256(canonical(parts).encode()).hexdigest()


def _last(tx: Transaction, chain: str) -> Row[Any] | None:
    query = (
        select(schema.events)
        .where(schema.events.c.chain == chain)
        .order_by(schema.events.c.ordinal.desc())
        .limit(1)
    )
    return tx.connection.execute(query).one_or_none()


def _rows(tx: Transaction, chain: str) -> list[Row[Any]]:
    query = select(schema.events).where(schema.events.c.chain == chain)
    return list(tx.connection.execute(query.order_by(schema.events.c.ordinal)))


def event_of(row: Row[Any]) -> Event:
    """Return the event of a row."""
    return Event(
        number=row.number,
        route_id=row.chain,
        at=row.at,
        actor=row.actor,
        kind=row.kind,
        facts=json.loads(row.facts),
        digest=row.digest,
    )
