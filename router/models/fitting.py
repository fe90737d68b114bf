"""Fitting a head of the local model to a fleet's own labelled messages, towards the shipped one."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from clawmarshal.errors import DecisionInvalidError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.router.models.choose import Chooser, Reading
from clawmarshal.router.models.encoder_rows import UNREAD
from clawmarshal.router.models.features import Remit, words
from clawmarshal.router.models.head import (
    ELSEWHERE,
    ELSEWHERE_WITHOUT,
    REFUSED,
    REFUSED_WEIGHT,
    Head,
    none_feature,
)
from clawmarshal.router.models.lexical import Columns
from clawmarshal.router.scoring import Stated

Numbers = NDArray[np.float64]
FOLDS = 5
INNER_FOLDS = 3
SEED = 20261130
STRENGTHS = (1.0, 0.1, 0.01, 0.001, 0.0003)
"""Of the pull towards the shipped weights, in which each is measured by its own size."""
LEAST_SIZE = 0.5
"""A shipped weight that is smaller than this is measured by this."""
FEW_NOBODY = 0.05
"""Under this share of labelled nobody, messages of nobody are made by taking agents away."""
NOBODY_SHARE = 0.12
_ABSENT = -1e9
_MOST_TUNED = 2000
_AS_GOOD = 1.005


@dataclass(frozen=True, slots=True)
class Sample:
    """One labelled message."""

    text: str
    agents: tuple[AgentSpec, ...]
    """The ballot, at least one agent."""
    agent: str | None
    """Whose it is; None for nobody."""


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled message as the head sees it."""

    columns: Columns
    agents: tuple[str, ...]
    answer: int
    """Place of the right agent; the number of agents for nobody."""
    group: str
    """Equal texts are never on both sides of a validation."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of one kind of head, as arrays; the last alternative is nobody."""

    features: Numbers
    """Rows by alternatives by weights."""
    offset: Numbers
    """Rows by alternatives; what is not fitted, and what is not there."""
    answer: NDArray[np.int64]
    weight: Numbers
    """Sums to 1."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A fit, and what validation says of it."""

    head: Head
    strength: float
    before: tuple[Stated, ...]
    """What the shipped head states of each row: best agent or nobody, as gates 7 and 8 leave it."""
    after: tuple[Stated, ...]
    """The same of heads that were fitted without the row."""
    tops: tuple[Stated, ...]
    """The best agent, where it is more probable than nobody, of heads fitted without the row."""
    has_made_nobody: bool
    """Messages of nobody were made, for want of labelled ones."""


def rows_of(
    chooser: Chooser, samples: Sequence[Sample], *, unread: Callable[[], None] = lambda: None
) -> tuple[list[Row], Head]:
    """Compute the features of the samples that the commonest kind of head judges.

    Parameters
    ----------
    chooser
        With the shipped heads.
    samples
        At least one. A text without words is left out: no weight decides it.
    unread
        Told of each text that the encoder knows nothing of; these are left out too.
    """
    found: list[tuple[bool, Row]] = []
    for sample in samples:
        if not words(sample.text):
            continue
        agents = tuple(sorted(sample.agents, key=lambda agent: agent.id))
        ids = tuple(agent.id for agent in agents)
        remits = partial(_remits, agents)
        index = chooser.index(tuple(agent.digest for agent in agents), remits)
        try:
            columns = chooser.columns(index, Reading(sample.text))
        except DecisionInvalidError as error:
            if error.code != UNREAD:
                raise
            unread()
            continue
        answer = ids.index(sample.agent) if sample.agent in ids else len(ids)
        group = " ".join(words(sample.text))
        found.append((index.has_examples, Row(columns, ids, answer, group)))
    kinds = Counter(kind for kind, _ in found)
    kind = kinds.most_common(1)[0][0] if kinds else False
    head = chooser.heads.head(has_encoder=chooser.encoder is not None, has_examples=kind)
    return [row for has_examples, row in found if has_examples is kind], head


def fit_to(
    rows: Sequence[Row],
    shipped: Head,
    *,
    state: Callable[[Head, Row], tuple[Stated, Stated | None]],
    step: Callable[[int], None] = lambda _: None,
) -> Outcome:
    """Fit a head towards the shipped one, and validate it on rows that it was not fitted with.

    The strength of the pull is chosen inside each fold, so that validation never sees its rows.

    Parameters
    ----------
    rows
        Of `rows_of`.
    shipped
        Where the fit starts and what it is pulled towards.
    state
        What the product would state of a row with a head: its answer, and its best agent.
    step
        Told how many folds are done.
    """
    few = sum(row.answer == len(row.agents) for row in rows) < FEW_NOBODY * len(rows)
    after: dict[int, tuple[Stated, Stated | None]] = {}
    for number, held in enumerate(_folds(rows, FOLDS)):
        rest = [row for place, row in enumerate(rows) if place not in held]
        head = _fitted(rest, shipped, _strength(rest, shipped, few), few)
        after |= {place: state(head, rows[place]) for place in held}
        step(number + 1)
    strength = _strength(rows, shipped, few)
    ordered = [after[place] for place in range(len(rows))]
    return Outcome(
        head=_fitted(rows, shipped, strength, few),
        strength=strength,
        before=tuple(state(shipped, row)[0] for row in rows),
        after=tuple(answer for answer, _ in ordered),
        tops=tuple(top for _, top in ordered if top is not None),
        has_made_nobody=few,
    )


def table(rows: Sequence[Row], head: Head, *, makes_nobody: bool) -> Table:
    """Lay rows out as arrays.

    Parameters
    ----------
    makes_nobody
        Every row with an agent comes once more without that agent, when nobody is right; together
        these weigh `NOBODY_SHARE`.
    """
    options, nones = list(head.option), list(head.none)
    owned = [row for row in rows if row.answer < len(row.agents)] if makes_nobody else []
    size = max(len(row.agents) for row in rows)
    count = len(rows) + len(owned)
    features = np.zeros((count, size + 1, len(options) + len(nones)))
    offset = np.full((count, size + 1), _ABSENT)
    answer = np.full(count, size, np.int64)
    for place, row in enumerate([*rows, *owned]):
        width, made = len(row.agents), place >= len(rows)
        features[place, :width, : len(options)] = np.array([row.columns[n] for n in options]).T
        columns = _without(row) if made else row.columns
        features[place, size, len(options) :] = [none_feature(n, columns, width) for n in nones]
        refused = np.array(row.columns.get(REFUSED, [0.0] * width))
        offset[place, :width], offset[place, size] = -REFUSED_WEIGHT * refused, 0.0
        if made:
            offset[place, row.answer] = _ABSENT
        elif row.answer < width:
            answer[place] = row.answer
    share = NOBODY_SHARE if owned else 0.0
    weight = np.full(count, (1 - share) / len(rows))
    weight[len(rows) :] = share / max(1, len(owned))
    return Table(features, offset, answer, weight)


def fitted_weights(made: Table, shipped: Numbers, *, strength: float) -> Numbers:
    """Minimise the mean log loss plus the pull towards the shipped weights; convex.

    Newton's method with halved steps.
    """
    pull = strength / np.maximum(np.abs(shipped), LEAST_SIZE) ** 2
    weights = shipped.copy()
    loss = _loss(weights, made) + _pulled(weights, shipped, pull)
    for _ in range(50):
        slope, bend = _derivatives(weights, made)
        slope, bend = slope + pull * (weights - shipped), bend + np.diag(pull)
        step, scale = np.linalg.solve(bend, slope), 1.0
        while True:
            moved = weights - scale * step
            new = _loss(moved, made) + _pulled(moved, shipped, pull)
            if new <= loss or scale < 1e-6:
                break
            scale /= 2
        if loss - new < 1e-9:
            break
        weights, loss = moved, new
    return weights


def _without(row: Row) -> Columns:
    """Take the right agent off the ballot, as far as nobody's features see it."""
    if ELSEWHERE_WITHOUT not in row.columns:
        return row.columns
    return {**row.columns, ELSEWHERE: [row.columns[ELSEWHERE_WITHOUT][row.answer]]}


def _remits(agents: Sequence[AgentSpec]) -> list[Remit]:
    return [Remit.of(agent) for agent in agents]


def _fitted(rows: Sequence[Row], shipped: Head, strength: float, few: bool) -> Head:
    made = table(rows, shipped, makes_nobody=few)
    weights = fitted_weights(made, _weights(shipped), strength=strength)
    rounded = [round(float(weight), 4) for weight in weights]
    split = len(shipped.option)
    return replace(
        shipped,
        option=dict(zip(shipped.option, rounded[:split], strict=True)),
        none=dict(zip(shipped.none, rounded[split:], strict=True)),
    )


def _strength(rows: Sequence[Row], shipped: Head, few: bool) -> float:
    """Take the strongest pull that is about as good as any, by log loss on rows held out."""
    tuned, start = rows[:_MOST_TUNED], _weights(shipped)
    losses = dict.fromkeys(STRENGTHS, 0.0)
    for held in _folds(tuned, INNER_FOLDS):
        rest = [row for place, row in enumerate(tuned) if place not in held]
        if not rest or not held:
            continue
        made = table(rest, shipped, makes_nobody=few)
        kept = table([tuned[place] for place in sorted(held)], shipped, makes_nobody=few)
        for strength in STRENGTHS:
            weights = fitted_weights(made, start, strength=strength)
            losses[strength] += len(held) * _loss(weights, kept)
    enough = min(losses.values()) * _AS_GOOD
    return max(strength for strength in STRENGTHS if losses[strength] <= enough)


def _folds(rows: Sequence[Row], count: int) -> Iterator[frozenset[int]]:
    """Yield the places of each fold; equal texts stay together."""
    groups = sorted({row.group for row in rows})
    shuffled = np.random.default_rng(SEED).permutation(len(groups))
    fold = {groups[group]: number % count for number, group in enumerate(shuffled)}
    for number in range(count):
        yield frozenset(place for place, row in enumerate(rows) if fold[row.group] == number)


def _weights(head: Head) -> Numbers:
    return np.array([*head.option.values(), *head.none.values()])


def _shares(weights: Numbers, made: Table) -> Numbers:
    scores = made.features @ weights + made.offset
    lifted = np.exp(scores - scores.max(1, keepdims=True))
    shares: Numbers = lifted / lifted.sum(1, keepdims=True)
    return shares


def _loss(weights: Numbers, made: Table) -> float:
    right = _shares(weights, made)[np.arange(len(made.answer)), made.answer]
    return -float(made.weight @ np.log(np.maximum(right, 1e-300)))


def _pulled(weights: Numbers, shipped: Numbers, pull: Numbers) -> float:
    return float(pull @ (weights - shipped) ** 2) / 2


def _derivatives(weights: Numbers, made: Table) -> tuple[Numbers, Numbers]:
    shares, features = _shares(weights, made), made.features
    expected = np.einsum("na,nak->nk", shares, features)
    right = features[np.arange(len(made.answer)), made.answer]
    slope = made.weight @ (expected - right)
    spread = features * np.sqrt(shares * made.weight[:, None])[:, :, None]
    spread = spread.reshape(-1, spread.shape[2])
    bend = spread.T @ spread - (expected * made.weight[:, None]).T @ expected
    return slope, bend
