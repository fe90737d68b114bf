"""What a child says of itself, with secrets cut out by value and by name; pure."""

import re
from collections.abc import Iterable

MASK = "[masked]"
MIN_CHARS = 6
"""A shorter value would mask words of every day."""

_NAMED = re.compile(
    r"""((?:token|password|passwd|secret|api[_-]?key|credential)s?["']?\s*[:=]\s*["']?)"""
    r"""([^\s"',;&#<>]{6,})""",
    re.ASCII | re.IGNORECASE,
)
_BEARER = re.compile(r"(\b(?:bearer|basic)\s+)([A-Za-z0-9._~+/=-]{6,})", re.ASCII | re.IGNORECASE)
_IN_URL = re.compile(r"(://)([^\s/@:]{0,200}:[^\s/@]{1,200})(?=@)", re.ASCII)


def mask(text: str, secrets: Iterable[str] = ()) -> str:
    """Cut secrets out of what an operator will read.

    Parameters
    ----------
    text
        Words of a child: the end of its stderr, noise, an error.
    secrets
        Values that it was given; those of fewer than `MIN_CHARS` characters are passed over.
    """
    for secret in sorted({s for s in secrets if len(s) >= MIN_CHARS}, key=len, reverse=True):
        text = _without_halves(text.replace(secret, MASK), secret)
    for pattern in (_BEARER, _IN_URL, _NAMED):
        text = pattern.sub(rf"\1{MASK}", text)
    return text


def _without_halves(text: str, secret: str) -> str:
    """Cut out what is left of a secret where the text itself was cut."""
    sizes = range(len(secret) - 1, MIN_CHARS - 1, -1)
    before = text.rstrip("…")
    begun = next((size for size in sizes if before.endswith(secret[:size])), 0)
    if begun:
        text = before[:-begun] + MASK
    behind = text.lstrip("…")
    ended = next((size for size in sizes if behind.startswith(secret[-size:])), 0)
    return MASK + behind[ended:] if ended else text
