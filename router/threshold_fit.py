"""Threshold fit: labelled messages and any model -> the least probability that may be acted on."""

import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from clawmarshal.errors import MessageError
from clawmarshal.roster.roster import Roster
from clawmarshal.router.asking import ask
from clawmarshal.router.ballot import NONE_OF_THESE, fleet_ballot
from clawmarshal.router.decision import MODEL_MISMATCH, Decision, DecisionModel
from clawmarshal.router.distribution import FUZZ
from clawmarshal.router.evaluation import NOBODY, Row
from clawmarshal.router.kept_precision import MIN_ROUTED
from clawmarshal.router.labels import Label
from clawmarshal.router.ledger.records import HoldRecord, RouteRecord
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.scoring import Stated, coverage_curve, least_threshold, share_of
from clawmarshal.router.target import best_agent, prefers_none

MIN_ROWS = 50
FOLDS = 5


@dataclass(frozen=True, slots=True)
class Labelled:
    """One message, and whose it is."""

    message: InboundMessage
    agent: str
    """``none`` for nobody."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One labelled message that a model answered."""

    agent: str
    top: str
    """The best real agent, or ``none`` where nobody is more probable."""
    probability: float
    """Of the best real agent."""
    fold: int
    """Equal texts are in one fold."""

    @property
    def stated(self) -> Stated:
        """What is stated of the best agent, and whether it is right."""
        return Stated(self.probability, self.top == self.agent)


@dataclass(frozen=True, slots=True)
class ThresholdFit:
    """What thresholds come to with one model."""

    model: str
    """The ids that answered; the threshold holds for nobody else."""
    rows: int
    """Labelled messages with a usable answer."""
    nobody: int
    """Of them, messages of nobody."""
    errors: Mapping[str, int]
    """Messages without a usable answer, by code."""
    right: float
    """Share whose best answer, an agent or nobody, is right."""
    precision: float
    """What the threshold is suggested for."""
    min_probability: float | None
    """The lowest threshold that keeps the precision on all rows; None for none."""
    held_out_precision: float | None
    """Of what is routed in each fold by the threshold of the others; None where nothing is."""
    held_out_coverage: float
    """Share of all messages that is routed so."""


def check_count(count: int) -> None:
    """Refuse to fit to too few.

    Raises
    ------
    MessageError
        ``too-few-labels``.
    """
    if count < MIN_ROWS:
        raise MessageError(
            f"{count} labelled messages can be used and {MIN_ROWS} are needed: with fewer, what is "
            "fitted to them is further off than what it would mend",
            code="too-few-labels",
        )


def labelled_rows(
    rows: Iterable[Row], labels: Iterable[Label], roster: Roster
) -> tuple[Labelled, ...]:
    """Pair texts with their labels; what no message may hold, or is nobody's word, is left out."""
    by_id = {label.id: label.agent for label in labels}
    found = []
    for row in rows:
        agent = by_id.get(row.id)
        if agent is None or (agent != NOBODY and agent not in roster):
            continue
        try:
            found.append(Labelled(InboundMessage(row.text), agent))
        except MessageError:
            continue
    return tuple(found)


def labelled_reviews(
    reviews: Iterable[tuple[HoldRecord, RouteRecord]], roster: Roster
) -> tuple[Labelled, ...]:
    """Take approvals as labels, as `clawmarshal.router.calibration.samples_of_reviews` does."""
    return tuple(
        Labelled(route.message, hold.agent)
        for hold, route in reviews
        if hold.decision == "approve"
        and hold.agent is not None
        and hold.agent in {agent.id for agent in fleet_ballot(roster, route.message).agents}
    )


async def fit_threshold(
    model: DecisionModel,
    roster: Roster,
    *,
    labelled: Sequence[Labelled],
    precision: float = 0.9,
    deadline_s: float = 60.0,
    step: Callable[[int], None] = lambda _: None,
) -> ThresholdFit:
    """Ask a model about labelled messages, and find the threshold that keeps a precision.

    A model of another hand has no weights that could be fitted: its probabilities are taken as
    they are, and only where they may be acted on is found out.

    Parameters
    ----------
    labelled
        At least `MIN_ROWS` that get a usable answer.
    precision
        Share of routed messages that the suggested threshold keeps right. 0..1.
    deadline_s
        Seconds for one message.
    step
        Told how many messages are done.

    Raises
    ------
    MessageError
        ``too-few-labels``, with the codes of what was not answered.
    """
    check_count(len(labelled))
    found, models, errors = [], set(), Counter[str]()
    async for one, answer in _answers(model, roster, labelled, deadline_s, step):
        if isinstance(answer, str):
            errors[answer] += 1
            continue
        found.append(_asked(one, answer))
        models.add(answer.model)
    if len(found) < MIN_ROWS:
        told = ", ".join(f"{code} {count}" for code, count in errors.most_common())
        raise MessageError(
            f"{len(found)} of {len(labelled)} labelled messages got a usable answer and {MIN_ROWS} "
            f"are needed ({told})",
            code="too-few-labels",
        )
    return _fit(found, precision, model=", ".join(sorted(models)), errors=dict(errors))


async def _answers(
    model: DecisionModel,
    roster: Roster,
    labelled: Sequence[Labelled],
    deadline_s: float,
    step: Callable[[int], None],
) -> AsyncIterator[tuple[Labelled, Decision | str]]:
    for number, one in enumerate(labelled, start=1):
        ballot = fleet_ballot(roster, one.message)
        answer = await ask(model, ballot, one.message, deadline_s=deadline_s)
        step(number)
        yield one, _usable(answer) if isinstance(answer, Decision) else answer.code


def _usable(decision: Decision) -> Decision | str:
    if decision.agent.is_coarse:
        return "coarse"
    return MODEL_MISMATCH if MODEL_MISMATCH in decision.notes else decision


def _asked(one: Labelled, decision: Decision) -> Asked:
    best = best_agent(decision)
    top = NOBODY if best is None or prefers_none(decision) else best
    digest = hashlib.sha256(" ".join(one.message.text.casefold().split()).encode()).digest()
    probability = decision.agent.probabilities[best or NONE_OF_THESE]
    return Asked(one.agent, top, probability, digest[0] % FOLDS)


def _fit(
    found: Sequence[Asked], precision: float, *, model: str, errors: Mapping[str, int]
) -> ThresholdFit:
    routed = [one for fold in range(FOLDS) for one in _held_out(found, fold, precision)]
    least = _least(found, precision)
    return ThresholdFit(
        model=model,
        rows=len(found),
        nobody=sum(one.agent == NOBODY for one in found),
        errors=errors,
        right=round(share_of(one.top == one.agent for one in found).value or 0.0, 4),
        precision=precision,
        min_probability=None if least is None else round(least - 5e-5, 4),
        held_out_precision=share_of(one.top == one.agent for one in routed).value,
        held_out_coverage=round(len(routed) / len(found), 4),
    )


def _held_out(found: Sequence[Asked], fold: int, precision: float) -> list[Asked]:
    """Return what of a fold is routed by the threshold of the other folds."""
    least = _least([one for one in found if one.fold != fold], precision)
    if least is None:
        return []
    mine = [one for one in found if one.fold == fold and one.top != NOBODY]
    return [one for one in mine if one.probability >= least - FUZZ]


def _least(found: Sequence[Asked], precision: float) -> float | None:
    tops = [one.stated for one in found if one.top != NOBODY]
    curve = [one for one in coverage_curve(tops) if one.coverage * len(tops) >= MIN_ROUTED]
    return least_threshold(curve, precision=precision)
