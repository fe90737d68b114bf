"""What whoever owns a database could do to the record: its guards are off for as long."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection

from clawmarshal.router.ledger import append_only


@contextmanager
def unguarded(connection: Connection) -> Iterator[None]:
    """Take the triggers off a connection's tables, and put them back."""
    dialect = connection.dialect.name
    for table in append_only.TABLES:
        on = f" ON {table}" if dialect == "postgresql" else ""
        for deed in ("update", "delete"):
            connection.exec_driver_sql(f"DROP TRIGGER {table}_no_{deed}{on}")
    yield
    for made in append_only.statements(dialect):
        if "RETURNS trigger" not in made:
            connection.exec_driver_sql(made)
