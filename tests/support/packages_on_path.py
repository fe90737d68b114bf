"""Packages that are not installed, on the path for as long as a test runs."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

PACKAGES = Path(__file__).parent / "packages"


@contextmanager
def stand_in(name: str) -> Iterator[None]:
    """Let an import of `name` find our stand-in, installed or not."""
    with _kept(name):
        sys.path.insert(0, str(PACKAGES))
        try:
            yield
        finally:
            sys.path.remove(str(PACKAGES))


@contextmanager
def not_installed(name: str) -> Iterator[None]:
    """Let an import of `name` fail, installed or not."""
    with _kept(name):
        sys.modules[name] = None  # type: ignore[assignment]  # how Python marks what is missing
        yield


@contextmanager
def _kept(name: str) -> Iterator[None]:
    kept: ModuleType | None = sys.modules.pop(name, None)
    try:
        yield
    finally:
        sys.modules.pop(name, None)
        if kept is not None:
            sys.modules[name] = kept
