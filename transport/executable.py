"""Which program is run: resolved once, checked like a key file, version and flags gated."""

import os
import re
import stat
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from clawmarshal.errors import NotLaunchedError, SettingsError
from clawmarshal.transport.command import REQUIRED_FLAGS
from clawmarshal.transport.trusted import find_doubt

MINIMUM = (2026, 9, 0)
"""The oldest OpenClaw that is launched.

Up to 2026.7 ``openclaw agent`` silently ran a turn a second time, embedded, when the connection
to the Gateway was lost (openclaw pull request 112074, merged 2026-07-21, took that out); before
2026.5.5 the document went to stderr. 2026.9 is the oldest line that was measured.
"""

_VERSION = re.compile(r"\b(20\d\d)\.(\d{1,2})\.(\d{1,3})(?![\d.])", re.ASCII)
_OPTIONS = re.compile(r"-I|--max-old-space-size=\d{2,5}|--disable-warning=ExperimentalWarning")
_SCRIPTS = (".mjs", ".cjs", ".js")
_SHIM = re.compile(r"#!\s*/\S*sh\b.*?\"\$basedir/([^\"$`\n]+\.[mc]?js)\"", re.ASCII | re.DOTALL)
"""What npm, pnpm and yarn write where they make no link: a shell script beside Node."""
_SHIM_BYTES = 8192
_HERE = Path(__file__).resolve().parent
_NODE_ADVICE = (
    "configure Node itself and OpenClaw's script, both absolute: "
    "command: [/path/to/node, /path/to/openclaw/openclaw.mjs]"
)


@dataclass(frozen=True, slots=True)
class Executable:
    """What every argv begins with."""

    parts: tuple[str, ...]
    """Links resolved, so that a link that is turned later changes nothing."""
    files: tuple[str, ...]
    """The parts that are files."""

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


@dataclass(frozen=True, slots=True)
class Probe:
    """What the CLI said of itself."""

    version: str
    label: str
    """The first line of ``--version``, cleaned."""
    is_stand_in: bool


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
        It cannot be used; the message says how to mend it. Codes: ``cli-arguments``,
        ``cli-characters``, ``cli-batch-file``, ``cli-not-absolute``, ``cli-missing``,
        ``cli-folder``, ``cli-special-file``, ``cli-not-executable``, ``cli-not-readable``,
        ``cli-owner``, ``cli-writable``, ``cli-shim``.
    """
    if isinstance(command, str | bytes) or not command:
        raise _refused("transport.command is a list of absolute paths", "cli-arguments")
    program, *rest = (os.fspath(part) for part in command)
    options, scripts = rest[:-1], rest[-1:]
    if not all(_OPTIONS.fullmatch(option) for option in options):
        raise _refused(
            "transport.command is one executable, or an interpreter and its script; "
            "arguments cannot be added",
            "cli-arguments",
        )
    first = _check_file(program, needs_execute=True)
    if not scripts and (script := script_behind(first)):
        return _from_shim(program, script)
    files = [first, *(_check_file(script, needs_execute=False) for script in scripts)]
    return Executable((_as_run(program, first), *options, *files[1:]), tuple(files))


def script_behind(real: str) -> str | None:
    """Return OpenClaw's script when a file is it, or is the shell script npm writes for it."""
    if real.endswith(_SCRIPTS):
        return real
    try:
        with open(real, "rb") as stream:
            text = stream.read(_SHIM_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    found = _SHIM.match(text)
    return None if found is None else os.path.normpath(os.path.join(real, "..", found[1]))


def _from_shim(shim: str, script: str) -> Executable:
    """Run the Node beside a shim, and its script; the shim itself would look along PATH."""
    node = os.path.join(os.path.dirname(shim), "node")
    if not os.path.lexists(node):
        raise _refused(
            f"transport.command {shim} leads to the script {script}, which looks for Node along "
            f"PATH, and none lies beside it; {_NODE_ADVICE}",
            "cli-shim",
        )
    files = (_check_file(node, needs_execute=True), _check_file(script, needs_execute=False))
    return Executable(files, files)


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
    real = script_behind(os.path.realpath(found))
    if real is None:
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
    if not path.isprintable():
        raise _refused(f"transport.command {path!r} holds control characters", "cli-characters")
    if path.lower().endswith((".cmd", ".bat", ".ps1")):
        raise _refused(
            f"transport.command {path} is a batch file; {_NODE_ADVICE}", "cli-batch-file"
        )
    if not os.path.isabs(path):
        raise _refused(f"transport.command {path!r} is not an absolute path", "cli-not-absolute")
    real = os.path.realpath(path)
    try:
        found = os.stat(path)
        _check_kind(path, real, found=found, needs_execute=needs_execute)
        doubt = None if _is_ourselves(real) else find_doubt(path)
    except OSError as error:
        why = error.strerror or str(error)
        raise _refused(f"transport.command {path}: {why}", "cli-missing") from error
    if doubt is not None:
        raise _refused(f"transport.command {path}: {doubt.place}: {doubt.why}", doubt.code)
    return real


def _check_kind(path: str, real: str, *, found: os.stat_result, needs_execute: bool) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise _refused(f"transport.command {path} is a directory", "cli-folder")
    if not stat.S_ISREG(found.st_mode):
        raise _refused(f"transport.command {path} is not a regular file", "cli-special-file")
    if not os.access(real, os.X_OK if needs_execute else os.R_OK):
        what = "executable" if needs_execute else "readable"
        raise _refused(f"transport.command {path} is not {what} for this user", f"cli-not-{what}")


def _as_run(path: str, real: str) -> str:
    """Return what is run: the file itself; our own interpreter by its name, which says its home."""
    return path if real == os.path.realpath(sys.executable) else real


def _is_ourselves(real: str) -> bool:
    """Whether this process runs that very file already, so that distrust comes too late."""
    return real == os.path.realpath(sys.executable) or Path(real).parent == _HERE


def _refused(message: str, code: str) -> SettingsError:
    return SettingsError(message, code=code)
