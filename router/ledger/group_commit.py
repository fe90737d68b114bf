"""Group commit: the work of many threads in one transaction, one flush of the disk for all."""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clawmarshal.errors import LedgerUnavailableError
from clawmarshal.router.ledger.database import Transaction

MAX_BATCH = 64
"""More would make the first of a batch wait for work that came long after it."""


@dataclass(slots=True, eq=False)
class Job:
    """One thread's work, and what came of it."""

    work: Callable[[Transaction], object]
    result: object = None
    error: BaseException | None = None
    is_taken: bool = False
    is_over: bool = False


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
        self._changed = threading.Condition()
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
        deadline = time.monotonic() + self._patience_s
        with self._changed:
            self._waiting.append(job)
        while self._must_lead(job, deadline):
            self._lead(job)
        if job.error is not None:
            raise job.error
        return job.result

    def _must_lead(self, job: Job, deadline: float) -> bool:
        """Wait until the job is over, or until nobody leads: then this thread does."""
        with self._changed:
            while self._is_led and not job.is_over:
                patience = deadline - time.monotonic()
                if patience <= 0 and not job.is_taken:
                    self._waiting.remove(job)
                    raise LedgerUnavailableError("the ledger is busy; try again")
                self._changed.wait(None if job.is_taken else patience)
            if not job.is_over:
                self._is_led = True
            return not job.is_over

    def _lead(self, own: Job) -> None:
        batch = self._take()
        try:
            self._run(batch)
        except Exception as error:
            _fail(batch, error)
        except BaseException:  # it is the leader's alone: the others only lost their turn
            _fail(batch, LedgerUnavailableError("the ledger was interrupted; try again"))
            own.is_over = True
            raise
        finally:
            self._hand_over(batch)

    def _take(self) -> list[Job]:
        with self._changed:
            size = min(len(self._waiting), MAX_BATCH)
            batch = [self._waiting.popleft() for _ in range(size)]
            for job in batch:
                job.is_taken = True
        return batch

    def _hand_over(self, batch: Sequence[Job]) -> None:
        with self._changed:
            for job in batch:
                job.is_over = True
            self._is_led = False
            self._changed.notify_all()


def _fail(batch: Sequence[Job], error: Exception) -> None:
    for job in batch:
        if job.error is None:
            job.result, job.error = None, error
