"""Which program is run: resolved once, checked like a key file, version and flags gated."""

import grp
import os
import pwd
import re
import stat
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from clawmarshal.errors import NotLaunchedError, SettingsError
from clawmarshal.transport.command import REQUIRED_FLAGS

MINIMUM = (2026, 9, 0)
"""The oldest OpenClaw that is launched.

Up to 2026.7 ``openclaw agent`` silently ran a turn a second time, embedded, when the connection
to the Gateway was lost (openclaw pull request 112074, merged 2026-07-21, took that out); before
2026.5.5 the document went to stderr. 2026.9 is the oldest line that was measured.
"""

_VERSION = re.compile(r"\b(20\d\d)\.(\d{1,2})\.(\d{1,3})(?![\d.])", re.ASCII)
_OPTIONS = re.compile(r"-I|--max-old-space-size=\d{2,5}|--disable-warning=ExperimentalWarning")
_SCRIPTS = (".mjs", ".cjs", ".js")
_HERE = Path(__file__).resolve().parent
_NODE_ADVICE = (
    "configure Node itself and OpenClaw's script, both absolute: "
    "command: [/path/to/node, /path/to/openclaw/openclaw.mjs]"
)


@dataclass(frozen=True, slots=True)
class Executable:
    """What every argv begins with."""

    parts: tuple[str, ...]
    files: tuple[str, ...]
    """The parts that are files, links resolved."""

    def fingerprint(self) -> tuple[tuple[int, ...], ...]:
        """Identify the files as they are now; another value means: ask for the version again.

        Raises
        ------
        NotLaunchedError
            A file is gone; code ``cli-missing``.
        """
        marks = []
        for file in self.files:
            try:
                found = os.stat(file)
            except OSError as error:
                raise NotLaunchedError(f"the CLI is gone: {file}", code="cli-missing") from error
            marks.append((found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns))
        return tuple(marks)


def resolve(command: Sequence[str]) -> Executable:
    """Check what an operator configured and return what is run.

    Parameters
    ----------
    command
        One absolute executable, or an interpreter and its script, with ``-I`` or a named Node
        option between them.

    Raises
    ------
    SettingsError
        Relative, missing, a directory, not executable, writable by others, a ``.cmd`` or ``.bat``,
        or a shim that leads to a script. The message says how to mend it.
    """
    if isinstance(command, str | bytes) or not command:
        raise SettingsError("transport.command is a list of absolute paths, not a line of text")
    parts = tuple(os.fspath(part) for part in command)
    program, *rest = parts
    if len(rest) > 1 and all(_OPTIONS.fullmatch(option) for option in rest[:-1]):
        scripts = rest[-1:]
    elif len(rest) <= 1:
        scripts = rest
    else:
        raise SettingsError(
            "transport.command is one executable, or an interpreter and its script; "
            "arguments cannot be added"
        )
    files = [_check_file(program, needs_execute=True)]
    if not scripts and files[0].endswith(_SCRIPTS):
        raise SettingsError(
            f"transport.command {program} leads to the script {files[0]}, which looks for Node "
            f"along PATH; {_NODE_ADVICE}"
        )
    files += [_check_file(script, needs_execute=False) for script in scripts]
    return Executable(parts=parts, files=tuple(files))


def parse_version(output: str) -> str | None:
    """Read ``2026.9.6`` from what ``--version`` printed; None when no version is in it."""
    found = _VERSION.search(output[:2000])
    return ".".join(str(int(part)) for part in found.groups()) if found else None


def check_version(version: str | None) -> str:
    """Return the version when it may be launched.

    Raises
    ------
    NotLaunchedError
        None was printed, or it is older than `MINIMUM`; code ``cli-version``.
    """
    needed = ".".join(map(str, MINIMUM))
    if version is None:
        raise NotLaunchedError("the CLI did not say its version", code="cli-version")
    if tuple(int(part) for part in version.split(".")) < MINIMUM:
        raise NotLaunchedError(
            f"OpenClaw {version} is older than {needed}, the oldest that does not repeat a turn by "
            "itself; update OpenClaw",
            code="cli-version",
        )
    return version


def check_flags(help_text: str) -> None:
    """Accept the help text of ``agent`` when it names every flag that a turn needs.

    Raises
    ------
    NotLaunchedError
        One is missing; code ``cli-flags``.
    """
    missing = [f for f in REQUIRED_FLAGS if not re.search(rf"(?<![\w-]){f}(?![\w-])", help_text)]
    if missing:
        raise NotLaunchedError(
            f"this CLI's `agent` has no {', '.join(missing)}; update OpenClaw", code="cli-flags"
        )


def find_openclaw(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Find an installed OpenClaw along ``PATH`` and name Node and its script, or its launcher.

    Raises
    ------
    SettingsError
        There is none, or the Node it needs is not on ``PATH``.
    """
    path = environment.get("PATH", "")
    found = _which("openclaw", path)
    if found is None:
        raise SettingsError("no `openclaw` on PATH; install OpenClaw, or give transport=")
    real = os.path.realpath(found)
    if not real.endswith(_SCRIPTS):
        return (found,)
    beside = os.path.join(os.path.dirname(found), "node")
    node = beside if os.access(beside, os.X_OK) else _which("node", path)
    if node is None:
        raise SettingsError(f"`openclaw` is {real}, but no `node` is on PATH; {_NODE_ADVICE}")
    return (node, real)


def _which(name: str, path: str) -> str | None:
    for folder in path.split(os.pathsep):
        candidate = os.path.join(folder, name)
        if os.path.isabs(folder) and os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    return None


def _check_file(path: str, *, needs_execute: bool) -> str:
    """Return the file behind `path`, links resolved, once it is safe to run."""
    if path.lower().endswith((".cmd", ".bat", ".ps1")):
        raise SettingsError(f"transport.command {path} is a batch file; {_NODE_ADVICE}")
    if not os.path.isabs(path):
        raise SettingsError(f"transport.command {path!r} is not an absolute path")
    real = os.path.realpath(path)
    try:
        found = os.stat(real)
    except OSError as error:
        raise SettingsError(f"transport.command {path}: {error.strerror}") from error
    if stat.S_ISDIR(found.st_mode):
        raise SettingsError(f"transport.command {path} is a directory")
    if not stat.S_ISREG(found.st_mode):
        raise SettingsError(f"transport.command {path} is not a regular file")
    if not os.access(real, os.X_OK if needs_execute else os.R_OK):
        what = "executable" if needs_execute else "readable"
        raise SettingsError(f"transport.command {path} is not {what} for this user")
    if not _is_ourselves(real):
        _check_writers(path, real)
    return real


def _is_ourselves(real: str) -> bool:
    """Whether this process runs that very file already, so that distrust comes too late."""
    return real == os.path.realpath(sys.executable) or Path(real).parent == _HERE


def _check_writers(path: str, real: str) -> None:
    for name in dict.fromkeys((real, os.path.dirname(real), os.path.dirname(path))):
        found = os.stat(name)
        is_sticky = stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX
        if not is_sticky and _others_may_write(found):
            raise SettingsError(
                f"transport.command {path}: others may write to {name}; chmod go-w {name}"
            )


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
