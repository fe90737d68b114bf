"""A service that is killed at an edge: ``python -m tests.support.doomed_service URL EDGE``.

It prints one line when it has reached the edge, then does nothing until it is killed. At
``launching`` a dispatcher has claimed and its transport waits for a line before it launches.
"""

import asyncio
import sys
import time
from pathlib import Path

from clawmarshal.router.ledger.clock import SystemClock
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.dispatcher import Dispatcher
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.transport.outcome import Turn, TurnResult, TurnState, TurnWatcher
from tests.support.fake_transport import FakeTransport
from tests.support.ledger_cases import DONE, TERMS, ready, submission, terms_of


def main(url: str, edge: str) -> None:
    """Bring one route to an edge."""
    ledger = Ledger(url)
    if edge == "launching":
        asyncio.run(_dispatch(ledger, ready(ledger)))
        return
    worker = ledger.register_worker("doomed")
    if edge == "accepted":
        route_id = ledger.accept(submission(key="k")).route_id
    else:
        route_id = ready(ledger)
    if edge in ("claimed", "started", "finished"):
        order = ledger.claim(worker, terms=TERMS, max_children=2)
        assert order is not None
        if edge != "claimed":
            ledger.started(order, 1)
        if edge == "finished":
            ledger.finish(order, DONE)
    if edge == "writing":
        ledger._database.write(lambda tx: _wait_inside(tx, route_id))
    _wait(route_id)


def _wait_inside(tx: Transaction, route_id: str) -> None:
    tx.connection.exec_driver_sql("UPDATE routes SET state = 'done'")
    _wait(route_id)


class AskingTransport(FakeTransport):
    """Wait for a line, then launch within the window or refuse, as the real one does."""

    def __init__(self, route_id: str, log: Path) -> None:
        super().__init__()
        self._route_id = route_id
        self._log = log

    async def launch(self, turn: Turn, watcher: TurnWatcher | None = None) -> TurnResult:
        """Ask, look at the clock, launch."""
        print(self._route_id, flush=True)
        is_lost = False
        try:
            await asyncio.to_thread(sys.stdin.readline)
        except asyncio.CancelledError:  # the heartbeat was first to see that the lease is lost
            is_lost = True
        if is_lost or SystemClock().boot_s() > turn.not_after_boot_s:
            print("refused", flush=True)
            return TurnResult(TurnState.FAILED_NOT_RUN, "launch-window-over")
        with self._log.open("a") as log:
            log.write("first\n")
        print("launched", flush=True)
        return DONE


async def _dispatch(ledger: Ledger, route_id: str) -> None:
    transport = AskingTransport(route_id, Path(f"{ledger.path}.launches"))
    terms = {"finance": terms_of(timeout_s=1)}
    dispatcher = Dispatcher(ledger, transport, terms=lambda: terms, lease_s=2.0)
    await dispatcher.start()
    await asyncio.sleep(3600)


def _wait(route_id: str) -> None:
    print(route_id, flush=True)
    while True:
        time.sleep(60)


if __name__ == "__main__":
    main(*sys.argv[1:])
