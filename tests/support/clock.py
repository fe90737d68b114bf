"""A clock that stands still until told to move."""

from datetime import UTC, datetime, timedelta

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class FakeClock:
    """Tell the time a test says it is."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start
        self._boot_s = 1000.0

    def now(self) -> datetime:
        """Return the wall clock's time."""
        return self._now

    def boot_s(self) -> float:
        """Return seconds since boot."""
        return self._boot_s

    def advance(self, seconds: float) -> None:
        """Let time pass: both clocks move."""
        self._now += timedelta(seconds=seconds)
        self._boot_s += seconds

    def jump(self, seconds: float) -> None:
        """Set the wall clock forth or back; no time passes."""
        self._now += timedelta(seconds=seconds)
