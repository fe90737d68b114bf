"""The states of a route and of a hold, and which moves are legal."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class RouteState(StrEnum):
    """Where a route stands."""

    RECEIVED = "received"
    DECIDED = "decided"
    HELD = "held"
    CLARIFY = "clarify"
    DECLINED = "declined"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    READY = "ready"
    LAUNCHING = "launching"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"


class HoldState(StrEnum):
    """Where a hold stands."""

    OPEN = "open"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


S = RouteState
LEGAL_MOVES: Mapping[RouteState, frozenset[RouteState]] = MappingProxyType(
    {
        S.RECEIVED: frozenset({S.DECIDED, S.CANCELLED}),
        S.DECIDED: frozenset({S.HELD, S.CLARIFY, S.DECLINED, S.READY}),
        S.HELD: frozenset({S.APPROVED, S.REJECTED, S.EXPIRED, S.CANCELLED}),
        S.APPROVED: frozenset({S.READY, S.HELD, S.CANCELLED}),
        S.READY: frozenset({S.LAUNCHING, S.HELD, S.EXPIRED, S.CANCELLED}),
        S.LAUNCHING: frozenset({S.RUNNING, S.FAILED, S.UNKNOWN}),
        S.RUNNING: frozenset({S.DONE, S.FAILED, S.CANCELLED, S.UNKNOWN}),
        S.UNKNOWN: frozenset({S.DONE, S.FAILED, S.READY}),
        S.FAILED: frozenset({S.READY}),
        S.CLARIFY: frozenset(),
        S.DECLINED: frozenset(),
        S.REJECTED: frozenset(),
        S.EXPIRED: frozenset(),
        S.CANCELLED: frozenset(),
        S.DONE: frozenset(),
    }
)
"""DESIGN section 4. ``unknown`` and ``failed`` move to ``ready`` by a person's word only."""

RESTING = frozenset(
    {
        S.DECIDED, S.HELD, S.CLARIFY, S.DECLINED, S.REJECTED, S.EXPIRED, S.CANCELLED, S.DONE,
        S.FAILED, S.UNKNOWN,
    }
)  # fmt: skip
"""States in which nothing moves until a person or time does; a waiting caller is answered.

``decided`` is among them because it is only ever seen where it is final: what follows it is
committed with it.
"""

OPEN_ATTEMPTS = (S.LAUNCHING, S.RUNNING)
"""States of a route and of its attempt while a turn may be under way."""
