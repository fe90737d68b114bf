"""The fitted head: features of a message against a ballot -> probabilities."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType

from clawmarshal.router.models.lexical import Columns

SHIPPED = "routing.head.json"
REFUSED = "refused"
ELSEWHERE = "elsewhere"
"""How near the message is to everyday topics that no agent of the ballot serves."""
ELSEWHERE_WITHOUT = "elsewhere_without"
"""Per option: the same for the ballot without that option."""
SMALL_BALLOT = 8
"""A smaller ballot is judged as one of this size: few agents leave most messages to nobody."""
REFUSED_WEIGHT = 10.0
"""What being nearer to an agent's ``not_for`` than to its remit costs, per unit of cosine. Not
fitted, for want of labelled messages: about what nearness to the remit gains."""
_TIE = 1e-9


@dataclass(frozen=True, slots=True)
class Distribution:
    """A probability per option and for none of them; together they are 1."""

    options: tuple[float, ...]
    """In the order of the remits."""
    none: float


@dataclass(frozen=True, slots=True)
class Head:
    """A conditional logit over a ballot, with none of the options as one more alternative."""

    option: Mapping[str, float]
    """Feature name to weight, applied to each option."""
    none: Mapping[str, float]
    """Weights of ``bias``, ``log_n`` (of the ballot's size, at least `SMALL_BALLOT`), `ELSEWHERE`
    and ``max:FEATURE``."""

    def distribution(self, columns: Columns) -> Distribution:
        """Turn features into probabilities.

        Where the best two options cannot be told apart, none of them is the answer: an arbitrary
        one would only look like a decision.

        Parameters
        ----------
        columns
            Every feature of `option`, one value per option, at least one option; ``refused``
            where the ballot has it.
        """
        scores = self._scores(columns)
        best = sorted(scores, reverse=True)[:2]
        none = sum(
            weight * none_feature(name, columns, len(scores)) for name, weight in self.none.items()
        )
        if len(best) == 2 and best[0] - best[1] < _TIE:
            none = max(none, best[0] + 0.1)
        top = max(none, best[0])
        lifted = [math.exp(score - top) for score in scores]
        rest = math.exp(none - top)
        total = math.fsum(lifted) + rest
        return Distribution(tuple(value / total for value in lifted), rest / total)

    def _scores(self, columns: Columns) -> list[float]:
        used = [(columns[name], weight) for name, weight in self.option.items()]
        if REFUSED in columns:
            used.append((columns[REFUSED], -REFUSED_WEIGHT))
        size = len(used[0][0])
        return [sum(weight * column[i] for column, weight in used) for i in range(size)]


@dataclass(frozen=True, slots=True)
class Heads:
    """The heads of one fit."""

    version: str
    encoder: str
    """The encoder they were fitted with; `Encoder.name`."""
    by_name: Mapping[str, Head]
    """``encoder``, ``lexical``, and each with ``_examples``."""
    background: tuple[float, ...] = ()
    """The encoder's mean vector of messages; empty for none."""
    topics: tuple[str, ...] = ()
    """Everyday topics that the features of an encoder are measured against; may be empty."""

    def head(self, *, has_encoder: bool, has_examples: bool) -> Head:
        """Pick the head for what the ballot and the installation offer."""
        name = "encoder" if has_encoder else "lexical"
        return self.by_name[f"{name}_examples" if has_examples else name]


def none_feature(name: str, columns: Columns, size: int) -> float:
    """Compute one feature of the none alternative.

    Parameters
    ----------
    name
        As in `Head.none`.
    size
        How many options are on the ballot, over 0.
    """
    if name == "bias":
        return 1.0
    if name == "log_n":
        return math.log(max(size, SMALL_BALLOT))
    if name == ELSEWHERE:
        return columns[ELSEWHERE][0]
    kind, _, column = name.partition(":")
    if kind != "max":
        raise ValueError(f"unknown feature {name!r}")
    return max(columns[column])


def heads_from(document: Mapping[str, object]) -> Heads:
    """Read heads from a parsed ``*.head.json`` document.

    Raises
    ------
    KeyError, TypeError, ValueError
        The document has another shape.
    """
    heads, stated = document["heads"], document["background"]
    topics = document.get("topics", [])
    if not isinstance(heads, Mapping) or not isinstance(stated, list):
        raise TypeError("heads is an object and background an array")
    if not isinstance(topics, list) or not all(isinstance(topic, str) for topic in topics):
        raise TypeError("topics is an array of texts")
    background = tuple(float(number) for number in stated)
    made = {
        str(name): Head(_weights(head["option"]), _weights(head["none"]))
        for name, head in heads.items()
    }
    if not topics and any(ELSEWHERE in head.none for head in made.values()):
        raise ValueError("these weights need topics")
    return Heads(
        str(document["version"]),
        str(document["encoder"]),
        MappingProxyType(made),
        background,
        tuple(topics),
    )


def shipped_heads() -> Heads:
    """Read the heads that come with the package."""
    source = resources.files("clawmarshal.router.models").joinpath(SHIPPED)
    return heads_from(json.loads(source.read_text("utf-8")))


def _weights(value: Mapping[str, float]) -> Mapping[str, float]:
    return MappingProxyType({str(name): float(weight) for name, weight in value.items()})


def concentration(probabilities: Sequence[float]) -> float:
    """Return System One's ``(m - 1/n) / (1 - 1/n)``; 1 with a single option."""
    size = len(probabilities)
    if size == 1:
        return 1.0
    return max(0.0, (max(probabilities) - 1 / size) / (1 - 1 / size))
