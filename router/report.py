"""Report: predictions against labels, counted once for every way of showing it."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass

from clawmarshal.roster.agent import Risk
from clawmarshal.roster.roster import Roster
from clawmarshal.router.evaluation import NOBODY, Prediction
from clawmarshal.router.flip_report import FlipReport
from clawmarshal.router.labels import Label
from clawmarshal.router.scoring import (
    Bin,
    Point,
    Share,
    Stated,
    auroc,
    calibration_error,
    coverage_at,
    coverage_curve,
    quantile,
    reliability,
    share,
    share_of,
)
from clawmarshal.router.thresholds import Policy

PRECISIONS = (0.90, 0.95)
UNSTATED = "?"


@dataclass(frozen=True, slots=True)
class Cell:
    """How often one answer was given where another is right."""

    wanted: str
    given: str
    count: int


@dataclass(frozen=True, slots=True)
class GroupLine:
    """The messages of one agent, or of one language."""

    name: str
    count: int
    """Labelled messages that belong to an agent."""
    top1: Share
    """The best agent is the right one, whether it gets the message or not."""
    routed: Share
    """Gates 7 and 8 leave an agent."""
    precision: Share
    """Of an agent: what was given to it is its own. Of a language: what was routed is right."""
    taken_by: str | None = None
    """Of an agent: which other one is most often best for its messages."""


@dataclass(frozen=True, slots=True)
class RiskReport:
    """Tiers against labels."""

    accepted: Share
    """The tier is among those labelled."""
    high_found: Share
    """Of what is labelled high alone."""
    false_high: Share
    """Of what is not labelled high."""
    calibration_error: float | None
    """Of the stated probability of the tier; it is right where the tier is accepted."""
    cells: tuple[Cell, ...]
    """Rows with one labelled tier."""


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a report shows; no message text."""

    model: str
    roster_digest: str
    agents: int
    min_probability: float
    min_margin: float
    rows: int
    labelled: int
    """Rows whose label names an agent or nobody; what follows is about them."""
    top1: Share
    """Forced choice: of messages that belong to an agent, the best agent is the right one."""
    right: Share
    """The answer (an agent, or nobody) is the right one."""
    in_scope_routed: Share
    """Of messages that belong to an agent, those that gates 7 and 8 leave one."""
    routed_precision: Share
    """Of the routed messages, the right agent has it."""
    nobody_found: Share
    """Of messages that belong to nobody, those that are not routed."""
    oos_auroc: float | None
    """How well the probability of ``none_of_these`` tells them from the others."""
    calibration_error: float | None
    reliability: tuple[Bin, ...]
    coverage: tuple[Point, ...]
    """Were every message sent to its best agent from a threshold on."""
    coverage_at: dict[str, float]
    latency_p50_ms: float | None
    latency_p95_ms: float | None
    errors: dict[str, int]
    """Codes of unusable answers, all rows."""
    confusion: tuple[Cell, ...]
    """Right agent against answer given."""
    by_agent: tuple[GroupLine, ...]
    by_language: tuple[GroupLine, ...]
    """Empty where no row names its language."""
    risk: RiskReport | None
    outcome_right: Share
    """Outcome and, of a hold, reason are those labelled."""
    outcomes: tuple[Cell, ...]
    misses: tuple[dict[str, object], ...]
    """Ids of the messages that another agent, or none, got; surest first."""
    attacks: tuple[FlipReport, ...] = ()
    """What the corpus of attacks changes, per model; empty where it was not tried."""

    def as_json(self) -> dict[str, object]:
        """Return JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Pair:
    label: Label
    found: Prediction

    @property
    def is_owned(self) -> bool:
        return self.label.agent != NOBODY

    @property
    def is_routed(self) -> bool:
        return self.found.agent != NOBODY

    @property
    def is_right(self) -> bool:
        return self.found.agent == self.label.agent

    @property
    def is_top_right(self) -> bool:
        return self.is_owned and self.found.top == self.label.agent


def report_of(
    predictions: Sequence[Prediction],
    labels: Iterable[Label],
    *,
    roster: Roster,
    model: str,
    policy: Policy | None = None,
) -> Report:
    """Count predictions against labels.

    Parameters
    ----------
    predictions
        One per row, of `predict`.
    labels
        By the same ids; rows that have no label count in `Report.rows` alone.
    roster
        The fleet that was asked about.
    model
        Who answered.
    policy
        Whose thresholds were used; the defaults where None.
    """
    by_id = {label.id: label for label in labels}
    told = [_Pair(by_id[found.id], found) for found in predictions if found.id in by_id]
    pairs = [pair for pair in told if pair.label.agent is not None]
    owned = [pair for pair in pairs if pair.is_owned]
    stated = [Stated(pair.found.confidence, pair.is_right) for pair in pairs]
    tops = [Stated(pair.found.top_probability, pair.is_top_right) for pair in pairs]
    curve, thresholds = coverage_curve(tops), policy or Policy()
    delays = [found.latency_ms for found in predictions]
    judged = [pair for pair in told if pair.label.outcome is not None]
    return Report(
        model=model,
        roster_digest=roster.digest,
        agents=len(roster),
        min_probability=thresholds.min_probability,
        min_margin=thresholds.min_margin,
        rows=len(predictions),
        labelled=len(pairs),
        top1=share_of(pair.is_top_right for pair in owned),
        right=share_of(pair.is_right for pair in pairs),
        in_scope_routed=share_of(pair.is_routed for pair in owned),
        routed_precision=share_of(pair.is_right for pair in pairs if pair.is_routed),
        nobody_found=share_of(not pair.is_routed for pair in pairs if not pair.is_owned),
        oos_auroc=_oos_auroc(pairs),
        calibration_error=calibration_error(stated),
        reliability=reliability(stated),
        coverage=curve,
        coverage_at={f"{at:.2f}": coverage_at(curve, precision=at) for at in PRECISIONS},
        latency_p50_ms=quantile(delays, 0.5),
        latency_p95_ms=quantile(delays, 0.95),
        errors=dict(Counter(found.error for found in predictions if found.error)),
        confusion=_cells((str(pair.label.agent), pair.found.agent) for pair in pairs),
        by_agent=_by_agent(pairs),
        by_language=_by_language(owned),
        risk=_risk(told),
        outcome_right=share_of(_wanted(pair) == _given(pair) for pair in judged),
        outcomes=_cells((_wanted(pair), _given(pair)) for pair in judged),
        misses=_misses(pairs),
    )


def _oos_auroc(pairs: Sequence[_Pair]) -> float | None:
    none = [(pair.is_owned, 1.0 if (p := pair.found.p_none) is None else p) for pair in pairs]
    return auroc([p for owned, p in none if not owned], [p for owned, p in none if owned])


def _cells(answers: Iterable[tuple[str, str]]) -> tuple[Cell, ...]:
    counted = sorted(Counter(answers).items())
    return tuple(Cell(wanted, given, count) for (wanted, given), count in counted)


def _by_agent(pairs: Sequence[_Pair]) -> tuple[GroupLine, ...]:
    given: defaultdict[str, list[bool]] = defaultdict(list)
    for pair in pairs:
        if pair.is_routed:
            given[pair.found.agent].append(pair.is_right)
    own = _groups([pair for pair in pairs if pair.is_owned], lambda pair: str(pair.label.agent))
    return tuple(
        _line(name, own.get(name, []), share_of(given.get(name, [])), rival=True)
        for name in sorted(own.keys() | given.keys())
    )


def _by_language(owned: Sequence[_Pair]) -> tuple[GroupLine, ...]:
    if not any(pair.label.language for pair in owned):
        return ()
    groups = _groups(owned, lambda pair: pair.label.language or UNSTATED)
    return tuple(
        _line(name, group, share_of(pair.is_right for pair in group if pair.is_routed))
        for name, group in sorted(groups.items())
    )


def _groups(pairs: Iterable[_Pair], key: Callable[[_Pair], str]) -> dict[str, list[_Pair]]:
    groups: defaultdict[str, list[_Pair]] = defaultdict(list)
    for pair in pairs:
        groups[key(pair)].append(pair)
    return groups


def _line(name: str, group: Sequence[_Pair], precision: Share, *, rival: bool = False) -> GroupLine:
    others = Counter(pair.found.top for pair in group if not pair.is_top_right)
    return GroupLine(
        name=name,
        count=len(group),
        top1=share_of(pair.is_top_right for pair in group),
        routed=share_of(pair.is_routed for pair in group),
        precision=precision,
        taken_by=min(others, key=lambda one: (-others[one], one)) if rival and others else None,
    )


def _risk(told: Sequence[_Pair]) -> RiskReport | None:
    rows = [(pair.label.risk, pair.found.risk) for pair in told if pair.label.risk]
    if not rows:
        return None
    stated = [
        Stated(pair.found.risk_probability, pair.found.risk in pair.label.risk)
        for pair in told
        if pair.label.risk and pair.found.risk_probability is not None
    ]
    high = [tier for wanted, tier in rows if wanted == {Risk.HIGH}]
    others = [tier for wanted, tier in rows if Risk.HIGH not in wanted]
    return RiskReport(
        accepted=share_of(tier in wanted for wanted, tier in rows),
        high_found=share(sum(tier is Risk.HIGH for tier in high), len(high)),
        false_high=share(sum(tier is Risk.HIGH for tier in others), len(others)),
        calibration_error=calibration_error(stated),
        cells=_cells((str(*wanted), str(tier)) for wanted, tier in rows if len(wanted) == 1),
    )


def _wanted(pair: _Pair) -> str:
    return _outcome(pair.label.outcome, pair.label.reason)


def _given(pair: _Pair) -> str:
    return _outcome(pair.found.outcome, pair.found.reason)


def _outcome(outcome: str | None, reason: str | None) -> str:
    return ": ".join(word for word in (outcome or "no usable answer", reason) if word)


def _misses(pairs: Sequence[_Pair]) -> tuple[dict[str, object], ...]:
    wrong = sorted(
        (pair for pair in pairs if not pair.is_right), key=lambda pair: -pair.found.confidence
    )
    return tuple(
        {
            "id": pair.found.id,
            "wanted": pair.label.agent,
            "given": pair.found.agent,
            "best": pair.found.top,
            "probability": round(pair.found.top_probability, 4),
        }
        for pair in wrong
    )
