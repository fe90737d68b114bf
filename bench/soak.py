"""Thousands of turns of a scripted CLI that does everything wrong, in random order.

    python -m bench.soak --turns 10000 --seed 1

Each turn draws one behaviour of ``tests/support/behaviours.py`` or one blow from outside: the CLI
or its keeper killed, the spawner killed, the launch called off, its await cancelled, its time over.
What a turn came to is compared with what it must come to, and with what the CLI wrote down itself:
a turn of which we say that it certainly did not run must not be there. At the end nothing may be
left: no process, no file, no descriptor; and the memory of the service must not have grown.
"""

import argparse
import asyncio
import contextlib
import ctypes
import gc
import os
import platform
import random
import resource
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from clawmarshal.transport.openclaw import OpenClawTransport
from clawmarshal.transport.outcome import TurnResult, TurnState
from tests.support.behaviours import (
    BEHAVIOURS,
    DONE,
    MEMORY_MB,
    NOT_RUN,
    UNKNOWN,
    Behaviour,
    write_actor,
)
from tests.support.fake_openclaw import FakeOpenClaw
from tests.support.turns import (
    Watcher,
    attempt_folders,
    descriptors,
    make_turn,
    processes_naming,
    wait_until,
)

ROOT = Path(__file__).resolve().parents[1]
MARGIN_S, GRACE_S, LINGER_S = 0.2, 0.3, 0.2
PATIENT_S = 120
"""The timeout of what does not wait for its deadline: no slow machine makes it a wrong outcome."""
COMMON = ("answers",) * 120
BLOWS = ("kill-cli", "kill-keeper", "call-off", "cancel", "late", "kill-spawner")
LARGE = ("20-mb", "floods-both", "a-reply-over-the-cap")
COSTLY = frozenset({"eats-memory", "20-mb", "floods-both-deaf"})
Outcome = tuple[TurnState, str]


@dataclass(slots=True)
class Report:
    """What a soak found."""

    turns: int = 0
    wrong: list[str] = field(default_factory=list)
    drawn: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    left: dict[str, int] = field(default_factory=dict)
    """What is left at the end, by kind; all zero when all is well."""
    memory: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """Turns and KiB, by process."""
    seconds: float = 0.0

    def growth_kib(self, process: str) -> float:
        """Return KiB per 1,000 turns: the least-squares slope after the first fifth."""
        points = self.memory.get(process, [])
        points = points[len(points) // 5 :]
        if len(points) < 2:
            return 0.0
        mean_x = sum(x for x, _ in points) / len(points)
        mean_y = sum(y for _, y in points) / len(points)
        spread = sum((x - mean_x) ** 2 for x, _ in points)
        return 1000 * sum((x - mean_x) * (y - mean_y) for x, y in points) / spread


class Soak:
    """Run turns side by side on one transport and judge each."""

    def __init__(self, folder: Path, *, seed: int) -> None:
        self.fake: FakeOpenClaw = write_actor(private(folder / "cli"))
        self.turns_folder = private(folder / "turns")
        self.rng = random.Random(seed)
        self.report = Report()
        self.transport = OpenClawTransport(
            self.fake.command,
            directory=self.turns_folder,
            margin_s=MARGIN_S,
            grace_s=GRACE_S,
            linger_s=LINGER_S,
            child_memory_mb=MEMORY_MB,
        )
        self.sessions = {self.transport._spawner.pid}
        self.spawner_deaths = 0
        self.not_run: set[str] = set()

    async def warm_up(self, turns: int, *, side_by_side: int) -> None:
        """Let every thread that reads large outputs take the memory it keeps."""
        keys = iter(f"cm-f{number:031x}" for number in range(turns))

        async def lane() -> None:
            for number, key in enumerate(keys):
                name = LARGE[number % len(LARGE)]
                await self._behave(name, BEHAVIOURS[name], key)

        await asyncio.gather(*(lane() for _ in range(side_by_side)))
        self.report.outcomes.clear()

    async def run(self, turns: int, *, side_by_side: int) -> None:
        """Make every turn, in rounds; after each nothing is under way and memory is looked at."""
        size = max(100, turns // 20)
        for first in range(0, turns, size):
            numbers = iter(range(first, min(first + size, turns)))
            await asyncio.gather(*(self._lane(numbers) for _ in range(side_by_side)))
            self._sample()
        self._look_for_leftovers()
        await self.transport.close()
        self.report.left["private folders"] = len(list(self.turns_folder.iterdir()))
        wait_until(lambda: not self._processes(), timeout_s=5)
        self.report.left["processes"] = len(self._processes())
        self._compare_with_the_cli()

    async def _lane(self, numbers: Iterator[int]) -> None:
        for number in numbers:
            key = f"cm-{number:032x}"
            name = self._draw()
            self.report.drawn[name] += 1
            try:
                fault = await self._turn(name, key)
            except Exception as error:
                fault = f"raised {error!r}"
            if fault:
                self.report.wrong.append(f"turn {number}, {name}: {fault}")
            self.report.turns += 1

    def _draw(self) -> str:
        name = self.rng.choice((*COMMON, *BEHAVIOURS, *BLOWS * 3))
        is_rare = name in COSTLY or name == "kill-spawner"
        return "answers" if is_rare and self.rng.random() < 0.8 else name

    async def _turn(self, name: str, key: str) -> str | None:
        """Make one turn and say what is wrong with what it came to."""
        if name in BEHAVIOURS:
            return await self._behave(name, BEHAVIOURS[name], key)
        if name == "late":
            turn = make_turn("answers", key=key, attempt_id=key, in_s=-1)
            return self._judge(await self.transport.launch(turn), key, {(NOT_RUN, "late")})
        if name == "kill-spawner":
            before = self.spawner_deaths
            self.spawner_deaths += 1
            os.kill(self.transport._spawner.pid, signal.SIGKILL)
            return await self._behave("answers", BEHAVIOURS["answers"], key, before=before)
        return await self._strike(name, key)

    async def _behave(
        self, name: str, behaviour: Behaviour, key: str, *, before: int | None = None
    ) -> str | None:
        timeout_s = 1 if behaviour.meets_deadline else PATIENT_S
        before = self.spawner_deaths if before is None else before
        turn = make_turn(name, key=key, attempt_id=key, timeout_s=timeout_s, in_s=60)
        result = await self.transport.launch(turn)
        allowed = {(behaviour.state, behaviour.code)}
        self.sessions.add(self.transport._spawner.pid)
        return self._judge(result, key, allowed, spawner_died=self.spawner_deaths != before)

    async def _strike(self, name: str, key: str) -> str | None:
        """Hit a turn that would hang for long."""
        before, watcher = self.spawner_deaths, Watcher()
        turn = make_turn("hangs", key=key, attempt_id=key, timeout_s=PATIENT_S, in_s=60)
        task = asyncio.create_task(self.transport.launch(turn, watcher))
        if name in ("call-off", "cancel"):
            await asyncio.sleep(self.rng.random() * 0.1)
        else:
            heard = asyncio.create_task(watcher.heard.wait())
            await asyncio.wait([heard, task], return_when=asyncio.FIRST_COMPLETED)
            heard.cancel()
        allowed = self._hit(name, key, task, watcher)
        try:
            result = await task
        except asyncio.CancelledError:
            return None if name == "cancel" else "was cancelled"
        return self._judge(result, key, allowed, spawner_died=self.spawner_deaths != before)

    def _hit(
        self, name: str, key: str, task: "asyncio.Task[TurnResult]", watcher: Watcher
    ) -> set[Outcome]:
        if name == "cancel":
            task.cancel()
            return set()
        if name == "call-off":
            self.transport.stop(key)
            return {(UNKNOWN, "stopped"), (NOT_RUN, "called-off")}
        if not watcher.pids:
            return set()
        pid = watcher.pids[0] if name == "kill-cli" else parent_of(watcher.pids[0])
        os.kill(pid, signal.SIGKILL)
        return {(UNKNOWN, "killed" if name == "kill-cli" else "keeper-lost")}

    def _judge(
        self, result: TurnResult, key: str, allowed: set[Outcome], *, spawner_died: bool = False
    ) -> str | None:
        got = (result.state, result.code)
        self.report.outcomes[f"{result.state} {result.code}"] += 1
        if spawner_died:
            allowed = allowed | {(NOT_RUN, "spawner-lost")}
        if got not in allowed:
            return f"{got} instead of {sorted(allowed)}: {result}"
        if result.state is NOT_RUN and result.code not in ("argument", "gateway-down"):
            self.not_run.add(key)
        if result.state is DONE and not (result.reply_text or "").endswith(key):
            return "the reply is another turn's"
        is_killed = result.code == "keeper-lost"
        return None if result.cancel_unconfirmed is is_killed else "descendants unaccounted for"

    def _compare_with_the_cli(self) -> None:
        """Every turn ran once at most, and none of which we say that it did not."""
        ran = Counter(
            part.removeprefix("--session-key=")
            for seen in self.fake.launches()
            for part in seen["argv"]
            if part.startswith("--session-key=")
        )
        self.report.wrong += [f"{key} ran {times} times" for key, times in ran.items() if times > 1]
        self.report.wrong += [f"{key} ran although not" for key in self.not_run & set(ran)]

    def _look_for_leftovers(self) -> None:
        self.report.left["attempt folders"] = len(list(attempt_folders(self.turns_folder)))
        self.report.left["runs remembered"] = len(
            [*self.transport._runs, *self.transport._pending, *self.transport._called_off]
        )

    def _processes(self) -> set[int]:
        """Name what lives of the CLI, and of every spawner's session."""
        return {*processes_naming(self.turns_folder.parent), *in_sessions(self.sessions)}

    def _sample(self) -> None:
        """Look at what is held: free pages go back first, which are no growth."""
        gc.collect()
        give_back()
        for name, pid in (("service", os.getpid()), ("spawner", self.transport._spawner.pid)):
            with contextlib.suppress(OSError, IndexError):
                pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
                points = self.report.memory.setdefault(name, [])
                points.append((self.report.turns, pages * (os.sysconf("SC_PAGE_SIZE") // 1024)))


def soak(turns: int, *, seed: int, side_by_side: int = 8, warm_up: int = 0, folder: Path) -> Report:
    """Make the turns of one seed and report; see the module."""
    before = descriptors()
    began = time.monotonic()

    async def run() -> Report:
        made = Soak(folder, seed=seed)
        await made.transport.probe()
        await made.warm_up(warm_up, side_by_side=side_by_side)
        await made.run(turns, side_by_side=side_by_side)
        return made.report

    report = asyncio.run(run())
    gc.collect()
    report.left["descriptors"] = descriptors() - before
    report.seconds = time.monotonic() - began
    return report


def give_back() -> None:
    """Let the C library return what it keeps free, where it has a call for that."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def fifths(points: list[tuple[int, int]]) -> str:
    """Return the median of each fifth of the run, in MiB."""
    size = max(1, len(points) // 5)
    parts = [points[first : first + size] for first in range(0, size * 5, size)]
    return ", ".join(
        f"{statistics.median(kib for _, kib in part) / 1024:.1f}" for part in parts if part
    )


def private(folder: Path) -> Path:
    """Make a folder that only we enter."""
    folder.mkdir(mode=0o700)
    return folder


def parent_of(pid: int) -> int:
    """Return the parent of a living process."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def in_sessions(sessions: set[int]) -> set[int]:
    """Name the processes of these sessions, zombies left out."""
    found = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z" and int(fields[3]) in sessions:
            found.add(int(name))
    return found


def written(report: Report, told: argparse.Namespace, where: str) -> list[str]:
    """Write the report as Markdown."""
    command = (
        f"python -m bench.soak --turns {told.turns} --seed {told.seed} "
        f"--side-by-side {told.side_by_side} --warm-up {told.warm_up}"
    )
    lines = [
        "# Soak of the transport",
        "",
        f"{report.turns:,} turns of a scripted CLI, {told.side_by_side} side by side, with margins "
        f"of {MARGIN_S}, {GRACE_S} and {LINGER_S} s. Made with `{command}` on {where}, in "
        f"{report.seconds:.0f} s.",
        "",
        "| check | found |",
        "| --- | ---: |",
        f"| turns with a wrong outcome, run twice, or run although reported not run | "
        f"{len(report.wrong)} |",
        *(f"| {kind} left | {count} |" for kind, count in sorted(report.left.items())),
    ]
    for name, points in report.memory.items():
        lines.append(
            f"| memory of the {name}, MiB: median of each fifth of {len(points)} looks | "
            f"{fifths(points)} |"
        )
        lines.append(
            f"| slope of the {name}'s memory, KiB per 1,000 turns | {report.growth_kib(name):.0f} |"
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    lines.append(f"| most memory the service ever had, MiB | {peak:.1f} |")
    lines += [
        "",
        "Memory is the resident set between two rounds of turns, after free pages were given back. "
        f"{told.warm_up} turns with the largest outputs came before, uncounted: each thread that "
        "reads large outputs keeps about 4 MiB from then on.",
    ]
    lines += ["", "| what the turn did, or what was done to it | turns |", "| --- | ---: |"]
    lines += [f"| {name} | {count} |" for name, count in sorted(report.drawn.items())]
    lines += ["", "| outcome | turns |", "| --- | ---: |"]
    lines += [f"| {name} | {count} |" for name, count in sorted(report.outcomes.items())]
    return lines


def main() -> None:
    """Soak, write, and fail when anything is wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--side-by-side", type=int, default=8)
    parser.add_argument("--warm-up", type=int, default=240)
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results/soak.md")
    told = parser.parse_args()
    where = (
        f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}"
    )
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    try:
        report = soak(
            told.turns,
            seed=told.seed,
            side_by_side=told.side_by_side,
            warm_up=told.warm_up,
            folder=folder,
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    told.out.write_text("\n".join(written(report, told, where)) + "\n", encoding="utf-8")
    print("\n".join(report.wrong[:20]))
    print(f"{report.turns} turns in {report.seconds:.0f} s, {len(report.wrong)} wrong", report.left)
    sys.exit(1 if report.wrong or any(report.left.values()) else 0)


if __name__ == "__main__":
    main()
