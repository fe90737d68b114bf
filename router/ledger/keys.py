"""Keys: made once, kept as a hash, and what person stands behind each."""

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, insert, or_, select, update

from clawmarshal.errors import ConflictError, LedgerError, NotFoundError
from clawmarshal.router.ledger import audit, codec, schema
from clawmarshal.router.ledger.audit import SERVICE
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.ids import new_id
from clawmarshal.router.ledger.records import KeyRecord, Principal

SCOPES = frozenset({"route", "pin", "review", "admin"})
PREFIX = "cmk_"
PROXIED = "proxy:"
"""Begins the hash of a person whom a proxy names; no key hashes to anything like it."""


def create(
    tx: Transaction,
    *,
    name: str,
    person: str,
    scopes: Iterable[str],
    lifetime_s: float | None = None,
) -> str:
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
        "expires_at": None if lifetime_s is None else tx.now + timedelta(seconds=lifetime_s),
    }
    tx.connection.execute(insert(schema.api_keys).values(row))
    facts = {"name": name, "person": person, "scopes": granted, "expires_at": row["expires_at"]}
    audit.append(tx, key_id, actor=SERVICE, kind="key_created", facts=facts)
    return key


def authenticate(tx: Transaction, key: str, address: str | None) -> Principal | None:
    """Return who stands behind a key; None when it is unknown, revoked or over."""
    digest = _hash(key)
    query = select(schema.api_keys).where(schema.api_keys.c.hash == digest)
    row = tx.connection.execute(query).one_or_none()
    if row is None or not hmac.compare_digest(row.hash, digest):
        return None
    return _principal(row, address) if _record(row).is_valid(tx.now) else None


def alive(tx: Transaction) -> ColumnElement[bool]:
    """Return what holds of a key's row while it lets somebody in."""
    keys = schema.api_keys
    return keys.c.revoked_at.is_(None) & or_(
        keys.c.expires_at.is_(None), keys.c.expires_at > tx.now
    )


def is_alive(tx: Transaction, key_id: str) -> bool:
    """Tell whether a key lets anybody in."""
    query = select(schema.api_keys.c.id).where(schema.api_keys.c.id == key_id, alive(tx))
    return tx.connection.execute(query).one_or_none() is not None


def used(tx: Transaction, key_id: str, address: str | None) -> None:
    """Note that a key was used; see `Ledger.key_used`."""
    keys = schema.api_keys
    noted = update(keys).where(keys.c.id == key_id)
    tx.connection.execute(noted.values(last_used_at=tx.now, last_address=codec.storable(address)))


def rotate(
    tx: Transaction, key_id: str, *, overlap_s: float, lifetime_s: float | None
) -> tuple[str, KeyRecord, KeyRecord]:
    """Put a new key in the place of another; see `Ledger.rotate_key`."""
    old = one(tx, key_id)
    if old.is_proxied or not old.is_valid(tx.now) or old.replaced_by is not None:
        raise ConflictError(
            "the key is revoked, over, replaced or a proxy's; make a new one", code="key-ended"
        )
    key = create(tx, name=old.name, person=old.person, scopes=old.scopes, lifetime_s=lifetime_s)
    keys = schema.api_keys
    new = _record(tx.connection.execute(select(keys).where(keys.c.hash == _hash(key))).one())
    ends = tx.now + timedelta(seconds=overlap_s)
    ends = min(ends, old.expires_at) if old.expires_at else ends
    replaced = update(keys).where(keys.c.id == key_id)
    tx.connection.execute(replaced.values(replaced_by=new.id, expires_at=ends))
    facts = {"by": new.id, "expires_at": ends}
    audit.append(tx, key_id, actor=SERVICE, kind="key_rotated", facts=facts)
    return key, new, one(tx, key_id)


def proxied(
    tx: Transaction, person: str, scopes: Iterable[str], address: str | None
) -> Principal | None:
    """Return who a trusted proxy named; None where they are not known yet, or barred."""
    row = _proxied_row(tx, person)
    if row is None or not _record(row).is_valid(tx.now):
        return None
    return Principal(row.person, row.id, frozenset(scopes), address, is_proxied=True)


def meet(tx: Transaction, person: str, scopes: Iterable[str]) -> None:
    """Give a person whom a trusted proxy names an id of their own; see `Ledger.meet_proxied`."""
    key_id, granted = new_id("ck", now_ms=tx.now_ms), sorted(set(scopes))
    row = {
        "id": key_id,
        "name": "proxy",
        "person": codec.storable(person),
        "scopes": granted,
        "hash": _proxied_hash(person),
        "created_at": tx.now,
    }
    if _proxied_row(tx, person) is None and tx.insert_or_ignore(schema.api_keys, row):
        facts = {"person": person, "scopes": granted}
        audit.append(tx, key_id, actor=SERVICE, kind="proxied_person_met", facts=facts)


def every(tx: Transaction) -> tuple[KeyRecord, ...]:
    """Return all keys, revoked ones too, oldest first."""
    query = select(schema.api_keys).order_by(schema.api_keys.c.created_at, schema.api_keys.c.id)
    return tuple(_record(row) for row in tx.connection.execute(query))


def one(tx: Transaction, key_id: str) -> KeyRecord:
    """Return a key.

    Raises
    ------
    NotFoundError
        There is none.
    """
    query = select(schema.api_keys).where(schema.api_keys.c.id == key_id)
    row = tx.connection.execute(query).one_or_none()
    if row is None:
        raise NotFoundError("no such key")
    return _record(row)


def revoke(tx: Transaction, key_id: str) -> KeyRecord:
    """End a key for good; a repeat changes nothing."""
    keys = schema.api_keys
    ended = update(keys).where(keys.c.id == key_id, keys.c.revoked_at.is_(None))
    if tx.connection.execute(ended.values(revoked_at=tx.now)).rowcount == 1:
        audit.append(tx, key_id, actor=SERVICE, kind="key_revoked", facts={})
    return one(tx, key_id)


def _principal(row: Row[Any], address: str | None) -> Principal:
    return Principal(row.person, row.id, frozenset(row.scopes), address)


def is_proxied(hashed: str) -> bool:
    """Tell whether a key's row stands for a person of a proxy."""
    return hashed.startswith(PROXIED)


def _proxied_row(tx: Transaction, person: str) -> Row[Any] | None:
    query = select(schema.api_keys).where(schema.api_keys.c.hash == _proxied_hash(person))
    return tx.connection.execute(query).one_or_none()


def _record(row: Row[Any]) -> KeyRecord:
    return KeyRecord(
        id=row.id,
        name=row.name,
        person=row.person,
        scopes=frozenset(row.scopes),
        created_at=row.created_at,
        revoked_at=row.revoked_at,
        expires_at=row.expires_at,
        last_used_at=row.last_used_at,
        last_address=row.last_address,
        replaced_by=row.replaced_by,
        is_proxied=is_proxied(row.hash),
    )


def _hash(key: str) -> str:
    """Hash a key; 32 random bytes need no salt and no slow hash."""
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


def _proxied_hash(person: str) -> str:
    return PROXIED + _hash(person)[: 64 - len(PROXIED)]
