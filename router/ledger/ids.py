"""Ids that sort by the time they were made."""

import re
import secrets

_FORM = re.compile(r"[a-z]{2}_[0-9a-f]{32}", re.ASCII)
_TIME_LIMIT = 1 << 48


def is_id(text: str) -> bool:
    """Tell whether a text could be an id; others need not be looked up."""
    return _FORM.fullmatch(text) is not None


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
