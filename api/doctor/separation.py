"""Whether agents run as another user than the one who keeps keys, ledger and reviews."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from clawmarshal.api.doctor.findings import Finding, fail, ok, warn

MAX_CONFIG_BYTES = 64 * 1024
MEND = "run the Gateway as a user of its own, and give clawmarshal's files mode 0600"
_LOOPBACK = re.compile(rb"wss?://(?:127\.0\.0\.1|localhost|\[::1\]):([0-9]{1,5})")
_LISTENING = "0A"
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")


def gateway_port(client_config: Path) -> int | None:
    """Find the port of a Gateway on this machine; None where it is elsewhere or cannot be told.

    Nothing else of the file is read.
    """
    try:
        with client_config.open("rb") as file:
            return port_in(file.read(MAX_CONFIG_BYTES))
    except OSError:
        return None


def port_in(told: bytes) -> int | None:
    """Return the port of the first address on this machine; None where there is none."""
    found = _LOOPBACK.search(told)
    return int(found[1]) if found else None


def look_at_separation(port: int, *, can_run: bool) -> Iterator[Finding]:
    """Compare our user with the Gateway's.

    Parameters
    ----------
    can_run
        True where an agent may run programs unasked: as our user it could approve itself.
    """
    owner = listener_uid(port)
    if owner is None:
        return
    if owner not in (os.geteuid(), 0):
        yield ok("separation", f"the Gateway runs as user {owner}, we as {os.geteuid()}")
    elif can_run:
        told = "agents could run programs, and as a user that reaches our keys and our ledger"
        yield fail("separation", told, mend=MEND)
    else:
        told = "the Gateway runs as a user that reaches our keys and our ledger"
        yield warn("separation", told, mend=MEND)


def listener_uid(port: int) -> int | None:
    """Return who listens on a port of this machine; None where that cannot be told."""
    for table in _TABLES:
        try:
            lines = Path(table).read_text("ascii").splitlines()[1:]
        except OSError:
            continue
        for parts in map(str.split, lines):
            if parts[3] == _LISTENING and int(parts[1].rpartition(":")[2], 16) == port:
                return int(parts[7])
    return None
