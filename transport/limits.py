"""The numbers of the transport, and its client config, checked once when it is made."""

import os
import stat
from dataclasses import dataclass

from clawmarshal.errors import Fault, SettingsError
from clawmarshal.transport.command import MAX_TIMEOUT_S
from clawmarshal.transport.result import MAX_TEXT_BYTES

_BOUNDS = {
    "timeout_s": (1, MAX_TIMEOUT_S),
    "margin_s": (0, 600),
    "grace_s": (0, 60),
    "linger_s": (0, 60),
    "reply_cap_bytes": (1024, 64 * 1024 * 1024),
    "max_text_bytes": (1, MAX_TEXT_BYTES),
    "child_memory_mb": (0, 1024 * 1024),
}


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how large a turn may be.

    Raises
    ------
    SettingsError
        A number is out of its bounds; every fault is listed.
    """

    timeout_s: int = 600
    """Seconds a turn may run when its agent says nothing."""
    margin_s: float = 8.0
    """Seconds the CLI has beyond its own timeout before it is told to stop."""
    grace_s: float = 3.0
    """Seconds from TERM, on which the CLI asks the Gateway to abort, to KILL."""
    linger_s: float = 2.0
    """Seconds a process may stay after its answer."""
    reply_cap_bytes: int = 1024 * 1024
    """A longer reply is unknown."""
    max_text_bytes: int = 256 * 1024
    """A longer message is not launched."""
    child_memory_mb: int = 4096
    """MiB of address space of each process of a child; 0 for no bound.

    OpenClaw 2026.9.6 on Node 24 reserves 1,970 MiB and uses 220 to 340; below 2,000 it does not
    start.
    """

    def __post_init__(self) -> None:
        """Check every number."""
        faults = [
            Fault(f"{name} is between {low} and {high}")
            for name, (low, high) in _BOUNDS.items()
            if not low <= getattr(self, name) <= high
        ]
        if faults:
            raise SettingsError("transport", faults=faults)

    @property
    def child_memory_bytes(self) -> int:
        """The bound of a child's address space in bytes; 0 for none."""
        return self.child_memory_mb * 1024 * 1024

    def stdout_cap(self, message_bytes: int) -> int:
        """Bytes of stdout that are kept: a reply stands there three times, the text once."""
        return 4 * self.reply_cap_bytes + message_bytes + 65_536


def check_client_config(path: str | os.PathLike[str] | None) -> str | None:
    """Return the absolute path of a client config that only its owner can read.

    Raises
    ------
    SettingsError
        It is missing, no file, or within reach of others; the message says how to mend it.
    """
    if path is None:
        return None
    real = os.path.abspath(path)
    try:
        found = os.stat(real)
    except OSError as error:
        raise SettingsError(f"transport.openclaw_config {real}: {error.strerror}") from error
    if not stat.S_ISREG(found.st_mode):
        raise SettingsError(f"transport.openclaw_config {real} is not a file")
    if found.st_mode & 0o077:
        raise SettingsError(
            f"transport.openclaw_config {real} holds the Gateway's token and others may reach it; "
            f"chmod 600 {real}"
        )
    return real
