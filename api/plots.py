"""Plots: figures of a report -> places on a drawing; the page's template draws them."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clawmarshal.router.evaluation import NOBODY
from clawmarshal.router.report import Cell
from clawmarshal.router.scoring import Bin, Point, share

WIDTH, HEIGHT = 360.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 60.0, 14.0, 14.0, 48.0
MAX_MATRIX = 100
"""More answers than this cannot be told apart on a drawing; the list of confusions can."""
SIDES = ((8, 30.0), (MAX_MATRIX, 22.0))
"""Of one cell of a matrix of so many names at most."""
LETTER = 7.4
"""About the width of a letter of the labels."""
MAX_LETTERS = 18
"""Of a label; a tooltip has the whole name."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Dot:
    """A point, with what its tooltip says and, upright through it, its interval."""

    x: float
    y: float
    radius: float
    title: str
    low: float
    high: float
    label: str = ""
    """Written beside it."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The axes of a plot."""

    x: tuple[Tick, ...]
    y: tuple[Tick, ...]
    x_label: str
    y_label: str
    width: float = WIDTH
    height: float = HEIGHT
    left: float = LEFT
    right: float = WIDTH - RIGHT
    top: float = TOP
    bottom: float = HEIGHT - BOTTOM


@dataclass(frozen=True, slots=True)
class ReliabilityPlot:
    """What was stated against what was right."""

    frame: Frame
    dots: tuple[Dot, ...]
    line: str
    """Points of the polyline through the dots."""
    ideal: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class CoveragePlot:
    """How wrong it gets as more is acted on."""

    frame: Frame
    line: str
    marks: tuple[Dot, ...]
    """Where thresholds of interest lie."""


@dataclass(frozen=True, slots=True)
class Square:
    """A cell of a matrix."""

    x: float
    y: float
    count: int
    strength: float
    """0..1, of its row."""
    is_right: bool
    title: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """Right answers by row, given ones by column."""

    names: tuple[str, ...]
    side: float
    gutter: float
    """What the labels take, left and above."""
    size: float
    squares: tuple[Square, ...]
    lines: tuple[float, ...]


def reliability_plot(bins: Iterable[Bin]) -> ReliabilityPlot:
    """Draw the bins that hold something; the larger a dot, the more answers."""
    full = [(group, group.stated, group.right) for group in bins if group.count]
    most = max((group.count for group, _, _ in full), default=1)
    dots = [
        _bin_dot(group, stated, right, most)
        for group, stated, right in full
        if stated is not None and right is not None
    ]
    return ReliabilityPlot(
        _frame("stated probability", "share that was right"),
        tuple(dots),
        _joined((dot.x, dot.y) for dot in dots),
        (_x(0), _y(0), _x(1), _y(1)),
    )


def coverage_plot(curve: Sequence[Point], *, thresholds: Iterable[float]) -> CoveragePlot:
    """Draw error by coverage, and mark what some thresholds come to."""
    most = max((point.error for point in curve), default=0.0)
    high = min(1.0, max(0.1, math.ceil(most * 10) / 10))
    places = [(_x(point.coverage), _y(point.error, high)) for point in curve]
    marks = []
    for threshold in sorted(thresholds):
        passed = [point for point in curve if point.threshold >= threshold]
        if passed:
            last = passed[-1]
            title = (
                f"from {threshold:.2f}: {last.coverage:.0%} acted on, {last.error:.1%} of it wrong"
            )
            x, y = _x(last.coverage), _y(last.error, high)
            marks.append(Dot(round(x, 1), round(y, 1), 5.0, title, y, y, f"{threshold:.2f}"))
    frame = _frame("share acted on", "share of it that is wrong", high=high)
    return CoveragePlot(frame, _joined(places), tuple(marks))


def matrix(cells: Sequence[Cell], *, order: Sequence[str] = (NOBODY,)) -> Matrix | None:
    """Draw a confusion matrix; None where there is nothing, or too much for a drawing.

    Parameters
    ----------
    cells
        Of a confusion, an outcome or a tier.
    order
        Names that stand first, in this order. Nobody by default: most confusions are with nobody,
        and a narrow screen shows the first columns.
    """
    found = {cell.wanted for cell in cells} | {cell.given for cell in cells}
    names = [name for name in order if name in found]
    names += sorted(found.difference(order))
    if not 0 < len(names) <= MAX_MATRIX:
        return None
    gutter = min(MAX_LETTERS, max(map(len, names))) * LETTER + 10
    side = next(side for most, side in SIDES if len(names) <= most)
    rows = {name: sum(c.count for c in cells if c.wanted == name) for name in names}
    places = {name: gutter + side * number for number, name in enumerate(names)}
    squares = tuple(
        Square(
            x=places[cell.given],
            y=places[cell.wanted],
            count=cell.count,
            strength=round(0.2 + 0.8 * cell.count / rows[cell.wanted], 3),
            is_right=cell.given == cell.wanted,
            title=f"{cell.count} of {cell.wanted} went to {cell.given}",
        )
        for cell in cells
    )
    edges = tuple(gutter + side * number for number in range(len(names) + 1))
    return Matrix(tuple(names), side, gutter, edges[-1] + 2, squares, edges)


def _bin_dot(group: Bin, stated: float, right: float, most: int) -> Dot:
    spread = share(round(right * group.count), group.count)
    title = f"{group.count} answers stated {stated:.2f} and {right:.0%} of them were right"
    return Dot(
        round(_x(stated), 1),
        round(_y(right), 1),
        round(3 + 7 * math.sqrt(group.count / most), 1),
        title,
        round(_y(spread.low or 0.0), 1),
        round(_y(1.0 if spread.high is None else spread.high), 1),
    )


def _frame(x_label: str, y_label: str, *, high: float = 1.0) -> Frame:
    steps = [0, 0.25, 0.5, 0.75, 1]
    return Frame(
        tuple(Tick(_x(at), f"{at:.0%}") for at in steps),
        tuple(Tick(_y(at * high, high), f"{at * high:.0%}") for at in (0, 0.5, 1)),
        x_label,
        y_label,
    )


def _x(value: float) -> float:
    return LEFT + value * (WIDTH - LEFT - RIGHT)


def _y(value: float, high: float = 1.0) -> float:
    return HEIGHT - BOTTOM - value / high * (HEIGHT - TOP - BOTTOM)


def _joined(places: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
