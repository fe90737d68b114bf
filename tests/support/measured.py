"""The spawner measured where coverage is; it is started bare otherwise, and nothing reaches it."""

import os
import sys
from pathlib import Path

from clawmarshal.transport.process import Spawner

VARIABLE = "COVERAGE_PROCESS_CONFIG"
ROOT = Path(__file__).resolve().parents[2]


def measure_spawner() -> None:
    """Start every spawner of this process with what tells coverage to begin."""
    config = os.environ.get(VARIABLE)
    if config is not None:
        told = (f"{VARIABLE}={config}", f"PYTHONPATH={ROOT}")
        module = "clawmarshal.transport.spawner"
        Spawner.command = ("/usr/bin/env", *told, sys.executable, "-m", module)
