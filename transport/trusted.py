"""Whether a program can be changed by nobody but root and us, its folders and links included."""

import grp
import os
import pwd
import stat
from collections.abc import Iterator
from dataclasses import dataclass

MAX_LINKS = 40


@dataclass(frozen=True, slots=True)
class Doubt:
    """A place on the way to a file that somebody else could change."""

    place: str
    code: str
    """``cli-owner`` or ``cli-writable``."""
    why: str
    """With the mend."""


def find_doubt(path: str) -> Doubt | None:
    """Return the first place on the way to a file that others could change; None when none is.

    As sshd does for its keys, every folder from the root on counts, for each link on the way too:
    all belong to root or to us, and neither their group nor others may write, except into a
    sticky folder, where what is not one's own cannot be moved away.

    Parameters
    ----------
    path
        Absolute; exists.
    """
    trusted = {0, os.geteuid()}
    for place in places(path):
        found = os.lstat(place)
        if found.st_uid not in trusted:
            mend = f"it belongs to {_user(found.st_uid)}; chown it to root"
            return Doubt(place, "cli-owner", mend)
        if stat.S_ISLNK(found.st_mode):
            continue
        is_sticky = stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX
        if not is_sticky and _others_may_write(found):
            return Doubt(place, "cli-writable", f"others may write to it; chmod go-w {place}")
    return None


def places(path: str) -> Iterator[str]:
    """Name every folder and link on the way to a file, from the root on, and the file itself.

    Raises
    ------
    OSError
        Something on the way is missing, or the links go in a circle.
    """
    here, parts, links = "/", path.split("/"), 0
    yield here
    while parts:
        part = parts.pop(0)
        if part in ("", "."):
            continue
        if part == "..":
            here = os.path.dirname(here)
            continue
        there = os.path.join(here, part)
        yield there
        if not os.path.islink(there):
            here = there
            continue
        links += 1
        if links > MAX_LINKS:
            raise OSError(f"too many links on the way to {path}")
        target = os.readlink(there)
        here = "/" if target.startswith("/") else here
        parts = target.split("/") + parts


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def _others_may_write(found: os.stat_result) -> bool:
    if found.st_mode & stat.S_IWOTH:
        return True
    return bool(found.st_mode & stat.S_IWGRP) and not _is_private_group(found)


def _is_private_group(found: os.stat_result) -> bool:
    """Whether the group is the owner's own, with nobody else in it."""
    try:
        owner, group = pwd.getpwuid(found.st_uid), grp.getgrgid(found.st_gid)
    except KeyError:
        return False
    return owner.pw_gid == group.gr_gid and not set(group.gr_mem) - {owner.pw_name}
