"""A conditional logit over ballots, fitted by Newton's method."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from corpus import Table

from clawmarshal.router.models.head import ELSEWHERE, ELSEWHERE_WITHOUT, SMALL_BALLOT

_ABSENT = -1e9


@dataclass(frozen=True)
class Block:
    """Ballots of one size, ready to fit: the none alternative comes last."""

    option: np.ndarray
    """Rows by options by features."""
    present: np.ndarray
    """Rows by options; False where an option was dropped from the ballot."""
    none: np.ndarray
    """Rows by features of the none alternative."""
    answer: np.ndarray
    """Index of the right alternative; the number of options for none."""
    weight: np.ndarray
    """One weight per row."""


def blocks(
    table: Table, option: Sequence[str], none: Sequence[str], *, dropped_share: float
) -> list[Block]:
    """Make blocks of a table: as it stands, and with each row's right agent off the ballot.

    Parameters
    ----------
    dropped_share
        What the second weighs of a row that has an agent.
    """
    owned = table.gold >= 0
    whole = block(table, option, none)
    less = block(table, option, none, dropped=owned)
    return [
        replace(whole, weight=whole.weight * np.where(owned, 1 - dropped_share, 1)),
        Block(
            less.option[owned],
            less.present[owned],
            less.none[owned],
            less.answer[owned],
            less.weight[owned] * dropped_share,
        ),
    ]


def block(
    table: Table,
    option: Sequence[str],
    none: Sequence[str],
    *,
    dropped: np.ndarray | None = None,
) -> Block:
    """Make a block of a table.

    Parameters
    ----------
    dropped
        Rows whose right agent is taken off the ballot, so that none is right.
    """
    size = table.gold.size
    count = len(table.corpus.agents)
    present = np.ones((size, count), bool)
    gold = table.gold.copy()
    if dropped is not None:
        rows = np.flatnonzero(dropped & (gold >= 0))
        present[rows, gold[rows]] = False
        gold[rows] = -1
    return Block(
        np.stack([table.columns[name] for name in option], -1),
        present,
        np.stack([_none_column(name, table, present) for name in none], -1),
        np.where(gold < 0, count, gold),
        np.full(size, 1 / size),
    )


def probabilities(weights: np.ndarray, part: Block) -> np.ndarray:
    """Return one row per ballot; the last column is none."""
    split = part.option.shape[2]
    scores = np.where(part.present, part.option @ weights[:split], _ABSENT)
    scores = np.concatenate([scores, (part.none @ weights[split:])[:, None]], 1)
    lifted = np.exp(scores - scores.max(1, keepdims=True))
    return lifted / lifted.sum(1, keepdims=True)


def fit(parts: Sequence[Block], *, l2: float) -> np.ndarray:
    """Minimise the weighted mean log loss plus ``l2 / 2 |w|^2``; convex, so one answer."""
    size = parts[0].option.shape[2] + parts[0].none.shape[1]
    weights = np.zeros(size)
    loss = _loss(weights, parts, l2)
    for _ in range(100):
        slope, bend = _derivatives(weights, parts, l2)
        step = np.linalg.solve(bend, slope)
        scale = 1.0
        while (new := _loss(weights - scale * step, parts, l2)) > loss and scale > 1e-6:
            scale /= 2
        weights = weights - scale * step
        if loss - new < 1e-10:
            break
        loss = new
    return weights


def rescaled(weights: np.ndarray, parts: Sequence[Block]) -> np.ndarray:
    """Undo what a penalty did to the size of the weights, not to their proportions.

    Fits, without a penalty, one factor for all weights but the bias of none, and that bias anew.
    It must be the first of none's weights.
    """
    split = parts[0].option.shape[2]
    shape = weights.copy()
    shape[split] = 0
    flat = []
    for part in parts:
        none = part.none @ shape[split:]
        option = part.option @ shape[:split] - none[:, None]
        bias = np.ones((len(none), 1))
        flat.append(replace(part, option=option[..., None], none=bias))
    factor, bias_of_none = fit(flat, l2=0.0)
    scaled = shape * factor
    scaled[split] = bias_of_none
    return scaled


def _none_column(name: str, table: Table, present: np.ndarray) -> np.ndarray:
    if name == "bias":
        return np.ones(len(present))
    if name == "log_n":
        return np.log(np.maximum(present.sum(1), SMALL_BALLOT))
    if name == ELSEWHERE:
        without, full = table.columns[ELSEWHERE_WITHOUT], table.columns[ELSEWHERE]
        return np.where(present, full, without).max(1)
    return np.where(present, table.columns[name.partition(":")[2]], -np.inf).max(1)


def _loss(weights: np.ndarray, parts: Sequence[Block], l2: float) -> float:
    total = sum(part.weight.sum() for part in parts)
    lost = 0.0
    for part in parts:
        right = probabilities(weights, part)[np.arange(len(part.answer)), part.answer]
        lost -= float((part.weight * np.log(np.maximum(right, 1e-300))).sum())
    return lost / total + l2 * float(weights @ weights) / 2


def _derivatives(
    weights: np.ndarray, parts: Sequence[Block], l2: float
) -> tuple[np.ndarray, np.ndarray]:
    total = sum(part.weight.sum() for part in parts)
    slope = l2 * weights
    bend = l2 * np.eye(len(weights))
    for part in parts:
        share = probabilities(weights, part)
        features = _stacked(part)
        expected = np.einsum("na,nak->nk", share, features)
        right = features[np.arange(len(part.answer)), part.answer]
        weight = part.weight / total
        slope = slope + weight @ (expected - right)
        spread = features * np.sqrt(share * weight[:, None])[:, :, None]
        spread = spread.reshape(-1, spread.shape[2])
        bend = bend + spread.T @ spread - (expected * weight[:, None]).T @ expected
    return slope, bend


def _stacked(part: Block) -> np.ndarray:
    rows, count, split = part.option.shape
    stacked = np.zeros((rows, count + 1, split + part.none.shape[1]))
    stacked[:, :count, :split] = part.option
    stacked[:, count, split:] = part.none
    return stacked


def expecting(
    weights: np.ndarray, parts: Sequence[Block], *, place: int, share: float
) -> np.ndarray:
    """Move the bias of none from the share of none in the fit to the one expected in use.

    Parameters
    ----------
    place
        Where the bias stands among the weights.
    share
        Of messages that belong to nobody, over 0 and under 1.
    """
    total = sum(part.weight.sum() for part in parts)
    none = sum((part.weight * (part.answer == part.option.shape[1])).sum() for part in parts)
    seen = float(none / total)
    moved = weights.copy()
    moved[place] += np.log(share / (1 - share)) - np.log(seen / (1 - seen))
    return moved
