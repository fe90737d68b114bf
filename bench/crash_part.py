"""One process of the crash run, which ends itself with SIGKILL where it is told to.

    python -m bench.crash_part accept|work URL FOLDER MESSAGES

It reads one word per line: the name of an edge. The next time that it passes there it is gone, in
the middle of whatever it did; ``stop EDGE`` pauses it there instead, with SIGSTOP.
"""

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from clawmarshal.errors import LedgerError, LedgerUnavailableError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.router.ledger.binding import LaunchTerms, template_digest
from clawmarshal.router.ledger.database import Database, Transaction
from clawmarshal.router.ledger.dispatcher import Dispatcher
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.transport.openclaw import OpenClawTransport
from clawmarshal.transport.outcome import TurnResult
from tests.support.ledger_cases import decision, submission

T = TypeVar("T")
LEASE_S = 4.0
AHEAD = 40
"""How many messages the accepting process is ahead of the launches, so that it too is hit late."""
AGENTS = ("finance", "security")
WIDTH = 7
"""Bytes of one line of the files of numbers."""


class Doom:
    """Where this process ends."""

    def __init__(self) -> None:
        self._edge = ""
        self._signal = signal.SIGKILL

    def listen(self) -> None:
        """Take the edges from the standard input, and end with it."""
        for line in sys.stdin:
            word, _, rest = line.strip().rpartition("stop ")
            self._signal = signal.SIGSTOP if word or line.startswith("stop ") else signal.SIGKILL
            self._edge = rest
        os._exit(0)  # whoever started it is gone

    def at(self, edge: str) -> None:
        """Be killed if this is the edge."""
        if edge == self._edge:
            self._edge = ""
            os.kill(os.getpid(), self._signal)


class DoomedDatabase:
    """Pass everything on; ``inside OP``: the work is done and nothing of it is committed."""

    def __init__(self, database: Database, doom: Doom, op: threading.local) -> None:
        self._inner, self._doom, self._op = database, doom, op

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Commit what the work wrote, unless this is the end."""
        op = getattr(self._op, "name", "something")

        def doomed(tx: Transaction) -> T:
            result = work(tx)
            self._doom.at(f"inside {op}")
            return result

        return self._inner.write(doomed)


class DoomedLedger(Ledger):
    """A ledger with an edge before, inside and after what matters."""

    def __init__(self, url: str, *, doom: Doom) -> None:
        super().__init__(url, busy_timeout_s=30.0)
        self._doom, self._op = doom, threading.local()
        self._database = DoomedDatabase(self._database, doom, self._op)

    @contextmanager
    def _edges(self, op: str) -> Iterator[None]:
        self._doom.at(f"before {op}")
        self._op.name = op
        try:
            yield
        finally:
            self._op.name = "something"
        self._doom.at(f"after {op}")


def _between(op: str) -> Callable[..., Any]:
    plain = getattr(Ledger, op)

    def method(self: DoomedLedger, *args: Any, **kwargs: Any) -> Any:
        with self._edges(op):
            result = plain(self, *args, **kwargs)
            if op == "claim" and result is None:
                self._doom.at("after an empty claim")
                raise _NothingClaimedError
        return result

    def claiming(self: DoomedLedger, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(self, *args, **kwargs)
        except _NothingClaimedError:
            return None

    return claiming if op == "claim" else method


class _NothingClaimedError(Exception):
    """No edge after a claim that found nothing."""


for _op in ("accept", "record", "claim", "started", "renew", "finish", "sweep"):
    setattr(DoomedLedger, _op, _between(_op))


def terms() -> dict[str, LaunchTerms]:
    """Say what a launch of each agent means."""
    digest = template_digest({"argv": ["agent"]})
    specs = [AgentSpec(name, f"What belongs to {name}.", concurrency=32) for name in AGENTS]
    return {spec.id: LaunchTerms(spec, digest, timeout_s=30) for spec in specs}


def numbers_in(path: Path) -> list[int]:
    """Return what a file of numbers holds, a line that is half written left out."""
    if not path.exists():
        return []
    read = path.read_bytes()
    return [int(read[first : first + WIDTH]) for first in range(0, len(read) - WIDTH + 1, WIDTH)]


def note(path: Path, number: int) -> None:
    """Append a number; it is on the disk of the machine's memory when this returns."""
    line = f"{number:0{WIDTH - 1}d}\n".encode()
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(descriptor, line)
    os.close(descriptor)


class Accepting:
    """Accept numbered messages with their keys, decide each, and note which were answered."""

    def __init__(self, ledger: Ledger, folder: Path, messages: int) -> None:
        self._ledger, self._folder = ledger, folder
        answered = set(numbers_in(folder / "answered"))
        self._left = [number for number in range(messages) if number not in answered]

    def run(self) -> None:
        """Decide what a dead process left, then accept until nothing is left."""
        for route_id in patiently(self._ledger.undecided):
            self._decide(route_id)
        with ThreadPoolExecutor(4) as pool:
            for done in pool.map(self._one, self._left):
                assert done
        (self._folder / "accepted-all").touch()

    def _one(self, number: int) -> bool:
        while number > launched(self._folder) + AHEAD:
            time.sleep(0.02)
        text = f"What is due for case {number:0{WIDTH - 1}d}"
        asked = submission(text, key=f"k-{number}", conversation=f"c-{number}")
        accepted = patiently(lambda: self._ledger.accept(asked))
        note(self._folder / "answered", number)  # the caller has its 2xx: this must not be lost
        if accepted.created:
            self._decide(accepted.route_id)
        return True

    def _decide(self, route_id: str) -> None:
        agent = AGENTS[int(route_id[-1], 16) % len(AGENTS)]
        patiently(
            lambda: self._ledger.record(
                route_id, decision(agent=agent), explanation={}, terms=terms()[agent]
            )
        )


def launched(folder: Path) -> int:
    """Count the launches that the children wrote down."""
    path = folder / "launches"
    return path.stat().st_size // WIDTH if path.exists() else 0


def patiently(call: Callable[[], T]) -> T:
    """Ask again while the ledger is away, as a caller who was told 503."""
    while True:
        try:
            return call()
        except LedgerUnavailableError:
            time.sleep(0.1)


class Edged(OpenClawTransport):
    """The real transport, with an edge between the answer of a child and its being written."""

    doom: Doom

    async def launch(self, turn: Any, watcher: Any = None) -> TurnResult:
        """Launch, and perhaps end."""
        result = await super().launch(turn, watcher)
        self.doom.at("after the reply")
        return result


async def work(ledger: Ledger, doom: Doom, folder: Path) -> None:
    """Launch what is ready until nothing is said any more."""
    transport = Edged([str(folder / "cli")], directory=folder / "turns", timeout_s=30)
    transport.doom = doom
    await transport.probe()
    known = terms()
    dispatcher = Dispatcher(
        ledger,
        transport,
        terms=lambda: known,
        max_children=2,
        lease_s=LEASE_S,
        poll_s=0.05,
        sweep_s=0.5,
        backoff_s=0.2,
    )
    while True:
        try:
            await dispatcher.start()
            break
        except LedgerError:
            await asyncio.sleep(0.2)
    print("works", flush=True)
    await asyncio.Event().wait()


def main(role: str, url: str, folder: str, messages: str) -> None:
    """Play one role."""
    doom = Doom()
    threading.Thread(target=doom.listen, daemon=True).start()
    ledger = patiently(lambda: DoomedLedger(url, doom=doom))
    if role == "accept":
        print("works", flush=True)
        Accepting(ledger, Path(folder), int(messages)).run()
        return
    asyncio.run(work(ledger, doom, Path(folder)))


if __name__ == "__main__":
    main(*sys.argv[1:])
