"""Counts to places on a drawing, in units that are stretched to fit; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 100.0, 100.0
GAP = 0.22
"""Of a column's room, kept free."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a column."""

    kind: str
    y: float
    height: float
    count: int


@dataclass(frozen=True, slots=True)
class Column:
    """A column with its parts from the bottom up."""

    label: str
    x: float
    width: float
    segments: tuple[Segment, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns side by side."""

    kinds: tuple[str, ...]
    columns: tuple[Column, ...]
    most: int
    """What the full height stands for."""
    totals: Mapping[str, int]
    """Over all columns, by kind."""

    @property
    def total(self) -> int:
        """Over everything."""
        return sum(self.totals.values())


def columns(labels: Sequence[str], counts: Mapping[str, Sequence[int]]) -> Columns:
    """Stack counts.

    Parameters
    ----------
    labels
        One for each column.
    counts
        For each kind, bottom first, one count for each column.
    """
    sums = [sum(series[place] for series in counts.values()) for place in range(len(labels))]
    most = max([*sums, 1])
    room = WIDTH / max(len(labels), 1)
    drawn = tuple(
        Column(
            label,
            round(place * room + room * GAP / 2, 3),
            round(room * (1 - GAP), 3),
            _segments({kind: series[place] for kind, series in counts.items()}, most),
            sums[place],
        )
        for place, label in enumerate(labels)
    )
    totals = {kind: sum(series) for kind, series in counts.items()}
    return Columns(tuple(counts), drawn, most, totals)


def _segments(counts: Mapping[str, int], most: int) -> tuple[Segment, ...]:
    found, below = [], 0
    for kind, count in counts.items():
        if count:
            y = HEIGHT * (1 - (below + count) / most)
            found.append(Segment(kind, round(y, 3), round(HEIGHT * count / most, 3), count))
        below += count
    return tuple(found)
