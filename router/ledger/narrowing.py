"""Filters of lists, as conditions on rows."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Column, ColumnElement, func, or_

from clawmarshal.router.ledger import schema
from clawmarshal.router.ledger.records import HoldFilter, RouteFilter

_ESCAPE = "\\"
_Told = Mapping[Column[str], object]


def of_routes(wanted: RouteFilter) -> list[ColumnElement[bool]]:
    """Return what holds of the routes that are wanted; their rows are joined with messages."""
    routes, messages = schema.routes, schema.messages
    told: _Told = {
        routes.c.state: wanted.state,
        routes.c.agent: wanted.agent,
        routes.c.reason: wanted.reason,
        routes.c.mode: wanted.mode,
        messages.c.channel: wanted.channel,
        messages.c.account: wanted.account,
        messages.c.sender: wanted.sender,
        messages.c.conversation: wanted.conversation,
    }
    found = _equal(told) + _within(routes.c.accepted_at, wanted.since, wanted.until)
    if wanted.outcome is not None:
        found.append(routes.c.decision["outcome"].as_string() == wanted.outcome)
    if wanted.words:
        found.append(matching(wanted.words, routes.c.id))
    return found


def of_holds(wanted: HoldFilter) -> list[ColumnElement[bool]]:
    """Return what holds of the holds that are wanted."""
    holds = schema.holds
    told: _Told = {
        holds.c.state: wanted.state,
        holds.c.risk: wanted.risk,
        holds.c.reason: wanted.reason,
        holds.c.route_id: wanted.route_id,
        holds.c.person: wanted.person,
    }
    found = _equal(told) + _within(holds.c.created_at, wanted.since, wanted.until)
    if wanted.agent is not None:
        found.append(func.coalesce(holds.c.agent, holds.c.suggestion) == wanted.agent)
    return found


def matching(words: str, own_id: ColumnElement[str]) -> ColumnElement[bool]:
    """Look for words in a message, or for a row by its id; nothing in them is a pattern."""
    messages = schema.messages
    escaped = words
    for sign in (_ESCAPE, "%", "_"):
        escaped = escaped.replace(sign, _ESCAPE + sign)
    columns = (messages.c.text, messages.c.sender, messages.c.channel, messages.c.conversation)
    return or_(
        own_id == words,
        messages.c.route_id == words,
        *(column.ilike(f"%{escaped}%", escape=_ESCAPE) for column in columns),
    )


def _equal(told: _Told) -> list[ColumnElement[bool]]:
    return [column == str(value) for column, value in told.items() if value is not None]


def _within(
    column: Column[datetime], since: datetime | None, until: datetime | None
) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if since is not None:
        found.append(column >= since)
    if until is not None:
        found.append(column < until)
    return found
