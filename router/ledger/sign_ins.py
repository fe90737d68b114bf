"""Sign-ins: who is on the review pages, each known by a random token that is kept as a hash."""

import hashlib
import secrets
from datetime import timedelta

from sqlalchemy import delete, insert, select

from clawmarshal.router.ledger import audit, keys, schema
from clawmarshal.router.ledger.audit import Actor
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.records import Principal


def begin(
    tx: Transaction, key: str, *, scope: str, address: str | None, lifetime_s: float
) -> tuple[Principal | None, str | None]:
    """Sign in whoever stands behind a key; see `Ledger.sign_in`."""
    principal = keys.authenticate(tx, key, address)
    if principal is None or not principal.may(scope):
        return principal, None
    return principal, begin_for(tx, principal, lifetime_s=lifetime_s)


def begin_for(tx: Transaction, principal: Principal, *, lifetime_s: float) -> str:
    """Sign in somebody who is known already; return the token."""
    token = secrets.token_urlsafe(32)
    tx.connection.execute(delete(schema.sign_ins).where(schema.sign_ins.c.expires_at <= tx.now))
    row = {
        "hash": _hash(token),
        "key_id": principal.key_id,
        "address": principal.address,
        "created_at": tx.now,
        "expires_at": tx.now + timedelta(seconds=lifetime_s),
    }
    tx.connection.execute(insert(schema.sign_ins).values(row))
    audit.append(tx, principal.key_id, actor=Actor.of(principal), kind="signed_in", facts={})
    return token


def principal_of(tx: Transaction, token: str, address: str | None) -> Principal | None:
    """Return who is signed in; None when the sign-in ended or its key was revoked."""
    signed, owners = schema.sign_ins, schema.api_keys
    query = (
        select(owners.c.id, owners.c.person, owners.c.scopes, owners.c.hash)
        .select_from(signed.join(owners))
        .where(
            signed.c.hash == _hash(token),
            signed.c.expires_at > tx.now,
            keys.alive(tx),
        )
    )
    row = tx.connection.execute(query).one_or_none()
    if row is None:
        return None
    is_proxied = keys.is_proxied(row.hash)
    return Principal(row.person, row.id, frozenset(row.scopes), address, is_proxied=is_proxied)


def end(tx: Transaction, token: str, principal: Principal) -> None:
    """Sign out: whoever kept the token is nobody from now on."""
    gone = delete(schema.sign_ins).where(schema.sign_ins.c.hash == _hash(token))
    if tx.connection.execute(gone).rowcount == 1:
        audit.append(tx, principal.key_id, actor=Actor.of(principal), kind="signed_out", facts={})


def _hash(token: str) -> str:
    """Hash a token; 32 random bytes need no salt and no slow hash."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
