"""RateLimit: so many requests in any minute for each key, in memory and bounded."""

import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable

WINDOW_S = 60.0
MAX_CALLERS = 4096
"""The caller that was quiet longest is forgotten first; its window starts anew."""


class RateLimit:
    """Count requests in a sliding window.

    Parameters
    ----------
    per_minute
        How many pass in any 60 seconds, over 0.
    clock
        Monotonic seconds.
    max_callers
        How many callers are remembered, over 0.
    """

    def __init__(
        self,
        per_minute: int,
        *,
        clock: Callable[[], float] = time.monotonic,
        max_callers: int = MAX_CALLERS,
    ) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._max_callers = max_callers
        self._passed: OrderedDict[str, deque[float]] = OrderedDict()

    def wait_s(self, caller: str) -> int:
        """Let a request of a caller pass, or say how long it must wait.

        Returns
        -------
        int
            0 when it passes and is counted; else whole seconds until one would pass. What is
            refused is not counted.
        """
        now = self._clock()
        passed = self._passed.setdefault(caller, deque())
        self._passed.move_to_end(caller)
        while len(self._passed) > self._max_callers:
            self._passed.popitem(last=False)
        while passed and now - passed[0] >= WINDOW_S:
            passed.popleft()
        if len(passed) >= self._per_minute:
            return max(1, math.ceil(passed[0] + WINDOW_S - now))
        passed.append(now)
        return 0
