"""Encoder features of a message against remits."""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from clawmarshal.router.models.encoder import Encoder
from clawmarshal.router.models.everyday import Everyday, Nearness, Served, Vectors, unit
from clawmarshal.router.models.features import Remit, content_text
from clawmarshal.router.models.head import ELSEWHERE, ELSEWHERE_WITHOUT
from clawmarshal.router.models.lexical import Columns

MAX_CACHED_REMITS = 20_000
REREAD_CHARS = 250
"""Longer texts are read as written alone: content words no longer add to them (measured)."""
_BATCH = 16


@dataclass(frozen=True, slots=True)
class RemitVectors:
    """One remit, encoded."""

    units: Vectors
    """The whole remit first, then its clauses."""
    examples: Vectors
    not_for: Vectors
    served: Vectors
    """Per everyday topic how much of it the remit serves; empty without topics."""


@dataclass(frozen=True, slots=True)
class MessageVectors:
    """One message, encoded."""

    written: Vectors
    """The text as written, of length 1; the mean of its windows where it has several."""
    readings: Vectors
    """One row per reading of the message, without the background."""
    near: Nearness | None = None
    """To the everyday topics, where there are some."""


class Reader:
    """Encode messages, and each remit once, however many fleets it stands in.

    What all messages share is taken out of messages and of examples, which are messages too:
    without that, a remit that is near to any message at all would win too often.

    Parameters
    ----------
    encoder
        Rows of length 1.
    background
        The mean vector of messages as fitted; empty for none.
    topics
        Everyday topics; empty for none.
    """

    def __init__(
        self, encoder: Encoder, background: Sequence[float] = (), *, topics: Sequence[str] = ()
    ) -> None:
        self._encoder = encoder
        self._everyday = Everyday(encoder.encode(topics)) if topics else None
        self._background = np.array(background or [0.0], np.float32)
        self._kept: OrderedDict[Remit, RemitVectors] = OrderedDict()

    def message(
        self, pieces: Sequence[str], check: Callable[[], None] = lambda: None
    ) -> MessageVectors:
        """Encode a message: as written, a short one by its content words too.

        Parameters
        ----------
        pieces
            Windows of the text, at least one; of several the mean is taken.
        check
            Called between batches; raises when the deadline has passed.
        """
        if len(pieces) == 1 and len(pieces[0]) <= REREAD_CHARS:
            rows = self._encoder.encode([pieces[0], content_text(pieces[0])])
            return self._read(rows[0], rows)
        total = np.zeros(1, np.float32)
        for start in range(0, len(pieces), _BATCH):
            check()
            batch = pieces[start : start + _BATCH]
            lengths = np.array([len(piece) for piece in batch], np.float32)
            total = total + lengths @ self._encoder.encode(batch)
        written = unit(total)
        return self._read(written, written[None])

    def vectors(self, remit: Remit) -> RemitVectors:
        """Return the remit's vectors, from the cache where they are known."""
        if (known := self._kept.get(remit)) is not None:
            self._kept.move_to_end(remit)
            return known
        parts = [(remit.whole, *remit.clauses), remit.examples, remit.not_for]
        encoded = self._encoder.encode([text for part in parts for text in part])
        first, second = len(parts[0]), len(parts[0]) + len(parts[1])
        units, examples = encoded[:first], self._centred(encoded[first:second])
        none = np.zeros(0, np.float32)
        served = none if self._everyday is None else self._everyday.served(units)
        made = RemitVectors(units, examples, encoded[second:], served)
        self._kept[remit] = made
        if len(self._kept) > MAX_CACHED_REMITS:
            self._kept.popitem(last=False)
        return made

    def _read(self, written: Vectors, rows: Vectors) -> MessageVectors:
        readings = self._centred(rows)
        near = None if self._everyday is None else self._everyday.nearness(readings)
        return MessageVectors(written, readings, near)

    def _centred(self, vectors: Vectors) -> Vectors:
        return unit(vectors - self._background) if len(vectors) else vectors


class DenseIndex:
    """Hold the encoded side of a ballot, stacked for one product per message.

    Parameters
    ----------
    remits
        At least one.
    """

    def __init__(self, remits: Sequence[Remit], reader: Reader) -> None:
        made = [reader.vectors(remit) for remit in remits]
        self._whole = np.stack([m.units[0] for m in made])
        self._units = Stack([m.units for m in made])
        self._all = Stack([np.concatenate([m.units, m.examples]) for m in made])
        self.has_examples = any(len(m.examples) for m in made)
        self._examples = Stack([m.examples for m in made])
        centres = [m.examples.mean(0) if len(m.examples) else m.units[0] for m in made]
        self._centres = unit(np.stack(centres))
        self._not_for = Stack([m.not_for for m in made])
        self._served = Served([m.served for m in made]) if len(made[0].served) else None

    def columns(self, encoded: MessageVectors) -> Columns:
        """Compute every encoder feature of one message, the mean over its readings."""
        message = encoded.readings
        units = self._units.cosines(message)
        columns: dict[str, Vectors] = {
            "whole": (message @ self._whole.T).mean(0),
            "unit": self._units.soft_best(units),
            "unit_mean": self._units.mean(units),
        }
        if self.has_examples:
            examples = self._examples.cosines(message)
            columns["example"] = self._examples.soft_best(examples, columns["unit"])
            columns["example_mean"] = self._examples.mean(examples, columns["unit_mean"])
            columns["centre"] = (message @ self._centres.T).mean(0)
            columns["any"] = self._all.soft_best(self._all.cosines(message))
        if encoded.near is not None and self._served is not None:
            columns |= _against_everyday(columns, encoded.near, self._served)
        if len(self._not_for):
            refused = self._not_for.best(self._not_for.cosines(message))
            columns["refused"] = np.maximum(refused - self._units.best(units), 0)
        return {name: column.tolist() for name, column in columns.items()}


def _against_everyday(
    columns: Mapping[str, Vectors], near: Nearness, served: Served
) -> dict[str, Vectors]:
    found, without = served.elsewhere(near)
    standing = [name for name in ("unit", "whole", "any") if name in columns]
    return {
        **{f"{name}_out": near.standing_out(columns[name]) for name in standing},
        ELSEWHERE: np.full_like(without, found),
        ELSEWHERE_WITHOUT: without,
    }


class Stack:
    """Rows of several remits in one matrix, reduced per remit.

    Parameters
    ----------
    groups
        One matrix per remit; a matrix may have no rows.
    """

    SHARPNESS = 20.0
    """How near the soft best (a log-mean-exp) is to the best; 0 would be the mean."""

    def __init__(self, groups: Sequence[Vectors]) -> None:
        self._rows = np.concatenate(list(groups))
        counts = np.array([len(group) for group in groups])
        self._held = counts > 0
        self._counts = counts[self._held]
        self._starts = (np.cumsum(counts) - counts)[self._held]

    def __len__(self) -> int:
        return len(self._rows)

    def cosines(self, message: Vectors) -> Vectors:
        """Return one row per reading and one column per row of the stack."""
        cosines: Vectors = message @ self._rows.T
        return cosines

    def soft_best(self, cosines: Vectors, missing: Vectors | None = None) -> Vectors:
        """Log-mean-exp per remit, mean over the readings."""
        lifted = np.exp(cosines * self.SHARPNESS)
        summed = np.add.reduceat(lifted, self._starts, axis=1)
        return self._spread(np.log(summed / self._counts).mean(0) / self.SHARPNESS, missing)

    def mean(self, cosines: Vectors, missing: Vectors | None = None) -> Vectors:
        """Mean per remit and over the readings."""
        summed = np.add.reduceat(cosines, self._starts, axis=1)
        return self._spread((summed / self._counts).mean(0), missing)

    def best(self, cosines: Vectors) -> Vectors:
        """Best per remit, mean over the readings; -1 where a remit has no rows."""
        return self._spread(np.maximum.reduceat(cosines, self._starts, axis=1).mean(0), None)

    def _spread(self, values: Vectors, missing: Vectors | None) -> Vectors:
        if self._held.all():
            return values
        spread = np.full(len(self._held), -1.0, np.float32) if missing is None else missing.copy()
        spread[self._held] = values
        return spread
