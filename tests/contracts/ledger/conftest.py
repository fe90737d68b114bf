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
def open_ledger(
    request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock
) -> Iterator[OpenLedger]:
    is_file = request.param == "sqlite"
    url = (
        f"sqlite:///{tmp_path}/ledger.db" if is_file else request.getfixturevalue("postgresql_url")
    )
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
