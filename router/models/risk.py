"""Probabilities over the risk tiers for the offline model: the rules, and what may only raise."""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from operator import mul
from types import MappingProxyType

from clawmarshal.roster.agent import Risk
from clawmarshal.router.language import is_english_throughout, other_part
from clawmarshal.router.risk import RiskFloor

SHIPPED = "risk.head.json"


@dataclass(frozen=True, slots=True)
class RiskHead:
    """A logistic classifier over a message's vector, and the figures that are stated."""

    encoder: str
    """The encoder it was fitted with; no other one's vectors mean anything to it."""
    weights: tuple[float, ...]
    """One per dimension of the vector."""
    bias: float
    threshold: float
    """From this probability on a message is raised from low to medium."""
    stated: Mapping[str, tuple[float, float, float]]
    """``low``, ``medium``, ``high``, ``raised`` to the probabilities of low, medium and high."""


class RiskClassifier:
    """Tell from a message's vector how likely it asks for a change.

    Meant for languages other than English, where the rules know the most common words and no
    more. English is left to the rules: in held-out kinds of English messages the classifier
    raised more harmless ones than it found risky ones.

    Parameters
    ----------
    head
        Fitted with the encoder whose vectors will be given.

    Notes
    -----
    Source: bench/results/risk_held_out.md for both findings; bench/fit_risk.py for the fit.
    """

    def __init__(self, head: RiskHead) -> None:
        self._head = head

    def probability(self, vector: Iterable[float]) -> float:
        """Give the probability that the message is medium or high.

        Parameters
        ----------
        vector
            The encoder's vector of the text as written, of length 1; for a text of several
            windows their mean.

        Raises
        ------
        ValueError
            The vector has another number of dimensions.
        """
        values = [float(value) for value in vector]
        if len(values) != len(self._head.weights):
            raise ValueError("the vector is of another encoder")
        score = math.fsum(map(mul, self._head.weights, values)) + self._head.bias
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, score))))

    def raises(self, vector: Iterable[float]) -> bool:
        """Tell whether the message is to count as medium at least."""
        return self.probability(vector) >= self._head.threshold


def risk_answer(
    text: str,
    floor: RiskFloor,
    *,
    classifier: RiskClassifier | None = None,
    vector: Callable[[str], Iterable[float] | None] | None = None,
) -> Mapping[str, float]:
    """Answer the risk question for the offline model.

    The most probable tier is never below the floor's. Only a message that the rules call low and
    that is not recognisably English throughout is shown to the classifier, and only to raise it:
    the whole of it, or of one that is English for the most part the rest.

    Parameters
    ----------
    text
        The whole message.
    floor
        What the rules say about `text`.
    classifier, vector
        Both, where an encoder is at hand; `vector` returns that of a text, None for none.

    Returns
    -------
    Mapping
        ``low``, ``medium``, ``high`` to probabilities that add up to 1, as measured for messages
        judged alike.
    """
    judged = str(floor.tier)
    if (
        floor.tier is Risk.LOW
        and classifier is not None
        and vector is not None
        and (unclear := _unclear(text))
        and (found := vector(unclear)) is not None
        and classifier.raises(found)
    ):
        judged = "raised"
    return MappingProxyType(dict(zip(Risk, shipped_head().stated[judged], strict=True)))


def _unclear(text: str) -> str:
    """Return what the rules may not have understood; empty for English."""
    if is_english_throughout(text):
        return ""
    part = other_part(text)
    return text if 2 * len(part) > len(text) else part


def head_from(document: Mapping[str, object]) -> RiskHead:
    """Read a head from a parsed ``risk.head.json`` document.

    Raises
    ------
    KeyError, TypeError, ValueError
        The document has another shape.
    """
    weights, stated = document["weights"], document["stated"]
    if not isinstance(weights, list) or not isinstance(stated, Mapping):
        raise TypeError("weights is a list, stated an object")
    return RiskHead(
        str(document["encoder"]),
        tuple(float(weight) for weight in weights),
        _number(document["bias"]),
        _number(document["threshold"]),
        MappingProxyType({str(name): _three(row) for name, row in stated.items()}),
    )


@cache
def shipped_head() -> RiskHead:
    """Read the head that comes with the package, once."""
    source = resources.files("clawmarshal.router.models").joinpath(SHIPPED)
    return head_from(json.loads(source.read_text("utf-8")))


def _number(value: object) -> float:
    if not isinstance(value, int | float):
        raise TypeError("not a number")
    return float(value)


def _three(row: object) -> tuple[float, float, float]:
    if not isinstance(row, list):
        raise TypeError("stated rows are lists")
    low, medium, high = (_number(value) for value in row)
    return low, medium, high
