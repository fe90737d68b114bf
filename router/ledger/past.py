"""The last turns of a conversation, bounded, as the ledger has them."""

from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Label, Row, func, select

from clawmarshal.roster.agent import Risk
from clawmarshal.router.conversation import (
    GATES_OF_CONTENT,
    MAX_TURNS,
    TURN_CHARS,
    Fate,
    PastTurn,
    excerpt,
)
from clawmarshal.router.ledger import schema
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.states import RouteState
from clawmarshal.router.route import Outcome

S = RouteState
WINDOW = timedelta(hours=24)
"""What is older says nothing about a message."""
_WAITING = frozenset({str(S.HELD), str(S.DECIDED)})
_REFUSED = frozenset({str(S.REJECTED), str(S.EXPIRED), str(S.CANCELLED)})


def past_turns(tx: Transaction, row: Row[Any]) -> tuple[PastTurn, ...]:
    """Return what came before a route in its conversation, oldest first."""
    routes, messages = schema.routes, schema.messages
    query = (
        select(
            routes.c.state,
            routes.c.decision,
            *_ends(messages.c.text, "text"),
            *_ends(routes.c.reply_text, "reply"),
        )
        .select_from(routes.join(messages))
        .where(
            routes.c.scope == row.scope,
            routes.c.number < row.number,
            routes.c.accepted_at > row.accepted_at - WINDOW,
        )
        .order_by(routes.c.number.desc())
        .limit(MAX_TURNS)
    )
    found = tx.connection.execute(query).all()
    return tuple(_turn(one) for one in reversed(found))


def _ends(column: ColumnElement[Any], name: str) -> list[Label[Any]]:
    """Select both ends of a text and its length: it may be megabytes long."""
    size = func.length(column)
    return [
        func.substr(column, 1, TURN_CHARS).label(f"{name}_head"),
        func.substr(column, size - TURN_CHARS + 1, TURN_CHARS).label(f"{name}_tail"),
        size.label(f"{name}_size"),
    ]


def _turn(row: Row[Any]) -> PastTurn:
    reply = _joined(row.reply_head, row.reply_tail, row.reply_size)
    decision = row.decision or {}
    return PastTurn(
        text=_joined(row.text_head, row.text_tail, row.text_size) or "",
        reply=reply or None,
        risk=Risk(decision["risk"]["top"]) if decision else Risk.LOW,
        fate=_fate(row.state, decision),
    )


def _joined(head: str | None, tail: str | None, size: int | None) -> str | None:
    if head is None or tail is None or (size or 0) <= TURN_CHARS:
        return head
    return excerpt(head + tail)


def _fate(state: str, decision: Any) -> Fate:
    if state == S.REJECTED:
        return Fate.REFUSED
    numbers = {gate["number"] for gate in decision.get("gates", ())}
    if decision.get("outcome") != Outcome.HOLD or not numbers & GATES_OF_CONTENT:
        return Fate.NONE
    if state in _WAITING:
        return Fate.WAITING
    return Fate.REFUSED if state in _REFUSED else Fate.APPROVED
