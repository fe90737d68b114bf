"""Independent System One servers, started on a free loopback port and stopped again."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

START_S = 60.0
SCRIPTS = Path(sys.executable).parent

COMMANDS: Mapping[str, Sequence[str]] = {
    "sparrow-decider": ("sparrow-decider", "serve", "--port", "{port}"),
    "laya-serve": ("laya-serve", "--host", "127.0.0.1", "--port", "{port}"),
    "dev-double": ("dev-double", "serve", "--engine", "mock", "--port", "{port}"),
    "microllm": (
        "uvicorn",
        "--factory",
        "microllm.server:create_app",
        "--host",
        "127.0.0.1",
        "--port",
        "{port}",
    ),
    "jevcompat": ("jevcompat", "mock", "--port", "{port}"),
}


@contextlib.contextmanager
def peer(name: str, *more: str, environ: Mapping[str, str] | None = None) -> Iterator[str]:
    """Run a server until the block ends; its base URL is given once it listens."""
    port = free_port()
    script, *arguments = (part.format(port=port) for part in COMMANDS[name])
    kept = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
    process = subprocess.Popen(
        [str(SCRIPTS / script), *arguments, *more],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**kept, **(environ or {})},
        start_new_session=True,
    )
    try:
        _wait_for(port, process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)


def output_of(script: str, *arguments: str) -> str:
    """Run a peer's command to its end and return what it printed."""
    command = [str(SCRIPTS / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def free_port() -> int:
    """Return a port of loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    """Poll until somebody listens, or the process has ended."""
    ends_at = time.monotonic() + START_S
    while time.monotonic() < ends_at:
        if process.poll() is not None:
            raise AssertionError(f"the server ended with {process.returncode}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.5):
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.05)
    raise AssertionError("the server does not listen")
