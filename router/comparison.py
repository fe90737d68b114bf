"""Comparison: two models on identical inputs, by the predictions they come to."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from clawmarshal.router.evaluation import NOBODY, Prediction
from clawmarshal.router.labels import Label
from clawmarshal.router.scoring import Share, Stated, calibration_error, quantile, share_of


@dataclass(frozen=True, slots=True)
class Flip:
    """A row that the two send elsewhere."""

    id: str | int
    first: str
    """What gates 7 and 8 leave of the first model's answer; ``none`` for nobody."""
    second: str
    wanted: str | None
    """As labelled; None where nobody said."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two models."""

    model: str
    routed: Share
    right: Share
    """Of labelled rows, the answer is the right one."""
    top1: Share
    """Of labelled rows that belong to an agent, the best agent is the right one."""
    routed_precision: Share
    calibration_error: float | None
    errors: int
    """Rows without a usable answer."""
    latency_p50_ms: float | None
    latency_p95_ms: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two models, row by row; no message text."""

    rows: int
    labelled: int
    first: Side
    second: Side
    agree: Share
    """Both give the same answer."""
    agree_top: Share
    """Both have the same best agent, whether it gets the message or not."""
    mended: int
    """Labelled rows that only the second has right."""
    broken: int
    """Labelled rows that only the first has right."""
    flips: tuple[Flip, ...]

    def as_json(self) -> dict[str, object]:
        """Return JSON values."""
        return asdict(self)


def compare(
    first: Sequence[Prediction],
    second: Sequence[Prediction],
    labels: Iterable[Label],
    *,
    names: tuple[str, str],
) -> Comparison:
    """Compare two models' predictions of the same rows in the same order.

    Parameters
    ----------
    first, second
        Of `predict`, with equal ids.
    labels
        By the same ids; may be empty.
    names
        What the models are called.
    """
    wanted = {label.id: label.agent for label in labels if label.agent is not None}
    pairs = list(zip(first, second, strict=True))
    flips = tuple(
        Flip(one.id, one.agent, other.agent, wanted.get(one.id))
        for one, other in pairs
        if one.agent != other.agent
    )
    return Comparison(
        rows=len(pairs),
        labelled=len(wanted),
        first=_side(names[0], first, wanted),
        second=_side(names[1], second, wanted),
        agree=share_of(one.agent == other.agent for one, other in pairs),
        agree_top=share_of(one.top == other.top for one, other in pairs),
        mended=sum(flip.second == flip.wanted for flip in flips),
        broken=sum(flip.first == flip.wanted for flip in flips),
        flips=flips,
    )


def _side(name: str, found: Sequence[Prediction], wanted: dict[str | int, str]) -> Side:
    told = [(one, wanted[one.id]) for one in found if one.id in wanted]
    delays = [one.latency_ms for one in found]
    return Side(
        model=name,
        routed=share_of(one.agent != NOBODY for one in found),
        right=share_of(one.agent == agent for one, agent in told),
        top1=share_of(one.top == agent for one, agent in told if agent != NOBODY),
        routed_precision=share_of(one.agent == agent for one, agent in told if one.agent != NOBODY),
        calibration_error=calibration_error(
            [Stated(one.confidence, one.agent == agent) for one, agent in told]
        ),
        errors=sum(one.error is not None for one in found),
        latency_p50_ms=quantile(delays, 0.5),
        latency_p95_ms=quantile(delays, 0.95),
    )
