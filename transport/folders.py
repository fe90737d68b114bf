"""Folders that are private, locked by their owner, and swept when it is gone."""

import fcntl
import os
import stat
import tempfile
import time
from pathlib import Path

from clawmarshal.transport.removing import remove_tree

PREFIX = "clawmarshal-turns-"
_NEW_PREFIX = ".new-clawmarshal-turns-"
_ABANDONED_S = 3600


def write_private(path: Path, content: bytes, *, is_kept: bool = False) -> None:
    """Create a regular file, mode 0600 whatever the umask says, and never through a link.

    Parameters
    ----------
    is_kept
        True: on the disk, and so is its name, when this returns.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(path, flags, 0o600)
    with open(fd, "wb") as stream:
        os.fchmod(fd, 0o600)
        stream.write(content)
        if is_kept:
            stream.flush()
            os.fsync(fd)
    if is_kept:
        _sync_folder(path.parent)


def restore_private(path: Path, content: bytes) -> bool:
    """See that a file of ours is as we wrote it; write it again where it is not, and say so."""
    if _holds(path, content):
        return False
    remove_tree(path)
    write_private(path, content, is_kept=True)
    return True


def _holds(path: Path, content: bytes) -> bool:
    """Whether a path is a regular file of ours, mode 0600, with exactly this in it."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or stat.S_IMODE(found.st_mode) != 0o600:
            return False
        return os.read(fd, len(content) + 1) == content
    finally:
        os.close(fd)


def _sync_folder(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


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


def filesystem_of(path: Path) -> str | None:
    """Return the kind of file system a folder is on, such as ``tmpfs``; None where unknown."""
    device = os.stat(path).st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as lines:
            mounts = [line.split(" ") for line in lines]
    except OSError:
        return None
    kinds = [mount[mount.index("-") + 1] for mount in mounts if mount[2] == number]
    return kinds[-1] if kinds else None


def remove_bare(path: Path) -> bool:
    """Remove a folder in which nobody left anything; False when there is more to do."""
    try:
        os.unlink(path / "message.txt")
        os.rmdir(path / "cwd")
        os.rmdir(path)
    except OSError:
        return not os.path.lexists(path)
    return True


def is_same(path: Path, lock: int) -> bool:
    """Whether the folder of that name is the one whose lock we hold."""
    try:
        found = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(found, os.fstat(lock))


def make_locked(base: Path) -> tuple[Path, int]:
    """Make the folder under a name that no sweeper takes, lock it, then give it its name.

    The folder itself is the lock: no file that a cleaner of old files could take away, and
    systemd-tmpfiles leaves locked folders alone.
    """
    new = Path(tempfile.mkdtemp(prefix=_NEW_PREFIX, dir=base))
    lock = os.open(new, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path = base / (PREFIX + new.name.removeprefix(_NEW_PREFIX))
        os.rename(new, path)
    except BaseException:
        os.close(lock)
        raise
    return path, lock


def private_folder(path: Path) -> Path:
    """Make a folder that only we can enter, whatever the umask says."""
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
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True
