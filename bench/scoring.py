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
    calibration: float | None
    """Expected calibration error of the probability stated, 15 bins."""
    precision: float | None
    """Of the messages routed at the default thresholds."""
    coverage: float
    """Share of the messages that belong to an agent and are routed at those thresholds."""
    by_language: dict[str, float]
    """Top-1 per language."""


@dataclass(frozen=True)
class Answers:
    """What one system answers to every message of a corpus; one entry per message."""

    best: np.ndarray
    """Index of the best agent."""
    top: np.ndarray
    """What is stated of that agent: a probability, or a score where `stated` is None."""
    none: np.ndarray
    """The same of nobody; the more, the rather."""
    routed: np.ndarray
    """Whether the best agent gets the message."""
    stated: np.ndarray | None
    """The probability of the answer given, an agent or none; None where it has none to state."""


def score(corpus: Corpus, fit: np.ndarray) -> Score:
    """Score distributions at the default thresholds.

    Parameters
    ----------
    fit
        One row per message, one column per agent; the last column is none.
    """
    return score_answers(corpus, at_defaults(fit))


def at_defaults(fit: np.ndarray) -> Answers:
    """Read distributions as the default thresholds do; the last column is none."""
    ordered = np.sort(fit, axis=1)
    sure = (ordered[:, -1] >= MIN_PROBABILITY) & (ordered[:, -1] - ordered[:, -2] >= MIN_MARGIN)
    routed = sure & (fit.argmax(1) < fit.shape[1] - 1)
    stated = np.where(routed, fit.max(1), fit[:, -1])
    return Answers(fit[:, :-1].argmax(1), fit[:, :-1].max(1), fit[:, -1], routed, stated)


def score_answers(corpus: Corpus, answers: Answers) -> Score:
    """Score the answers of any system."""
    gold = corpus.gold()
    owned, right, routed = gold >= 0, answers.best == gold, answers.routed
    languages = defaultdict(list)
    for row, is_right in zip(corpus.rows, right, strict=True):
        if row.language is not None:
            languages[row.language].append(bool(is_right))
    stated = answers.stated
    return Score(
        float(right[owned].mean()),
        auroc(answers.none[~owned], answers.none[owned]),
        None if stated is None else calibration(stated, np.where(routed, right, ~owned)),
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


def auroc(higher: np.ndarray, lower: np.ndarray) -> float | None:
    """Return how often a higher one is over a lower one; None where there is nothing of one."""
    if not len(higher) or not len(lower):
        return None
    over = (higher[:, None] > lower).mean() + (higher[:, None] == lower).mean() / 2
    return float(over)


def calibration(stated: np.ndarray, holds: np.ndarray, bins: int = 15) -> float:
    """Return the expected calibration error of probabilities against what held."""
    places = np.clip(np.ceil(stated * bins).astype(int) - 1, 0, bins - 1)
    off = [abs(float(stated[places == b].sum() - holds[places == b].sum())) for b in range(bins)]
    return sum(off) / len(stated)
