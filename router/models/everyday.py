"""Everyday topics: how near a message is to anything at all, and to what no agent serves."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
SHARPNESS = 40.0
"""How near the soft best over the topics is to the best."""
LEAST_SPREAD = 0.02
SCALE = 0.1
"""A standard deviation counts as a tenth, about what it is as a cosine."""


def unit(vectors: Vectors) -> Vectors:
    """Scale each row to length 1."""
    scaled: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)
    return scaled


class Everyday:
    """Everyday topics as an encoder sees them; they stand for what a message might be about.

    Parameters
    ----------
    vectors
        One row per topic, each of length 1; at least one.
    """

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._shared = vectors.mean(0)
        self._own = unit(vectors - self._shared)

    def served(self, units: Vectors) -> Vectors:
        """Return per topic how much of it a remit serves: the best cosine with its units.

        What all topics share is taken out first: being a text in words is no service.
        """
        best: Vectors = (self._own @ unit(units - self._shared).T).max(1)
        return best

    def nearness(self, readings: Vectors) -> "Nearness":
        """Compare a message with every topic."""
        return Nearness(self._vectors @ unit(readings.mean(0)))


class Nearness:
    """How near one message is to each topic.

    A cosine of .4 is much in one language or kind of message and little in another. Against the
    cosines that the same message has with unrelated topics it means the same in all.

    Parameters
    ----------
    cosines
        One per topic.
    """

    def __init__(self, cosines: Vectors) -> None:
        self.cosines = cosines
        self._mean = float(cosines.mean())
        self._spread = max(float(cosines.std()), LEAST_SPREAD)

    def standing_out(self, column: Vectors) -> Vectors:
        """Return how far each cosine stands out from those with the topics."""
        return (column - self._mean) * np.float32(SCALE / self._spread)


class Served:
    """What a ballot's agents serve of the topics.

    Parameters
    ----------
    served
        One array per agent, of `Everyday.served`; at least one.
    """

    def __init__(self, served: Sequence[Vectors]) -> None:
        # Less than nothing is no service either: so an agent more never leaves more unserved.
        stacked = np.maximum(np.stack(served).astype(np.float64), 0)
        self._size = len(stacked)
        self._server = stacked.argmax(0)
        self._best = stacked.max(0)
        stacked[self._server, np.arange(stacked.shape[1])] = 0
        self._next = stacked.max(0)

    def elsewhere(self, near: Nearness) -> tuple[float, Vectors]:
        """Tell how near the message is to topics that nobody serves.

        Returns
        -------
        tuple
            The soft best over the topics of nearness less service; and per agent the same for
            the ballot without that agent.
        """
        lifted = np.exp(SHARPNESS * (near.cosines - self._best))
        gained = np.exp(SHARPNESS * (near.cosines - self._next)) - lifted
        total, count = float(lifted.sum()), len(lifted)
        without = total + np.bincount(self._server, gained, self._size)
        alone = np.log(without / count) / SHARPNESS
        return float(np.log(total / count)) / SHARPNESS, alone.astype(np.float32)
