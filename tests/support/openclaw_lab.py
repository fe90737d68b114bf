"""The real OpenClaw CLI and Gateway, with a mock model, on free loopback ports.

Installed once by ``tests/support/openclaw/install.sh DIR``, where DIR is
``$CLAWMARSHAL_OPENCLAW_LAB`` or ``~/.cache/clawmarshal/lab``.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

KIT = Path(__file__).resolve().parent / "openclaw"
SAMPLES = KIT / "samples"
_START_S = 90.0


def lab_root() -> Path:
    """Return where the CLI is installed, or would be."""
    default = Path.home() / ".cache" / "clawmarshal" / "lab"
    return Path(os.environ.get("CLAWMARSHAL_OPENCLAW_LAB") or default)


def find_command() -> tuple[str, str] | None:
    """Return Node and ``openclaw.mjs``; None when the lab is not installed."""
    root = lab_root()
    node = next(iter(sorted(root.glob("node/node_modules/node-*/bin/node"))), None)
    script = root / "app" / "node_modules" / "openclaw" / "openclaw.mjs"
    return (str(node), str(script)) if node is not None and script.is_file() else None


def require_command() -> tuple[str, str]:
    """Return the command, or skip; fail where the fuller tests were asked for."""
    command = find_command()
    if command is None:
        why = f"no OpenClaw under {lab_root()}; tests/support/openclaw/install.sh installs it"
        if os.environ.get("CLAWMARSHAL_TEST_FULL") == "1":
            pytest.fail(why)
        pytest.skip(why)
    return command


def free_port() -> int:
    """Return a port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Lab:
    """A Gateway with three agents (finance, personal, security) and the mock model behind it."""

    def __init__(
        self,
        command: tuple[str, str],
        folder: Path,
        *,
        changes: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.command = command
        self.folder = folder
        self.provider_port, self.gateway_port = free_port(), free_port()
        self.requests_log = folder / "requests.log"
        self.home = folder / "home"
        self.home.mkdir()
        self.gateway_config = self.write_config("openclaw.example.json5", changes)
        self.client_config = self.write_config("client.example.json5")
        self._provider: subprocess.Popen[bytes] | None = None
        self.gateway: subprocess.Popen[bytes] | None = None

    def write_config(self, name: str, changes: Mapping[str, str] = MappingProxyType({})) -> Path:
        """Write a config of the kit with our ports, and with texts exchanged."""
        text = (KIT / name).read_text(encoding="utf-8")
        for old, new in changes.items():
            assert old in text, old
            text = text.replace(old, new)
        text = text.replace("18080", str(self.provider_port))
        text = text.replace("18789", str(self.gateway_port))
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600)
        return path

    def start(self) -> None:
        """Start the model and the Gateway."""
        provider = [sys.executable, str(KIT / "mock_provider.py")]
        provider += ["--port", str(self.provider_port), "--log", str(self.requests_log)]
        self._provider = self._spawn("provider", provider, None)
        self.start_gateway()

    def start_gateway(self) -> None:
        """Start the Gateway, or start it again, and wait until it is live."""
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.home),
            "TMPDIR": str(self.folder),
            "OPENCLAW_CONFIG_PATH": str(self.gateway_config),
            "OPENCLAW_NO_RESPAWN": "1",
            "OPENCLAW_DISABLE_BONJOUR": "1",
            "OPENCLAW_NO_AUTO_UPDATE": "1",
            "OPENCLAW_OFFLINE": "1",
        }
        self.gateway = self._spawn("gateway", [*self.command, "gateway", "run"], environment)
        deadline = time.monotonic() + _START_S
        while not self._is_live():
            if self.gateway.poll() is not None or time.monotonic() > deadline:
                log = (self.folder / "gateway.log").read_text(errors="replace")
                raise RuntimeError(f"the Gateway did not come up: {log[-500:]}")
            time.sleep(0.2)

    def kill_gateway(self) -> None:
        """Kill the Gateway and whatever it had started."""
        assert self.gateway is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.gateway.pid, signal.SIGKILL)
        self.gateway.wait()

    def call(self, method: str, params: Mapping[str, object] = MappingProxyType({})) -> Any:
        """Call the Gateway by hand and return its answer."""
        told = json.dumps(dict(params))
        done = subprocess.run(
            [*self.command, "gateway", "call", method, "--json", f"--params={told}"],
            env={
                "HOME": str(self.home),
                "OPENCLAW_CONFIG_PATH": str(self.client_config),
                "OPENCLAW_STATE_DIR": str(self.folder / "client-state"),
                "OPENCLAW_NO_RESPAWN": "1",
            },
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=True,
        )
        return json.loads(done.stdout)

    def outcomes(self, text: str) -> list[str]:
        """Return what became of the requests that hold `text`: begun, done, client-disconnected."""
        if not self.requests_log.exists():
            return []
        lines = [json.loads(line) for line in self.requests_log.read_text().splitlines()]
        return [line["outcome"] for line in lines if text in line["last_user"]]

    def stop(self) -> None:
        """End both; nothing of them is left."""
        started = [p for p in (self.gateway, self._provider) if p is not None]
        for process in started:
            process.send_signal(signal.SIGTERM)
        for process in started:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(3)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _spawn(
        self, name: str, command: list[str], environment: dict[str, str] | None
    ) -> "subprocess.Popen[bytes]":
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                command,
                env=environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _is_live(self) -> bool:
        url = f"http://127.0.0.1:{self.gateway_port}/healthz"
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


@contextlib.contextmanager
def running_lab(changes: Mapping[str, str] | None = None) -> Iterator[Lab]:
    """Run a Gateway and its mock model, with changes to the Gateway's config."""
    folder = Path(tempfile.mkdtemp(prefix="openclaw-lab-"))
    lab = Lab(require_command(), folder, changes=changes or {})
    try:
        lab.start()
        yield lab
    finally:
        lab.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def openclaw_lab() -> Iterator[Lab]:
    """Run one Gateway for the whole session."""
    with running_lab() as lab:
        yield lab
