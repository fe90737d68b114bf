"""Scoring: what is counted about probabilities that were stated and answers that were right."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

BINS = 15
_Z = 1.96


@dataclass(frozen=True, slots=True)
class Stated:
    """One answer: how probable it was said to be, and whether it was right."""

    probability: float
    is_right: bool


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many."""

    hits: int
    count: int
    value: float | None
    """Hits by count; None of nothing."""
    low: float | None
    """Lower end of the 95 % interval (Wilson)."""
    high: float | None


@dataclass(frozen=True, slots=True)
class Bin:
    """The answers whose stated probability lies between two bounds."""

    low: float
    """Not in the bin itself, but for the first."""
    high: float
    count: int
    stated: float | None
    """The mean probability; None in an empty bin."""
    right: float | None
    """The share that was right."""


@dataclass(frozen=True, slots=True)
class Point:
    """What would be if everything at least this probable were acted on."""

    threshold: float
    coverage: float
    """Share of everything that is acted on."""
    error: float
    """Share of what is acted on that is wrong."""


def share(hits: int, count: int) -> Share:
    """Return a share with its 95 % interval after Wilson."""
    if not count:
        return Share(hits, 0, None, None, None)
    value, square = hits / count, _Z * _Z
    scale = 1 + square / count
    centre = (value + square / (2 * count)) / scale
    half = _Z * math.sqrt(value * (1 - value) / count + square / (4 * count * count)) / scale
    return Share(hits, count, value, max(0.0, centre - half), min(1.0, centre + half))


def share_of(answers: Iterable[bool]) -> Share:
    """Return the share of what holds."""
    listed = list(answers)
    return share(sum(listed), len(listed))


def reliability(answers: Sequence[Stated], *, bins: int = BINS) -> tuple[Bin, ...]:
    """Compare in bins of equal width what was stated with what was right.

    A probability on a bound belongs to the bin below it.
    """
    groups: list[list[Stated]] = [[] for _ in range(bins)]
    for answer in answers:
        place = math.ceil(answer.probability * bins) - 1
        groups[min(bins - 1, max(0, place))].append(answer)
    return tuple(_bin(number, group, bins) for number, group in enumerate(groups))


def calibration_error(answers: Sequence[Stated], *, bins: int = BINS) -> float | None:
    """Return the expected calibration error: the mean distance of the bins, by their counts."""
    if not answers:
        return None
    found = reliability(answers, bins=bins)
    off = (
        group.count * abs(group.stated - group.right)
        for group in found
        if group.stated is not None and group.right is not None
    )
    return math.fsum(off) / len(answers)


def auroc(higher: Sequence[float], lower: Sequence[float]) -> float | None:
    """Return how often a value of the first kind is over one of the second; a tie is a half."""
    if not higher or not lower:
        return None
    kinds = sorted([(value, True) for value in higher] + [(value, False) for value in lower])
    total, start = 0.0, 0
    while start < len(kinds):
        end = start
        while end < len(kinds) and kinds[end][0] == kinds[start][0]:
            end += 1
        middle = (start + 1 + end) / 2
        total += middle * sum(is_higher for _, is_higher in kinds[start:end])
        start = end
    size = len(higher)
    return (total - size * (size + 1) / 2) / (size * len(lower))


def coverage_curve(answers: Sequence[Stated]) -> tuple[Point, ...]:
    """Return coverage and error for every threshold that makes a difference, strictest first."""
    ordered = sorted(answers, key=lambda answer: -answer.probability)
    points, hits = [], 0
    for number, answer in enumerate(ordered, start=1):
        hits += answer.is_right
        following = ordered[number].probability if number < len(ordered) else None
        if following != answer.probability:
            wrong = (number - hits) / number
            points.append(Point(answer.probability, number / len(ordered), wrong))
    return tuple(points)


def coverage_at(curve: Sequence[Point], *, precision: float) -> float:
    """Return the largest coverage whose error leaves this precision; 0 where none does."""
    most = 1 - precision + 1e-12
    return max((point.coverage for point in curve if point.error <= most), default=0.0)


def least_threshold(curve: Sequence[Point], *, precision: float) -> float | None:
    """Return the lowest threshold whose error leaves this precision; None where none does."""
    most = 1 - precision + 1e-12
    return min((point.threshold for point in curve if point.error <= most), default=None)


def quantile(values: Sequence[float], at: float) -> float | None:
    """Return the value at a place in 0..1 of the sorted values; None of nothing."""
    if not values:
        return None
    return sorted(values)[int(at * (len(values) - 1))]


def _bin(number: int, group: Sequence[Stated], bins: int) -> Bin:
    count = len(group)
    stated = math.fsum(answer.probability for answer in group) / count if count else None
    right = sum(answer.is_right for answer in group) / count if count else None
    return Bin(number / bins, (number + 1) / bins, count, stated, right)
