"""From a ledger's address to its database: the one place that picks the back end."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from clawmarshal.errors import LedgerError
from clawmarshal.router.ledger.clock import Clock, SystemClock
from clawmarshal.router.ledger.database import Database, Moved, Rules
from clawmarshal.router.ledger.schema import HEAD
from clawmarshal.router.ledger.sqlite import SqliteDatabase

POSTGRESQL = "postgresql"
LIBPQ = frozenset(
    {
        "channel_binding", "gssencmode", "host", "hostaddr", "passfile", "port", "require_auth",
        "service", "sslcert", "sslcrl", "sslkey", "sslmode", "sslrootcert", "target_session_attrs",
    }
)  # fmt: skip
"""What may follow the ``?`` of a PostgreSQL address: where the server is and how it is trusted.

Neither ``password``, which belongs in no address, nor ``options``, which could undo what we set.
"""


def open_database(
    url: str,
    *,
    clock: Clock | None,
    rules: Rules,
    busy_timeout_s: float,
    pragmas: Mapping[str, int | str],
    on_commit: Callable[[Sequence[Moved]], None],
) -> Database:
    """Open the database behind an address; see `Ledger`.

    Raises
    ------
    LedgerUnavailableError, LedgerError
        As `Ledger` says.
    """
    parsed = parse(url)
    if parsed.get_backend_name() == POSTGRESQL:
        from clawmarshal.router.ledger.postgresql import PostgresqlDatabase

        return PostgresqlDatabase(
            parsed, clock=clock, rules=rules, busy_timeout_s=busy_timeout_s, on_commit=on_commit
        )
    return SqliteDatabase(
        Path(str(parsed.database)).absolute(),
        clock=clock or SystemClock(),
        rules=rules,
        busy_timeout_s=busy_timeout_s,
        pragmas=pragmas,
        on_commit=on_commit,
    )


def upgrade_ledger(url: str) -> str:
    """Bring a ledger's schema up to this version, or make it; return the version.

    Raises
    ------
    LedgerUnavailableError, LedgerError
        As `Ledger` says.
    """
    parsed = parse(url)
    if parsed.get_backend_name() == POSTGRESQL:
        from clawmarshal.router.ledger import postgresql

        return postgresql.upgrade(parsed)
    rules = Rules(0.0, {}, 0.0, held_blocks_session=True)
    database = open_database(
        url, clock=None, rules=rules, busy_timeout_s=10.0, pragmas={}, on_commit=lambda _moved: None
    )
    database.close()
    return HEAD


def parse(url: str) -> URL:
    """Read an address.

    Raises
    ------
    LedgerError
        ``ledger-url``: it is none that a ledger can stand at. The address is in no message.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise LedgerError("the ledger's address is not a database URL", code="ledger-url") from None
    if parsed.drivername in (POSTGRESQL, f"{POSTGRESQL}+psycopg"):
        odd = sorted(set(parsed.query) - LIBPQ)
        if odd:
            raise LedgerError(
                f"the ledger's address takes {', '.join(sorted(LIBPQ))} after the ?, "
                f"not {', '.join(odd)}",
                code="ledger-url",
            )
        return parsed.set(drivername=f"{POSTGRESQL}+psycopg")
    if parsed.drivername != "sqlite" or not parsed.database or parsed.query:
        raise LedgerError(
            "the ledger's address is sqlite:///FILE, with a file, or postgresql://HOST/NAME",
            code="ledger-url",
        )
    if parsed.database == ":memory:":
        raise LedgerError("a ledger in memory would forget everything", code="ledger-url")
    return parsed
