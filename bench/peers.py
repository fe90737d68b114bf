"""Our model and semantic-router on the same encoder, messages, seed and scorer, in one run.

python -m venv .venv-peers
.venv-peers/bin/pip install --require-hashes -r bench/requirements-peers.txt
.venv-peers/bin/pip install --no-deps --no-build-isolation -e .
.venv-peers/bin/python bench/peers.py --data DIR      writes bench/results/peers.md
"""

import argparse
import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from statistics import median

import numpy as np
from corpus import Corpus, Labelled, Tabulator, default_encoder, scored
from fit_head import SEED, Study
from peer_semantic_router import PLAIN, SHOWN, Agent, Setting, fit, router, tops
from routing import SHOTS, benches, left_out, machine, many
from scoring import Answers, at_defaults, calibration, quantile, score_answers

from clawmarshal.roster.agent import AgentSpec
from clawmarshal.router.models.choose import Chooser
from clawmarshal.router.models.encoder import Encoder
from clawmarshal.router.models.fitting import Sample, fit_to, rows_of
from clawmarshal.router.models.head import Heads, shipped_heads
from clawmarshal.router.scoring import Stated, coverage_at, coverage_curve

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "peers.md"
COMMAND = (
    "env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE OPENBLAS_NUM_THREADS=1 "
    "python bench/peers.py --data DIR"
)
PRECISION = 0.9
BAR = 0.5
"""The probability that either system must state to route."""
REPEATS = 3
"""Processes per system and fleet, one system after the other; the median of them is told."""
HEADER = (
    "| | top-1 | OOS AUROC | calibration error | routed precision | in-scope share routed "
    "| could be routed 90 % right |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
)
SHORT_HEADER = (
    "| | clawmarshal, left out | semantic-router, default | its best setting | ours over it |\n"
    "| --- | ---: | ---: | ---: | ---: |"
)
OURS, THEIRS = "clawmarshal", "semantic-router"
FIT_HEADER = (
    "| | calibration error, best agent | OOS AUROC | routed precision | in-scope share routed "
    "| could be routed 90 % right |\n| --- | ---: | ---: | ---: | ---: | ---: |"
)
COST_HEADER = (
    "| agents | examples | system | CPU ms | p50 ms | p95 ms | ready s | memory MB |\n"
    "| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |"
)
READING = """## How to read it

- **Ours, left out** has seen no message of the roster that it is scored on; nor has
  semantic-router. **Ours, shipped** is the head in the package, fitted on these rosters.
- **semantic-router** is given every setting that could matter: its defaults (the mean of the hits
  among the five nearest utterances), the best hit alone (`max`), its hybrid form with its own
  TF-IDF encoder, and the agent's id in words before the description, which ours reads too. Its
  top-1 is before any threshold; its best setting is chosen by hindsight, per roster.
- Without labels semantic-router has no threshold (its guide to migrating to 1.0 says that the
  default ones were removed), so it routes every message, and its scores are cosines, not
  probabilities: no calibration error. Ours states probabilities without labels.
- **Could be routed 90 % right**: were each message sent to its best agent from some probability
  or score on, the largest share of all messages for which nine in ten are right; messages of
  nobody count as wrong. It asks for no threshold, so it compares the order alone.
- With labels: both are fitted on one half of the messages (fixed seed) and scored on the other,
  and the other way round: semantic-router by `fit` (Platt), ours by what `clawmarshal calibrate`
  does, from the head that has not seen the roster. Both then route from a stated probability of
  .5, ours with its margin of .05 too. **Calibration error, best agent** is about the probability
  that each states of its best agent being right, over all messages (15 bins). semantic-router has
  no probability of nobody: its AUROC is by one minus the probability of the best route.
- Costs: each line is the median of three processes that do nothing else, one system after the
  other on one thread; CPU is per decision and holds on a busy machine too, p50 and p95 are of
  single decisions by the clock, memory is all that the process holds. Ours reads a short message
  twice (as written and without its function words), judges remits clause by clause and answers
  the risk question too.
""".splitlines()


def agents_of(corpus: Corpus) -> list[Agent]:
    """Give the fleet as semantic-router is told of it."""
    return [Agent(a.id, a.description, a.examples) for a in corpus.agents]


def their_answers(corpus: Corpus, found: Sequence[tuple[str, float]], *, has_fit: bool) -> Answers:
    """Read what semantic-router answers; without a fit it routes all and states nothing."""
    places = {agent.id: place for place, agent in enumerate(corpus.agents)}
    best = np.array([places[name] for name, _ in found])
    top = np.array([confidence for _, confidence in found])
    routed = top >= BAR if has_fit else np.ones(len(top), bool)
    stated = np.where(routed, top, 1 - top) if has_fit else None
    return Answers(best, top, 1 - top, routed, stated)


def reach(corpus: Corpus, answers: Answers) -> float:
    """Return the share of messages that can go to their best agent with the precision kept."""
    right = answers.best == corpus.gold()
    stated = [Stated(float(p), bool(r)) for p, r in zip(answers.top, right, strict=True)]
    return coverage_at(coverage_curve(stated), precision=PRECISION)


def line(name: str, corpus: Corpus, answers: Answers) -> str:
    """Write one system's figures."""
    found = score_answers(corpus, answers)
    cells = [found.top1, found.auroc, found.calibration, found.precision, found.coverage]
    return _row(name, [*cells, reach(corpus, answers)])


def in_short(tables: Sequence[str]) -> list[str]:
    """Make the table of top-1 out of the long ones: ours left out, its default, its best."""
    lines = ["## In short: top-1", "", SHORT_HEADER]
    title, rows = "", dict[str, float]()
    for told in [*tables, "****"]:
        if told.startswith("**") and rows:
            theirs = {name: top1 for name, top1 in rows.items() if not name.startswith(OURS)}
            best = max(theirs, key=lambda name: theirs[name])
            ours, first = rows[f"{OURS}, left out"], next(iter(theirs.values()))
            lines.append(
                f"| {title} | {ours:.3f} | {first:.3f} | {theirs[best]:.3f} ({best}) "
                f"| {ours - theirs[best]:+.3f} |"
            )
            rows = {}
        if told.startswith("**"):
            title = told.strip("*")
        elif told.startswith((f"| {OURS}", f"| {THEIRS}")):
            name, top1 = told.strip("| ").split(" | ")[:2]
            rows[name.removeprefix(f"{THEIRS}, ")] = float(top1)
    return lines


def fit_line(name: str, corpus: Corpus, answers: Answers) -> str:
    """Write one system's figures after its fit."""
    found = score_answers(corpus, answers)
    off = calibration(answers.top, answers.best == corpus.gold())
    return _row(name, [off, found.auroc, found.precision, found.coverage, reach(corpus, answers)])


def without_labels(study: Study, encoder: Encoder, heads_for: Callable[[str], Heads]) -> list[str]:
    """Make the tables of both systems as they come."""
    lines, shipped = ["## Without labels of the fleet"], shipped_heads()
    for count, title in SHOTS.items():
        for corpus in benches(study, count):
            lines += ["", f"**{corpus.name}, {title}**", "", HEADER]
            for name, heads in (("left out", heads_for(corpus.name)), ("shipped", shipped)):
                made = at_defaults(scored(heads, encoder, corpus))
                lines.append(line(f"{OURS}, {name}", corpus, made))
            for setting in SHOWN if count else PLAIN:
                made = router(setting, encoder, agents_of(corpus))
                found = tops(made, [row.text for row in corpus.rows])
                answers = their_answers(corpus, found, has_fit=False)
                lines.append(line(f"{THEIRS}, {setting.name}", corpus, answers))
    return lines


def with_labels(study: Study, encoder: Encoder, heads_for: Callable[[str], Heads]) -> list[str]:
    """Make the tables of both systems fitted on half of the messages."""
    lines = ["## With labels of the fleet"]
    for count, title in SHOTS.items():
        for corpus in benches(study, count):
            lines += ["", f"**{corpus.name}, {title}**", "", FIT_HEADER]
            halves = _halves(corpus)
            fitted = our_fit(corpus, heads_for(corpus.name), encoder, halves)
            lines.append(fit_line(OURS, corpus, at_defaults(fitted)))
            for setting in SHOWN if count else PLAIN:
                answers = their_fit(corpus, setting, encoder, halves)
                lines.append(fit_line(f"{THEIRS}, {setting.name}", corpus, answers))
    return lines


def our_fit(
    corpus: Corpus, heads: Heads, encoder: Encoder, halves: Sequence[np.ndarray]
) -> np.ndarray:
    """Answer each half with a head fitted to the other one."""
    answers = np.zeros((len(corpus.rows), len(corpus.agents) + 1))
    for held, seen in (halves, halves[::-1]):
        samples = [
            Sample(row.text, corpus.agents, None if row.agent not in ids else row.agent)
            for ids in [{agent.id for agent in corpus.agents}]
            for row in (corpus.rows[i] for i in seen)
        ]
        rows, start = rows_of(Chooser(heads, encoder), samples)
        head = fit_to(rows, start, state=lambda head, row: (Stated(0.0, False), None)).head
        kind = next(name for name, known in heads.by_name.items() if known is start)
        made = replace(heads, by_name={kind: head})
        answers[held] = scored(made, encoder, _part(corpus, held))
    return answers


def their_fit(
    corpus: Corpus, setting: Setting, encoder: Encoder, halves: Sequence[np.ndarray]
) -> Answers:
    """Answer each half with a router fitted to the other one."""
    ids = {agent.id for agent in corpus.agents}
    found: list[tuple[str, float]] = [("", 0.0)] * len(corpus.rows)
    for held, seen in (halves, halves[::-1]):
        made = router(setting, encoder, agents_of(corpus))
        labelled = [corpus.rows[i] for i in seen]
        fit(made, {row.text: row.agent if row.agent in ids else None for row in labelled})
        answers = tops(made, [corpus.rows[i].text for i in held])
        for i, answer in zip(held, answers, strict=True):
            found[i] = answer
    return their_answers(corpus, found, has_fit=True)


def costs(study: Study) -> list[str]:
    """Measure both systems with small and large fleets, each in processes of its own."""
    texts = [row.text for row in study.corpora["clinc10", 0].rows[::8]]
    load = f"Load of the machine before: {os.getloadavg()[0]:.1f} over {os.cpu_count()} cores."
    lines = ["## Costs", "", load, "", COST_HEADER]
    for count in SHOTS:
        small = study.corpora["clinc10", count].agents
        large = study.corpora["banking77", count].agents
        for agents in (small, large, many(large)):
            runs = _runs(agents, texts)
            for name, found in runs.items():
                lines.append(_cost_line(len(agents), count, name, found))
    return lines


def _runs(
    agents: Sequence[AgentSpec], texts: Sequence[str]
) -> Mapping[str, list[dict[str, object]]]:
    told = [{"id": a.id, "description": a.description, "examples": [*a.examples]} for a in agents]
    fleet = json.dumps({"agents": told, "texts": texts})
    runs: dict[str, list[dict[str, object]]] = {"ours": [], "semantic-router": []}
    for _ in range(REPEATS):
        for system, found in runs.items():
            ended = subprocess.run(
                [sys.executable, HERE / "peer_costs.py", system],
                input=fleet,
                stdout=subprocess.PIPE,
                check=True,
                text=True,
            )
            found.append(json.loads(ended.stdout.splitlines()[-1]))
    return runs


def _cost_line(agents: int, count: int, name: str, found: Sequence[Mapping[str, object]]) -> str:
    taken = [one["taken_ms"] for one in found]
    cells = [median(one["cpu_ms"] for one in found)]
    cells += [median(quantile(each, share) for each in taken) for share in (0.5, 0.95)]
    ready = median(one["ready_s"] for one in found)
    memory = median(one["memory_mb"] for one in found)
    told = " | ".join(f"{cell:.1f}" for cell in cells)
    return f"| {agents:,} | {count} | {name} | {told} | {ready:.1f} | {memory:.0f} |"


def _halves(corpus: Corpus) -> list[np.ndarray]:
    """Draw two halves; equal texts are on one side."""
    texts = list(dict.fromkeys(row.text for row in corpus.rows))
    order = np.random.default_rng(SEED).permutation(len(texts))
    first = {texts[i] for i in order[: len(texts) // 2]}
    is_first = np.array([row.text in first for row in corpus.rows])
    return [np.flatnonzero(is_first), np.flatnonzero(~is_first)]


def _part(corpus: Corpus, places: np.ndarray) -> Corpus:
    rows: tuple[Labelled, ...] = tuple(corpus.rows[i] for i in places)
    return Corpus(corpus.name, corpus.agents, rows)


def _row(name: str, cells: Sequence[float | None]) -> str:
    return f"| {name} | {' | '.join('-' if c is None else f'{c:.3f}' for c in cells)} |"


def _write(path: Path, lines: Sequence[str]) -> None:
    path.write_text("\n".join(lines) + "\n", "utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FILE")
    asked = parser.parse_args(arguments)
    logging.getLogger("semantic_router").setLevel(logging.ERROR)
    encoder = default_encoder()
    study = Study(asked.data, Tabulator(encoder))
    parts = [
        "# Beside semantic-router, with the same encoder",
        "",
        f"Machine: {machine()}. semantic-router {version('semantic-router')}, {encoder.name}.",
        "",
        f"`{COMMAND}`, in an environment of `bench/requirements-peers.txt`.",
    ]
    heads_for = left_out(study)
    without = without_labels(study, encoder, heads_for)
    parts += ["", *in_short(without), "", *without, "", *with_labels(study, encoder, heads_for)]
    _write(asked.out, parts)  # what stands is kept where the long part after it is stopped
    _write(asked.out, [*parts, "", *costs(study), "", *READING])
    print(asked.out.read_text("utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
