"""Who may answer a hold, and how many of them it takes."""

from dataclasses import dataclass

from sqlalchemy import delete, insert, select

from clawmarshal.errors import ConflictError
from clawmarshal.router.ledger import audit, schema
from clawmarshal.router.ledger.audit import Actor
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.records import HoldRecord, Principal


@dataclass(frozen=True, slots=True)
class Vote:
    """One person's yes to one thing."""

    agent: str
    digest: str
    note: str | None = None


def check(tx: Transaction, hold: HoldRecord, principal: Principal, *, is_approval: bool) -> None:
    """Refuse who may not answer.

    Raises
    ------
    ConflictError
        ``self-review``: it is their own message. ``claim-required``, ``hold-claimed``: answers are
        only for who has claimed the hold, and nobody or somebody else has.
    """
    rules = tx.rules.review
    if rules.no_self_review and is_approval and hold.owner == principal.person:
        raise ConflictError("nobody approves what they sent themselves", code="self-review")
    if not rules.claim_required:
        return
    claims = schema.claims
    query = select(claims).where(claims.c.hold_id == hold.id, claims.c.until > tx.now)
    claim = tx.connection.execute(query).one_or_none()
    if claim is None:
        raise ConflictError("claim the hold before answering it", code="claim-required")
    if claim.person != principal.person:
        raise ConflictError(
            "somebody else looks at this hold",
            code="hold-claimed",
            winner={"person": claim.person, "until": claim.until.isoformat()},
        )


def is_enough(tx: Transaction, hold: HoldRecord, principal: Principal, vote: Vote) -> bool:
    """Count a yes; tell whether the hold is answered by it.

    Where two people are needed, both must have said yes to the same digest: a yes to what would
    no longer run counts for nothing. A person has one vote, by whichever key.
    """
    if hold.risk not in tx.rules.review.two_reviewers:
        return True
    votes = schema.votes
    own = (votes.c.hold_id == hold.id, votes.c.person == principal.person)
    same = (votes.c.agent == vote.agent, votes.c.digest == vote.digest)
    before = tx.connection.execute(select(votes.c.digest).where(*own, *same)).one_or_none()
    if before is None:
        tx.connection.execute(delete(votes).where(*own))
        row = {"hold_id": hold.id, "person": principal.person, "at": tx.now}
        values = row | {"agent": vote.agent, "digest": vote.digest, "note": vote.note}
        tx.connection.execute(insert(votes).values(values))
        facts = {"hold": hold.id, "agent": vote.agent, "digest": vote.digest}
        audit.append(tx, hold.route_id, actor=Actor.of(principal), kind="voted", facts=facts)
    others = select(votes.c.person).where(
        votes.c.hold_id == hold.id, votes.c.person != principal.person, *same
    )
    return tx.connection.execute(others.limit(1)).one_or_none() is not None
