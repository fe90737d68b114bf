"""What a service needs of the machine: a clock, room for its ledger and for its messages."""

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from clawmarshal.api.doctor.findings import Finding, fail, ok, warn
from clawmarshal.errors import LedgerError
from clawmarshal.router.ledger.look import look_at_file
from clawmarshal.transport.folders import filesystem_of

LOW_BYTES = 100 * 1024 * 1024
"""Less room than this for the ledger loses messages soon."""
TIGHT_BYTES = 1024 * 1024 * 1024
TEMP_BYTES = 64 * 1024 * 1024
AHEAD_S = 5.0
"""A last event further in the future than this says that the clock went back."""
DRIFT_S = 0.5
"""Wall clock and steady clock may differ by this over one look; more is a step."""
SANE_FROM = datetime(2026, 1, 1, tzinfo=UTC)
IN_MEMORY = frozenset({"tmpfs", "ramfs"})
REMOTE = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "ceph", "glusterfs", "afs", "fuse.sshfs"}
)


@dataclass(frozen=True, slots=True)
class Clocks:
    """The clocks that are compared."""

    wall_s: Callable[[], float] = time.time
    steady_s: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep


def look_at_ledger(file: Path) -> Iterator[Finding]:
    """Look at a ledger's file and folder; nothing is made or changed."""
    folder = file.parent
    if not folder.is_dir():
        yield fail("ledger", f"there is no folder {folder}", mend="make it, or name another")
        return
    if not os.access(folder, os.W_OK | os.X_OK):
        yield fail("ledger", f"{folder} cannot be written", mend="give this user the folder")
    yield from _about_filesystem(folder)
    if not file.exists():
        yield ok("ledger", f"{file} is made at the first start")
        return
    yield from _about_access(file)
    try:
        found = look_at_file(file)
    except LedgerError as error:
        yield fail("ledger", f"{file}: {error}", mend="restore it, or name another file")
        return
    if found.is_newer:
        yield fail(
            "ledger",
            f"{file} has schema {found.version}, of a newer clawmarshal",
            mend="update clawmarshal",
        )
    else:
        late = ", brought up to date at the next start" if found.is_older else ""
        yield ok("ledger", f"{file} opens; schema {found.version}{late}, {found.routes} routes")
    if found.last_event_at is not None:
        yield _about_last_event(found.last_event_at)


def _about_access(file: Path) -> Iterator[Finding]:
    found = file.stat()
    if found.st_mode & 0o077:
        mode = stat.filemode(found.st_mode)
        yield warn("ledger-mode", f"{file} is {mode}: others reach it", mend=f"chmod 600 {file}")
    if found.st_uid != os.geteuid():
        yield warn(
            "ledger-mode", f"{file} is another user's", mend="run clawmarshal as the file's owner"
        )
    elif not os.access(file, os.R_OK | os.W_OK):
        yield fail("ledger-mode", f"{file} cannot be written", mend=f"chmod 600 {file}")


def _about_filesystem(folder: Path) -> Iterator[Finding]:
    kind, free = filesystem_of(folder) or "unknown", shutil.disk_usage(folder).free
    room = f"{folder} is on {kind}, {_size(free)} free"
    if kind in REMOTE:
        yield fail(
            "ledger-space",
            f"{room}: SQLite's log is not safe there",
            mend="put the ledger on a disk of this machine",
        )
    elif free < LOW_BYTES:
        yield fail("ledger-space", room, mend="make room: nothing can be accepted on a full disk")
    elif kind in IN_MEMORY:
        yield warn("ledger-space", f"{room}: gone at a restart", mend="put the ledger on a disk")
    elif free < TIGHT_BYTES:
        yield warn("ledger-space", room, mend="make room soon")
    else:
        yield ok("ledger-space", room)


def _about_last_event(at: datetime) -> Finding:
    ahead_s = (at - datetime.now(UTC)).total_seconds()
    if ahead_s > AHEAD_S:
        return fail(
            "ledger-clock",
            f"the ledger's last event is {ahead_s:.0f} s in the future: the clock went back",
            mend="set the clock right before the service starts; leases and expiries follow it",
        )
    return ok("ledger-clock", f"the ledger's last event is of {at:%Y-%m-%d %H:%M:%S} UTC")


def look_at_clock(clocks: Clocks | None = None) -> Finding:
    """Compare the wall clock with a steady one."""
    used = clocks or Clocks()
    wall, steady = used.wall_s(), used.steady_s()
    used.pause(0.05)
    apart_s = abs((used.wall_s() - wall) - (used.steady_s() - steady))
    now = datetime.fromtimestamp(wall, UTC)
    if now < SANE_FROM:
        return fail("clock", f"it says {now:%Y-%m-%d}", mend="set the clock (NTP)")
    if apart_s > DRIFT_S:
        return warn(
            "clock",
            f"wall clock and steady clock came {apart_s:.1f} s apart while we looked",
            mend="let NTP slew the clock instead of stepping it",
        )
    return ok("clock", f"{now:%Y-%m-%d %H:%M:%S} UTC, in step with the steady clock")


def look_at_temp(directory: Path | None, *, needs_tmpfs: bool) -> Finding:
    """Look where messages lie while they cross to the CLI; a file is made and removed there."""
    default = "/dev/shm" if needs_tmpfs else tempfile.gettempdir()  # noqa: S108 - only looked at
    base = directory or Path(default)
    mend = "name a folder with room in transport.directory"
    try:
        with tempfile.TemporaryFile(dir=base) as probe:
            probe.write(b"\0")
        kind, free = filesystem_of(base) or "unknown", shutil.disk_usage(base).free
    except OSError as error:
        return fail("temp", f"{base}: {error.strerror}", mend=mend)
    room = f"{base} is on {kind}, {_size(free)} free"
    if needs_tmpfs and kind not in IN_MEMORY:
        return fail("temp", f"{room}, and transport.needs_tmpfs is set", mend=mend)
    if free < TEMP_BYTES:
        return warn("temp", room, mend=mend)
    where = "messages stay in memory (or swap)" if kind in IN_MEMORY else "messages touch a disk"
    return ok("temp", f"{room}; {where}")


def _size(count: int) -> str:
    return f"{count / 1024**3:.1f} GiB" if count >= 1024**3 else f"{count / 1024**2:.0f} MiB"
