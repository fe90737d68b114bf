"""Fit the risk classifier of the local model on the development files.

    python bench/fit_risk.py --data DIR            write router/models/risk.head.json
    python bench/fit_risk.py --data DIR --check    only print the held-out figures

A logistic regression on the encoder's vectors tells what changes something from what reads or
asks. It acts on messages that the rules call low and that are not recognisably English, and there
only raises. Held out are whole languages, and whole slices of English messages; the latter show
why English is left to the rules. The stated probabilities are the shares measured per judged tier
on the rows, met half-way with those of `PRIOR`, since the rules were tuned on these rows.
"""

import argparse
import datetime
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from risk_rows import TIERS, Row, digests, further_rows, language_rows, risk_rows

from clawmarshal.router.language import is_english_throughout
from clawmarshal.router.models.encoder import UseEncoder
from clawmarshal.router.risk import risk_floor

SHIPPED = Path(__file__).parent.parent / "router" / "models" / "risk.head.json"
THRESHOLD = 0.6
L2 = 3e-3
SCALE = 10.0
"""Vectors of length 1 are stretched, so that the penalty does not drown them."""
# Shares measured with another rule set on messages of the same kinds.
PRIOR = {
    "low": (0.939, 0.043, 0.018),
    "medium": (0.299, 0.646, 0.055),
    "high": (0.050, 0.029, 0.921),
    "raised": (0.299, 0.646, 0.055),
}


def fit(vectors: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Fit by Newton's method; the last weight is the bias, which is not penalised.

    Parameters
    ----------
    share
        Per row, how far it counts as changing something: 1, 0, or 0.5 where both are accepted.
    """
    rows = np.hstack([vectors * SCALE, np.ones((len(vectors), 1))])
    penalty = np.append(np.full(vectors.shape[1], L2 * len(rows)), 1e-9)
    weights = np.zeros(rows.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (p - share) + penalty * weights
        curve = (rows * np.maximum(p * (1 - p), 1e-6)[:, None]).T @ rows + np.diag(penalty)
        step = np.linalg.solve(curve, slope)
        weights -= step
        if np.abs(step).max() < 1e-8:
            break
    return np.append(weights[:-1] * SCALE, weights[-1])


def probability(weights: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Give the probability of medium or high per row."""
    return np.asarray(1 / (1 + np.exp(-(vectors @ weights[:-1] + weights[-1]))))


class Table:
    """The rows with their vectors and what the rules say."""

    def __init__(self, rows: Sequence[Row], encoder: UseEncoder) -> None:
        self.rows = tuple(rows)
        self.vectors = np.asarray(encoder.encode([row.text for row in rows]), np.float64)
        self.share = np.array([1 - ("low" in r.tiers) / len(r.tiers) for r in rows])
        self.floor = np.array([TIERS.index(str(risk_floor(row.text).tier)) for row in rows])
        self.is_english = np.array([is_english_throughout(row.text) for row in rows])
        self.slice = np.array([row.slice for row in rows])
        self.language = np.array([row.language for row in rows])

    def held_out(self, groups: np.ndarray) -> np.ndarray:
        """Give each row's probability by a fit without its group."""
        found = np.zeros(len(self.rows))
        for group in np.unique(groups):
            out = groups == group
            found[out] = probability(fit(self.vectors[~out], self.share[~out]), self.vectors[out])
        return found

    def part(self, kept: np.ndarray) -> "Table":
        """Return a table of some of the rows."""
        made = object.__new__(Table)
        made.rows = tuple(row for row, is_kept in zip(self.rows, kept, strict=True) if is_kept)
        for name in ("vectors", "share", "floor", "is_english", "slice", "language"):
            setattr(made, name, getattr(self, name)[kept])
        return made

    def tiers(self, raised: np.ndarray) -> np.ndarray:
        """Give the judged tier per row when `raised` rows count as medium at least."""
        return np.where(raised, np.maximum(self.floor, 1), self.floor)


def check(table: Table) -> list[str]:
    """Measure, on held-out languages and slices, what raising costs and finds."""
    lines = [
        "| held out | rows | changing called low, rules / raised | reading not low, the same |",
        "| --- | --- | --- | --- |",
    ]
    by_language = np.where(table.slice == "xsid", table.language, "en")
    raised = (table.held_out(by_language) >= THRESHOLD) & ~table.is_english
    for language in sorted(set(table.language)):
        part = (table.slice == "xsid") & (table.language == language)
        lines.append(_line(table, f"language {language}", part, raised))
    by_slice = np.where(np.isin(table.slice, ["clinc-intent", "clinc-further"]), "c", table.slice)
    p = table.held_out(by_slice) >= THRESHOLD
    for name in sorted(set(table.slice) - {"xsid"}):
        lines.append(_line(table, f"{name}, if English were raised too", table.slice == name, p))
        lines.append(
            _line(table, f"{name}, as shipped", table.slice == name, p & ~table.is_english)
        )
    return lines


def _line(table: Table, name: str, part: np.ndarray, raised: np.ndarray) -> str:
    changing = part & np.array(["low" not in row.tiers for row in table.rows])
    reading = part & np.array([row.tiers == ("low",) for row in table.rows])
    both = (table.floor, table.tiers(raised))
    missed = " / ".join(_share(tiers[changing] == 0) for tiers in both)
    alarms = " / ".join(_share(tiers[reading] > 0) for tiers in both)
    return f"| {name} | {part.sum()} | {missed} | {alarms} |"


def _share(hits: np.ndarray) -> str:
    return f"{hits.mean():.3f}" if len(hits) else "-"


def stated(table: Table, raised: np.ndarray) -> dict[str, list[float]]:
    """Measure how often each tier is right among rows judged alike, and meet the prior half-way.

    A judged tier that is accepted counts as right; otherwise the accepted ones share the row.
    Content harm (xstest-unsafe) is left out: triage of requests is not meant to catch it.
    """
    made = {}
    judged = np.where(raised & (table.floor == 0), "raised", np.array(TIERS)[table.floor])
    for name, prior in PRIOR.items():
        tier = "medium" if name == "raised" else name
        rows = [r for r, j in zip(table.rows, judged, strict=True) if j == name]
        truth = [_right(row, tier) for row in rows if row.slice != "xstest-unsafe"]
        _, medium, high = ((np.mean(truth, axis=0) + np.array(prior)) / 2).round(3).tolist()
        made[name] = [round(1 - medium - high, 3), medium, high]
    return made


def _right(row: Row, judged: str) -> list[float]:
    right = (judged,) if judged in row.tiers else row.tiers
    return [(tier in right) / len(right) for tier in TIERS]


def main(arguments: Sequence[str] | None = None) -> int:
    """Check, fit and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--out", type=Path, default=SHIPPED, metavar="FILE")
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args(arguments)
    encoder = UseEncoder()
    rows = risk_rows(asked.data) + further_rows(asked.data) + language_rows(asked.data)
    table = Table(rows, encoder)
    print("\n".join(check(table)))
    if asked.check:
        return 0
    weights = fit(table.vectors, table.share)
    by_language = np.where(table.slice == "xsid", table.language, "en")
    raised = (table.held_out(by_language) >= THRESHOLD) & ~table.is_english
    head = {
        "encoder": encoder.name,
        "threshold": THRESHOLD,
        "stated": stated(table, raised),
        "bias": round(float(weights[-1]), 4),
        "weights": [round(float(weight), 3) for weight in weights[:-1]],
        "provenance": {
            "command": "python bench/fit_risk.py --data DIR",
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "l2": L2,
            "sha256": digests(asked.data),
        },
    }
    asked.out.write_text(json.dumps(head) + "\n", "utf-8")
    print(f"wrote {asked.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
