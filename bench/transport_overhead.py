"""What the transport costs over running the same CLI by hand.

    python -m bench.transport_overhead --pairs 80

Two CLIs: the real OpenClaw (the lab of ``tests/support/openclaw/install.sh``: a Gateway with a mock
model) and a shell script that does nothing. Each pair runs the same argv in the same environment
once by hand (``subprocess.run``) and once through `OpenClawTransport`, in turns, either first.
"""

import argparse
import asyncio
import os
import platform
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from clawmarshal.transport.command import turn_argv
from clawmarshal.transport.environment import child_environment
from clawmarshal.transport.openclaw import OpenClawTransport
from clawmarshal.transport.outcome import TurnState
from clawmarshal.transport.result import encode_message
from tests.support.openclaw_lab import Lab, find_command
from tests.support.turns import FINANCE, make_turn

ROOT = Path(__file__).resolve().parents[1]
TEXT = "What is my budget?"
WARM_UP = 3
SCRIPT = """#!/bin/sh
case "$1 $2" in
"--version ") echo "OpenClaw 2026.9.6 (nothing)" ;;
"agent --help") echo "--agent --session-key --message-file --timeout --json" ;;
esac
"""
GOALS = {"real": "under 3 %", "nothing": "under 15 ms"}


class ByHand:
    """Run the CLI as a person's script would: same argv, same environment, both pipes read."""

    def __init__(self, command: Sequence[str], folder: Path, config: Path | None) -> None:
        self.command = tuple(command)
        self.folder = folder
        self.file = folder / "message.txt"
        self.file.write_bytes(encode_message(TEXT))
        self.environment = child_environment(
            config_path=None if config is None else str(config),
            state_dir=str(folder),
            home=str(folder),
            tmpdir=str(folder),
        )

    def seconds(self, key: str) -> float:
        """Run one turn and return its wall time."""
        argv = turn_argv(
            self.command,
            agent_id=FINANCE.id,
            session_key=key,
            message_file=str(self.file),
            timeout_s=30,
        )
        began = time.perf_counter()
        done = subprocess.run(
            argv,
            env=self.environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
        took = time.perf_counter() - began
        assert done.returncode == 0, done.stderr[-500:]
        return took


async def pairs(
    command: Sequence[str], folder: Path, *, config: Path | None, count: int
) -> list[tuple[float, float]]:
    """Return seconds by hand and through the transport, pair by pair."""
    by_hand = ByHand(command, folder, config)
    transport = OpenClawTransport(
        command, openclaw_config=config, directory=folder, tmpdir=folder, timeout_s=30
    )
    expected = TurnState.UNKNOWN if config is None else TurnState.DONE

    async def through(key: str) -> float:
        turn = make_turn(TEXT, key=key)
        began = time.perf_counter()
        result = await transport.launch(turn)
        took = time.perf_counter() - began
        assert result.state is expected, result
        return took

    numbers, found = iter(range(10**6)), []
    try:
        for number in range(-WARM_UP, count):
            keys = [f"cm-{next(numbers):032x}" for _ in range(2)]
            if number % 2:
                ours = await through(keys[0])
                theirs = by_hand.seconds(keys[1])
            else:
                theirs = by_hand.seconds(keys[1])
                ours = await through(keys[0])
            found.append((theirs, ours))
    finally:
        await transport.close()
    return found[WARM_UP:]


@contextmanager
def real_openclaw(folder: Path) -> Iterator[tuple[tuple[str, ...], Path]]:
    """Run a Gateway, and give the command and the client config."""
    command = find_command()
    assert command is not None, "tests/support/openclaw/install.sh installs the lab"
    lab = Lab(command, folder)
    try:
        lab.start()
        yield command, lab.client_config
    finally:
        lab.stop()


def row(name: str, found: list[tuple[float, float]]) -> str:
    """Write one line of the table."""
    theirs = statistics.median(pair[0] for pair in found)
    extra = [ours - by_hand for by_hand, ours in found]
    middle = statistics.median(extra)
    low, high = interval(extra)
    cells = [
        name,
        str(len(found)),
        f"{theirs * 1e3:.1f} ms",
        f"{statistics.median(pair[1] for pair in found) * 1e3:.1f} ms",
        f"{middle * 1e3:.1f} ms ({low * 1e3:.1f} to {high * 1e3:.1f})",
        f"{middle / theirs:.1%} ({low / theirs:.1%} to {high / theirs:.1%})",
        GOALS[name],
    ]
    return f"| {' | '.join(cells)} |"


def interval(values: list[float]) -> tuple[float, float]:
    """Return a 95 % interval of the median, by resampling with a fixed seed."""
    rng = random.Random(1)
    medians = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(2000))
    return medians[50], medians[1949]


def machine() -> str:
    """Describe where the figures come from."""
    return (
        f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}, "
        f"load {os.getloadavg()[0]:.1f} at the start"
    )


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=80)
    parser.add_argument("--only", choices=sorted(GOALS))
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results/transport.md")
    told = parser.parse_args()
    where, rows = machine(), []
    folder = Path(tempfile.mkdtemp(prefix="overhead-"))
    try:
        if told.only != "real":
            script = folder / "openclaw"
            script.write_text(SCRIPT)
            script.chmod(0o700)
            done = pairs([str(script)], folder, config=None, count=max(told.pairs, 300))
            rows.append(row("nothing", asyncio.run(done)))
        if told.only != "nothing":
            with real_openclaw(folder) as (command, config):
                done = pairs(command, folder, config=config, count=told.pairs)
                rows.append(row("real", asyncio.run(done)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    report = [
        "# Overhead of the transport",
        "",
        "Through `OpenClawTransport` and by hand, the same argv in the same environment, in turns. "
        "Medians; the difference is the median of the pairs' differences, with a 95 % interval. "
        f"Made with `python -m bench.transport_overhead --pairs {told.pairs}` on {where}.",
        "",
        "| CLI | pairs | by hand | through the transport | difference | share of the wall | goal |",
        "| --- | ---: | ---: | ---: | ---: | ---: | --- |",
        *rows,
        "",
        "`real` is OpenClaw 2026.9.6 through a Gateway with a mock model that answers at once, so "
        "its share is the largest there is. `nothing` is a shell script that ends at once.",
    ]
    told.out.write_text("\n".join(report) + "\n", encoding="utf-8")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
