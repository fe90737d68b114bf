"""Looking for routes, and at the conversation that one of them belongs to."""

from typing import Any

from sqlalchemy import ColumnElement, Row, func, select

from clawmarshal.router.ledger import rows, schema
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.narrowing import matching
from clawmarshal.router.ledger.records import FoundRoute, RouteFilter, SaidBefore
from clawmarshal.router.ledger.states import RouteState
from clawmarshal.router.ledger.triage import EXCERPT_CHARS

SHOWN_CHARS = 4000
"""Of each earlier text and reply."""


def find(
    tx: Transaction, wanted: RouteFilter, *, limit: int, cursor: str | None
) -> tuple[tuple[FoundRoute, ...], str | None]:
    """Return routes, newest first, and where the next page begins."""
    routes, messages = schema.routes, schema.messages
    query = (
        select(
            routes,
            func.substr(messages.c.text, 1, EXCERPT_CHARS + 1).label("head"),
            messages.c.channel,
            messages.c.sender,
        )
        .select_from(routes.join(messages))
        .where(*_conditions(wanted))
        .order_by(routes.c.number.desc())
    )
    if cursor is not None:
        query = query.where(routes.c.number < rows.number_of(cursor))
    page, following = rows.page_of(tx, query, limit)
    return tuple(_found(row) for row in page), following


def said_before(tx: Transaction, route_id: str, *, limit: int) -> tuple[SaidBefore, ...]:
    """Return what came before a route in its conversation, oldest first."""
    row = rows.one_route(tx, route_id)
    if row.conversation is None:
        return ()
    routes, messages = schema.routes, schema.messages
    query = (
        select(
            routes.c.id,
            routes.c.state,
            routes.c.agent,
            routes.c.accepted_at,
            messages.c.sender,
            func.substr(messages.c.text, 1, SHOWN_CHARS).label("text"),
            func.substr(routes.c.reply_text, 1, SHOWN_CHARS).label("reply"),
        )
        .select_from(routes.join(messages))
        .where(routes.c.scope == row.scope, routes.c.number < row.number)
        .order_by(routes.c.number.desc())
        .limit(limit)
    )
    found = tx.connection.execute(query).all()
    return tuple(
        SaidBefore(
            route_id=one.id,
            at=one.accepted_at,
            state=RouteState(one.state),
            sender=one.sender,
            text=one.text,
            agent=one.agent,
            reply=one.reply,
        )
        for one in reversed(found)
    )


def _conditions(wanted: RouteFilter) -> list[ColumnElement[bool]]:
    routes = schema.routes
    told = {routes.c.state: wanted.state, routes.c.agent: wanted.agent}
    found = [column == str(value) for column, value in told.items() if value is not None]
    if wanted.words:
        found.append(matching(wanted.words, routes.c.id))
    return found


def _found(row: Row[Any]) -> FoundRoute:
    decision = row.decision or {}
    return FoundRoute(
        id=row.id,
        state=RouteState(row.state),
        accepted_at=row.accepted_at,
        updated_at=row.updated_at,
        agent=row.agent or decision.get("agent"),
        reason=row.reason or decision.get("reason"),
        risk=(decision.get("risk") or {}).get("top"),
        confidence=decision.get("confidence"),
        channel=row.channel,
        sender=row.sender,
        excerpt=row.head[:EXCERPT_CHARS],
        is_cut=len(row.head) > EXCERPT_CHARS,
    )
