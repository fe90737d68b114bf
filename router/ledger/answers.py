"""The first final answer to a message, kept so that every repeat gets the same bytes."""

from sqlalchemy import select

from clawmarshal.router.ledger import schema
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.records import Answer


def keep(tx: Transaction, route_id: str, answer: Answer) -> Answer:
    """Keep an answer unless there is one; return the one that is kept."""
    row = {
        "route_id": route_id,
        "status": answer.status,
        "body": answer.body,
        "kept_at": tx.now,
    }
    tx.insert_or_ignore(schema.answers, row)
    return kept(tx, route_id) or answer


def kept(tx: Transaction, route_id: str) -> Answer | None:
    """Return the answer that is kept for a route, or None."""
    answers = schema.answers
    query = select(answers.c.status, answers.c.body).where(answers.c.route_id == route_id)
    row = tx.connection.execute(query).one_or_none()
    return None if row is None else Answer(row.status, row.body)
