"""Score offline routing on the development files and write the table.

    python bench/routing.py --data DIR                 print and write bench/results/routing.md
    python bench/routing.py --data DIR --out FILE

Leave-one-roster-out: the head is fitted on the other rosters with the code of fit_head.py, and the
roster has no part in it. Shipped: the head in the package, which was fitted on all of them.
"""

import argparse
import asyncio
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from corpus import CLINC7_DROPS, NAMES, Corpus, Tabulator, default_encoder, scored
from fit_head import EXAMPLES, Study
from scoring import HEADER, quantile, row, score
from timing import milliseconds

from clawmarshal.roster.agent import AgentSpec
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ballot import fleet_ballot
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.encoder import Encoder
from clawmarshal.router.models.head import Heads, shipped_heads
from clawmarshal.router.models.local import LocalDecisionModel

RESULTS = Path(__file__).parent / "results" / "routing.md"
COMMAND = (
    "env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE OPENBLAS_NUM_THREADS=1 "
    "python bench/routing.py --data DIR"
)
GOALS = {
    "clinc10": {0: ".82 / .86", EXAMPLES: ".85 / .89"},
    "banking77": {0: ".58 / .64", EXAMPLES: ".76 / .80"},
    "fleet10": {0: ".69 / .75", EXAMPLES: ".86 / .90"},
    "xsid8": {0: ".78 / .82", EXAMPLES: ".84 / .88"},
}
"""What top-1 must and should reach, by roster and number of examples."""
ALONE = """
import asyncio
from clawmarshal import AgentSpec, LocalDecisionModel
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ballot import fleet_ballot
from clawmarshal.router.message import InboundMessage

def resident():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))

before, model, message = resident(), LocalDecisionModel(), InboundMessage("Where is my parcel?")
agents = AgentSpec("orders", "Tracks orders and parcels."), AgentSpec("it", "Mends laptops.")
roster = Roster(agents)
asyncio.run(model.answer(fleet_ballot(roster, message), message, deadline_s=60))
print(f"{resident() - before:.0f} MB over the {before:.0f} MB of the bare package")
model.close()
"""
SHOTS = {0: "descriptions only", EXAMPLES: "five examples per agent"}


def quality(study: Study, encoder: Encoder | None, heads_for: Callable[[str], Heads]) -> str:
    """Make the tables of one way to fit, with and without examples."""
    parts = []
    for count, title in SHOTS.items():
        lines, languages = [_with_goals(HEADER)], {}
        for corpus in benches(study, count):
            found = score(corpus, scored(heads_for(corpus.name), encoder, corpus))
            goal = GOALS.get(corpus.name, {}).get(count, "-")
            lines.append(f"{row(corpus.name, found)} {goal} |")
            languages.update(found.by_language)
        spoken = ", ".join(f"{name} {share:.3f}" for name, share in languages.items())
        parts.append(f"**{title}**\n\n" + "\n".join(lines) + f"\n\nxsid8 top-1: {spoken}")
    return "\n\n".join(parts)


def left_out(study: Study) -> Callable[[str], Heads]:
    """Return what gives the heads fitted without a corpus; each is fitted once."""
    made: dict[str, Heads] = {}

    def heads_for(name: str) -> Heads:
        held = "clinc10" if name == "clinc7" else name
        if held not in made:
            made[held] = study.heads([other for other in NAMES if other != held])
        return made[held]

    return heads_for


def speed(study: Study) -> str:
    """Measure single decisions through the public model, after load."""
    started = time.perf_counter()
    model = LocalDecisionModel()
    model.load()
    lines = [
        f"load {time.perf_counter() - started:.2f} s",
        "",
        "| agents | examples | p50 ms | p95 ms |",
        "| --- | --- | --- | --- |",
    ]
    texts = [r.text for r in study.corpora["clinc10", 0].rows[::4]]
    for count in SHOTS:
        for name in ("clinc10", "banking77"):
            agents = study.corpora[name, count].agents
            lines.append(timed(model, agents, texts, count)[0])
    agents = study.corpora["banking77", 0].agents
    _, few_ms = timed(model, agents, texts[:200], 0)
    last, many_ms = timed(model, many(agents), texts[:200], 0)
    growth = (many_ms / 1000) / (few_ms / len(agents))
    lines += [
        last,
        "",
        f"growth: one agent of 1,000 takes {growth:.2f} of what one of {len(agents)} takes "
        "(p50, one run; 1 would be linear)",
    ]
    model.close()
    return "\n".join([*lines, "", f"memory, in a process that loads and answers once: {_alone()}"])


def machine() -> str:
    """Name what the run was measured on."""
    cpu = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    return (
        f"{cpu}, {os.cpu_count()} cores (one thread used), Python {platform.python_version()}, "
        f"numpy {np.__version__}, {platform.system()}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FILE")
    asked = parser.parse_args(arguments)
    encoder = default_encoder()
    study = Study(asked.data, Tabulator(encoder))
    shipped = shipped_heads()
    without = left_out(study)
    parts = [
        f"# Offline routing\n\nMachine: {machine()}.\n\n`{COMMAND}`",
        "## Shipped head (fitted on these rosters)\n\n"
        + quality(study, encoder, lambda name: shipped),
        "## Leave one roster out\n\n" + quality(study, encoder, without),
        "## Leave one roster out, lexical features alone\n\n" + quality(study, None, without),
        "## Speed\n\n" + speed(study),
    ]
    text = "\n\n".join(parts) + "\n"
    asked.out.parent.mkdir(exist_ok=True)
    asked.out.write_text(text, "utf-8")
    print(text)
    return 0


def _with_goals(header: str) -> str:
    first, second = header.splitlines()
    return f"{first} goal for top-1: must / stretch |\n{second} --- |"


def many(agents: Sequence[AgentSpec], count: int = 1000) -> list[AgentSpec]:
    """Make a large fleet from a smaller one: the same work at several desks."""
    desks = range(1 + count // len(agents))
    made = [
        AgentSpec(f"{a.id}_{i}", f"{a.description} Desk {i}.", examples=a.examples)
        for i in desks
        for a in agents
    ]
    return made[:count]


def _alone() -> str:
    found = subprocess.run(
        [sys.executable, "-c", ALONE], capture_output=True, check=True, text=True
    )
    return found.stdout.strip()


def benches(study: Study, count: int) -> Iterator[Corpus]:
    """Yield what is scored: every roster, and clinc10 once more without some agents."""
    for name in NAMES:
        corpus = study.corpora[name, count]
        yield corpus
        if name == "clinc10":
            yield corpus.without("clinc7", CLINC7_DROPS)


def timed(
    model: LocalDecisionModel, agents: Sequence[AgentSpec], texts: Sequence[str], count: int
) -> tuple[str, float]:
    """Time single decisions; return their line of the table, and the median in ms."""
    roster = Roster(agents)

    async def decide(text: str) -> object:
        message = InboundMessage(text)
        return await model.answer(fleet_ballot(roster, message), message, deadline_s=60)

    taken = asyncio.run(milliseconds(decide, texts))
    middle, high = quantile(taken, 0.5), quantile(taken, 0.95)
    return f"| {len(agents)} | {count} | {middle:.1f} | {high:.1f} |", middle


if __name__ == "__main__":
    sys.exit(main())
