"""Erasure: what a message said and who sent it goes; that it was there, and what was done, not."""

from sqlalchemy import delete, update

from clawmarshal.errors import ConflictError
from clawmarshal.router.ledger import audit, codec, rows, schema
from clawmarshal.router.ledger.audit import Actor
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.records import Principal, RouteRecord
from clawmarshal.router.ledger.states import RESTING, RouteState

KIND = "erased"


def erase(
    tx: Transaction, route_id: str, principal: Principal, *, reason: str | None
) -> RouteRecord:
    """Erase what a route's message said; see `Ledger.erase`."""
    row = rows.one_route(tx, route_id)
    if row.salt == "":
        return rows.route_record(tx, route_id)
    state = RouteState(row.state)
    if state not in RESTING or state is RouteState.HELD:
        raise ConflictError(
            f"a route that is {state} still needs its text; cancel or reject it first",
            code="not-erasable",
            detail={"state": str(state)},
        )
    decision = None if row.decision is None else {**row.decision, "message_digest": ""}
    facts: dict[str, object] = {"reason": codec.storable(reason)}
    if decision is not None:
        facts["decision_digest"] = audit.digest(decision)
    _erase_message(tx, route_id)
    _erase_route(tx, route_id, decision)
    answers = schema.answers
    tx.connection.execute(delete(answers).where(answers.c.route_id == route_id))
    audit.append(tx, route_id, actor=Actor.of(principal), kind=KIND, facts=facts)
    return rows.route_record(tx, route_id)


def check_whole(salt: str) -> None:
    """Refuse to launch what nobody knows any more.

    Raises
    ------
    ConflictError
        ``erased``.
    """
    if salt == "":
        raise ConflictError("the text was erased, so nothing can be launched", code="erased")


def _erase_message(tx: Transaction, route_id: str) -> None:
    messages, identities = schema.messages, schema.identities
    # Without its salt no event betrays the text, not even to who guesses it.
    gone: dict[str, object] = {
        **dict.fromkeys(("text", "digest", "salt"), ""),
        **dict.fromkeys(("account", "sender", "conversation", "message_id")),
        "labels": [],
        "attachments": [],
    }
    tx.connection.execute(update(messages).where(messages.c.route_id == route_id).values(gone))
    # The key of a repeat stays, so that a late repeat is no new message; what it said does not.
    tx.connection.execute(
        update(identities).where(identities.c.route_id == route_id).values(fingerprint=None)
    )


def _erase_route(tx: Transaction, route_id: str, decision: object) -> None:
    routes, attempts, holds = schema.routes, schema.attempts, schema.holds
    gone = {
        "reply_text": None,
        "tool_sends": None,
        "reply_target": None,
        "idempotency_key": None,
        "sender_scope": None,
        "decision": decision,
        "updated_at": tx.now,
    }
    tx.connection.execute(update(routes).where(routes.c.id == route_id).values(gone))
    tx.connection.execute(
        update(attempts)
        .where(attempts.c.route_id == route_id)
        .values(facts={}, late_evidence=None, detail=None)
    )
    tx.connection.execute(update(holds).where(holds.c.route_id == route_id).values(note=None))
