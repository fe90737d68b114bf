"""The private folders of a turn: one per service, one per attempt, swept when the owner is gone."""

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from clawmarshal.errors import NotLaunchedError, SettingsError
from clawmarshal.transport.command import MESSAGE_FILE

PREFIX = "clawmarshal-turns-"
_NEW_PREFIX = ".new-clawmarshal-turns-"
_ABANDONED_S = 3600


@dataclass(frozen=True, slots=True)
class AttemptFolder:
    """What one attempt owns on disk; gone when the attempt is over."""

    path: Path
    message_file: Path
    cwd: Path


class Workspace:
    """Own one private folder, mode 0700, whose lock file is held while we live.

    Parameters
    ----------
    parent
        Where the folder is made; the system's temporary directory where None.

    Raises
    ------
    SettingsError
        The parent is missing or cannot be written, or its path holds unusual characters.
    """

    def __init__(self, parent: str | os.PathLike[str] | None = None) -> None:
        base = Path(os.path.realpath(parent if parent is not None else tempfile.gettempdir()))
        if not MESSAGE_FILE.fullmatch(str(base / "x")):
            raise SettingsError(
                f"transport.directory {str(base)!r} holds characters outside A-Z a-z 0-9 . _ + @ - "
                "and space; choose another one"
            )
        try:
            sweep(base)
            self.path, self._lock = _make_locked(base)
            self.home = _private(self.path / "home")
            self.state = _private(self.path / "state")
            self.tmp = _private(self.path / "tmp")
        except OSError as error:
            raise SettingsError(
                f"transport.directory {base}: no private folder can be made ({error.strerror})"
            ) from error

    @contextlib.contextmanager
    def attempt(self, message: bytes) -> Iterator[AttemptFolder]:
        """Hold a folder with the message in a file, mode 0600, and an empty working directory.

        Raises
        ------
        NotLaunchedError
            The disk is full, or the folder was tampered with; code ``no-message-file``.
        """
        path: Path | None = None
        try:
            try:
                path = Path(tempfile.mkdtemp(prefix="at-", dir=self.path))
                folder = AttemptFolder(path, path / "message.txt", _private(path / "cwd"))
                write_private(folder.message_file, message)
            except OSError as error:
                raise NotLaunchedError(
                    f"the message file cannot be written ({error.strerror})", code="no-message-file"
                ) from error
            yield folder
        finally:
            if path is not None:
                remove_tree(path)

    def close(self) -> None:
        """Remove the folder and let its lock go."""
        remove_tree(self.path)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def write_private(path: Path, content: bytes) -> None:
    """Create a regular file, mode 0600 whatever the umask says, and never through a link."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(path, flags, 0o600)
    with open(fd, "wb") as stream:
        os.fchmod(fd, 0o600)
        stream.write(content)


def sweep(base: Path) -> list[Path]:
    """Remove the folders under `base` that are ours and whose owner is gone; name them.

    A folder whose lock is held is never touched, so two services may share one `base`.
    """
    removed = []
    for path in base.glob(f"{PREFIX}*"):
        if _is_own_folder(path) and _is_unlocked(path):
            remove_tree(path)
            removed.append(path)
    for path in base.glob(f"{_NEW_PREFIX}*"):
        if _is_own_folder(path) and time.time() - path.lstat().st_mtime > _ABANDONED_S:
            remove_tree(path)
            removed.append(path)
    return removed


def remove_tree(path: Path) -> None:
    """Remove a folder, with what a child may have made unreadable in it; links are not followed."""
    shutil.rmtree(path, ignore_errors=True)
    if os.path.lexists(path) and not os.path.islink(path):
        _open_up(path)
        shutil.rmtree(path, ignore_errors=True)


def _open_up(path: Path) -> None:
    """Give ourselves back the right to every folder of a tree."""
    folders = [os.fspath(path)]
    while folders:
        folder = folders.pop()
        with contextlib.suppress(OSError):
            os.chmod(folder, 0o700)
            with os.scandir(folder) as entries:
                folders += [e.path for e in entries if e.is_dir(follow_symlinks=False)]


def _make_locked(base: Path) -> tuple[Path, int]:
    """Make the folder under a name that no sweeper takes, lock it, then give it its name."""
    new = Path(tempfile.mkdtemp(prefix=_NEW_PREFIX, dir=base))
    lock = os.open(new / "lock", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    path = base / (PREFIX + new.name.removeprefix(_NEW_PREFIX))
    os.rename(new, path)
    return path, lock


def _private(path: Path) -> Path:
    os.mkdir(path, 0o700)
    os.chmod(path, 0o700)
    return path


def _is_own_folder(path: Path) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def _is_unlocked(path: Path) -> bool:
    try:
        lock = os.open(path / "lock", os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True
