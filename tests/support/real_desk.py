"""A service on the real OpenClaw: its configuration, its keys, and what of it runs and remains."""

import contextlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from clawmarshal.api.opening import opened_ledger
from tests.support.openclaw_lab import Lab
from tests.support.service import PROGRAM, ServeProcess, caller, serving, settings_of

ROSTER = """\
agents:
  - id: finance
    description: Invoices, bookkeeping, tax deadlines, budgets and portfolio questions.
  - id: personal
    description: Calendar, travel, errands and reminders for the family.
  - id: security
    description: Breach alerts, credential hygiene, suspicious access and phishing reports.
"""
SAFE = "What is the filing deadline for the quarterly sales tax return?"
RISKY = "Pay the overdue invoice of 40,000 euros to the bookkeeping office right now."
PATIENCE_S = 60.0


@dataclass(frozen=True)
class RealDesk:
    """The folder of one service: roster, ledger, client configuration, run directory."""

    folder: Path
    lab: Lab
    key: str

    @property
    def config(self) -> Path:
        """What ``serve`` is given."""
        return self.folder / "clawmarshal.yaml"

    @property
    def client_config(self) -> Path:
        """What the CLI is given: the Gateway's address and token."""
        return self.folder / "client.json5"

    @property
    def turns(self) -> Path:
        """The run directory."""
        return self.folder / "turns"

    @contextlib.contextmanager
    def serve(
        self, *, environ: Mapping[str, str] | None = None, program: Sequence[str] = PROGRAM
    ) -> Iterator[tuple[ServeProcess, httpx.Client]]:
        """Run the service as a process of its own."""
        with (
            serving("--config", str(self.config), environ=environ, program=program) as process,
            caller(process.address(), self.key) as http,
        ):
            yield process, http

    def launches(self, mark: str) -> int:
        """Count the model calls of turns whose text holds `mark`."""
        return self.lab.outcomes(mark).count("begun")


def make_desk(folder: Path, lab: Lab, *, client_config: str | None = None) -> RealDesk:
    """Write everything a service needs, and make one key for all of it."""
    (folder / "roster.yaml").write_text(ROSTER, encoding="utf-8")
    (folder / "turns").mkdir()
    config = {
        "server": {"port": 0},
        "roster": "roster.yaml",
        "ledger": "sqlite:///ledger.db",
        "transport": {
            "command": list(lab.command),
            "openclaw_config": "client.json5",
            "directory": "turns",
            "tmpdir": str(lab.folder),
            "timeout_s": 60,
            "margin_s": 30,
        },
    }
    (folder / "clawmarshal.yaml").write_text(json.dumps(config), encoding="utf-8")
    client = folder / "client.json5"
    client.touch(0o600)
    client.write_text(client_config or lab.client_config.read_text(encoding="utf-8"))
    with opened_ledger(settings_of(folder / "clawmarshal.yaml")) as ledger:
        key = ledger.create_key("test", "test", ["route", "review"])
    return RealDesk(folder, lab, key)


def send(http: httpx.Client, text: str, **more: Any) -> dict[str, Any]:
    """Send a message and return the answer."""
    answer = http.post("/route", json={"text": text, **more})
    assert answer.status_code in (200, 202), answer.text
    return _object(answer)


def ended(http: httpx.Client, route_id: str) -> dict[str, Any]:
    """Return the whole route once it has ended."""
    return _object(http.get(f"/routes/{route_id}", params={"wait_s": PATIENCE_S}))


def until(
    http: httpx.Client, route_id: str, holds: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """Return the whole route as soon as it is as a test needs it."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds(route := _object(http.get(f"/routes/{route_id}"))):
        assert time.monotonic() < deadline, route
    return route


def is_running(route: Mapping[str, Any]) -> bool:
    """Tell whether its CLI runs."""
    return bool(route["state"] == "running" and route["attempts"][-1]["pid"])


def descendants(pid: int) -> list[int]:
    """Return every process under this one."""
    found: list[int] = []
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, children.read_text().split()):
                found += [child, *descendants(child)]
    return found


def _object(answer: httpx.Response) -> dict[str, Any]:
    assert answer.is_success, answer.text
    value: dict[str, Any] = answer.json()
    return value
