"""A look at a ledger's file that makes, upgrades and changes nothing."""

import re
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from clawmarshal.errors import LedgerError, LedgerUnavailableError
from clawmarshal.router.ledger.schema import HEAD

BUSY_S = 2.0
_NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)


@dataclass(frozen=True, slots=True)
class LedgerLook:
    """What stands in the file."""

    version: str
    """Of the schema, as the file says it."""
    is_newer: bool
    """The file is of a newer version than this one."""
    is_older: bool
    """It is brought up to date when it is opened."""
    routes: int
    last_event_at: datetime | None


def look_at_file(file: Path) -> LedgerLook:
    """Read what a ledger's file says of itself.

    Raises
    ------
    LedgerUnavailableError
        It cannot be read as a database.
    LedgerError
        ``not-a-ledger``: it is a database, and no ledger.
    """
    address = f"{file.absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=BUSY_S)) as connection:
            tables = _column(connection, "SELECT name FROM sqlite_master WHERE type = 'table'")
            if not {"routes", "events"} <= set(tables):
                raise LedgerError("it is no ledger", code="not-a-ledger")
            version, is_newer, is_older = _version(connection, tables)
            (routes,) = _column(connection, "SELECT count(*) FROM routes")
            (last,) = _column(connection, "SELECT max(at) FROM events")
    except sqlite3.Error as error:
        raise LedgerUnavailableError(f"it cannot be read ({error})") from error
    at = None if last is None else datetime.fromtimestamp(last / 1_000_000, UTC)
    return LedgerLook(version, is_newer, is_older, routes, at)


def _version(connection: sqlite3.Connection, tables: list[Any]) -> tuple[str, bool, bool]:
    """Return the version, and whether it is newer or older; files of every age are understood."""
    found: list[Any] = []
    if "alembic_version" in tables:
        found = _column(connection, "SELECT version_num FROM alembic_version")
    if not found and "meta" in tables:
        found = _column(connection, "SELECT value FROM meta WHERE name = 'schema_version'")
    if not found:
        raise LedgerError("it does not say which schema it has", code="not-a-ledger")
    told = _NUMBER.fullmatch(str(found[0]))
    if told is None:
        return str(found[0]), True, False
    return str(found[0]), int(told[0]) > int(HEAD), int(told[0]) < int(HEAD)


def _column(connection: sqlite3.Connection, query: str) -> list[Any]:
    return [row[0] for row in connection.execute(query)]
