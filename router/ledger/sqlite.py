"""The ledger in one SQLite file: private, durable, and one writer at a time."""

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from sqlite3 import Connection as SqliteConnection
from sqlite3 import Error as SqliteError
from typing import cast

from sqlalchemy import URL, Connection, Engine, create_engine, event

from clawmarshal.errors import LedgerError, LedgerUnavailableError
from clawmarshal.router.ledger import migration
from clawmarshal.router.ledger.clock import Clock
from clawmarshal.router.ledger.database import (
    Moved,
    Rules,
    Shared,
    T,
    Transaction,
    compact_json,
    translated,
)
from clawmarshal.router.ledger.group_commit import GroupCommit, Job
from clawmarshal.router.ledger.workers import WorkerLocks
from clawmarshal.transport.folders import filesystem_of

_WRITE = "clawmarshal_write"
_WAL_TRIES = 50
_NETWORK = frozenset(
    {
        "9p", "afs", "beegfs", "ceph", "cifs", "davfs", "fuse.ceph", "fuse.cephfs", "fuse.davfs2",
        "fuse.gcsfuse", "fuse.glusterfs", "fuse.goofys", "fuse.juicefs", "fuse.rclone", "fuse.s3fs",
        "fuse.sshfs", "fuse.vmhgfs-fuse", "gfs2", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs",
        "nfs4", "ocfs2", "orangefs", "prl_fs", "smb2", "smb3", "smbfs", "vboxsf", "vmhgfs",
    }
)  # fmt: skip
"""Where a lock or the memory that WAL shares may mean nothing to another machine (SQLite's own
documentation, wal.html and lockingv3.html: not over a network file system)."""


class SqliteDatabase:
    """Begin transactions on one SQLite file; threads that write at once share a commit.

    Parameters
    ----------
    path
        Absolute; its folder must exist.
    busy_timeout_s
        How long a transaction waits for others to end.
    pragmas
        More settings for each connection.
    on_commit
        Told what moved, after each commit.
    kind_of
        Says on what kind of file system a folder is; None where unknown.

    Raises
    ------
    LedgerUnavailableError
        The file cannot be opened, made or read as a ledger.
    LedgerError
        ``ledger-newer``; ``ledger-network``: the file is on another machine's disk.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Clock,
        rules: Rules,
        busy_timeout_s: float,
        pragmas: Mapping[str, int | str],
        on_commit: Callable[[Sequence[Moved]], None],
        kind_of: Callable[[Path], str | None] = filesystem_of,
    ) -> None:
        self.path = path
        self._clock = clock
        self._rules = rules
        self._on_commit = on_commit
        self._pragmas = {
            "busy_timeout": int(busy_timeout_s * 1000),
            "synchronous": "FULL",
            "foreign_keys": "ON",
            "secure_delete": "ON",
            **pragmas,
        }
        self._locks = WorkerLocks(Path(f"{path}.workers"))
        # SQLite's own waiting is unfair: threads of one process queue here instead.
        self._commits = GroupCommit(self._run, patience_s=busy_timeout_s)
        with _translated(), contextlib.ExitStack() as undo:
            _check_local(kind_of(path.parent))
            self._identity = _create_file(path)
            self._engine = self._new_engine()
            undo.callback(self._engine.dispose)
            self._use_wal()
            with self._begin() as connection:
                migration.make_or_upgrade(connection)
            undo.pop_all()

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Commit what the work wrote; see `Database.write`."""
        told = _Told(work)
        result = cast("T", self._commits.submit(told))
        self._on_commit(told.moved)
        return result

    def forget(self) -> None:
        """Move the log into the file and empty it; erased pages are overwritten in both."""
        with _translated(), self._connected() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextlib.contextmanager
    def read(self) -> Iterator[Transaction]:
        """Begin a transaction that sees one state of everything and writes nothing."""
        with _translated(), self._connected() as connection, connection.begin():
            yield Transaction(connection, self._clock.now(), self._rules)

    def hold_worker(self, worker: str) -> None:
        """Lock the worker's file; see `WorkerLocks`."""
        self._locks.hold(worker)
        self._locks.sweep()

    def release_worker(self, worker: str) -> None:
        """Give the worker's file up."""
        self._locks.release(worker)

    def is_dead(self, _tx: Transaction, worker: str) -> bool:
        """Tell whether nobody holds the worker's lock."""
        return self._locks.is_dead(worker)

    def close(self) -> None:
        """Give up the workers' locks and close every connection."""
        self._locks.release_all()
        self._engine.dispose()

    def _run(self, batch: Sequence[Job]) -> None:
        """Do the work of a batch in one transaction, each in a savepoint of its own.

        Where the database itself fails under one of them, SQLite may have undone them all: then
        each is done again alone, so that it fails alone.
        """
        try:
            with _translated(), self._begin() as connection:
                done = self._do_together(connection, batch)
                for job in batch:
                    if job not in done:
                        self._do(connection, job, is_alone=len(batch) == 1)
        except _Undone:
            for job in batch:
                job.result = job.error = None
                with contextlib.suppress(Exception):  # it stands in the job
                    self._run_alone(job)

    def _do_together(self, connection: Connection, batch: Sequence[Job]) -> set[Job]:
        """Do what can share its statements; return which jobs are done.

        Where that fails nothing of it stays, and each is done by itself.
        """
        shared = [(job, told) for job in batch if (told := _shared(job)) is not None]
        if len(shared) < 2:
            return set()
        txs = [Transaction(connection, self._clock.now(), self._rules) for _ in shared]
        works = [cast("Shared", told.work) for _, told in shared]
        try:
            with translated(), connection.begin_nested():
                results = works[0].together(txs, works)
        except LedgerUnavailableError as error:
            raise _Undone from error
        except Exception:
            return set()  # whose fault it is shows when each is done alone
        done = set()
        for (job, told), tx, result in zip(shared, txs, results, strict=True):
            if result is not None:
                job.result, told.moved = result, tx.moved
                done.add(job)
        return done

    def _run_alone(self, job: Job) -> None:
        try:
            with _translated(), self._begin() as connection:
                self._do(connection, job, is_alone=True)
        except Exception as error:
            job.error = error
            raise

    def _do(self, connection: Connection, job: Job, *, is_alone: bool) -> None:
        tx = Transaction(connection, self._clock.now(), self._rules)
        if is_alone:
            job.result = job.work(tx)
            return
        try:
            with translated(), connection.begin_nested():
                job.result = job.work(tx)
        except LedgerUnavailableError as error:
            raise _Undone from error
        except Exception as error:
            job.error = error

    @contextlib.contextmanager
    def _begin(self) -> Iterator[Connection]:
        with self._connected() as connection:
            connection.execution_options(**{_WRITE: True})
            with connection.begin():
                yield connection

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

    def _new_engine(self) -> Engine:
        engine = create_engine(
            URL.create("sqlite", database=str(self.path)),
            max_overflow=-1,
            json_serializer=compact_json,
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


@dataclass(slots=True, eq=False)
class _Told:
    """Work, and what it moved."""

    work: Callable[[Transaction], object]
    moved: list[Moved] = field(default_factory=list)

    def __call__(self, tx: Transaction) -> object:
        result = self.work(tx)
        self.moved = tx.moved
        return result


def _shared(job: Job) -> _Told | None:
    """Return the work of a job if it can share its statements."""
    told = job.work
    return told if isinstance(told, _Told) and hasattr(told.work, "together") else None


class _Undone(Exception):  # not an error of anybody's: the batch is done again
    """The database failed under one work of a batch."""


def _on_begin(connection: Connection) -> None:
    # A deferred transaction that turns into a writer can fail half-way; a writer says so first.
    is_write = connection.get_execution_options().get(_WRITE, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_write else "BEGIN")


def _check_local(kind: str | None) -> None:
    """Refuse a file system on which two machines could both believe that they write alone."""
    if kind in _NETWORK:
        raise LedgerError(
            f"the ledger's file is on {kind}, a network file system, where locks cannot be relied "
            "on; put it on a local disk, or use postgresql://",
            code="ledger-network",
        )


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
        with translated():
            yield
    except SqliteError as error:
        raise LedgerUnavailableError(f"the ledger cannot be used: {error}") from error
    except OSError as error:
        raise LedgerUnavailableError(
            f"the ledger's file cannot be used: {error.strerror}"
        ) from error
