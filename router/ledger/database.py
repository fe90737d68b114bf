"""What a transaction on the ledger is, whichever database is behind it."""

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeVar

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError

from clawmarshal.errors import LedgerError, LedgerUnavailableError
from clawmarshal.roster.agent import Risk
from clawmarshal.router.ledger import schema
from clawmarshal.router.ledger.states import RouteState

T = TypeVar("T")
Moved = tuple[str, RouteState]
"""A route's id and the state it moved to."""
OWN_FAULTS = (IntegrityError, DataError)
"""What is wrong with one work alone, not with the database."""
_COMPACT = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True, slots=True)
class ReviewRules:
    """What is asked of reviewers; nothing by default."""

    two_reviewers: frozenset[Risk] = frozenset()
    """Risks for which two distinct people must say yes."""
    no_self_review: bool = False
    """Nobody approves what they sent themselves."""
    claim_required: bool = False
    """Only who has claimed a hold may answer it."""
    grace_s: float = 0.0
    """How long an approval can still be cancelled before anything is launched."""


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
    repeat_window_s: float | None = None
    """How long a key, or a channel's id, makes a repeat; None: for ever."""
    review: ReviewRules = ReviewRules()


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
        is_server = self.connection.dialect.name == "postgresql"
        statement = (
            postgresql.insert(table).values(row).on_conflict_do_nothing()
            if is_server
            else sqlite.insert(table).values(row).on_conflict_do_nothing()
        ).returning(next(iter(table.primary_key)))
        return self.connection.execute(statement).one_or_none() is not None


class Shared(Protocol):
    """Work of which several can be done with the statements of one."""

    def __call__(self, tx: Transaction) -> object:
        """Do it alone."""
        ...

    def together(
        self, txs: Sequence[Transaction], works: Sequence["Shared"]
    ) -> Sequence[object | None]:
        """Do works of one kind, this one among them.

        Parameters
        ----------
        txs
            One for each work, on the same connection.

        Returns
        -------
        Sequence
            The result of each; None where it was left out and must be done alone.
        """
        ...


class Database(Protocol):
    """Run work in transactions; each behaves as if no other ran beside it.

    Every method raises `LedgerUnavailableError` when the database cannot be used; nothing of the
    work stays then, unless the answer to a commit was lost on its way.
    """

    @property
    def path(self) -> Path | None:
        """The file, absolute; None where it is a server's."""
        ...

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Commit what the work wrote, and return what it returned.

        Parameters
        ----------
        work
            May be run more than once, each time on an empty slate: it must do nothing that a
            rollback does not undo.
        """
        ...

    def forget(self) -> None:
        """Leave no copy of erased bytes beside the tables, as far as this back end keeps any."""
        ...

    def read(self) -> contextlib.AbstractContextManager[Transaction]:
        """Begin a transaction that sees one state of everything and writes nothing."""
        ...

    def is_dead(self, tx: Transaction, worker: str) -> bool:
        """Tell whether a worker is known to be gone, whatever its leases say."""
        ...

    def hold_worker(self, worker: str) -> None:
        """Let others see that a worker lives for as long as this process does."""
        ...

    def release_worker(self, worker: str) -> None:
        """Stop saying that a worker lives."""
        ...

    def close(self) -> None:
        """Close every connection."""
        ...


def compact_json(value: object) -> str:
    """Write JSON for a column."""
    return _COMPACT.encode(value)


@contextlib.contextmanager
def translated(words: Callable[[DBAPIError], str] | None = None) -> Iterator[None]:
    """Turn what SQLAlchemy and its drivers raise into errors of ours.

    Parameters
    ----------
    words
        Says what is wrong with the database; its driver's own words where None.
    """
    try:
        yield
    except OWN_FAULTS as error:
        raise LedgerError("a rule of the ledger was broken", code="ledger-constraint") from error
    except DBAPIError as error:
        said = words(error) if words else f"the ledger cannot be used: {error.orig}"
        raise LedgerUnavailableError(said) from error
    except UnicodeEncodeError as error:
        raise LedgerError(
            "a text is not Unicode that can be stored", code="text-invalid"
        ) from error
