"""So many requests in any minute, and what is remembered of whom."""

from clawmarshal.api.rates import RateLimit


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_the_601st_of_a_minute_waits_until_the_first_is_a_minute_old() -> None:
    clock = Clock()
    rate = RateLimit(600, clock=clock)
    for _ in range(600):
        assert rate.wait_s("ann") == 0
        clock.now += 0.0625  # exact in binary
    assert rate.wait_s("ann") == 23
    clock.now += 22.0
    assert rate.wait_s("ann") == 1
    clock.now += 0.5
    assert rate.wait_s("ann") == 0
    assert rate.wait_s("ann") == 1


def test_callers_do_not_use_up_each_others_minute() -> None:
    rate = RateLimit(1, clock=Clock())
    assert rate.wait_s("ann") == 0
    assert rate.wait_s("bob") == 0
    assert rate.wait_s("ann") == 60


def test_what_is_refused_is_not_counted() -> None:
    clock = Clock()
    rate = RateLimit(1, clock=clock)
    assert rate.wait_s("ann") == 0
    for _ in range(5):
        clock.now += 11
        assert rate.wait_s("ann") > 0
    clock.now += 5
    assert rate.wait_s("ann") == 0


def test_the_caller_that_was_quiet_longest_is_forgotten_first() -> None:
    rate = RateLimit(1, clock=Clock(), max_callers=2)
    for caller in ("ann", "bob", "ann", "cem"):
        rate.wait_s(caller)
    assert rate.wait_s("ann") == 60
    assert rate.wait_s("bob") == 0
