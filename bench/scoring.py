"""What is counted about answers to labelled messages."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from corpus import Corpus

MIN_PROBABILITY = 0.5
MIN_MARGIN = 0.05


@dataclass(frozen=True)
class Score:
    """One corpus, scored; shares in 0..1, None where there is nothing to count."""

    top1: float
    """Of messages that belong to an agent: the best agent is the right one."""
    auroc: float | None
    """Of telling messages of nobody from the others, by the probability of none."""
    calibration: float
    """Expected calibration error of the probability stated, 15 bins."""
    precision: float | None
    """Of the messages routed at the default thresholds."""
    coverage: float
    """Share of the messages that belong to an agent and are routed at those thresholds."""
    by_language: dict[str, float]
    """Top-1 per language."""


def score(corpus: Corpus, fit: np.ndarray) -> Score:
    """Score answers.

    Parameters
    ----------
    fit
        One row per message, one column per agent; the last column is none.
    """
    gold = corpus.gold()
    owned = gold >= 0
    best = fit[:, :-1].argmax(1)
    right = best == gold
    ordered = np.sort(fit, axis=1)
    sure = (ordered[:, -1] >= MIN_PROBABILITY) & (ordered[:, -1] - ordered[:, -2] >= MIN_MARGIN)
    routed = sure & (fit.argmax(1) < fit.shape[1] - 1)
    stated = np.where(routed, fit.max(1), fit[:, -1])
    holds = np.where(routed, right, ~owned)
    languages = defaultdict(list)
    for row, is_right in zip(corpus.rows, right, strict=True):
        if row.language is not None:
            languages[row.language].append(bool(is_right))
    return Score(
        float(right[owned].mean()),
        _auroc(fit[~owned, -1], fit[owned, -1]),
        _calibration(stated, holds),
        float(right[routed].mean()) if routed.any() else None,
        float(routed[owned].mean()),
        {name: sum(found) / len(found) for name, found in sorted(languages.items())},
    )


def row(name: str, found: Score) -> str:
    """Write a score as a line of a table."""
    cells = [found.top1, found.auroc, found.calibration, found.precision, found.coverage]
    return f"| {name} | {' | '.join('-' if c is None else f'{c:.3f}' for c in cells)} |"


HEADER = (
    "| | top-1 | OOS AUROC | calibration error | routed precision | in-scope share routed |\n"
    "| --- | --- | --- | --- | --- | --- |"
)


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which this share of the values lies."""
    return sorted(values)[min(len(values) - 1, math.floor(share * len(values)))]


def _auroc(higher: np.ndarray, lower: np.ndarray) -> float | None:
    if not len(higher) or not len(lower):
        return None
    over = (higher[:, None] > lower).mean() + (higher[:, None] == lower).mean() / 2
    return float(over)


def _calibration(stated: np.ndarray, holds: np.ndarray, bins: int = 15) -> float:
    places = np.clip(np.ceil(stated * bins).astype(int) - 1, 0, bins - 1)
    off = [abs(float(stated[places == b].sum() - holds[places == b].sum())) for b in range(bins)]
    return sum(off) / len(stated)
