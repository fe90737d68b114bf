"""What a person may say of a route besides answering its hold: cancel it, or resolve it."""

from datetime import timedelta
from math import ceil
from typing import Any

from sqlalchemy import Row, select

from clawmarshal.errors import ConflictError, LedgerError
from clawmarshal.router.ledger import audit, binding, codec, erasing, holds, moves, rows, schema
from clawmarshal.router.ledger.audit import Actor
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.records import Principal, RouteRecord
from clawmarshal.router.ledger.states import OPEN_ATTEMPTS, RouteState

S = RouteState
ANSWERS = ("ran", "not_run", "rerun", "leave")
CLI_PATIENCE_S = 30
"""The CLI itself waits this long after ``--timeout`` (FINDINGS 0)."""

_WISH = "cancel_requested"
_CANCELLABLE = (S.RECEIVED, S.HELD, S.APPROVED, S.READY)


def cancel(tx: Transaction, route_id: str, principal: Principal) -> RouteRecord:
    """Cancel what was not launched; note the wish for what was. See `Ledger.cancel`."""
    row = rows.one_route(tx, route_id)
    state, actor = S(row.state), Actor.of(principal)
    if state in _CANCELLABLE:
        holds.cancel_open(tx, route_id)
        moves.must_move(tx, route_id, frm=state, to=S.CANCELLED, actor=actor, reason="cancelled")
    elif state in OPEN_ATTEMPTS:
        audit.append(tx, route_id, actor=actor, kind=_WISH, facts={})
    elif state is not S.CANCELLED:
        raise ConflictError(
            f"a route that is {state} cannot be cancelled",
            code="not-cancellable",
            detail={"state": str(state)},
        )
    return rows.route_record(tx, route_id)


def is_called_off(tx: Transaction, route_id: str) -> bool:
    """Tell whether the newest launch of a route was asked to stop."""
    events = schema.events
    query = select(events.c.kind).where(
        events.c.chain == route_id, events.c.kind.in_((_WISH, str(S.LAUNCHING)))
    )
    newest = tx.connection.execute(query.order_by(events.c.ordinal.desc()).limit(1))
    return newest.scalar_one_or_none() == _WISH


def resolve(
    tx: Transaction, route_id: str, principal: Principal, *, answer: str, note: str | None
) -> RouteRecord:
    """Say what became of an ``unknown``; see `Ledger.resolve`."""
    if answer not in ANSWERS:
        raise LedgerError(f"the answer is one of {', '.join(ANSWERS)}", code="answer-invalid")
    row = rows.one_route(tx, route_id)
    _check_resolvable(row, answer)
    actor, facts = Actor.of(principal), {"answer": answer, "note": codec.storable(note)}
    match answer:
        case "ran":
            _settle(tx, row, S.DONE, actor, facts, ran=True)
        case "not_run":
            _settle(tx, row, S.FAILED, actor, facts, ran=False)
        case "rerun":
            _rerun(tx, row, actor, facts)
        case _:
            audit.append(tx, route_id, actor=actor, kind="left_unknown", facts=facts)
    return rows.route_record(tx, route_id)


def _check_resolvable(row: Row[Any], answer: str) -> None:
    is_unknown = row.state == S.UNKNOWN
    did_not_run = row.state == S.FAILED and row.ran is False
    if not is_unknown and not (answer == "rerun" and did_not_run):
        raise ConflictError(
            f"a route that is {row.state} has nothing to resolve this way",
            code="not-resolvable",
            detail={"state": row.state, "ran": row.ran},
        )


def _settle(
    tx: Transaction, row: Row[Any], to: S, actor: Actor, facts: dict[str, Any], *, ran: bool
) -> None:
    moves.must_move(
        tx,
        row.id,
        frm=S.UNKNOWN,
        to=to,
        actor=actor,
        facts=facts,
        ran=ran,
        reason=f"resolved_{facts['answer']}",
    )


def _rerun(tx: Transaction, row: Row[Any], actor: Actor, facts: dict[str, Any]) -> None:
    """Make the route ready again, in a new session that the old turn cannot reach."""
    erasing.check_whole(row.salt)
    last = _last_attempt(tx, row.id)
    _check_over(tx, last)
    binding.renew_session(tx, row.scope, last.agent)
    values: dict[str, object] = {"ran": None, "ready_at": tx.now, "reason": "rerun"}
    if row.approved_digest is not None:
        # The approval goes on for what it was given for; only the session is another.
        values["approved_digest"] = _rebound(tx, row, last)
    facts = {**facts, "after_attempt": last.id}
    moves.must_move(tx, row.id, frm=S(row.state), to=S.READY, actor=actor, facts=facts, **values)


def _rebound(tx: Transaction, row: Row[Any], last: Row[Any]) -> str:
    return binding.launch_digest(
        message_seal=audit.text_seal(row.text, row.salt),
        agent=last.agent,
        agent_digest=last.agent_digest,
        template_digest=last.template_digest,
        session=binding.session_of(tx, row, last.agent),
        reply_target=row.reply_target,
    )


def _check_over(tx: Transaction, last: Row[Any]) -> None:
    """Refuse while a paused worker could still come back and launch, or the turn still run."""
    wait_s = last.timeout_s + CLI_PATIENCE_S + tx.rules.rerun_margin_s
    opens_at = last.launched_at + timedelta(seconds=wait_s)
    if last.acknowledged_at is None and tx.now < opens_at:
        raise ConflictError(
            "the turn may still be running; run it again later",
            code="rerun-too-early",
            detail={
                "opens_at": opens_at.isoformat(),
                "opens_in_s": ceil((opens_at - tx.now).total_seconds()),
            },
        )


def _last_attempt(tx: Transaction, route_id: str) -> Row[Any]:
    attempts = schema.attempts
    query = select(attempts).where(attempts.c.route_id == route_id)
    return tx.connection.execute(query.order_by(attempts.c.number.desc()).limit(1)).one()
