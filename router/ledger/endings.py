"""What a launch came to: writes that carry the fence, and leases that are lost."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, select, update

from clawmarshal.router.ledger import audit, codec, holds, moves, rows, schema
from clawmarshal.router.ledger.audit import SERVICE, Actor
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.records import LaunchOrder
from clawmarshal.router.ledger.states import OPEN_ATTEMPTS, RouteState
from clawmarshal.transport.outcome import TurnResult, TurnState

S = RouteState
READY_TOO_LONG = "ready_too_long"
"""Why a route expired that found no room for its launch."""
_OPEN = tuple(str(state) for state in OPEN_ATTEMPTS)


def started(tx: Transaction, order: LaunchOrder, pid: int) -> bool:
    """Note that the exec succeeded; False when the fence is stale."""
    values = {"state": str(S.RUNNING), "pid": pid, "started_at": tx.now}
    statement = update(schema.attempts).where(
        *_held(tx, order), schema.attempts.c.state == str(S.LAUNCHING)
    )
    if tx.connection.execute(statement.values(values)).rowcount != 1:
        return False
    facts = {"attempt": order.attempt_id, "pid": pid}
    moves.must_move(
        tx, order.route_id, frm=S.LAUNCHING, to=S.RUNNING, actor=_actor(order), facts=facts
    )
    return True


def renew(tx: Transaction, order: LaunchOrder) -> bool:
    """Lengthen the lease; False when the fence is stale."""
    lease = tx.now + timedelta(seconds=order.lease_s)
    statement = update(schema.attempts).where(*_held(tx, order)).values(lease_until=lease)
    return tx.connection.execute(statement).rowcount == 1


def finish(tx: Transaction, order: LaunchOrder, result: TurnResult) -> bool:
    """Write what a launch came to; False when the fence is stale and it became evidence only."""
    attempts = schema.attempts
    query = select(attempts).where(attempts.c.fence == order.fence)
    attempt = tx.connection.execute(query).one()
    if attempt.acknowledged_at is not None:
        return True  # written before, the answer was lost
    values = {**_outcome(result), "ended_at": tx.now, "acknowledged_at": tx.now}
    statement = update(attempts).where(*_held(tx, order)).values(values)
    if tx.connection.execute(statement).rowcount != 1:
        _append_evidence(tx, attempt, order, result)
        return False
    _end_route(tx, order, result, frm=S(attempt.state))
    return True


def any_open(tx: Transaction) -> bool:
    """Tell whether any launch is under way."""
    query = select(schema.attempts.c.fence).where(schema.attempts.c.state.in_(_OPEN)).limit(1)
    return tx.connection.execute(query).one_or_none() is not None


def sweep(tx: Transaction, is_dead: Callable[[Transaction, str], bool]) -> tuple[str, ...]:
    """Turn attempts whose lease is lost into ``unknown``; return the routes concerned."""
    attempts = schema.attempts
    query = select(attempts).where(attempts.c.state.in_(_OPEN)).order_by(attempts.c.fence)
    open_attempts = tx.connection.execute(query).all()
    dead = {worker for worker in {row.worker for row in open_attempts} if is_dead(tx, worker)}
    lost = [row for row in open_attempts if row.lease_until <= tx.now or row.worker in dead]
    for row in lost:
        _lapse(tx, row, "worker_gone" if row.worker in dead else "lease_lost")
    return tuple(row.route_id for row in lost)


def expire(tx: Transaction) -> tuple[str, ...]:
    """Expire routes that were ready for too long; return them, at most a batch."""
    routes = schema.routes
    oldest = tx.now - timedelta(seconds=tx.rules.ready_max_age_s)
    query = select(routes.c.id).where(routes.c.state == str(S.READY), routes.c.ready_at <= oldest)
    late = tuple(tx.connection.execute(query.limit(holds.EXPIRY_BATCH)).scalars())
    for route_id in late:
        moves.must_move(
            tx, route_id, frm=S.READY, to=S.EXPIRED, actor=SERVICE, reason=READY_TOO_LONG
        )
    return late


def _held(tx: Transaction, order: LaunchOrder) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions under which the order's worker may still write."""
    attempts = schema.attempts
    return (
        attempts.c.fence == order.fence,
        attempts.c.worker == order.worker,
        attempts.c.state.in_(_OPEN),
        attempts.c.lease_until > tx.now,
    )


def _end_route(tx: Transaction, order: LaunchOrder, result: TurnResult, *, frm: S) -> None:
    to, ran = _ENDS[result.state]
    facts = {
        "attempt": order.attempt_id,
        "code": result.code,
        "exit_code": result.exit_code,
        "signal": result.signal,
        "run_id": result.run_id,
        "tool_sends": len(result.tool_sends),
        "cancel_unconfirmed": result.cancel_unconfirmed,
    }
    values: dict[str, object] = {"ran": ran}
    if to is S.DONE:
        reply = codec.storable(result.reply_text)
        values["reply_text"] = reply
        salt = rows.one_route(tx, order.route_id).salt
        facts["reply"] = audit.text_seal(reply or "", salt)
    else:
        values["reason"] = codec.storable(result.code)
    if result.tool_sends:
        values["tool_sends"] = _tool_sends(result)
    if frm is S.LAUNCHING and (to in (S.DONE, S.CANCELLED) or ran):
        moves.must_move(tx, order.route_id, frm=frm, to=S.RUNNING, actor=_actor(order))
        frm = S.RUNNING
    moves.must_move(tx, order.route_id, frm=frm, to=to, actor=_actor(order), facts=facts, **values)


_ENDS: Mapping[TurnState, tuple[RouteState, bool | None]] = {
    TurnState.DONE: (S.DONE, True),
    TurnState.FAILED_NOT_RUN: (S.FAILED, False),
    TurnState.FAILED_RAN: (S.FAILED, True),
    TurnState.CANCELLED: (S.CANCELLED, True),
    TurnState.UNKNOWN: (S.UNKNOWN, None),
}


def _lapse(tx: Transaction, attempt: Row[Any], reason: str) -> None:
    attempts = schema.attempts
    ended = {"state": str(TurnState.UNKNOWN), "code": reason, "ended_at": tx.now}
    statement = update(attempts).where(
        attempts.c.fence == attempt.fence, attempts.c.state == attempt.state
    )
    tx.connection.execute(statement.values(ended))
    facts = {"attempt": attempt.id, "reason": reason, "worker": attempt.worker}
    moves.must_move(
        tx,
        attempt.route_id,
        frm=S(attempt.state),
        to=S.UNKNOWN,
        actor=SERVICE,
        facts=facts,
        reason=reason,
        ran=None,
    )


def _append_evidence(
    tx: Transaction, attempt: Row[Any], order: LaunchOrder, result: TurnResult
) -> None:
    """Keep what a stale worker saw, for the person who must decide; no state follows from it."""
    if attempt.state in _OPEN:
        _lapse(tx, attempt, "lease_lost")
    seen = {
        **_outcome(result),
        "state": str(result.state),
        "reply_text": codec.storable(result.reply_text),
        "at": tx.now.isoformat(),
    }
    if rows.one_route(tx, order.route_id).salt == "":  # erased since: what it said must not return
        seen = {name: seen[name] for name in ("state", "code", "exit_code", "signal", "at")}
    attempts = schema.attempts
    statement = update(attempts).where(attempts.c.fence == order.fence)
    values = {"late_evidence": audit.plain(seen), "acknowledged_at": tx.now}
    tx.connection.execute(statement.values(values))
    facts = {"attempt": order.attempt_id, "state": result.state, "code": result.code}
    actor = _actor(order)
    audit.append(tx, order.route_id, actor=actor, kind="late_evidence", facts=facts)


def _outcome(result: TurnResult) -> dict[str, object]:
    """Columns of an attempt that a result fills."""
    facts = {
        **result.facts,
        "wall_s": result.wall_s,
        "stderr_tail": codec.storable(result.stderr_tail),
        "noise": codec.storable(result.noise),
        "raw_text": codec.storable(result.raw_text),
    }
    values: dict[str, object] = {
        "state": str(result.state),
        "code": codec.storable(result.code),
        "detail": codec.storable(result.detail),
        "exit_code": result.exit_code,
        "signal": result.signal,
        "run_id": codec.storable(result.run_id),
        "cancel_unconfirmed": result.cancel_unconfirmed,
        "facts": audit.plain({name: value for name, value in facts.items() if value}),
    }
    if result.pid is not None:
        values["pid"] = result.pid
    if result.cli_version is not None:
        values["cli_version"] = codec.storable(result.cli_version)
    return values


def _tool_sends(result: TurnResult) -> list[codec.Json]:
    return [
        {
            "provider": codec.storable(sent.provider),
            "to": codec.storable(sent.to),
            "text": codec.storable(sent.text),
        }
        for sent in result.tool_sends
    ]


def _actor(order: LaunchOrder) -> Actor:
    return Actor(f"worker:{order.worker}")
