"""The one place that opens the database, begins transactions and translates their errors."""

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from sqlite3 import Connection as SqliteConnection
from sqlite3 import Error as SqliteError

from sqlalchemy import URL, Connection, Engine, Table, create_engine, event, make_url, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError

from clawmarshal.errors import LedgerError, LedgerUnavailableError
from clawmarshal.roster.agent import Risk
from clawmarshal.router.ledger import schema
from clawmarshal.router.ledger.clock import Clock
from clawmarshal.router.ledger.states import RouteState

_WRITE = "clawmarshal_write"
_WAL_TRIES = 50


Moved = tuple[str, RouteState]
"""A route's id and the state it moved to."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What the ledger is told about time and order."""

    ready_max_age_s: float
    """A ``ready`` route older than this expires instead of running late."""
    hold_ttl_s: Mapping[Risk, float | None]
    """Per risk, how long a hold waits; None or absent: for ever."""
    rerun_margin_s: float
    """Added to the time after which "run again" opens."""
    held_blocks_session: bool
    """A held message holds back its successors in the same session."""


@dataclass(frozen=True, slots=True)
class Transaction:
    """One transaction that has begun, and the time inside it."""

    connection: Connection
    now: datetime
    rules: Rules
    moved: list[Moved] = field(default_factory=list)
    """What changed its state; told to listeners after the commit, never before."""

    @property
    def now_ms(self) -> int:
        """The transaction's time in milliseconds since 1970."""
        return schema.microseconds(self.now) // 1000

    def insert_or_ignore(self, table: Table, row: Mapping[str, object]) -> bool:
        """Insert a row unless one with its key is there; tell whether it was inserted.

        Waits for a transaction that is inserting the same key, where several can write at once.
        """
        statement = insert(table).values(row).on_conflict_do_nothing()
        return self.connection.execute(statement).rowcount == 1


class Database:
    """Begin transactions on one SQLite file.

    Parameters
    ----------
    url
        ``sqlite:///relative`` or ``sqlite:////absolute``; the folder must exist.
    busy_timeout_s
        How long a transaction waits for another's end.
    pragmas
        More settings for each connection.
    on_commit
        Told what moved, after each commit.

    Raises
    ------
    LedgerUnavailableError
        The file cannot be opened, made or read as a ledger.
    LedgerError
        ``ledger-url``, ``ledger-newer``.
    """

    def __init__(
        self,
        url: str,
        *,
        clock: Clock,
        rules: Rules,
        busy_timeout_s: float,
        pragmas: Mapping[str, int | str],
        on_commit: Callable[[Sequence[Moved]], None],
    ) -> None:
        self.path = _file_of(url)
        self._clock = clock
        self._rules = rules
        self._on_commit = on_commit
        self._busy_timeout_s = busy_timeout_s
        self._pragmas = {
            "busy_timeout": int(busy_timeout_s * 1000),
            "synchronous": "FULL",
            "foreign_keys": "ON",
            "secure_delete": "ON",
            **pragmas,
        }
        # SQLite's own waiting is unfair: threads of one process queue here instead.
        self._writing = threading.Lock()
        with _translated(), contextlib.ExitStack() as undo:
            self._identity = _create_file(self.path)
            self._engine = self._new_engine()
            undo.callback(self._engine.dispose)
            self._upgrade()
            undo.pop_all()

    @contextlib.contextmanager
    def write(self) -> Iterator[Transaction]:
        """Begin a transaction that writes; it commits when the block ends without an error."""
        with _translated(), self._turn(), self._connected() as connection:
            connection.execution_options(**{_WRITE: True})
            with connection.begin():
                tx = Transaction(connection, self._clock.now(), self._rules)
                yield tx
        self._on_commit(tx.moved)

    @contextlib.contextmanager
    def read(self) -> Iterator[Transaction]:
        """Begin a transaction that sees one state of everything and writes nothing."""
        with _translated(), self._connected() as connection, connection.begin():
            yield Transaction(connection, self._clock.now(), self._rules)

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    def _connected(self) -> Connection:
        """Connect, unless the file was removed or replaced.

        What is written to such a file nobody finds again, and SQLite would make an empty one.
        """
        found = os.stat(self.path)
        if (found.st_dev, found.st_ino) != self._identity:
            raise LedgerUnavailableError(
                "another file stands where the ledger was; restart what uses it"
            )
        return self._engine.connect()

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._writing.acquire(timeout=self._busy_timeout_s):
            raise LedgerUnavailableError("the ledger is busy; try again")
        try:
            yield
        finally:
            self._writing.release()

    def _new_engine(self) -> Engine:
        engine = create_engine(
            URL.create("sqlite", database=str(self.path)),
            max_overflow=-1,
            json_serializer=_json,
            hide_parameters=True,  # they hold message text, and would stand in logs and errors
            connect_args={"check_same_thread": False},
        )
        event.listen(engine, "connect", self._on_connect)
        event.listen(engine, "begin", _on_begin)
        return engine

    def _on_connect(self, connection: SqliteConnection, _record: object) -> None:
        connection.isolation_level = None  # the driver would begin late, and not before DDL
        for name, value in self._pragmas.items():
            connection.execute(f"PRAGMA {name} = {value}")

    def _upgrade(self) -> None:
        """Make the tables of a new file, or check the version of an old one."""
        self._use_wal()
        with self.write() as tx:
            schema.metadata.create_all(tx.connection)
            query = select(schema.meta.c.value).where(schema.meta.c.name == "schema_version")
            found = tx.connection.execute(query).scalar_one_or_none()
            if found is None:
                row = {"name": "schema_version", "value": str(schema.SCHEMA_VERSION)}
                tx.connection.execute(schema.meta.insert().values(row))
            elif int(found) > schema.SCHEMA_VERSION:
                raise LedgerError(
                    f"the ledger has schema {found}; this version knows {schema.SCHEMA_VERSION}",
                    code="ledger-newer",
                )

    def _use_wal(self) -> None:
        """Switch the file to WAL; two services that start together may refuse each other."""
        tries = 0
        while True:
            try:
                with contextlib.closing(self._engine.raw_connection()) as connection:
                    connection.cursor().execute("PRAGMA journal_mode = WAL")
                    return
            except SqliteError as error:
                tries += 1
                if tries == _WAL_TRIES or "locked" not in str(error):
                    raise
                time.sleep(0.02)


def _on_begin(connection: Connection) -> None:
    # A deferred transaction that turns into a writer can fail half-way; a writer says so first.
    is_write = connection.get_execution_options().get(_WRITE, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_write else "BEGIN")


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _file_of(url: str) -> Path:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise LedgerError("the ledger's address is not a database URL", code="ledger-url") from None
    if parsed.get_backend_name() != "sqlite" or not parsed.database or parsed.query:
        raise LedgerError("the ledger's address is sqlite:///FILE, with a file", code="ledger-url")
    if parsed.database == ":memory:":
        raise LedgerError("a ledger in memory would forget everything", code="ledger-url")
    return Path(parsed.database).absolute()


def _create_file(path: Path) -> tuple[int, int]:
    """Make the file for its owner alone, or take it from everybody else; return which it is.

    Opened for writing: SQLite would fall back to reading, and the first message would find out.
    """
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        found = os.fstat(descriptor)
        if found.st_mode & 0o077:
            os.fchmod(descriptor, found.st_mode & 0o7700)
        return found.st_dev, found.st_ino
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    """Turn what SQLAlchemy, sqlite3 and the file system raise into errors of ours."""
    try:
        yield
    except IntegrityError as error:
        raise LedgerError("a rule of the ledger was broken", code="ledger-constraint") from error
    except DBAPIError as error:
        raise LedgerUnavailableError(f"the ledger cannot be used: {error.orig}") from error
    except SqliteError as error:
        raise LedgerUnavailableError(f"the ledger cannot be used: {error}") from error
    except OSError as error:
        raise LedgerUnavailableError(
            f"the ledger's file cannot be used: {error.strerror}"
        ) from error
    except UnicodeEncodeError as error:
        raise LedgerError(
            "a text is not Unicode that can be stored", code="text-invalid"
        ) from error
