"""Keys: made once, kept as a hash, and what person stands behind each."""

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Row, insert, select, update

from clawmarshal.errors import LedgerError, NotFoundError
from clawmarshal.router.ledger import audit, codec, schema
from clawmarshal.router.ledger.audit import SERVICE
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.ids import new_id
from clawmarshal.router.ledger.records import KeyRecord, Principal

SCOPES = frozenset({"route", "pin", "review", "admin"})
PREFIX = "cmk_"


def create(tx: Transaction, *, name: str, person: str, scopes: Iterable[str]) -> str:
    """Make a key; see `Ledger.create_key`."""
    granted = sorted(set(scopes))
    if not granted or not set(granted) <= SCOPES:
        raise LedgerError(f"scopes are among {', '.join(sorted(SCOPES))}", code="scope-invalid")
    if not name.strip() or not person.strip():
        raise LedgerError("a key needs a name and a person", code="key-invalid")
    key, key_id = PREFIX + secrets.token_urlsafe(32), new_id("ck", now_ms=tx.now_ms)
    row = {
        "id": key_id,
        "name": codec.storable(name),
        "person": codec.storable(person),
        "scopes": granted,
        "hash": _hash(key),
        "created_at": tx.now,
    }
    tx.connection.execute(insert(schema.api_keys).values(row))
    facts = {"name": name, "person": person, "scopes": granted}
    audit.append(tx, key_id, actor=SERVICE, kind="key_created", facts=facts)
    return key


def authenticate(tx: Transaction, key: str, address: str | None) -> Principal | None:
    """Return who stands behind a key; None when it is unknown or revoked."""
    digest = _hash(key)
    query = select(schema.api_keys).where(schema.api_keys.c.hash == digest)
    row = tx.connection.execute(query).one_or_none()
    if row is None or not hmac.compare_digest(row.hash, digest) or row.revoked_at is not None:
        return None
    return Principal(row.person, row.id, frozenset(row.scopes), address)


def every(tx: Transaction) -> tuple[KeyRecord, ...]:
    """Return all keys, revoked ones too, oldest first."""
    query = select(schema.api_keys).order_by(schema.api_keys.c.created_at, schema.api_keys.c.id)
    return tuple(_record(row) for row in tx.connection.execute(query))


def revoke(tx: Transaction, key_id: str) -> KeyRecord:
    """End a key for good; a repeat changes nothing."""
    keys = schema.api_keys
    ended = update(keys).where(keys.c.id == key_id, keys.c.revoked_at.is_(None))
    if tx.connection.execute(ended.values(revoked_at=tx.now)).rowcount == 1:
        audit.append(tx, key_id, actor=SERVICE, kind="key_revoked", facts={})
    row = tx.connection.execute(select(keys).where(keys.c.id == key_id)).one_or_none()
    if row is None:
        raise NotFoundError("no such key")
    return _record(row)


def _record(row: Row[Any]) -> KeyRecord:
    return KeyRecord(
        id=row.id,
        name=row.name,
        person=row.person,
        scopes=frozenset(row.scopes),
        created_at=row.created_at,
        revoked_at=row.revoked_at,
    )


def _hash(key: str) -> str:
    """Hash a key; 32 random bytes need no salt and no slow hash."""
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()
