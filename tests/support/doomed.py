"""Start a doomed service and kill it at its edge."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@contextlib.contextmanager
def service_at(edge: str, url: str) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """Give the id of its route and the process, which is killed at the end at the latest."""
    argv = [sys.executable, "-m", "tests.support.doomed_service", url, edge]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) as process:
        try:
            assert process.stdout is not None
            route_id = process.stdout.readline().strip()
            assert route_id, "the service ended before its edge"
            yield route_id, process
        finally:
            process.kill()
