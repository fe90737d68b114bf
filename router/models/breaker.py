"""Breaker: a server that fails is left alone for a short while, then tried by one decision."""

import contextlib
import time
from collections.abc import Callable, Iterator

from clawmarshal.errors import DecisionError, DecisionUnavailableError

OPENS_AT_ONCE = frozenset({"rate-limited", "overloaded"})
COUNTS = frozenset({"server", "timeout", "unreachable"})


class Breaker:
    """Refuse decisions while a server is known to be away or asks to be left alone.

    Rate limits and overload open it at once, other failures of the server after a few in a row.
    When the time is over one decision is let through: it closes or opens the breaker again.

    Parameters
    ----------
    open_s
        Seconds it stays open.
    max_open_s
        The most seconds a server's own ``Retry-After`` can keep it open.
    failures
        Failures in a row that open it, at least 1.
    clock
        Monotonic seconds.
    """

    def __init__(
        self,
        open_s: float = 5.0,
        *,
        max_open_s: float = 60.0,
        failures: int = 3,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._open_s = open_s
        self._max_open_s = max_open_s
        self._limit = failures
        self._clock = clock
        self._failures = 0
        self._open_until: float | None = None
        self._is_probing = False

    @property
    def is_open(self) -> bool:
        """Tell whether a decision would be refused now."""
        if self._open_until is None:
            return False
        return self._is_probing or self._clock() < self._open_until

    @contextlib.contextmanager
    def guarding(self) -> Iterator[None]:
        """Run one decision, and learn from how it ends.

        Raises
        ------
        DecisionUnavailableError
            ``circuit-open``: the server was not asked.
        """
        if self.is_open:
            raise DecisionUnavailableError(
                "the decision server failed a moment ago and is left alone", code="circuit-open"
            )
        is_probe = self._is_probing = self._open_until is not None
        try:
            yield
        except DecisionError as error:
            self._ended(error, is_probe=is_probe)
            raise
        else:
            self._ended(None, is_probe=is_probe)
        finally:
            if is_probe:  # cancelled in between: the next decision is the probe
                self._is_probing = False

    def _ended(self, error: DecisionError | None, *, is_probe: bool) -> None:
        code = error.code if error else ""
        if code in OPENS_AT_ONCE or (code in COUNTS and is_probe):
            self._open(error)
        elif code in COUNTS:
            self._failures += 1
            if self._failures >= self._limit:
                self._open(error)
        elif is_probe or self._open_until is None:
            # An answer to a question asked before it opened says nothing about now.
            self._failures = 0
            self._open_until = None

    def _open(self, error: DecisionError | None) -> None:
        asked_s = getattr(error, "retry_after_s", None) or 0.0
        wait_s = max(self._open_s, min(asked_s, self._max_open_s))
        self._open_until = max(self._open_until or 0.0, self._clock() + wait_s)
        self._failures = 0
