"""Thresholds that keep a share of what is routed right, on answers that were held out; pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clawmarshal.router.scoring import Stated, coverage_at, coverage_curve, least_threshold

MIN_ROUTED = 20
"""A threshold is only suggested where at least so many messages would be routed by it."""
MARGINS = (0.1, 0.15, 0.2, 0.3)
"""Tried besides the one in force where they are wider: an even race is nobody's, however often the
first of two was right."""
GAIN = 0.01
"""Another margin than the one in force is for this much more coverage, and for two messages."""


@dataclass(frozen=True, slots=True)
class Sure(Stated):
    """The best agent of one message, and how far it is ahead of the runner-up."""

    margin: float


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What keeps the precision, and how much can then be routed."""

    min_probability: float | None
    """None where no threshold keeps it."""
    min_margin: float
    routed: int
    """Of the messages that were given."""


def thresholds_for(tops: Iterable[Sure], *, precision: float, margin: float) -> Thresholds:
    """Find the thresholds by which the most can be routed.

    Parameters
    ----------
    tops
        Of every message whose best agent is more probable than nobody.
    precision
        Share of the routed that is to be right. 0..1.
    margin
        The one in force; kept unless another is worth it.
    """
    listed = list(tops)
    kept = _by(listed, precision, margin)
    others = [_by(listed, precision, one) for one in MARGINS if one > margin]
    best = max([kept, *others], key=lambda one: (one.routed, -one.min_margin))
    gain = best.routed - kept.routed
    return best if gain >= max(2, GAIN * len(listed)) else kept


def _by(tops: Sequence[Sure], precision: float, margin: float) -> Thresholds:
    passing = [top for top in tops if top.margin >= margin]
    curve = [
        point
        for point in coverage_curve(passing)
        if round(point.coverage * len(passing)) >= MIN_ROUTED
    ]
    least = least_threshold(curve, precision=precision)
    routed = round(coverage_at(curve, precision=precision) * len(passing))
    return Thresholds(None if least is None else round(least - 5e-5, 4), margin, routed)
