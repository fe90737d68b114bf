"""The back ends; each opens on the same place again."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clawmarshal.router.ledger.ledger import Ledger
from tests.support.clock import FakeClock

OpenLedger = Callable[..., Ledger]
FAST = {"synchronous": "OFF"}
"""Nobody pulls the plug here; tests/router/ledger/test_database.py looks at the real setting."""


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/ledger.db"
    url: str = request.getfixturevalue("postgresql_url")
    return url


@pytest.fixture
def open_ledger(ledger_url: str, clock: FakeClock) -> Iterator[OpenLedger]:
    url = ledger_url
    opened: list[Ledger] = []

    def open_it(**settings: object) -> Ledger:
        chosen = {"clock": clock, "pragmas": FAST, **settings}
        ledger = Ledger(url, **chosen)  # type: ignore[arg-type]  # any setting
        opened.append(ledger)
        return ledger

    yield open_it
    for ledger in opened:
        ledger.close()


@pytest.fixture
def ledger(open_ledger: OpenLedger) -> Ledger:
    return open_ledger()


@pytest.fixture
def worker(ledger: Ledger) -> str:
    return ledger.register_worker("tests")
