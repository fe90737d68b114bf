"""Seats: how many of one thing each caller may have at a time."""

import contextlib
from collections.abc import Iterator

from clawmarshal.api.problems import Problem

AGAIN_S = 5


class Seats:
    """Count what each key keeps open: waits and streams; memory is bounded by what is open.

    Parameters
    ----------
    per_key
        How many at a time.
    """

    def __init__(self, per_key: int) -> None:
        self._per_key = per_key
        self._taken: dict[str, int] = {}

    def taken(self, key_id: str) -> int:
        """Tell how many a key has."""
        return self._taken.get(key_id, 0)

    @contextlib.contextmanager
    def take(self, key_id: str) -> Iterator[None]:
        """Have one until the block ends.

        Raises
        ------
        Problem
            ``too-many-waits``.
        """
        if self.taken(key_id) >= self._per_key:
            raise Problem(
                "too-many-waits",
                f"This key may keep {self._per_key} waits and streams open.",
                headers={"Retry-After": str(AGAIN_S)},
            )
        self._taken[key_id] = self.taken(key_id) + 1
        try:
            yield
        finally:
            self._taken[key_id] -= 1
            if not self._taken[key_id]:
                del self._taken[key_id]
