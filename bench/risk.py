"""Score the risk rules and the local model's risk answer on the development files.

    python bench/risk.py --data DIR            print the table and write bench/results/risk.*
    python bench/risk.py --data DIR --no-write only print

The judged tier is what a user would see: the higher one of the floor and the most probable tier of
the local model's answer. Where DIR holds risk_baseline.py, it is scored and timed beside ours.
The held-out figures of the classifier are printed by fit_risk.py --check.
"""

import argparse
import datetime
import importlib.util
import json
import platform
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from risk_reliability import HEAD, reliability
from risk_rows import TIERS, Row, digests, further_rows, language_rows, risk_rows

from clawmarshal.router.models.encoder import UseEncoder
from clawmarshal.router.models.risk import RiskClassifier, risk_answer, shipped_head
from clawmarshal.router.risk import risk_floor

RESULTS = Path(__file__).parent / "results"
MIB = 1024 * 1024
Tiers = dict[str, str]


def ours(rows: Sequence[Row], encoder: UseEncoder | None) -> Tiers:
    """Judge every row, with the classifier where there is an encoder."""
    classifier = RiskClassifier(shipped_head())
    judged = {}
    for row in rows:
        floor = risk_floor(row.text)
        vector = (lambda part: encoder.encode([part])[0]) if encoder is not None else None
        answer = risk_answer(row.text, floor, classifier=classifier, vector=vector)
        judged[row.id] = max(floor.tier, max(answer, key=lambda t: answer[t]), key=TIERS.index)
    return {name: str(tier) for name, tier in judged.items()}


def figures(rows: Sequence[Row], judged: Tiers) -> dict[str, float]:
    """Measure what APPROACH's acceptance table names, on rows of risk.dev.jsonl."""
    strict = [(row.tiers[0], judged[row.id]) for row in rows if len(row.tiers) == 1]
    made = {"strict accuracy": _mean(a == b for a, b in strict)}
    made["macro-F1"] = float(np.mean([_f1(strict, tier) for tier in TIERS]))
    high = [row for row in rows if judged[row.id] == "high"]
    made["high precision"] = _mean("high" in row.tiers for row in high)
    made["high recall"] = _mean(judged[r.id] == "high" for r in rows if r.tiers == ("high",))
    made["false high"] = _mean(judged[r.id] == "high" for r in rows if "high" not in r.tiers)
    made["medium+ recall, operational"] = _mean(
        judged[row.id] != "low" for row in rows if row.is_operational
    )
    made["low called medium or high"] = _mean(
        judged[row.id] != "low" for row in rows if row.tiers == ("low",)
    )
    return made


def _f1(pairs: Sequence[tuple[str, str]], tier: str) -> float:
    right = sum(a == b == tier for a, b in pairs)
    return 2 * right / max(1, sum(a == tier for a, _ in pairs) + sum(b == tier for _, b in pairs))


def _mean(hits: Iterable[bool]) -> float:
    values = list(hits)
    return float(np.mean(values)) if values else float("nan")


def baseline(folder: Path) -> Callable[[str], str] | None:
    """Load the measured baseline, where the data folder has it."""
    path = folder / "risk_baseline.py"
    if not path.exists():
        return None
    spec = importlib.util.spec_from_file_location("risk_baseline", path)
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return lambda text: str(module.triage(text)[0])


def per_slice(rows: Sequence[Row], judged: Mapping[str, Tiers]) -> list[list[str]]:
    """Give one line per slice: accepted share and high share of each judge."""
    lines = []
    for name in sorted({row.slice for row in rows}):
        part = [row for row in rows if row.slice == name]
        line = [name, str(len(part))]
        for tiers in judged.values():
            accepted = _mean(tiers[row.id] in row.tiers for row in part)
            raised = _mean(tiers[row.id] != "low" for row in part)
            line.append(f"{accepted:.3f} ({raised:.2f} / {_high(part, tiers):.2f})")
        lines.append(line)
    return lines


def _high(part: Sequence[Row], tiers: Tiers) -> float:
    return _mean(tiers[row.id] == "high" for row in part)


def per_language(rows: Sequence[Row], judged: Mapping[str, Tiers]) -> list[list[str]]:
    """Give one line per language: changing requests called low, reading ones raised."""
    lines = []
    for language in sorted({row.language for row in rows}):
        part = [row for row in rows if row.language == language]
        changing = [row for row in part if row.tiers == ("medium",)]
        reading = [row for row in part if row.tiers == ("low",)]
        line = [language, f"{len(changing)} + {len(reading)}"]
        for tiers in judged.values():
            missed = _mean(tiers[row.id] == "low" for row in changing)
            raised = _mean(tiers[row.id] != "low" for row in reading)
            line.append(f"{missed:.3f} / {raised:.3f}")
        lines.append(line)
    return lines


def timed(judge: Callable[[str], object], rows: Sequence[Row], mib: float) -> dict[str, float]:
    """Time a judge on the texts of rows, and on small questions that each come close to firing."""
    near = [Row(str(i), f"how do i pay{i} the rent?", ("low",), "near") for i in range(1000)]
    return {
        "harmless messages": seconds_per_mib(judge, rows, mib),
        "near misses": seconds_per_mib(judge, near, mib),
    }


def seconds_per_mib(judge: Callable[[str], object], rows: Sequence[Row], mib: float) -> float:
    """Time a judge on one text, numbered so that no two sentences are alike; CPU seconds."""
    parts, size, turn = [], 0, 0
    while size < mib * MIB:
        turn += 1
        for row in rows:
            parts.append(f"{turn} {row.text}.")
            size += len(parts[-1].encode()) + 1
    text = "\n".join(parts).encode()[: int(mib * MIB)].decode(errors="ignore")
    started = time.process_time()
    judge(text)
    return (time.process_time() - started) / mib


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Write a Markdown table."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def report(folder: Path) -> tuple[str, dict[str, object]]:
    """Score everything; give the page and the numbers."""
    rows, further, others = risk_rows(folder), further_rows(folder), language_rows(folder)
    every = [*rows, *further, *others]
    encoder = UseEncoder()
    judged = {"rules": ours(every, None), "rules + encoder": ours(every, encoder)}
    harmless = [row for row in rows if row.tiers == ("low",)]
    speed = {"rules": timed(lambda text: risk_floor(text, budget=10**9), harmless, 4)}
    if (triage := baseline(folder)) is not None:
        judged["baseline"] = {row.id: triage(row.text) for row in every}
        speed["baseline"] = timed(triage, harmless, 1)
    main = {name: figures(rows, tiers) for name, tiers in judged.items()}
    more = {name: figures(further, tiers) for name, tiers in judged.items()}
    names = list(judged)
    lines = [[m, *(f"{main[n][m]:.3f}" for n in names)] for m in main[names[0]]]
    extra = [[m, *(f"{more[n][m]:.3f}" for n in names)] for m in more[names[0]]]
    meant, distances = reliability(every, encoder)
    page = "\n\n".join(
        [
            "# Risk",
            f"`python bench/risk.py --data DIR`, {_today()}, {_machine()}.",
            "The rules were tuned on these files: other messages score lower. The encoder's"
            " column is in-sample too; held-out figures come from `fit_risk.py --check`.",
            f"risk.dev, {len(rows)} rows:",
            table(["", *names], lines),
            f"CLINC messages labelled by intent, {len(further)} rows that are not in risk.dev:",
            table(["", *names], extra),
            "Per slice: accepted (medium or high / high):",
            table(["slice", "rows", *names], per_slice([*rows, *further], judged)),
            "Per language: changing requests called low / reading ones raised:",
            table(["language", "rows", *names], per_language(others, judged)),
            "Are the stated probabilities meant? Every row but those of content harm"
            " (xstest-unsafe), judged by rules and a classifier that was fitted without their slice"
            " or language:",
            table(HEAD, meant),
            distances,
            "CPU seconds per MiB, one thread:",
            table(
                ["", *speed],
                [[m, *(f"{speed[n][m]:.2f}" for n in speed)] for m in speed["rules"]],
            ),
        ]
    )
    numbers = {"risk.dev": main, "clinc-further": more, "seconds_per_mib": speed}
    return page + "\n", {**numbers, "machine": _machine(), "sha256": digests(folder)}


def _today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Score, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--no-write", action="store_true")
    asked = parser.parse_args(arguments)
    page, numbers = report(asked.data)
    print(page)
    if not asked.no_write:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "risk.md").write_text(page, "utf-8")
        (RESULTS / "risk.json").write_text(json.dumps(numbers, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
