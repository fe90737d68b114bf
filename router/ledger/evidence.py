"""What was found of a turn whose outcome is unknown: appended for a person, moving nothing."""

from typing import Any

from sqlalchemy import Row, exists, func, select, update

from clawmarshal.errors import NotFoundError
from clawmarshal.router.ledger import audit, codec, rows, schema
from clawmarshal.router.ledger.audit import Actor
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.records import Lost
from clawmarshal.router.ledger.states import RouteState
from clawmarshal.transport.evidence import Evidence

KIND = "evidence"
MAX_LOST = 500


def lost(tx: Transaction, route_id: str) -> Lost | None:
    """Return the newest attempt of a route that is unknown, for a look-up; None for another."""
    row = rows.one_route(tx, route_id)
    if row.state != str(RouteState.UNKNOWN):
        return None
    attempt = _newest(tx, route_id)
    return None if attempt is None else _lost(row, attempt)


def unsearched(tx: Transaction, *, limit: int) -> tuple[str, ...]:
    """Return unknown routes for which nothing was looked up since they became so, newest first."""
    routes, events, attempts = schema.routes, schema.events, schema.attempts
    launched = select(func.max(attempts.c.launched_at)).where(attempts.c.route_id == routes.c.id)
    is_searched = exists().where(
        events.c.chain == routes.c.id,
        events.c.kind == KIND,
        events.c.at >= launched.scalar_subquery(),
    )
    query = (
        select(routes.c.id)
        .where(routes.c.state == str(RouteState.UNKNOWN), ~is_searched)
        .order_by(routes.c.number.desc())
        .limit(min(limit, MAX_LOST))
    )
    return tuple(tx.connection.execute(query).scalars())


def attach(
    tx: Transaction, route_id: str, attempt_id: str, evidence: Evidence, *, actor: Actor
) -> None:
    """Append what was found to the route's trail; the route stays where it stands.

    The event holds no text. An answer goes beside what a late worker saw, which it never replaces.

    Raises
    ------
    NotFoundError
        There is no such attempt of this route.
    """
    attempts = schema.attempts
    query = select(attempts).where(attempts.c.id == attempt_id, attempts.c.route_id == route_id)
    attempt = tx.connection.execute(query).one_or_none()
    if attempt is None:
        raise NotFoundError("there is no such attempt", code="not-found")
    facts: dict[str, Any] = {
        "attempt": attempt_id,
        "code": str(evidence.code),
        "run_id": codec.storable(evidence.run_id),
        "found_by": evidence.found_by,
        **evidence.facts,
    }
    salt = rows.one_route(tx, route_id).salt
    if evidence.reply_text is not None and salt != "":
        facts["reply_seal"] = audit.text_seal(codec.storable(evidence.reply_text) or "", salt)
        _keep_reply(tx, attempt, evidence)
    audit.append(tx, route_id, actor=actor, kind=KIND, facts=facts)


def _keep_reply(tx: Transaction, attempt: Row[Any], evidence: Evidence) -> None:
    seen = {
        "source": "gateway",
        "run_id": codec.storable(evidence.run_id),
        "found_by": evidence.found_by,
        "reply_text": codec.storable(evidence.reply_text),
        "at": tx.now.isoformat(),
    }
    attempts = schema.attempts
    statement = update(attempts).where(
        attempts.c.fence == attempt.fence, attempts.c.late_evidence.is_(None)
    )
    tx.connection.execute(statement.values(late_evidence=audit.plain(seen)))


def _newest(tx: Transaction, route_id: str) -> Row[Any] | None:
    attempts = schema.attempts
    query = select(attempts).where(attempts.c.route_id == route_id)
    return tx.connection.execute(query.order_by(attempts.c.number.desc()).limit(1)).one_or_none()


def _lost(row: Row[Any], attempt: Row[Any]) -> Lost:
    return Lost(
        route_id=row.id,
        attempt_id=attempt.id,
        agent=attempt.agent,
        session_key=attempt.session_key,
        run_id=attempt.run_id,
        text=row.text,
        launched_at=attempt.launched_at,
    )
