"""Turns to launch, and ways to see that nothing of one is left."""

import asyncio
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from clawmarshal.roster.agent import AgentSpec
from clawmarshal.transport.outcome import Turn
from clawmarshal.transport.spawner import boot_s

FINANCE = AgentSpec("finance", "Invoices, budgets, taxes, expenses.")
KEY = "cm-" + "0123456789abcdef" * 2


def make_turn(
    text: str = "What is my budget?",
    *,
    agent: AgentSpec = FINANCE,
    key: str = KEY,
    timeout_s: int = 30,
    attempt_id: str = "at_1",
    in_s: float = 30,
) -> Turn:
    """Build a turn that may start within `in_s` seconds."""
    return Turn(agent, key, text, timeout_s, attempt_id, boot_s() + in_s)


class Watcher:
    """Remember the pid of the child, and let a test wait for it."""

    def __init__(self) -> None:
        self.pids: list[int] = []
        self.heard = asyncio.Event()

    async def started(self, pid: int) -> None:
        """Note the pid."""
        self.pids.append(pid)
        self.heard.set()


def is_alive(pid: int) -> bool:
    """Whether the process is there and no zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def wait_until(condition: Callable[[], bool], *, timeout_s: float = 10.0) -> bool:
    """Poll until the condition holds; False when it never does."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


async def await_until(condition: Callable[[], bool], *, timeout_s: float = 10.0) -> bool:
    """Poll as `wait_until` does, while the event loop goes on."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.01)
    return True


def processes_naming(text: str | Path) -> list[int]:
    """Return the living processes whose command line holds `text`."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = Path(f"/proc/{name}/cmdline").read_bytes()
        except OSError:
            continue
        if os.fsencode(text) in line and int(name) != os.getpid():
            found.append(int(name))
    return found


def children_of(pid: int) -> list[int]:
    """Return the direct children of a process, zombies included."""
    try:
        return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def descriptors() -> int:
    """Count the descriptors this process holds."""
    return len(os.listdir("/proc/self/fd"))


def attempt_folders(base: Path) -> Iterable[Path]:
    """Return the folders of attempts under a transport's directory."""
    return base.glob("clawmarshal-turns-*/at-*")
