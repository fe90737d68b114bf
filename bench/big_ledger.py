"""Pages of holds out of a ledger with a million routes: how long one takes, and what memory does.

    python -m bench.big_ledger --routes 1000000 --holds 100000 --folder DIR

The rows are made by the database itself from a series of numbers; every tenth route is held, with
four owners, three risks and three agents. Then pages are asked for at places drawn from a seed: by
state, by state and owner, and the reviewers' queue (risk, then age), the first stretch and deep
ones, also of one risk. Resident memory is looked at after each tenth of the pages.
"""

import argparse
import contextlib
import os
import platform
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import create_engine, text

from bench.crash import backend
from clawmarshal.roster.agent import Risk
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.opening import parse
from clawmarshal.router.ledger.triage import TriageFilter

ROOT = Path(__file__).resolve().parents[1]
AT = 1_780_000_000_000_000
"""When the first message came, in microseconds."""
ROUTES = """
INSERT INTO routes (number, id, owner, state, mode, scope, on_uncertain, cancel_on_disconnect,
                    accepted_at, updated_at, agent, reason)
WITH RECURSIVE n (i) AS (SELECT CAST(1 AS bigint) UNION ALL SELECT i + 1 FROM n WHERE i < :routes)
SELECT i, {rt}, 'owner-' || (i % 4), CASE WHEN i % :every = 0 THEN 'held' ELSE 'done' END,
       'dispatch', {pad}, 'hold', {false}, {at} + i * 1000000, {at} + i * 1000000,
       'agent-' || (i % 3), 'matched' FROM n
"""
MESSAGES = """
INSERT INTO messages (route_id, text, digest, salt, sender, channel, revision, labels, attachments)
SELECT id, 'What is the filing deadline of case ' || number, scope, scope,
       'sender-' || (number % 97), 'chat', 0, '[]', '[]' FROM routes
"""
HOLDS = """
INSERT INTO holds (id, route_id, owner, state, suggestion, reason, gates, risk, digest, created_at,
                   expires_at)
SELECT {hd}, id, owner, 'open', agent, 'risk',
       '[{{"number"\\:3,"reason"\\:"risk","detail"\\:"high"}}]',
       CASE WHEN number / 10 % 10 < 2 THEN 'high'
            WHEN number / 10 % 10 < 6 THEN 'medium' ELSE 'low' END,
       scope, accepted_at, NULL
FROM routes WHERE state = 'held' ORDER BY number
"""
WORDS = {
    "sqlite": {
        "rt": "printf('rt_%032d', i)", "pad": "printf('%064d', i)", "false": "0",
        "hd": "printf('hd_%032d', number)",
    },
    "postgresql": {
        "rt": "'rt_' || lpad(CAST(i AS text), 32, '0')",
        "pad": "lpad(CAST(i AS text), 64, '0')", "false": "false",
        "hd": "'hd_' || lpad(CAST(number AS text), 32, '0')",
    },
}  # fmt: skip


@dataclass(slots=True)
class Report:
    """What was found on one back end."""

    backend: str
    built_s: float = 0.0
    pages: dict[str, list[float]] = field(default_factory=dict)
    """Milliseconds of each page, by what was asked."""
    memory_kib: list[int] = field(default_factory=list)


def build(url: str, *, routes: int, holds: int) -> None:
    """Fill an empty ledger."""
    engine = create_engine(parse(url))
    words = WORDS[engine.dialect.name]
    with engine.begin() as connection:
        told = {"routes": routes, "every": routes // holds}
        connection.execute(text(ROUTES.format(at=AT, **words)), told)
        connection.execute(text(MESSAGES))
        connection.execute(text(HOLDS.format(**words)))
    with engine.begin() as connection:
        connection.execute(text("ANALYZE"))
    engine.dispose()


def measure(report: Report, ledger: Ledger, *, holds: int, pages: int, seed: int) -> None:
    """Ask for pages of every kind, in turns."""
    rng = random.Random(seed)
    risks = tuple(Risk)

    def deep() -> str:
        return str(rng.randrange(1, holds))

    kinds: dict[str, Callable[[], object]] = {
        "open": lambda: ledger.holds(cursor=deep()),
        "open, of one owner": lambda: ledger.holds(
            owner=f"owner-{rng.randrange(4)}", cursor=deep()
        ),
        "the reviewers' queue, its head": lambda: ledger.triage(TriageFilter()),
        "the reviewers' queue, deep": lambda: ledger.triage(
            TriageFilter(), cursor=f"{rng.choice(risks)}.{deep()}"
        ),
        "the reviewers' queue, of one risk": lambda: ledger.triage(
            TriageFilter(risk=rng.choice(risks))
        ),
    }
    for ask in kinds.values():
        ask()
    for number in range(pages):
        for name, ask in kinds.items():
            began = time.perf_counter()
            ask()
            report.pages.setdefault(name, []).append((time.perf_counter() - began) * 1000)
        if number % max(1, pages // 10) == 0:
            report.memory_kib.append(resident_kib())


def resident_kib() -> int:
    """Return the resident set of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * (os.sysconf("SC_PAGE_SIZE") // 1024)


def p95(taken: list[float]) -> float:
    """Return the 95th percentile."""
    return statistics.quantiles(taken, n=20)[-1]


@contextlib.contextmanager
def filled(name: str, folder: Path, *, routes: int, holds: int) -> Iterator[tuple[str, float]]:
    """Give the address of a full ledger and how long it took to fill."""
    with backend(name, folder) as (url, _):
        began = time.monotonic()
        build(url, routes=routes, holds=holds)
        yield url, time.monotonic() - began


def written(reports: list[Report], told: argparse.Namespace) -> list[str]:
    """Write the reports as Markdown."""
    where = (
        f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}"
    )
    lines = [
        "# A large ledger",
        "",
        f"{told.routes:,} routes, {told.holds:,} open holds, {told.pages} pages of 50 of each "
        f"kind. Made with `python -m bench.big_ledger --routes {told.routes} --holds {told.holds} "
        f"--pages {told.pages} --seed {told.seed}` on {where}.",
        "",
        "| | a page of holds | median, ms | p95, ms |",
        "| --- | --- | ---: | ---: |",
    ]
    for report in reports:
        for name, taken in report.pages.items():
            lines.append(
                f"| {report.backend} | {name} | {statistics.median(taken):.1f} | {p95(taken):.1f} |"
            )
    lines += ["", "| | resident memory after each tenth, MiB |", "| --- | --- |"]
    for report in reports:
        looks = ", ".join(f"{kib / 1024:.1f}" for kib in report.memory_kib)
        lines.append(f"| {report.backend} | {looks} |")
    return lines


def main() -> None:
    """Fill, ask, write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--routes", type=int, default=1_000_000)
    parser.add_argument("--holds", type=int, default=100_000)
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--on", choices=("sqlite", "postgresql", "both"), default="both")
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results/big_ledger.md")
    told = parser.parse_args()
    reports = []
    for name in ("sqlite", "postgresql") if told.on == "both" else (told.on,):
        folder = Path(tempfile.mkdtemp(prefix="big-", dir=told.folder))
        try:
            with filled(name, folder, routes=told.routes, holds=told.holds) as (url, built_s):
                report = Report(name, built_s)
                with contextlib.closing(Ledger(url)) as ledger:
                    measure(report, ledger, holds=told.holds, pages=told.pages, seed=told.seed)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        print(
            name, f"{built_s:.0f} s to fill", {k: round(p95(v), 1) for k, v in report.pages.items()}
        )
        print(report.memory_kib, flush=True)
        reports.append(report)
    told.out.write_text("\n".join(written(reports, told)) + "\n", encoding="utf-8")
    sys.exit(0)


if __name__ == "__main__":
    main()
