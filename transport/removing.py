"""Remove a folder whole, however deep it is and however a child left it; links are not followed."""

import contextlib
import logging
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_LOG = logging.getLogger(__name__)
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(slots=True)
class _Level:
    """One folder on the way down: which one it is, and what in it is a folder and still there."""

    name: str
    mark: tuple[int, int]
    folders: list[str] = field(default_factory=list)


def remove_tree(path: Path) -> None:
    """Remove a folder with all that is in it; what cannot be removed is named in the log.

    What lies in its place and is no folder is removed too: opening a pipe would wait for ever.

    Notes
    -----
    A child can make folders deeper than Python recurses, than a path is long, and than there are
    descriptors: so one descriptor goes down and up, and on the way up each folder is compared with
    the one that was come through, since a child that still lives may have moved it.
    """
    if os.path.isdir(path) and not os.path.islink(path):
        with contextlib.suppress(OSError):
            parent = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                _remove_below(parent, path.name)
            finally:
                os.close(parent)
        with contextlib.suppress(OSError):
            os.rmdir(path)
    else:
        with contextlib.suppress(OSError):
            os.unlink(path)
    if os.path.lexists(path):
        _LOG.warning("%s cannot be removed whole; remove it by hand", path)


def _remove_below(parent: int, name: str) -> None:
    """Empty the folder `name` of an open folder, and every one below it."""
    here = _enter(parent, name)
    try:
        way = [_Level(name, _mark(here), list(_empty(here)))]
        while way:
            if way[-1].folders:
                here = _go_down(here, way)
            elif len(way) > 1:
                here = _go_up(here, way)
            else:
                way.pop()
    finally:
        os.close(here)


def _go_down(here: int, way: list[_Level]) -> int:
    """Step into the next folder, unless it is closed or on another disk; give back where we are."""
    name = way[-1].folders.pop()
    try:
        below = _enter(here, name)
    except OSError:
        return here
    try:
        mark = _mark(below)
        if mark[0] == way[0].mark[0]:
            way.append(_Level(name, mark, list(_empty(below))))
            here, below = below, here
    finally:
        os.close(below)
    return here


def _go_up(here: int, way: list[_Level]) -> int:
    """Step back and remove the folder that was come from."""
    gone = way.pop()
    above = os.open("..", _OPEN, dir_fd=here)
    if _mark(above) != way[-1].mark:
        os.close(above)
        raise OSError("a folder was moved while it was removed")
    os.close(here)
    with contextlib.suppress(OSError):
        os.rmdir(gone.name, dir_fd=above)
    return above


def _enter(parent: int, name: str) -> int:
    """Open a folder, with the right to it given back to ourselves."""
    handle = os.open(name, _OPEN | getattr(os, "O_PATH", 0), dir_fd=parent)
    try:
        with contextlib.suppress(OSError):
            if stat.S_IMODE(os.fstat(handle).st_mode) & 0o700 != 0o700:
                os.chmod(f"/proc/self/fd/{handle}", 0o700)
        return os.open(".", _OPEN, dir_fd=handle)
    finally:
        os.close(handle)


def _empty(here: int) -> Iterator[str]:
    """Remove what is in an open folder; name the folders that must be emptied first."""
    with os.scandir(here) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in found:
        try:
            if is_folder:
                os.rmdir(name, dir_fd=here)
            else:
                os.unlink(name, dir_fd=here)
        except OSError:
            if is_folder:
                yield name


def _mark(fd: int) -> tuple[int, int]:
    found = os.fstat(fd)
    return found.st_dev, found.st_ino
