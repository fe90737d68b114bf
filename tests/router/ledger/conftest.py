"""A ledger on a file, with a clock that stands still."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from clawmarshal.router.ledger.ledger import Ledger
from tests.support.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def ledger(tmp_path: Path, clock: FakeClock) -> Iterator[Ledger]:
    ledger = Ledger(f"sqlite:///{tmp_path}/ledger.db", clock=clock, pragmas={"synchronous": "OFF"})
    yield ledger
    ledger.close()
