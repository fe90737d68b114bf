"""Rounds go on after a look that failed, and end at once when they are closed."""

import asyncio
import logging

import pytest

from clawmarshal.errors import LedgerUnavailableError
from clawmarshal.router.rounds import Rounds

PATIENCE_S = 20


class Looks:
    """What is looked at: raises what it is given, then waits for good."""

    def __init__(self, *faults: Exception) -> None:
        self.faults = list(faults)
        self.is_through = asyncio.Event()
        self.is_left = False

    async def look(self) -> None:
        """Fail once for each fault; the look after those never ends by itself."""
        if self.faults:
            raise self.faults.pop(0)
        self.is_through.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.is_left = True


def test_rounds_go_on_after_every_kind_of_failure(caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        looks = Looks(LedgerUnavailableError("away"), ValueError("surprise"))
        rounds = Rounds(looks.look, every_s=0, what="looking")
        rounds.start()
        async with asyncio.timeout(PATIENCE_S):
            await looks.is_through.wait()
        await rounds.close()

    with caplog.at_level(logging.WARNING):
        asyncio.run(run())
    put_off, failed = caplog.records
    assert (put_off.levelname, failed.levelname) == ("WARNING", "ERROR")
    assert put_off.getMessage().startswith("looking put off: ")
    assert failed.exc_info is not None


def test_closing_ends_a_look_under_way() -> None:
    async def run() -> bool:
        looks = Looks()
        rounds = Rounds(looks.look, every_s=3600, what="looking")
        rounds.start()
        async with asyncio.timeout(PATIENCE_S):
            await looks.is_through.wait()
            await rounds.close()
            await rounds.close()
        return looks.is_left

    assert asyncio.run(run())


def test_rounds_that_never_began_can_be_closed() -> None:
    asyncio.run(Rounds(asyncio.Event().wait, every_s=1, what="looking").close())
