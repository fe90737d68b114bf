"""A newcomer: a fresh copy of the repository, a shell in it, and what they start."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from queue import Empty, Queue
from typing import IO

from tests.support.fenced import ROOT

_DONE = "block ended"


def copy_tree(folder: Path) -> Path:
    """Copy what git would publish of the working tree, links as links."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        source, target = ROOT / name, folder / name
        if source.is_symlink() or source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    return folder


def fresh_environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a fresh login: nothing of ours, of make or of a virtual one."""
    prefixes = ("CLAWMARSHAL", "MAKE", "MFLAGS", "VIRTUAL_ENV", "PYTHON", "COV_", "COVERAGE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}
    return kept | dict(more or {})


def free_port() -> int:
    """Return a port of loopback that nothing uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


class Running:
    """A program in a process group of its own, its lines read as they come."""

    def __init__(
        self, command: list[str], folder: Path, environ: Mapping[str, str] | None = None
    ) -> None:
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=fresh_environment(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._lines: Queue[str | None] = Queue()
        self.errors: list[str] = []
        assert self._process.stdout is not None and self._process.stderr is not None
        self._readers = [
            threading.Thread(target=read, args=(stream,), daemon=True)
            for read, stream in (
                (self._read_lines, self._process.stdout),
                (self._read_errors, self._process.stderr),
            )
        ]
        for reader in self._readers:
            reader.start()

    def write(self, text: str) -> None:
        """Write to its standard input."""
        assert self._process.stdin is not None
        self._process.stdin.write(text)
        self._process.stdin.flush()

    def line(self, timeout_s: float) -> str:
        """Return its next line of output."""
        try:
            line = self._lines.get(timeout=timeout_s)
        except Empty:
            line = None
        assert line is not None, f"no line of output; it said {self.errors[-5:]}"
        return line

    def interrupt(self) -> tuple[int, list[str]]:
        """Press Ctrl-C, as a terminal does: to the whole group; return exit code and lines left."""
        os.killpg(self._process.pid, signal.SIGINT)
        return self.ended(30)

    def ended(self, timeout_s: float) -> tuple[int, list[str]]:
        """Return exit code and the lines left once it has ended."""
        code = self._process.wait(timeout_s)
        for reader in self._readers:
            reader.join(timeout_s)
        left = list(iter(lambda: self._lines.get(timeout=timeout_s), None))
        return code, [line for line in left if line is not None]

    def close(self) -> None:
        """End the group, whatever it does."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(30)
        for reader in self._readers:
            reader.join(30)
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()

    def _read_lines(self, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def _read_errors(self, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                self.errors.append(line.rstrip("\n"))


@contextlib.contextmanager
def running(
    *command: str, folder: Path, environ: Mapping[str, str] | None = None
) -> Iterator[Running]:
    """Start a program and see its group gone at the end."""
    process = Running(list(command), folder, environ)
    try:
        yield process
    finally:
        process.close()


class Shell:
    """One shell for all blocks, so that what a block sets the next one has."""

    def __init__(self, process: Running) -> None:
        self._process = process
        process.write("set -e\n")

    def run(self, text: str, *, timeout_s: float = 60) -> str:
        """Run a block and return what it printed; a command that fails fails the test."""
        # A line of its own, also after output that ended without one.
        self._process.write(f"{text.rstrip()}\nprintf '\\n%s\\n' '{_DONE}'\n")
        printed = []
        deadline = time.monotonic() + timeout_s
        while (line := self._process.line(max(0.1, deadline - time.monotonic()))) != _DONE:
            printed.append(line)
        return "\n".join(printed).strip("\n")


@contextlib.contextmanager
def shell(folder: Path) -> Iterator[Shell]:
    """Open a shell in a folder."""
    with running("bash", "--noprofile", "--norc", folder=folder) as process:
        yield Shell(process)
