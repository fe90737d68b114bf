"""A service to test: its configuration in a folder, wired in this process or started for real."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from queue import Empty, Queue

import httpx

from clawmarshal.api.reloading import SettingsFile
from clawmarshal.api.settings import Settings, load_settings
from clawmarshal.api.wiring import Service, wire
from clawmarshal.router.ballot import Ballot
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.scripted import ScriptedModel, scripted_answers
from tests.support.asgi import AppClient, served

ROSTER = """\
agents:
  - id: finance
    description: Invoices, bookkeeping, tax deadlines, budgets and portfolio questions.
  - id: security
    description: Breach alerts, credential hygiene, suspicious access and phishing reports.
"""
SAFE = "What is the filing deadline for the quarterly sales tax return?"
RISKY = "Wire 40,000 euros to this account right now and delete all the backups."
START_S = 60.0
PROGRAM = ("-m", "clawmarshal")
LOUD_PROGRAM = ("-P", str(Path(__file__).with_name("loud_service.py")))
"""The same program with its logs at debug level."""


def configure(
    folder: Path,
    *,
    command: Sequence[str] | None = None,
    model: str = "lexical",
    more: str = "",
) -> Path:
    """Write a roster and a configuration; the stand-in answers unless a command is given."""
    (folder / "fleet.yaml").write_text(ROSTER, encoding="utf-8")
    client = folder / "client.json5"
    client.write_text("{}", encoding="utf-8")
    client.chmod(0o600)
    transport = "{stand_in: true, timeout_s: 20}"
    if command is not None:
        transport = f"{{command: {json.dumps(list(command))}, openclaw_config: client.json5}}"
    config = folder / "clawmarshal.yaml"
    config.write_text(
        "server: {port: 0}\nroster: fleet.yaml\nledger: sqlite:///ledger.db\n"
        f"decision: {{model: {model}}}\n"
        f"transport: {transport}\n{more}",
        encoding="utf-8",
    )
    return config


def settings_of(config: Path) -> Settings:
    """Read a configuration without the environment of the test run."""
    return load_settings(config, environ={})


def play(ballot: Ballot, message: InboundMessage) -> dict[str, object]:
    """Answer by the words of a message: ``risky`` is high, ``nobody`` is none of these."""
    agent = "none_of_these" if "nobody" in message.text else "finance"
    risk = "high" if "risky" in message.text else "low"
    return scripted_answers(ballot, agent={agent: 0.9}, risk={risk: 0.96})


def model() -> ScriptedModel:
    """Make the model that a configuration may name by its import path."""
    return ScriptedModel(play)


@contextlib.contextmanager
def wired(config: Path, *, probe_again_s: float = 5.0) -> Iterator[tuple[AppClient, Service]]:
    """Run a service in this process, its model scripted, everything else real."""
    file = SettingsFile(config, partial(settings_of, config))
    service = wire(file.read(), model=ScriptedModel(play), file=file)
    service.probe_again_s = probe_again_s
    with served(service.app()) as client:
        yield client, service


class ServeProcess:
    """``clawmarshal serve``, or another command, as a process of its own."""

    def __init__(
        self,
        *arguments: str,
        environ: Mapping[str, str] | None = None,
        program: Sequence[str] = PROGRAM,
        command: str = "serve",
    ) -> None:
        self._process = subprocess.Popen(
            [sys.executable, *program, command, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=clean_environment(environ),
            start_new_session=True,
        )
        self._lines: Queue[str | None] = Queue()
        self.output: list[str] = []
        self.errors: list[str] = []
        self._readers = [
            threading.Thread(target=read, daemon=True)
            for read in (self._read_lines, self._read_errors)
        ]
        for reader in self._readers:
            reader.start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def line(self, pattern: str) -> re.Match[str]:
        """Return the next line of its output, which must match."""
        try:
            line = self._lines.get(timeout=START_S)
        except Empty:
            line = None
        if line is None:
            raise AssertionError(f"no line {pattern!r}; it said {self.errors[-3:]}")
        found = re.fullmatch(pattern, line)
        assert found, f"{line!r} does not match {pattern!r}"
        return found

    def address(self) -> str:
        """Return where it listens, once it answers."""
        return self.line(r"address: (http://\S+)")[1]

    def send(self, number: int) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and return the exit code."""
        if self._process.poll() is None:
            self._process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        """Return the exit code once it has ended."""
        code = self._process.wait(START_S)
        for reader in self._readers:
            reader.join(START_S)
        return code

    def _read_lines(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as stream:
            for line in stream:
                self.output.append(line.rstrip("\n"))
                self._lines.put(self.output[-1])
        self._lines.put(None)

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as stream:
            for line in stream:
                self.errors.append(line.rstrip("\n"))


@contextlib.contextmanager
def serving(
    *arguments: str,
    environ: Mapping[str, str] | None = None,
    program: Sequence[str] = PROGRAM,
    command: str = "serve",
) -> Iterator[ServeProcess]:
    """Start ``serve``, or another command, and see it gone at the end."""
    process = ServeProcess(*arguments, environ=environ, program=program, command=command)
    try:
        yield process
    finally:
        process.stop(signal.SIGKILL)


def clean_environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return this environment without settings of ours, and with what a test adds."""
    kept = {name: value for name, value in os.environ.items() if "CLAWMARSHAL" not in name}
    return kept | dict(more or {})


def run(
    *arguments: str,
    cwd: Path | None = None,
    stdin: str = "",
    environ: Mapping[str, str] | None = None,
) -> tuple[int, str, str]:
    """Run a command of the command line as a process; return exit code and both outputs."""
    done = subprocess.run(
        [sys.executable, "-m", "clawmarshal", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=START_S,
        env=clean_environment(environ),
        cwd=cwd,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def run_python(code: str, *, cwd: Path | None = None) -> tuple[int, str, str]:
    """Run some Python in a process of its own; return exit code and both outputs."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=START_S,
        env=clean_environment(),
        cwd=cwd,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def caller(address: str, key: str) -> httpx.Client:
    """Return an HTTP client with a key."""
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.Client(base_url=address, headers=headers, timeout=START_S, trust_env=False)
