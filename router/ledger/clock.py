"""The clocks the ledger reads: the wall's, and the one that never jumps."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tell the time twice over."""

    def now(self) -> datetime:
        """Return the wall clock's time, in UTC; may jump either way."""
        ...

    def boot_s(self) -> float:
        """Return seconds since boot, suspended time included; never goes back."""
        ...


class SystemClock:
    """Read the machine's clocks."""

    def now(self) -> datetime:
        """Return the wall clock's time, in UTC."""
        return datetime.now(UTC)

    def boot_s(self) -> float:
        """Return CLOCK_BOOTTIME, the clock the launcher checks before exec."""
        return time.clock_gettime(time.CLOCK_BOOTTIME)
