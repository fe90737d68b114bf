"""Calibration for another encoder: what messages share, and a head for either kind of ballot."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from clawmarshal.errors import DecisionInvalidError
from clawmarshal.router.calibration import Calibration, calibrate
from clawmarshal.router.models.dense import Reader
from clawmarshal.router.models.encoder import Encoder
from clawmarshal.router.models.encoder_rows import UNREAD
from clawmarshal.router.models.features import Remit, windows
from clawmarshal.router.models.fitting import FOLDS, Sample
from clawmarshal.router.models.head import Heads, shipped_heads


def calibrate_encoder(
    samples: Sequence[Sample],
    *,
    encoder: Encoder,
    precision: float = 0.9,
    step: Callable[[int], None] = lambda _: None,
) -> tuple[Calibration, Heads]:
    """Fit everything that another encoder than the shipped one needs.

    That is what all messages share, and a head for ballots with and one for ballots without
    examples; where no agent has examples, one fit stands for both.

    Parameters
    ----------
    samples, precision, step
        As for `calibrate`; there are two times `FOLDS` steps.

    Raises
    ------
    MessageError
        ``too-few-labels``.
    DecisionInvalidError
        ``encoder-unread``: the encoder knows no word of a part of somebody's remit.
    """
    _check_remits(samples, encoder)
    start = replace(
        shipped_heads(), encoder=encoder.name, background=background_of(samples, encoder)
    )
    fit = partial(calibrate, encoder=encoder, heads=start, precision=precision)
    told, head = fit(samples, step=step)
    plain = head
    if told.kind != "encoder":
        _, plain = fit(without_examples(samples), step=lambda done: step(FOLDS + done))
    heads = {**start.by_name, "encoder": plain, "encoder_examples": head}
    return told, replace(start, by_name=heads)


def background_of(samples: Iterable[Sample], encoder: Encoder) -> tuple[float, ...]:
    """Return the mean vector of the texts that the encoder can read; empty where it reads none."""
    reader, vectors = Reader(encoder), []
    for text in dict.fromkeys(sample.text for sample in samples):
        pieces, _ = windows(text)
        try:
            vectors += [reader.message(pieces).written] if pieces else []
        except DecisionInvalidError as error:
            if error.code != UNREAD:
                raise
    found = np.mean(vectors, axis=0) if vectors else np.zeros(0)
    return tuple(round(float(number), 6) for number in found)


def _check_remits(samples: Iterable[Sample], encoder: Encoder) -> None:
    reader = Reader(encoder)
    for agent in {agent.id: agent for sample in samples for agent in sample.agents}.values():
        try:
            reader.vectors(Remit.of(agent))
        except DecisionInvalidError as error:
            if error.code != UNREAD:
                raise
            told = f"the encoder knows no word of a part of {agent.id}'s remit; use other words"
            raise DecisionInvalidError(told, code=UNREAD) from error


def without_examples(samples: Iterable[Sample]) -> tuple[Sample, ...]:
    """Leave the agents' examples out, so that the fit holds for any ballot."""
    return tuple(
        replace(one, agents=tuple(replace(agent, examples=()) for agent in one.agents))
        for one in samples
    )
