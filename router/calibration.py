"""Calibration: labelled messages of a fleet -> a fitted head, a threshold, and how it did."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib import resources

from clawmarshal.errors import MessageError
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ballot import fleet_ballot
from clawmarshal.router.evaluation import NOBODY, Row
from clawmarshal.router.kept_precision import Sure, Thresholds, thresholds_for
from clawmarshal.router.labels import Label
from clawmarshal.router.ledger.records import HoldRecord, RouteRecord
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.choose import Chooser
from clawmarshal.router.models.encoder import Encoder
from clawmarshal.router.models.fitting import FOLDS, SEED, Outcome, Sample, fit_to, rows_of
from clawmarshal.router.models.fitting import Row as FittedRow
from clawmarshal.router.models.head import SHIPPED, Head, Heads, shipped_heads
from clawmarshal.router.scoring import Stated, calibration_error, share_of
from clawmarshal.router.threshold_fit import check_count
from clawmarshal.router.thresholds import Policy

SLACK = 0.01
"""A figure that moved less than this, or by a single message, has not moved."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What came of a calibration."""

    kind: str
    """Which of the heads was fitted, such as ``encoder_examples``."""
    rows: int
    nobody: int
    """Of them, messages of nobody."""
    left_out: int
    """Rows without words, about a ballot of the other kind, or `unread`."""
    unread: int
    """Rows in which the encoder knows no word."""
    strength: float
    error_before: float
    """Expected calibration error (15 bins) of the shipped head on these rows."""
    error_after: float
    """By cross-validation: of heads fitted without the row."""
    right_before: float
    """Share of answers that are right, by the shipped head."""
    right_after: float
    """By cross-validation."""
    coverage_before: float
    """Share of messages that can be routed with `precision` kept, by the shipped head."""
    coverage_after: float
    """By cross-validation."""
    precision: float
    """What the threshold is suggested for."""
    min_probability: float | None
    """The lowest threshold that keeps the precision, by cross-validation; None for none."""
    min_margin: float
    """Suggested with it: the one in force, unless another lets clearly more be routed."""
    made_nobody: bool
    """Messages of nobody were made by taking agents away, for want of labelled ones."""

    @property
    def helps(self) -> bool:
        """Tell whether the fitted head is better by one figure and worse by none."""
        return not self.losses and any(gain > self._slack for gain in self._gains.values())

    @property
    def losses(self) -> tuple[str, ...]:
        """Name what the fitted head is worse at; empty where nothing is."""
        return tuple(name for name, gain in self._gains.items() if gain < -self._slack)

    @property
    def _slack(self) -> float:
        return max(SLACK, 1 / self.rows) + 1e-9

    @property
    def _gains(self) -> Mapping[str, float]:
        return {
            "answers right": self.right_after - self.right_before,
            "share that can be routed": self.coverage_after - self.coverage_before,
            "calibration": self.error_before - self.error_after,
        }


def samples_from(
    rows: Iterable[Row], labels: Iterable[Label], roster: Roster
) -> tuple[Sample, ...]:
    """Pair the texts with their labels; rows that no message may hold are left out."""
    by_id = {label.id: label.agent for label in labels}
    found = []
    for row in rows:
        agent = by_id.get(row.id)
        if agent is None:
            continue
        try:
            message = InboundMessage(row.text)
        except MessageError:
            continue
        found.append(_sample(message, agent, roster))
    return tuple(found)


def samples_of_reviews(
    reviews: Iterable[tuple[HoldRecord, RouteRecord]], roster: Roster
) -> tuple[Sample, ...]:
    """Take approvals as labels: the agent that a person approved owns the message.

    An approval of an agent that the roster or the message's ballot has not is left out. A reject
    says that nothing should run, not whose it is, so it is no label.
    """
    found = []
    for hold, route in reviews:
        if hold.decision != "approve" or hold.agent is None or hold.agent not in roster:
            continue
        sample = _sample(route.message, hold.agent, roster)
        if hold.agent in {agent.id for agent in sample.agents}:
            found.append(sample)
    return tuple(found)


def calibrate(
    samples: Sequence[Sample],
    *,
    encoder: Encoder | None,
    heads: Heads | None = None,
    precision: float = 0.9,
    policy: Policy | None = None,
    step: Callable[[int], None] = lambda _: None,
) -> tuple[Calibration, Head]:
    """Fit the head to the samples and validate it.

    Parameters
    ----------
    samples
        At least 50 that can be used.
    encoder
        None for lexical features alone.
    heads
        What the fit starts from; the shipped ones where None.
    precision
        Share of routed messages that the suggested threshold keeps right. 0..1.
    policy
        Whose thresholds say what is routed; the defaults where None.
    step
        Told how many of `FOLDS` folds are done.

    Raises
    ------
    MessageError
        ``too-few-labels``.
    """
    usable = [sample for sample in samples if sample.agents]
    check_count(len(usable))
    heads = heads or shipped_heads()
    unread: list[None] = []
    chooser = Chooser(heads, encoder)
    rows, shipped = rows_of(chooser, usable, unread=partial(unread.append, None))
    check_count(len(rows))
    known = policy or Policy()
    outcome = fit_to(rows, shipped, state=lambda head, row: _state(head, row, known), step=step)
    kind = next(name for name, head in heads.by_name.items() if head is shipped)
    before = [top for row in rows if (top := _state(shipped, row, known)[1]) is not None]
    find = partial(thresholds_for, precision=precision, margin=known.min_margin)
    # Every top is what `_state` made.
    after = [top for top in outcome.tops if isinstance(top, Sure)]
    told = _told(outcome, rows, kind, precision, found=(find(before), find(after)))
    left_out = len(samples) - len(rows)
    return replace(told, left_out=left_out, unread=len(unread)), outcome.head


def head_document(
    calibration: Calibration,
    head: Head,
    *,
    provenance: Mapping[str, object],
    own: Heads | None = None,
) -> dict[str, object]:
    """Make the document of a ``*.head.json`` file: the shipped one with one head replaced.

    Parameters
    ----------
    provenance
        Where the labels came from; JSON values.
    own
        What was fitted for another encoder; its heads then take the place of the shipped ones.
    """
    source = resources.files("clawmarshal.router.models").joinpath(SHIPPED)
    shipped: dict[str, object] = json.loads(source.read_text("utf-8"))
    known, made = shipped["heads"], {calibration.kind: head}
    changed: dict[str, object] = {}
    if own is not None:
        made = {name: one for name, one in own.by_name.items() if name.startswith("encoder")}
        changed = {"encoder": own.encoder, "background": list(own.background)}
    weights = {
        name: {"option": dict(one.option), "none": dict(one.none)} for name, one in made.items()
    }
    stamp = hashlib.sha256(json.dumps([weights, changed], sort_keys=True).encode()).hexdigest()[:8]
    version = str(shipped["version"])
    return {
        **shipped,
        **changed,
        "version": f"{version}+{stamp}",
        "heads": {**(known if isinstance(known, dict) else {}), **weights},
        "provenance": {
            "command": "clawmarshal calibrate",
            "shipped_version": version,
            "folds": FOLDS,
            "seed": SEED,
            **asdict(calibration),
            **provenance,
        },
    }


def _sample(message: InboundMessage, agent: str, roster: Roster) -> Sample:
    ballot = fleet_ballot(roster, message)
    return Sample(message.text, ballot.agents, None if agent == NOBODY else agent)


def _state(head: Head, row: FittedRow, policy: Policy) -> tuple[Stated, Sure | None]:
    """State what gates 7 and 8 leave, and how probable the best agent is."""
    found = head.distribution(row.columns)
    best = max(range(len(found.options)), key=lambda place: found.options[place])
    probability, nobody = found.options[best], len(row.agents)
    second = max([found.none, *(p for place, p in enumerate(found.options) if place != best)])
    is_top = probability >= found.none
    is_right = row.answer == best
    top = Sure(probability, is_right, probability - second) if is_top else None
    is_sure = probability >= policy.min_probability and probability - second >= policy.min_margin
    if is_top and is_sure:
        return Stated(probability, is_right), top
    return Stated(found.none, row.answer == nobody), top


def _told(
    outcome: Outcome,
    rows: Sequence[FittedRow],
    kind: str,
    precision: float,
    *,
    found: tuple[Thresholds, Thresholds],
) -> Calibration:
    before, after = found
    return Calibration(
        kind=kind,
        rows=len(rows),
        nobody=sum(row.answer == len(row.agents) for row in rows),
        left_out=0,
        unread=0,
        strength=outcome.strength,
        error_before=round(calibration_error(outcome.before) or 0.0, 4),
        error_after=round(calibration_error(outcome.after) or 0.0, 4),
        right_before=round(share_of(one.is_right for one in outcome.before).value or 0.0, 4),
        right_after=round(share_of(one.is_right for one in outcome.after).value or 0.0, 4),
        coverage_before=round(before.routed / len(rows), 4),
        coverage_after=round(after.routed / len(rows), 4),
        precision=precision,
        min_probability=after.min_probability,
        min_margin=after.min_margin,
        made_nobody=outcome.has_made_nobody,
    )
