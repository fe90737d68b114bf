"""Claims: who looks at a hold now, so that two reviewers do not do the same work."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from sqlalchemy import delete, or_, select, update

from clawmarshal.errors import ConflictError
from clawmarshal.router.ledger import audit, holds, rows, schema
from clawmarshal.router.ledger.audit import Actor
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.records import Claim, Principal


def claim(tx: Transaction, hold_id: str, principal: Principal, *, lease_s: float) -> Claim:
    """Take a hold, or hold it longer; see `Ledger.claim_hold`."""
    hold = rows.one_hold(tx, hold_id)
    holds.check_open(tx, hold)
    before = living(tx, [hold_id]).get(hold_id)
    table, until = schema.claims, tx.now + timedelta(seconds=lease_s)
    row = {"person": principal.person, "claimed_at": tx.now, "until": until}
    taken = (
        update(table)
        .where(
            table.c.hold_id == hold_id,
            or_(table.c.person == principal.person, table.c.until <= tx.now),
        )
        .values(row)
    )
    is_taken = tx.connection.execute(taken).rowcount == 1
    if not is_taken and not tx.insert_or_ignore(table, {"hold_id": hold_id, **row}):
        raise _claimed(living(tx, [hold_id])[hold_id])
    if before is None:
        _tell(tx, hold.route_id, "claimed", principal, hold_id)
    return Claim(principal.person, tx.now, until)


def release(tx: Transaction, hold_id: str, principal: Principal) -> None:
    """Give a hold back; see `Ledger.release_hold`."""
    hold = rows.one_hold(tx, hold_id)
    table = schema.claims
    gone = delete(table).where(table.c.hold_id == hold_id, table.c.person == principal.person)
    if tx.connection.execute(gone).rowcount == 1:
        _tell(tx, hold.route_id, "released", principal, hold_id)
        return
    other = living(tx, [hold_id]).get(hold_id)
    if other is not None:
        raise _claimed(other)


def living(tx: Transaction, hold_ids: Sequence[str]) -> Mapping[str, Claim]:
    """Return the claims that have not run out, by hold."""
    table = schema.claims
    query = select(table).where(table.c.hold_id.in_(hold_ids), table.c.until > tx.now)
    return {
        row.hold_id: Claim(row.person, row.claimed_at, row.until)
        for row in tx.connection.execute(query)
    }


def _tell(tx: Transaction, route_id: str, kind: str, principal: Principal, hold_id: str) -> None:
    audit.append(tx, route_id, actor=Actor.of(principal), kind=kind, facts={"hold": hold_id})


def _claimed(claim: Claim) -> ConflictError:
    return ConflictError(
        "somebody else looks at this hold",
        code="hold-claimed",
        winner={"person": claim.person, "until": claim.until.isoformat()},
    )
