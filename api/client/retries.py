"""Retries: when a request may be sent again, and how long to wait before."""

import random
from dataclasses import dataclass

from clawmarshal.api.client.errors import (
    ClientError,
    Problem,
    TooOftenProblem,
    UnavailableProblem,
    UnreachableError,
)


@dataclass(frozen=True, slots=True)
class Retries:
    """How often, and how patiently.

    Only what changes nothing twice is sent again: reads, messages (with one idempotency key over
    all tries), and answers to holds, of which the first wins and the same again is no other.
    """

    tries: int = 4
    """In all; 1 for none again."""
    first_s: float = 0.25
    """Before the second try; doubled for each further one, and spread."""
    longest_s: float = 10.0

    def wait_s(self, error: ClientError, *, tried: int, draw: float | None = None) -> float | None:
        """Say how long to wait before the next try; None where there is none.

        Parameters
        ----------
        tried
            How often it was sent.
        draw
            From 0 to 1, how much of the wait is waited; drawn where None.
        """
        if tried >= self.tries or not _may_help(error):
            return None
        share = random.random() if draw is None else draw  # noqa: S311  # spreads callers
        own = min(self.first_s * 2.0 ** (tried - 1), self.longest_s) * (0.5 + share / 2)
        asked = error.retry_after_s if isinstance(error, Problem) else None
        if asked is not None and asked > self.longest_s:
            return None  # the caller had rather know
        return max(own, asked or 0.0)


def _may_help(error: ClientError) -> bool:
    match error:
        case UnreachableError() | TooOftenProblem():
            return True
        case UnavailableProblem():
            return error.status == 503
        case _:
            return False
