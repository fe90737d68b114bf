import pytest

from clawmarshal.errors import DecisionError, DecisionInvalidError, DecisionUnavailableError
from clawmarshal.router.models.breaker import Breaker


class Line:
    """A breaker on a clock that stands still, and decisions that end as told."""

    def __init__(self) -> None:
        self.now = 100.0
        self.breaker = Breaker(open_s=5, max_open_s=60, failures=3, clock=lambda: self.now)

    def __call__(self, code: str | None = None, *, wait_s: float | None = None) -> str:
        try:
            with self.breaker.guarding():
                if code == "invalid":
                    raise DecisionInvalidError("no")
                if code is not None:
                    raise DecisionUnavailableError("no", code=code, retry_after_s=wait_s)
        except DecisionError as error:
            return error.code
        return "answered"


@pytest.fixture
def line() -> Line:
    return Line()


@pytest.mark.parametrize("code", ["rate-limited", "overloaded"])
def test_a_server_that_asks_to_be_left_alone_is(line: Line, code: str) -> None:
    assert line(code) == code
    assert line() == "circuit-open"
    line.now += 4.9
    assert line() == "circuit-open"
    line.now += 0.2
    assert line() == "answered"
    assert line() == "answered"


@pytest.mark.parametrize("code", ["server", "timeout", "unreachable"])
def test_three_failures_in_a_row_open_it(line: Line, code: str) -> None:
    assert [line(code) for _ in range(4)] == [code, code, code, "circuit-open"]


def test_an_answer_in_between_begins_the_count_again(line: Line) -> None:
    for _ in range(3):
        assert [line("server"), line("server"), line()] == ["server", "server", "answered"]


@pytest.mark.parametrize("code", ["auth", "config", "bad-request", "invalid"])
def test_what_is_no_failure_of_the_server_never_opens_it(line: Line, code: str) -> None:
    for _ in range(9):
        assert line(code) != "circuit-open"
    line("server")
    line("server")
    line(code)
    line("server")
    assert not line.breaker.is_open


def test_the_servers_own_wait_counts_up_to_a_limit(line: Line) -> None:
    line("rate-limited", wait_s=20)
    line.now += 19
    assert line.breaker.is_open
    line.now += 2
    line("rate-limited", wait_s=9e9)
    line.now += 59
    assert line.breaker.is_open
    line.now += 2
    assert not line.breaker.is_open


def test_a_probe_that_fails_opens_it_again_at_once(line: Line) -> None:
    line("overloaded")
    line.now += 6
    assert line("server") == "server"
    assert line() == "circuit-open"


def test_one_decision_probes_at_a_time(line: Line) -> None:
    line("overloaded")
    line.now += 6
    with line.breaker.guarding():
        assert line() == "circuit-open"
    assert line() == "answered"


def test_a_probe_that_is_cancelled_leaves_the_next_one_to_probe(line: Line) -> None:
    line("overloaded")
    line.now += 6
    with pytest.raises(KeyboardInterrupt), line.breaker.guarding():
        raise KeyboardInterrupt
    with line.breaker.guarding():
        assert line() == "circuit-open"
    assert line() == "answered"


def test_an_answer_from_before_it_opened_does_not_close_it(line: Line) -> None:
    with line.breaker.guarding():
        line("overloaded")
    assert line() == "circuit-open"
