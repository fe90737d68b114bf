"""The hold queue as reviewers work it: filtered, searched, by risk then age, and counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, func, select

from clawmarshal.errors import LedgerError
from clawmarshal.roster.agent import Risk
from clawmarshal.router.ledger import claims, rows, schema
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.narrowing import matching
from clawmarshal.router.ledger.records import Claim, HoldRecord

EXCERPT_CHARS = 400
BY_RISK = (Risk.HIGH, Risk.MEDIUM, Risk.LOW)


@dataclass(frozen=True, slots=True)
class TriageFilter:
    """Which holds are wanted; what is None narrows nothing."""

    state: str | None = "open"
    risk: Risk | None = None
    reason: str | None = None
    agent: str | None = None
    """The suggestion."""
    words: str | None = None
    """Stand in the text, the sender, the channel or the conversation, or are the hold's id."""
    claimed_by: str | None = None


@dataclass(frozen=True, slots=True)
class TriageRow:
    """A hold with what tells it from others in a list."""

    hold: HoldRecord
    excerpt: str
    """The first characters of the text, at most `EXCERPT_CHARS`."""
    is_cut: bool
    channel: str | None
    sender: str | None
    conversation: str | None
    candidates: tuple[tuple[str, float], ...]
    """The best three options with their probabilities; empty without a decision."""
    claim: Claim | None = None


@dataclass(frozen=True, slots=True)
class TriagePage:
    """A stretch of the queue."""

    rows: tuple[TriageRow, ...]
    next: str | None
    """The cursor of what follows."""
    by_risk: Mapping[Risk, int] = field(default_factory=dict)
    """How many the filter finds in all, by risk; the filter's own risk aside."""
    reasons: Mapping[str, int] = field(default_factory=dict)
    agents: Mapping[str, int] = field(default_factory=dict)


def page(tx: Transaction, wanted: TriageFilter, *, limit: int, cursor: str | None) -> TriagePage:
    """Return a stretch of the queue, the riskiest first and of these the oldest."""
    size = max(1, min(limit, rows.MAX_PAGE))
    found = _found(tx, wanted, size + 1, cursor)
    shown = found[:size]
    following = f"{shown[-1].risk}.{shown[-1].number}" if len(found) > size else None
    claimed = claims.living(tx, [row.id for row in shown])
    return TriagePage(
        tuple(_row(row, claimed.get(row.id)) for row in shown),
        following,
        by_risk={Risk(k): n for k, n in _counts(tx, replace(wanted, risk=None), "risk").items()},
        reasons=_counts(tx, replace(wanted, reason=None), "reason"),
        agents=_counts(tx, replace(wanted, agent=None), "suggestion"),
    )


def following(tx: Transaction, hold_id: str) -> str | None:
    """Name the open hold that comes next in the queue, another one than this."""
    found = _found(tx, TriageFilter(), 2, None)
    return next((str(row.id) for row in found if row.id != hold_id), None)


def _found(tx: Transaction, wanted: TriageFilter, limit: int, cursor: str | None) -> list[Row[Any]]:
    """Go through the tiers one after the other, so that an index in time's order serves each."""
    first, after = _place(cursor)
    found: list[Row[Any]] = []
    for tier in BY_RISK[BY_RISK.index(first) :]:
        if wanted.risk not in (None, tier) or len(found) == limit:
            continue
        query = _listing(tx, replace(wanted, risk=tier)).order_by(schema.holds.c.number)
        if tier is first:
            query = query.where(schema.holds.c.number > after)
        found += tx.connection.execute(query.limit(limit - len(found))).all()
    return found


def _listing(tx: Transaction, wanted: TriageFilter) -> Select[Any]:
    messages = schema.messages
    query = select(
        schema.holds,
        func.substr(messages.c.text, 1, EXCERPT_CHARS + 1).label("head"),
        messages.c.channel,
        messages.c.sender,
        messages.c.conversation,
        schema.routes.c.decision.label("route"),
    ).select_from(_joined())
    return query.where(*_conditions(tx, wanted))


def _joined() -> Any:
    holds, routes, messages = schema.holds, schema.routes, schema.messages
    return holds.join(routes, routes.c.id == holds.c.route_id).join(
        messages, messages.c.route_id == holds.c.route_id
    )


def _counts(tx: Transaction, wanted: TriageFilter, name: str) -> dict[str, int]:
    column = schema.holds.c[name]
    tables = _joined() if wanted.words else schema.holds
    query = select(column, func.count()).select_from(tables).where(*_conditions(tx, wanted))
    return {
        value: count
        for value, count in tx.connection.execute(query.group_by(column).order_by(column))
        if value is not None
    }


def _conditions(tx: Transaction, wanted: TriageFilter) -> Sequence[ColumnElement[bool]]:
    holds = schema.holds
    told = {
        holds.c.state: wanted.state,
        holds.c.risk: wanted.risk and str(wanted.risk),
        holds.c.reason: wanted.reason,
        holds.c.suggestion: wanted.agent,
    }
    found = [column == value for column, value in told.items() if value is not None]
    if wanted.claimed_by is not None:
        mine = select(schema.claims.c.hold_id).where(
            schema.claims.c.person == wanted.claimed_by, schema.claims.c.until > tx.now
        )
        found.append(holds.c.id.in_(mine))
    if wanted.words:
        found.append(matching(wanted.words, holds.c.id))
    return found


def _row(row: Row[Any], claim: Claim | None) -> TriageRow:
    candidates = (row.route or {}).get("candidates", ())
    return TriageRow(
        hold=rows.hold_of(row),
        excerpt=row.head[:EXCERPT_CHARS],
        is_cut=len(row.head) > EXCERPT_CHARS,
        channel=row.channel,
        sender=row.sender,
        conversation=row.conversation,
        candidates=tuple((str(agent), float(share)) for agent, share in candidates[:3]),
        claim=claim,
    )


def _place(cursor: str | None) -> tuple[Risk, int]:
    if cursor is None:
        return BY_RISK[0], 0
    tier, _, number = cursor.partition(".")
    if tier not in BY_RISK or not number.isascii() or not number.isdigit() or len(number) > 18:
        raise LedgerError("the cursor is not one of ours", code="cursor-invalid")
    return Risk(tier), int(number)
