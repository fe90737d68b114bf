"""Rows of the tables to records, one by one and in pages."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Row, Select, Table, func, select

from clawmarshal.errors import LedgerError, NotFoundError
from clawmarshal.roster.agent import Risk
from clawmarshal.router.ledger import audit, codec, narrowing, queue, schema
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.ids import is_id
from clawmarshal.router.ledger.records import (
    AttemptRecord,
    Event,
    HoldFilter,
    HoldRecord,
    Mode,
    RouteFilter,
    RouteRecord,
    Waiting,
)
from clawmarshal.router.ledger.states import RESTING, HoldState, RouteState
from clawmarshal.router.message import Attachment, InboundMessage

MAX_PAGE = 500

_MESSAGE_FIELDS = (
    "text",
    "channel",
    "account",
    "sender",
    "conversation",
    "message_id",
    "revision",
    "received_at",
    "digest",
)
_ATTEMPT_FIELDS = (
    "id",
    "number",
    "worker",
    "fence",
    "state",
    "agent",
    "session_key",
    "generation",
    "launched_at",
    "lease_until",
    "started_at",
    "ended_at",
    "pid",
    "exit_code",
    "signal",
    "run_id",
    "code",
    "detail",
    "cli_version",
    "cancel_unconfirmed",
    "facts",
    "late_evidence",
)


def one_route(tx: Transaction, route_id: str, *, owner: str | None = None) -> Row[Any]:
    """Return a route joined with its message.

    Raises
    ------
    NotFoundError
        No such route, or it is not this owner's.
    """
    query = _joined().where(schema.routes.c.id == route_id)
    row = tx.connection.execute(query).one_or_none() if is_id(route_id) else None
    if row is None or owner not in (None, row.owner):
        raise NotFoundError("no such route")
    return row


def one_hold(tx: Transaction, hold_id: str, *, owner: str | None = None) -> HoldRecord:
    """Return a hold.

    Raises
    ------
    NotFoundError
        No such hold, or it is not this owner's.
    """
    query = select(schema.holds).where(schema.holds.c.id == hold_id)
    row = tx.connection.execute(query).one_or_none() if is_id(hold_id) else None
    if row is None or owner not in (None, row.owner):
        raise NotFoundError("no such hold")
    votes = schema.votes
    said = select(votes.c.person).where(votes.c.hold_id == hold_id).order_by(votes.c.at)
    return replace(hold_of(row), approvals=tuple(tx.connection.execute(said).scalars()))


def route_record(tx: Transaction, route_id: str, *, owner: str | None = None) -> RouteRecord:
    """Return everything about one route; see `one_route` for errors."""
    return _records(tx, [one_route(tx, route_id, owner=owner)])[0]


def route_page(
    tx: Transaction,
    *,
    owner: str | None,
    wanted: RouteFilter,
    limit: int,
    cursor: str | None,
) -> tuple[tuple[RouteRecord, ...], str | None]:
    """Return routes, newest first, and where the next page begins."""
    routes = schema.routes
    query = _joined().order_by(routes.c.number.desc())
    if cursor is not None:
        query = query.where(routes.c.number < number_of(cursor))
    query = query.where(*narrowing.of_routes(wanted))
    page, following = page_of(tx, _owned(query, routes, owner), limit)
    return _records(tx, page), following


def resting(tx: Transaction, route_ids: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of those that rest."""
    routes = schema.routes
    found: list[str] = []
    states = [str(state) for state in RESTING]
    for first in range(0, len(route_ids), MAX_PAGE):
        page = route_ids[first : first + MAX_PAGE]
        query = select(routes.c.id).where(routes.c.id.in_(page), routes.c.state.in_(states))
        found += tx.connection.execute(query).scalars()
    return tuple(found)


def hold_page(
    tx: Transaction,
    *,
    owner: str | None,
    wanted: HoldFilter,
    limit: int,
    cursor: str | None,
) -> tuple[tuple[HoldRecord, ...], str | None]:
    """Return holds, oldest first, and where the next page begins."""
    holds = schema.holds
    query = select(holds).order_by(holds.c.number)
    if cursor is not None:
        query = query.where(holds.c.number > number_of(cursor))
    query = query.where(*narrowing.of_holds(wanted))
    page, following = page_of(tx, _owned(query, holds, owner), limit)
    return tuple(hold_of(row) for row in page), following


def figures(tx: Transaction) -> dict[str, float]:
    """Count the routes in each state and the holds that wait, and tell the longest wait."""
    routes, holds = schema.routes, schema.holds
    counted = {f"routes.{state}": 0.0 for state in RouteState}
    by_state = select(routes.c.state, func.count()).group_by(routes.c.state)
    for state, count in tx.connection.execute(by_state):
        counted[f"routes.{state}"] = float(count)
    waiting = select(func.count()).where(holds.c.state == str(HoldState.OPEN))
    counted["holds.open"] = float(tx.connection.execute(waiting).scalar_one())
    counted["ready.oldest_s"] = queue.look(tx).oldest_s
    return counted


def message_of(row: Row[Any]) -> InboundMessage:
    """Return the message of a joined row as it was accepted.

    It was checked then; the rules of a later version must not make it unreadable.
    """
    message = object.__new__(InboundMessage)
    for name in _MESSAGE_FIELDS:
        object.__setattr__(message, name, getattr(row, name))
    object.__setattr__(message, "labels", tuple(row.labels))
    attachments = tuple(Attachment(kind, name) for kind, name in row.attachments)
    object.__setattr__(message, "attachments", attachments)
    object.__setattr__(message, "context", ())
    return message


def hold_of(row: Row[Any]) -> HoldRecord:
    """Return the hold of a row."""
    return HoldRecord(
        id=row.id,
        route_id=row.route_id,
        owner=row.owner,
        state=HoldState(row.state),
        suggestion=row.suggestion,
        reason=row.reason,
        gates=tuple(row.gates),
        risk=Risk(row.risk),
        digest=row.digest,
        created_at=row.created_at,
        expires_at=row.expires_at,
        decision=row.decision,
        agent=row.agent,
        person=row.person,
        decided_at=row.decided_at,
        note=row.note,
    )


def attempt_of(row: Row[Any]) -> AttemptRecord:
    """Return the attempt of a row."""
    return AttemptRecord(**{name: getattr(row, name) for name in _ATTEMPT_FIELDS})


def _joined() -> Select[Any]:
    messages = schema.messages
    own = [column for column in messages.c if column.name != "route_id"]
    return select(schema.routes, *own).join(messages)


def _owned(query: Select[Any], table: Table, owner: str | None) -> Select[Any]:
    return query if owner is None else query.where(table.c.owner == owner)


def page_of(
    tx: Transaction, query: Select[Any], limit: int
) -> tuple[Sequence[Row[Any]], str | None]:
    """Run a query for one page, and say where the next one begins."""
    size = max(1, min(limit, MAX_PAGE))
    found = tx.connection.execute(query.limit(size + 1)).all()
    page = found[:size]
    return page, str(page[-1].number) if len(found) > size else None


def number_of(cursor: str) -> int:
    """Read a cursor: the number of the last row that was shown."""
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > 18:
        raise LedgerError("the cursor is not one of ours", code="cursor-invalid")
    return int(cursor)


def _records(tx: Transaction, found: Sequence[Row[Any]]) -> tuple[RouteRecord, ...]:
    ids = [row.id for row in found]
    attempts: dict[str, list[AttemptRecord]] = {}
    for row in _of_routes(tx, schema.attempts, ids, by="number"):
        attempts.setdefault(row.route_id, []).append(attempt_of(row))
    holds = {
        row.route_id: hold_of(row) for row in _of_routes(tx, schema.holds, ids, by="number")
    }  # a later row takes the place of an earlier one
    evidence = audit.of_kind(tx, list(attempts), kind="evidence")
    waiting = queue.places(tx, [row.id for row in found if row.state == str(RouteState.READY)])
    return tuple(
        _record(
            row,
            tuple(attempts.get(row.id, ())),
            hold=holds.get(row.id),
            waiting=waiting.get(row.id),
            evidence=evidence.get(row.id, ()),
        )
        for row in found
    )


def _of_routes(tx: Transaction, table: Table, ids: list[str], *, by: str) -> Iterable[Row[Any]]:
    query = select(table).where(table.c.route_id.in_(ids)).order_by(table.c[by])
    return tx.connection.execute(query)


def _record(
    row: Row[Any],
    attempts: tuple[AttemptRecord, ...],
    *,
    hold: HoldRecord | None,
    waiting: Waiting | None,
    evidence: tuple[Event, ...],
) -> RouteRecord:
    return RouteRecord(
        id=row.id,
        owner=row.owner,
        state=RouteState(row.state),
        mode=Mode(row.mode),
        message=message_of(row),
        pin=row.pin,
        on_uncertain=row.on_uncertain,
        clarifies=row.clarifies,
        reply_target=row.reply_target,
        idempotency_key=row.idempotency_key,
        accepted_at=row.accepted_at,
        updated_at=row.updated_at,
        route=codec.route_from_json(row.decision) if row.decision else None,
        agent=row.agent,
        reason=row.reason,
        ran=row.ran,
        reply_text=row.reply_text,
        tool_sends=tuple(row.tool_sends or ()),
        attempts=attempts,
        hold=hold,
        explanation=row.explanation or {},
        cancel_on_disconnect=row.cancel_on_disconnect,
        waiting=waiting,
        is_erased=row.salt == "",
        grace_until=row.ready_at if row.state == str(RouteState.APPROVED) else None,
        evidence=evidence,
    )
