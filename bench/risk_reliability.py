"""Measure whether the stated probabilities of risk are meant: a table for bench/risk.py."""

from collections.abc import Sequence

import numpy as np
from fit_risk import THRESHOLD, Table, stated
from risk_rows import TIERS, Row

from clawmarshal.router.models.encoder import UseEncoder
from clawmarshal.router.models.risk import shipped_head
from clawmarshal.router.scoring import share

AIMED_AT = "xstest-unsafe"
"""Content harm: triage of requests is not meant to catch it, and no figure here counts it."""
JUDGED = ("low", "raised", "medium", "high")
HEAD = ["judged", "rows", "stated low / medium / high", "found", "stated by fits without the slice"]
HEAD += ["judged tier accepted, 95 %"]


def reliability(rows: Sequence[Row], encoder: UseEncoder) -> tuple[list[list[str]], str]:
    """Compare what is stated per judged tier with what is found.

    The fits without the slice are refitted for every slice and language, the classifier with them:
    what they state was not measured on the rows that it is held against.

    Returns
    -------
    tuple
        The lines of a table, and one sentence with the mean distances.
    """
    table = Table([row for row in rows if row.slice != AIMED_AT], encoder)
    groups = np.where(table.slice == "xsid", table.language, table.slice)
    judged, without = _judged(table, groups), _stated_without(table, groups)
    found = np.array([_found(row, str(name)) for row, name in zip(table.rows, judged, strict=True)])
    shipped, lines, off = shipped_head().stated, [], {"shipped": 0.0, "held out": 0.0}
    for name in JUDGED:
        part = judged == name
        if not part.any():
            continue
        place = TIERS.index("medium" if name == "raised" else name)
        mean, held = found[part].mean(0), without[part].mean(0)
        off["shipped"] += part.sum() * abs(shipped[name][place] - mean[place])
        off["held out"] += part.sum() * abs(held[place] - mean[place])
        lines.append(_line(name, table, part, place, (shipped[name], mean, held)))
    count = len(table.rows)
    told = ", ".join(f"{name} {value / count:.3f}" for name, value in off.items())
    return lines, f"Mean distance of the stated probability of the judged tier: {told}."


def _judged(table: Table, groups: np.ndarray) -> np.ndarray:
    """Say how each row is judged by a classifier that was fitted without its group."""
    raised = (table.held_out(groups) >= THRESHOLD) & ~table.is_english & (table.floor == 0)
    return np.where(raised, "raised", np.array(TIERS)[table.floor])


def _stated_without(table: Table, groups: np.ndarray) -> np.ndarray:
    judged = _judged(table, groups)
    found = np.zeros((len(table.rows), len(TIERS)))
    for group in np.unique(groups):
        kept = table.part(groups != group)
        told = stated(kept, judged[groups != group] == "raised")
        for place in np.flatnonzero(groups == group):
            found[place] = told[str(judged[place])]
    return found


def _found(row: Row, name: str) -> list[float]:
    judged = "medium" if name == "raised" else name
    right = (judged,) if judged in row.tiers else row.tiers
    return [(tier in right) / len(right) for tier in TIERS]


def _line(
    name: str, table: Table, part: np.ndarray, place: int, shares: Sequence[Sequence[float]]
) -> list[str]:
    told = [" / ".join(f"{value:.3f}" for value in three) for three in shares]
    hits = sum(TIERS[place] in table.rows[number].tiers for number in np.flatnonzero(part))
    accepted = share(hits, int(part.sum()))
    interval = f"{accepted.value:.3f} ({accepted.low:.3f} to {accepted.high:.3f})"
    return [name, str(part.sum()), told[0], told[1], told[2], interval]
