"""Workers of this machine: a locked file says that one lives, whatever the clock says."""

import contextlib
import fcntl
import os
from pathlib import Path

from clawmarshal.errors import LedgerUnavailableError


class WorkerLocks:
    """Hold the lock files of this process's workers, and look at those of others.

    A lock ends with the process that holds it, so the leases of a dead process can end at once,
    while those of a second live service on the same file are safe.

    Parameters
    ----------
    folder
        Beside the ledger's file; made when the first worker registers.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, int] = {}

    def hold(self, worker: str) -> None:
        """Create and lock the worker's file.

        Raises
        ------
        LedgerUnavailableError
            The folder cannot be written.
        """
        fresh = self._folder / f"{worker}.new"
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC
            descriptor = os.open(fresh, flags, 0o600)
        except OSError as error:
            raise LedgerUnavailableError(
                f"no worker's lock can be made: {error.strerror}"
            ) from error
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Nobody may find the file before it is locked: to them it would be a dead worker's.
        fresh.rename(self._path(worker))
        self._held[worker] = descriptor

    def release(self, worker: str) -> None:
        """Give the worker's file up; nothing happens when it is not ours."""
        descriptor = self._held.pop(worker, None)
        if descriptor is not None:
            self._path(worker).unlink(missing_ok=True)
            os.close(descriptor)

    def release_all(self) -> None:
        """Give up every file that is ours."""
        for worker in tuple(self._held):
            self.release(worker)

    def is_dead(self, worker: str) -> bool:
        """Tell whether nobody holds the worker's lock; a missing file is nobody's.

        Our own live as long as we do, whatever became of their files.
        """
        if worker in self._held:
            return False
        try:
            descriptor = os.open(self._path(worker), os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return True
        except OSError:
            return False  # not ours to judge: its lease decides
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        finally:
            os.close(descriptor)
        return True

    def sweep(self) -> None:
        """Remove the files of dead workers."""
        for path in self._folder.glob("*.lock"):
            if self.is_dead(path.stem):
                with contextlib.suppress(OSError):
                    path.unlink()

    def _path(self, worker: str) -> Path:
        return self._folder / f"{worker}.lock"
