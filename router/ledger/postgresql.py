"""The ledger on a PostgreSQL server: serializable transactions, done again where two collide."""

import contextlib
import random
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from sqlalchemy import URL, Connection, Engine, create_engine, select, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import QueuePool

from clawmarshal.errors import LedgerError, LedgerUnavailableError
from clawmarshal.router.ledger import database, migration, schema
from clawmarshal.router.ledger.clock import Clock
from clawmarshal.router.ledger.database import Moved, Rules, T, Transaction, compact_json

_NOW = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
"""``now()`` would be the start of the transaction, before it waited for others."""
_COLLISIONS = frozenset({"40001", "40P01"})
"""serialization_failure, deadlock_detected: doing it again is the documented answer."""
_TWINS = "23505"
"""unique_violation: two inserted the same key at once, or the work itself is at fault."""
_TWIN_TRIES = 3
_STATEMENT_MS = 30_000
_IDLE_MS = 15_000
"""A paused process that stands in the middle of a transaction loses it."""
_CONNECTIONS = 32
_KEPT = 8
_UPGRADE_LOCK = 0x636C_6177


class PostgresqlDatabase:
    """Begin transactions on a PostgreSQL database that any number of processes share.

    Parameters
    ----------
    url
        With the psycopg driver.
    clock
        The server's where None, so that hosts need not agree on the time.
    busy_timeout_s
        How long work is done again, and how long it waits for a lock or a connection.
    on_commit
        Told what moved, after each commit.

    Raises
    ------
    LedgerUnavailableError
        The server cannot be reached.
    LedgerError
        ``ledger-driver``, ``ledger-unsafe``, ``ledger-older``, ``ledger-newer``.
    """

    path = None
    connections = _CONNECTIONS
    """The most that one process has."""

    def __init__(
        self,
        url: URL,
        *,
        clock: Clock | None,
        rules: Rules,
        busy_timeout_s: float,
        on_commit: Callable[[Sequence[Moved]], None],
    ) -> None:
        self._clock = clock
        self._rules = rules
        self._patience_s = busy_timeout_s
        self._on_commit = on_commit
        self._workers: set[str] = set()
        self._engine = _new_engine(url, busy_timeout_s)
        with _translated(_words_for_opener), contextlib.ExitStack() as undo:
            undo.callback(self._engine.dispose)
            with self._engine.connect() as connection:
                _check_durable(connection)
                migration.check(connection)
            undo.pop_all()

    @property
    def connections_used(self) -> int:
        """How many are in use now."""
        pool = self._engine.pool
        return pool.checkedout() if isinstance(pool, QueuePool) else 0

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Commit what the work wrote; see `Database.write`."""
        deadline = time.monotonic() + self._patience_s
        tries = twins = 0
        while True:
            try:
                with _translated_unless_collision():
                    result, moved = self._try(work)
                break
            except _CollisionError as collision:
                tries, twins = tries + 1, twins + collision.is_twin
                if twins == _TWIN_TRIES:
                    raise LedgerError(
                        "a rule of the ledger was broken", code="ledger-constraint"
                    ) from collision
                if time.monotonic() > deadline:
                    raise LedgerUnavailableError("the ledger is busy; try again") from collision
                time.sleep(random.uniform(0, min(0.002 * 2**tries, 0.1)))  # noqa: S311  # spreads
        self._on_commit(moved)
        return result

    def forget(self) -> None:
        """Do nothing: the server's VACUUM removes dead rows, see docs/audit.md."""

    @contextlib.contextmanager
    def read(self) -> Iterator[Transaction]:
        """Begin a transaction that sees one state of everything and writes nothing."""
        with _translated(), self._engine.connect() as connection:
            connection = connection.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
            with connection.begin():
                yield Transaction(connection, self._now(connection), self._rules)

    def hold_worker(self, worker: str) -> None:
        """Remember the worker as ours: it ends with us."""
        self._workers.add(worker)

    def release_worker(self, worker: str) -> None:
        """Forget the worker, whose end its row says."""
        self._workers.discard(worker)

    def is_dead(self, tx: Transaction, worker: str) -> bool:
        """Tell whether the worker said that it ended; else its lease decides."""
        workers = schema.workers
        query = select(workers.c.ended_at).where(workers.c.id == worker)
        return tx.connection.execute(query).scalar_one_or_none() is not None

    def close(self) -> None:
        """Say that our workers ended, where the server still listens, and disconnect."""
        if self._workers:
            workers = schema.workers
            ended = update(workers).where(workers.c.id.in_(sorted(self._workers)))
            with contextlib.suppress(LedgerError):
                self.write(lambda tx: tx.connection.execute(ended.values(ended_at=tx.now)))
        self._engine.dispose()

    def _try(self, work: Callable[[Transaction], T]) -> tuple[T, list[Moved]]:
        with self._engine.connect() as connection:
            connection = connection.execution_options(isolation_level="SERIALIZABLE")
            with connection.begin():
                tx = Transaction(connection, self._now(connection), self._rules)
                return work(tx), tx.moved

    def _now(self, connection: Connection) -> datetime:
        if self._clock is not None:
            return self._clock.now()
        return schema.instant(connection.exec_driver_sql(_NOW).scalar_one())


def upgrade(url: URL) -> str:
    """Bring the schema of a database up to date, one process at a time; return the version."""
    engine = _new_engine(url, 60.0)
    try:
        with _translated(_words_for_opener), engine.begin() as connection:
            _check_durable(connection)
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_UPGRADE_LOCK})")
            migration.upgrade(connection)
    finally:
        engine.dispose()
    return schema.HEAD


class _CollisionError(Exception):
    """Two transactions could not have run one after the other."""

    def __init__(self, *, is_twin: bool) -> None:
        super().__init__("two transactions collided")
        self.is_twin = is_twin


def _words(error: DBAPIError) -> str:
    """Say what is wrong, without names of hosts or people: callers of the service read it."""
    state = getattr(error.orig, "sqlstate", None)
    return f"the ledger's server {f'refused ({state})' if state else 'cannot be reached'}"


def _words_for_opener(error: DBAPIError) -> str:
    """Add the driver's own words, for whoever starts us."""
    said = str(error.orig).strip().splitlines()
    return f"{_words(error)}: {said[0] if said else type(error.orig).__name__}"


@contextlib.contextmanager
def _translated(words: Callable[[DBAPIError], str] = _words) -> Iterator[None]:
    """Turn what SQLAlchemy and psycopg raise into errors of ours."""
    try:
        with database.translated(words):
            yield
    except PoolTimeout as error:
        raise LedgerUnavailableError("the ledger is busy; try again") from error


@contextlib.contextmanager
def _translated_unless_collision() -> Iterator[None]:
    """Translate errors, but tell a collision apart: it is answered by doing the work again."""
    with _translated():
        try:
            yield
        except DBAPIError as error:
            state = getattr(error.orig, "sqlstate", None)
            if state in _COLLISIONS or state == _TWINS:
                raise _CollisionError(is_twin=state == _TWINS) from error
            raise


def _new_engine(url: URL, patience_s: float) -> Engine:
    options = {
        "lock_timeout": int(patience_s * 1000),
        "statement_timeout": _STATEMENT_MS,
        "idle_in_transaction_session_timeout": _IDLE_MS,
    }
    try:
        return create_engine(
            url,
            pool_size=_KEPT,
            max_overflow=_CONNECTIONS - _KEPT,
            pool_timeout=patience_s,
            pool_pre_ping=True,
            json_serializer=compact_json,
            hide_parameters=True,  # they hold message text, and would stand in logs and errors
            connect_args={
                "application_name": "clawmarshal",
                "connect_timeout": max(2, int(patience_s)),
                "options": " ".join(f"-c {name}={value}" for name, value in options.items()),
            },
        )
    except ImportError as error:
        raise LedgerError(
            "PostgreSQL needs its driver; install clawmarshal[postgres]", code="ledger-driver"
        ) from error


def _check_durable(connection: Connection) -> None:
    """Refuse a server that says "committed" before the disk has it."""
    for setting in ("synchronous_commit", "fsync", "full_page_writes"):
        if connection.exec_driver_sql(f"SHOW {setting}").scalar_one() == "off":
            raise LedgerError(
                f"the server runs with {setting}=off: what was accepted could be lost; turn it on",
                code="ledger-unsafe",
            )
