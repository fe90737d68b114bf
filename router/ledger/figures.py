"""Figures over what happened lately: how much came, what became of it, and how agents did."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, Integer, Select, cast, func, select, type_coerce

from clawmarshal.router.ledger import schema
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.states import HoldState

MAX_COUNTED = 50_000
"""The newest routes that are looked at; a page must come in soon however full the ledger is."""
MAX_TIMED = 20_000
AGE_LIMITS_S = (300, 3600, 6 * 3600, 24 * 3600)
"""What parts the ages of open holds; a fifth group is older than the last."""


@dataclass(frozen=True, slots=True)
class Group:
    """How many routes are alike."""

    bucket: int
    """0 for the oldest stretch of time."""
    state: str
    outcome: str | None
    risk: str | None
    reason: str | None
    tenth: int | None
    """The confidence in tenths, 0 to 9; None without a decision."""
    count: int


@dataclass(frozen=True, slots=True)
class Lately:
    """What came within a while."""

    since: datetime
    until: datetime
    bucket_s: float
    groups: tuple[Group, ...]
    is_cut: bool
    """True: only the newest `MAX_COUNTED` were looked at."""
    ages: Mapping[str, tuple[int, ...]]
    """Open holds by risk, then by age; see `AGE_LIMITS_S`."""


@dataclass(frozen=True, slots=True)
class AgentFigures:
    """How an agent did within a while."""

    states: Mapping[str, int]
    """Attempts by how they ended, or stand."""
    seconds: tuple[float, ...]
    """Of the turns that ended, sorted."""
    last: datetime | None
    """When it was launched last."""
    waiting: int
    """Open holds that suggest it."""


def lately(tx: Transaction, *, window_s: float, buckets: int) -> Lately:
    """Count what came within a window, by stretches of time and by what became of it."""
    routes = schema.routes
    since = tx.now - timedelta(seconds=window_s)
    newest = (
        select(routes.c.accepted_at, routes.c.state, routes.c.decision)
        .where(routes.c.id >= _id_from("rt", since))
        .order_by(routes.c.id.desc())
        .limit(MAX_COUNTED)
        .subquery()
    )
    size = round(window_s * 1_000_000 / buckets)
    begin = schema.microseconds(since)
    said = newest.c.decision
    keys = (
        (type_coerce(newest.c.accepted_at, BigInteger) - begin) // size,
        newest.c.state,
        said["outcome"].as_string(),
        said["risk"]["top"].as_string(),
        said["reason"].as_string(),
        # In thousandths first: databases differ in how they make a fraction whole.
        cast(said["confidence"].as_float() * 1000, Integer) // 100,
    )
    groups = [
        Group(min(max(bucket, 0), buckets - 1), state, outcome, risk, reason, _tenth(tenth), count)
        for bucket, state, outcome, risk, reason, tenth, count in tx.connection.execute(
            select(*keys, func.count()).group_by(*keys)
        )
    ]
    is_cut = sum(group.count for group in groups) == MAX_COUNTED
    return Lately(since, tx.now, window_s / buckets, tuple(groups), is_cut, _ages(tx))


def agents(tx: Transaction, *, window_s: float) -> Mapping[str, AgentFigures]:
    """Tell of each agent that was launched within a window, or waits in the queue, how it did."""
    attempts = schema.attempts
    since = tx.now - timedelta(seconds=window_s)
    query: Select[Any] = (
        select(attempts.c.agent, attempts.c.state, attempts.c.launched_at, attempts.c.ended_at)
        .where(attempts.c.id >= _id_from("at", since))
        .order_by(attempts.c.id.desc())
        .limit(MAX_TIMED)
    )
    found: dict[str, list[Any]] = {}
    for row in tx.connection.execute(query):
        found.setdefault(row.agent, []).append(row)
    waiting = _waiting(tx)
    return {
        agent: _figures(found.get(agent, []), waiting.get(agent, 0))
        for agent in found.keys() | waiting.keys()
    }


def _figures(attempts: list[Any], waiting: int) -> AgentFigures:
    states: dict[str, int] = {}
    for row in attempts:
        states[row.state] = states.get(row.state, 0) + 1
    seconds = [
        (row.ended_at - row.launched_at).total_seconds()
        for row in attempts
        if row.ended_at is not None
    ]
    last = max((row.launched_at for row in attempts), default=None)
    return AgentFigures(states, tuple(sorted(seconds)), last, waiting)


def _waiting(tx: Transaction) -> dict[str, int]:
    holds = schema.holds
    query = select(holds.c.suggestion, func.count()).where(
        holds.c.state == str(HoldState.OPEN), holds.c.suggestion.is_not(None)
    )
    found = tx.connection.execute(query.group_by(holds.c.suggestion))
    return {agent: count for agent, count in found}


def _ages(tx: Transaction) -> Mapping[str, tuple[int, ...]]:
    holds = schema.holds
    query = select(holds.c.risk, holds.c.created_at).where(holds.c.state == str(HoldState.OPEN))
    found: dict[str, list[int]] = {}
    for risk, created_at in tx.connection.execute(query.limit(MAX_COUNTED)):
        age_s = (tx.now - created_at).total_seconds()
        place = sum(age_s > limit for limit in AGE_LIMITS_S)
        found.setdefault(risk, [0] * (len(AGE_LIMITS_S) + 1))[place] += 1
    return {risk: tuple(counts) for risk, counts in found.items()}


def _tenth(value: int | None) -> int | None:
    return None if value is None else min(max(value, 0), 9)


def _id_from(prefix: str, since: datetime) -> str:
    """Return the least id of a time: ids begin with their milliseconds."""
    return f"{prefix}_{max(0, schema.microseconds(since) // 1000):012x}"
