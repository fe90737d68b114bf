"""Group commit: the work of many threads in one transaction, one flush of the disk for all."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from clawmarshal.errors import LedgerUnavailableError
from clawmarshal.router.ledger.database import Transaction

MAX_BATCH = 64
"""More would make the first of a batch wait for work that came long after it."""


def _locked() -> threading.Lock:
    lock = threading.Lock()
    lock.acquire()
    return lock


@dataclass(slots=True, eq=False)
class Job:
    """One thread's work, and what came of it."""

    work: Callable[[Transaction], object]
    result: object = None
    error: BaseException | None = None
    is_taken: bool = False
    leads: bool = False
    """True once its thread must do the work of a batch."""
    news: threading.Lock = field(default_factory=_locked)
    """Open once the job is over, or leads; its own, so that nobody is woken for nothing."""


class GroupCommit:
    """Let one of the waiting threads do the work of all of them.

    Parameters
    ----------
    run
        Does the work of a batch and commits it; sets ``result`` or ``error`` of each job. What it
        raises is the error of them all.
    patience_s
        How long a thread waits for its turn.
    """

    def __init__(self, run: Callable[[Sequence[Job]], None], *, patience_s: float) -> None:
        self._run = run
        self._patience_s = patience_s
        self._waiting: deque[Job] = deque()
        self._lock = threading.Lock()
        self._is_led = False

    @property
    def waiting(self) -> int:
        """How many works wait for their turn."""
        return len(self._waiting)

    def submit(self, work: Callable[[Transaction], object]) -> object:
        """Have work done, here or by the thread that leads; return its result after the commit.

        Raises
        ------
        LedgerUnavailableError
            The turn did not come in time, and the work was not begun.
        """
        job = Job(work)
        with self._lock:
            self._waiting.append(job)
            job.leads = not self._is_led
            self._is_led = True
        if not job.leads:
            self._await(job)
        if job.leads:
            self._lead(job)
        if job.error is not None:
            raise job.error
        return job.result

    def _await(self, job: Job) -> None:
        """Wait until the job is over, or until its thread must lead."""
        try:
            if job.news.acquire(timeout=self._patience_s):
                return
        except BaseException:
            self._give_up(job)
            raise
        if self._give_up(job):
            raise LedgerUnavailableError("the ledger is busy; try again")
        job.news.acquire()

    def _give_up(self, job: Job) -> bool:
        """Leave the line; False where the work is being done, or was to be led, already."""
        with self._lock:
            if job.is_taken:
                return False
            self._waiting.remove(job)
            heir = self._heir() if job.leads else None
            job.leads = False
        _wake(heir)
        return True

    def _lead(self, own: Job) -> None:
        batch = self._take()
        try:
            self._run(batch)
        except Exception as error:
            _fail(batch, error)
        except BaseException:  # it is the leader's alone: the others only lost their turn
            _fail(batch, LedgerUnavailableError("the ledger was interrupted; try again"))
            raise
        finally:
            with self._lock:
                heir = self._heir()
            _wake(heir)  # first of all, so that the next batch is begun while these are answered
            for job in batch:
                if job is not own:
                    _wake(job)

    def _take(self) -> list[Job]:
        """Take a batch from the head of the line, where the leader stands itself."""
        with self._lock:
            size = min(len(self._waiting), MAX_BATCH)
            batch = [self._waiting.popleft() for _ in range(size)]
            for job in batch:
                job.is_taken = True
        return batch

    def _heir(self) -> Job | None:
        """Name who leads next; call it with the lock."""
        self._is_led = bool(self._waiting)
        if not self._is_led or self._waiting[0].leads:
            return None  # nobody waits, or the first was told already: it is woken once
        self._waiting[0].leads = True
        return self._waiting[0]


def _wake(job: Job | None) -> None:
    if job is not None:
        job.news.release()


def _fail(batch: Sequence[Job], error: Exception) -> None:
    for job in batch:
        if job.error is None:
            job.result, job.error = None, error
