"""Holds: opening them, and the one answer that counts."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import Row, insert, or_, select, update

from clawmarshal.errors import ConflictError, ExpiredError, LedgerError
from clawmarshal.roster.agent import Risk
from clawmarshal.router.ledger import binding, codec, eligibility, moves, rows, schema
from clawmarshal.router.ledger.audit import SERVICE, Actor
from clawmarshal.router.ledger.binding import GateLike, LaunchTerms
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.eligibility import Vote
from clawmarshal.router.ledger.ids import new_id
from clawmarshal.router.ledger.records import HoldRecord, Principal
from clawmarshal.router.ledger.states import HoldState, RouteState

S = RouteState
EXPIRY_BATCH = 500


def open_hold(
    tx: Transaction,
    row: Row[Any],
    *,
    suggestion: str | None,
    reason: str,
    gates: Sequence[GateLike],
    risk: Risk,
    terms: LaunchTerms | None,
) -> HoldRecord:
    """Put a route before a human.

    Parameters
    ----------
    row
        The route joined with its message.
    terms
        What is known about the suggestion now; None where there is none.
    """
    ttl_s = tx.rules.hold_ttl_s.get(risk)
    shown = codec.gates_to_json(tuple(gates))
    values = {
        "id": new_id("hd", now_ms=tx.now_ms),
        "route_id": row.id,
        "owner": row.owner,
        "state": str(HoldState.OPEN),
        "suggestion": suggestion,
        "reason": reason,
        "gates": shown,
        "risk": str(risk),
        "digest": binding.approval_digest(binding.launch_digest_of(tx, row, terms), shown),
        "created_at": tx.now,
        "expires_at": None if ttl_s is None else tx.now + timedelta(seconds=ttl_s),
    }
    tx.connection.execute(insert(schema.holds).values(values))
    return rows.one_hold(tx, str(values["id"]))


def digest_for(
    tx: Transaction, hold_id: str, terms: LaunchTerms, gates: Sequence[GateLike] | None
) -> str:
    """Return what an approval for this target, answering these gates, would be bound to now."""
    hold = rows.one_hold(tx, hold_id)
    row = rows.one_route(tx, hold.route_id)
    shown = hold.gates if gates is None else tuple(gates)
    return binding.approval_digest(binding.launch_digest_of(tx, row, terms), shown)


def approve(
    tx: Transaction,
    hold_id: str,
    principal: Principal,
    *,
    terms: LaunchTerms,
    digest: str | None,
    note: str | None,
    gates: Sequence[GateLike] | None,
) -> HoldRecord:
    """Answer a hold with yes; see `Ledger.approve`."""
    hold = rows.one_hold(tx, hold_id)
    if hold.state is not HoldState.OPEN:
        return _standing(hold, "approve", terms.agent)
    check_open(tx, hold)
    eligibility.check(tx, hold, principal, is_approval=True)
    row = rows.one_route(tx, hold.route_id)
    shown = codec.gates_to_json(hold.gates if gates is None else tuple(gates))
    launch = binding.launch_digest_of(tx, row, terms)
    computed = binding.approval_digest(launch, shown)
    _check_digest(hold, terms.agent, digest, computed, shown)
    vote = Vote(terms.agent, computed, codec.storable(note))
    if not eligibility.is_enough(tx, hold, principal, vote):
        return rows.one_hold(tx, hold_id)
    values = {"agent": terms.agent, "gates": shown, "digest": computed}
    if not _answer(tx, hold, principal, "approve", note, values):
        return _standing(rows.one_hold(tx, hold_id), "approve", terms.agent)
    actor = Actor.of(principal)
    facts = {
        "hold": hold_id,
        "agent": terms.agent,
        "digest": computed,
        "answered": [gate["reason"] for gate in shown],
        "note": note is not None,
    }
    due = tx.now + timedelta(seconds=tx.rules.review.grace_s)
    bound = {"agent": terms.agent, "approved_digest": launch, "ready_at": due}
    moves.must_move(tx, row.id, frm=S.HELD, to=S.APPROVED, actor=actor, facts=facts, **bound)
    if due <= tx.now:
        moves.must_move(tx, row.id, frm=S.APPROVED, to=S.READY, actor=SERVICE)
    return rows.one_hold(tx, hold_id)


def end_grace(tx: Transaction) -> tuple[str, ...]:
    """Let what was approved go on once nobody can call it back; at most a batch."""
    routes = schema.routes
    query = select(routes.c.id).where(
        routes.c.state == str(S.APPROVED), routes.c.ready_at <= tx.now
    )
    due = tuple(tx.connection.execute(query.limit(EXPIRY_BATCH)).scalars())
    for route_id in due:
        moves.must_move(tx, route_id, frm=S.APPROVED, to=S.READY, actor=SERVICE, ready_at=tx.now)
    return due


def reject(tx: Transaction, hold_id: str, principal: Principal, *, reason: str) -> HoldRecord:
    """Answer a hold with no; see `Ledger.reject`."""
    if not reason.strip():
        raise LedgerError("a reject needs a reason", code="reason-required")
    hold = rows.one_hold(tx, hold_id)
    if hold.state is HoldState.OPEN:
        check_open(tx, hold)
        eligibility.check(tx, hold, principal, is_approval=False)
    if hold.state is not HoldState.OPEN or not _answer(tx, hold, principal, "reject", reason, {}):
        return _standing(rows.one_hold(tx, hold_id), "reject", None)
    actor, facts = Actor.of(principal), {"hold": hold_id}
    moves.must_move(
        tx, hold.route_id, frm=S.HELD, to=S.REJECTED, actor=actor, facts=facts, reason="rejected"
    )
    return rows.one_hold(tx, hold_id)


def check_open(tx: Transaction, hold: HoldRecord) -> None:
    """Raise what an answer would, unless the hold can still be answered."""
    is_over = hold.expires_at is not None and hold.expires_at <= tx.now
    if hold.state is not HoldState.OPEN or is_over:
        _standing(hold, "claim", None)


def cancel_open(tx: Transaction, route_id: str) -> None:
    """Close the open hold of a route that was cancelled."""
    holds = schema.holds
    statement = (
        update(holds)
        .where(holds.c.route_id == route_id, holds.c.state == str(HoldState.OPEN))
        .values(state=str(HoldState.CANCELLED))
    )
    tx.connection.execute(statement)


def expire(tx: Transaction) -> tuple[str, ...]:
    """Expire holds whose time is over; return the routes concerned, at most a batch."""
    holds = schema.holds
    due = (holds.c.state == str(HoldState.OPEN), holds.c.expires_at <= tx.now)
    query = select(holds.c.id, holds.c.route_id).where(*due).limit(EXPIRY_BATCH)
    expired = []
    for row in tx.connection.execute(query).all():
        statement = update(holds).where(holds.c.id == row.id, *due)
        tx.connection.execute(statement.values(state=str(HoldState.EXPIRED)))
        facts = {"hold": row.id}
        moves.must_move(
            tx, row.route_id, frm=S.HELD, to=S.EXPIRED, actor=SERVICE, facts=facts, reason="expired"
        )
        expired.append(row.route_id)
    return tuple(expired)


def _answer(
    tx: Transaction,
    hold: HoldRecord,
    principal: Principal,
    decision: str,
    note: str | None,
    values: Mapping[str, object],
) -> bool:
    """Write the answer if nobody was first and the time is not over; one guarded UPDATE."""
    holds = schema.holds
    state = HoldState.APPROVED if decision == "approve" else HoldState.REJECTED
    statement = (
        update(holds)
        .where(
            holds.c.id == hold.id,
            holds.c.state == str(HoldState.OPEN),
            or_(holds.c.expires_at.is_(None), holds.c.expires_at > tx.now),
        )
        .values(
            state=str(state),
            decision=decision,
            person=principal.person,
            decided_at=tx.now,
            note=codec.storable(note),
            **values,
        )
    )
    return tx.connection.execute(statement).rowcount == 1


def _standing(hold: HoldRecord, decision: str, agent: str | None) -> HoldRecord:
    """Return the answer that stands if it is the same one, else say who was first."""
    if hold.state in (HoldState.OPEN, HoldState.EXPIRED):  # still open means: not swept yet
        raise ExpiredError("the hold ran out before the answer")
    if hold.state is HoldState.CANCELLED:
        raise ConflictError("the route was cancelled", code="hold-cancelled")
    if (hold.decision, hold.agent) == (decision, agent):
        return hold
    raise ConflictError(
        "somebody answered this hold before",
        code="hold-decided",
        winner={
            "decision": hold.decision,
            "agent": hold.agent,
            "person": hold.person,
            "at": hold.decided_at.isoformat() if hold.decided_at else None,
        },
    )


def _check_digest(
    hold: HoldRecord,
    agent: str,
    digest: str | None,
    computed: str,
    shown: list[codec.Json],
) -> None:
    """Refuse an approval of something else than what was shown."""
    expected = digest
    if digest is None:
        expected = hold.digest if agent == hold.suggestion else computed
    if expected != computed:
        raise ConflictError(
            "what would run is not what was shown; look again and send the new digest",
            code="digest-changed",
            detail={"digest": computed, "gates": shown, "agent": agent},
        )
