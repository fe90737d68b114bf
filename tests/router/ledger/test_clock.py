"""The system's clocks."""

from datetime import UTC, datetime, timedelta

from clawmarshal.router.ledger.clock import SystemClock


def test_wall_clock_is_in_utc() -> None:
    now = SystemClock().now()
    assert now.tzinfo is UTC
    assert abs(now - datetime.now(UTC)) < timedelta(seconds=5)


def test_boot_clock_never_goes_back() -> None:
    clock = SystemClock()
    first = clock.boot_s()
    assert 0 < first <= clock.boot_s()
