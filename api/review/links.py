"""Addresses of our own pages, with what is asked in them; pure."""

from collections.abc import Mapping
from urllib.parse import urlencode


def with_query(path: str, told: Mapping[str, object]) -> str:
    """Return a path with its query; what is empty is left out."""
    kept = {name: str(value) for name, value in told.items() if str(value)}
    return f"{path}?{urlencode(kept)}" if kept else path
