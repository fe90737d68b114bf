"""The claim: committed before anything starts, and taken by one worker alone."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Row,
    and_,
    case,
    exists,
    func,
    insert,
    or_,
    select,
    true,
)

from clawmarshal.roster.agent import Risk
from clawmarshal.router.ledger import binding, codec, holds, moves, reaches, rows, schema
from clawmarshal.router.ledger.audit import SERVICE, Actor
from clawmarshal.router.ledger.binding import LaunchTerms
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.ids import new_id
from clawmarshal.router.ledger.reaches import Reach
from clawmarshal.router.ledger.records import LaunchOrder, Mode
from clawmarshal.router.ledger.states import OPEN_ATTEMPTS, RouteState

S = RouteState
_OPEN = tuple(str(state) for state in OPEN_ATTEMPTS)
LAUNCH_SHARE = 0.75
"""The part of the lease in which a launch may begin: the rest is room for a late exec."""


def any_ready(tx: Transaction) -> bool:
    """Tell whether any route waits for its launch."""
    query = select(schema.routes.c.id).where(schema.routes.c.state == str(S.READY)).limit(1)
    return tx.connection.execute(query).one_or_none() is not None


def claim(
    tx: Transaction,
    worker: str,
    *,
    terms: Mapping[str, LaunchTerms],
    max_children: int,
    lease_s: float,
    reach: Reach | None,
) -> LaunchOrder | None:
    """Take the oldest route that has room, or none; see `Ledger.claim`."""
    if _open_count(tx, schema.attempts.c.worker == worker) >= max_children:
        return None
    mine = terms.keys() if reach is None else terms.keys() & reach.agents
    # Where there are others, an agent never takes a worker's last place: one that hangs must not
    # keep the rest of the fleet from being launched.
    share = max(1, max_children - 1) if len(mine) > 1 else max_children
    full = _full_agents(tx, terms, worker, share)
    left: list[str] = []
    while (row := _next_ready(tx, full, left, _within(reach, terms))) is not None:
        own = terms.get(row.agent)
        reason = _refusal(tx, row, own)
        if own is not None and reason is None:
            return _launch(tx, row, worker, own, lease_s)
        if not reaches.another_would_launch(tx, row, worker):
            _send_back(tx, row, reason or "agent_unavailable", own)
        elif own is not None and own.available:
            left.append(row.id)
        else:
            full.append(row.agent)
    return None


def _within(reach: Reach | None, terms: Mapping[str, LaunchTerms]) -> ColumnElement[bool]:
    """Return the condition under which a route is this worker's to touch."""
    agent = schema.routes.c.agent
    if reach is None:
        return true()
    own = agent.in_(sorted(reach.agents))
    return or_(own, agent.not_in(sorted(terms))) if reach.takes_strays else own


def _full_agents(
    tx: Transaction, terms: Mapping[str, LaunchTerms], worker: str, share: int
) -> list[str]:
    """Name the agents that have as many turns as they may, in all or at this worker."""
    attempts = schema.attempts
    ours = func.sum(case((attempts.c.worker == worker, 1), else_=0))
    query = select(attempts.c.agent, func.count(), ours).where(attempts.c.state.in_(_OPEN))
    counts = tx.connection.execute(query.group_by(attempts.c.agent)).all()
    return [
        agent
        for agent, count, here in counts
        if agent in terms and (count >= terms[agent].concurrency or here >= share)
    ]


def _open_count(tx: Transaction, condition: ColumnElement[bool]) -> int:
    query = select(func.count()).where(schema.attempts.c.state.in_(_OPEN), condition)
    return tx.connection.execute(query).scalar_one()


def _next_ready(
    tx: Transaction, full: list[str], left: list[str], within: ColumnElement[bool]
) -> Row[Any] | None:
    """Return the oldest ready route whose agent and session have room."""
    routes, attempts = schema.routes, schema.attempts
    earlier = routes.alias("earlier")
    is_waiting = [str(S.READY), str(S.APPROVED)]
    if tx.rules.held_blocks_session:
        is_waiting.append(str(S.HELD))
    session_is_busy = exists().where(
        attempts.c.scope == routes.c.scope,
        attempts.c.agent == routes.c.agent,
        attempts.c.state.in_(_OPEN),
    )
    is_overtaking = exists().where(
        earlier.c.scope == routes.c.scope,
        earlier.c.number < routes.c.number,
        or_(
            and_(earlier.c.agent == routes.c.agent, earlier.c.state.in_(is_waiting)),
            and_(earlier.c.state == str(S.RECEIVED), earlier.c.mode == str(Mode.DISPATCH)),
        ),
    )
    oldest = tx.now - timedelta(seconds=tx.rules.ready_max_age_s)
    query = (
        select(routes.c.id)
        .where(routes.c.state == str(S.READY), routes.c.ready_at > oldest)
        .where(within, routes.c.id.not_in(left))
        .where(routes.c.agent.not_in(full), ~session_is_busy, ~is_overtaking)
        .order_by(routes.c.number)
        .limit(1)
    )
    route_id = tx.connection.execute(query).scalar_one_or_none()
    return None if route_id is None else rows.one_route(tx, route_id)


def _refusal(tx: Transaction, row: Row[Any], terms: LaunchTerms | None) -> str | None:
    """Return why a route may not be launched now, None when it may."""
    if terms is None or not terms.available:
        return "agent_unavailable"
    if row.approved_digest not in (None, binding.launch_digest_of(tx, row, terms)):
        return "digest_changed"
    return None


def _launch(
    tx: Transaction, row: Row[Any], worker: str, terms: LaunchTerms, lease_s: float
) -> LaunchOrder:
    """Insert the attempt and set ``launching``; the order may be followed after the commit."""
    window_s = lease_s * LAUNCH_SHARE
    attempt = {
        **_attempt_row(tx, row, terms),
        "worker": worker,
        "launched_at": tx.now,
        "lease_until": tx.now + timedelta(seconds=lease_s),
        "not_after": tx.now + timedelta(seconds=window_s),
    }
    attempts = schema.attempts
    inserted = insert(attempts).values(attempt).returning(attempts.c.fence)
    fence = tx.connection.execute(inserted).scalar_one()
    told = ("number", "agent", "agent_digest", "template_digest", "session_key", "generation")
    facts = {"attempt": attempt["id"], "fence": fence, **{name: attempt[name] for name in told}}
    facts |= {"cli_version": terms.cli_version, "cli_files": list(terms.cli_files)}
    actor = Actor(f"worker:{worker}")
    moves.must_move(tx, row.id, frm=S.READY, to=S.LAUNCHING, actor=actor, facts=facts, ran=None)
    return LaunchOrder(
        route_id=row.id,
        attempt_id=attempt["id"],
        fence=fence,
        message=rows.message_of(row),
        agent=terms.agent,
        agent_digest=terms.agent_digest,
        session_key=attempt["session_key"],
        lease_s=lease_s,
        worker=worker,
        launch_window_s=window_s,
        timeout_s=terms.timeout_s,
    )


def _attempt_row(tx: Transaction, row: Row[Any], terms: LaunchTerms) -> codec.Json:
    """Return what an attempt is about: which run of what, in which session."""
    attempts = schema.attempts
    before = select(func.count()).where(attempts.c.route_id == row.id)
    session = binding.session_of(tx, row, terms.agent)
    return {
        "id": new_id("at", now_ms=tx.now_ms),
        "route_id": row.id,
        "number": tx.connection.execute(before).scalar_one() + 1,
        "state": str(S.LAUNCHING),
        "agent": terms.agent,
        "agent_digest": terms.agent_digest,
        "template_digest": terms.template_digest,
        "scope": row.scope,
        "session_key": session.key,
        "generation": session.generation,
        "timeout_s": terms.timeout_s,
        "cli_version": terms.cli_version,
        "cancel_unconfirmed": False,
        "facts": {},
    }


def _send_back(tx: Transaction, row: Row[Any], reason: str, terms: LaunchTerms | None) -> None:
    """Put a route that cannot be launched as it stands before a human again."""
    gates = _shown_gates(tx, row.id)
    number = 9 if reason == "agent_unavailable" else 0
    if reason not in [gate["reason"] for gate in gates]:
        gates.append({"number": number, "reason": reason, "detail": _WHY[reason]})
    risk = Risk(row.decision["risk"]["top"])
    hold = holds.open_hold(
        tx, row, suggestion=row.agent, reason=reason, gates=gates, risk=risk, terms=terms
    )
    facts = {"hold": hold.id, "reason": reason, "digest": hold.digest}
    values = {"reason": reason, "approved_digest": None, "ready_at": None}
    moves.must_move(tx, row.id, frm=S.READY, to=S.HELD, actor=SERVICE, facts=facts, **values)


def _shown_gates(tx: Transaction, route_id: str) -> list[codec.Json]:
    """Return the gates of the newest hold; a new approval must answer them again."""
    table = schema.holds
    query = select(table.c.gates).where(table.c.route_id == route_id)
    gates = tx.connection.execute(query.order_by(table.c.number.desc()).limit(1))
    return list(gates.scalar_one_or_none() or ())


_WHY = {
    "agent_unavailable": "The agent is disabled or missing at launch.",
    "digest_changed": "What would run changed after the approval.",
}
