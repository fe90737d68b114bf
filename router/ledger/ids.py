"""Ids that sort by the time they were made."""

import secrets

_TIME_LIMIT = 1 << 48


def new_id(prefix: str, *, now_ms: int) -> str:
    """Return ``prefix_`` and 32 hex digits: 48 bits of time, then 80 random bits.

    Parameters
    ----------
    prefix
        ``rt``, ``hd``, ``at``, ``wk``, ``ck``: what the id names.
    now_ms
        Milliseconds since 1970. Order within one millisecond is random.
    """
    return f"{prefix}_{now_ms % _TIME_LIMIT:012x}{secrets.token_hex(10)}"
