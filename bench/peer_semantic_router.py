"""semantic-router on an encoder of ours: its routes, what it answers, and its own fit.

Imports nothing of our product, so that a process can be weighed with it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import PrivateAttr
from semantic_router import IndexedRouter, Route
from semantic_router.encoders import DenseEncoder, TfidfEncoder


class Encodes(Protocol):
    """What ours and the package it comes from have in common."""

    def encode(self, texts: list[str]) -> Any:
        """Give one row per text."""


class SameEncoder(DenseEncoder):
    """An encoder of ours as semantic-router asks for one, without a thread between the two."""

    _encoder: Any = PrivateAttr()

    def __init__(self, encoder: Encodes) -> None:
        super().__init__(name="same", type="same")
        self._encoder = encoder

    def __call__(self, docs: list[Any]) -> list[Any]:
        """Encode, waiting."""
        return list(self._encoder.encode([str(doc) for doc in docs]))

    async def acall(self, docs: list[Any]) -> list[Any]:
        """Encode from a running loop."""
        return self(docs)


@dataclass(frozen=True)
class Setting:
    """One way to set semantic-router up."""

    name: str
    shows_remit: bool = True
    """The description is an utterance."""
    shows_examples: bool = False
    """The examples are utterances."""
    aggregation: str = "mean"
    """Its default is the mean of the hits among the five nearest utterances."""
    is_hybrid: bool = False
    """With its own TF-IDF encoder beside the dense one, mixed as by default."""
    says_name: bool = False
    """The agent's id, in words, stands before the description, as our model reads it."""


@dataclass(frozen=True)
class Agent:
    """What semantic-router is told of an agent."""

    id: str
    description: str
    examples: Sequence[str] = ()


PLAIN = (
    Setting("default"),
    Setting("default, with the id", says_name=True),
    Setting("hybrid, its TF-IDF", is_hybrid=True),
    Setting("hybrid, with the id", is_hybrid=True, says_name=True),
)
"""With descriptions alone, where every route has one utterance: the aggregation changes nothing."""
SHOWN = (
    Setting("default, examples alone", shows_remit=False, shows_examples=True),
    Setting("default, description and examples", shows_examples=True),
    Setting("max, examples alone", shows_remit=False, shows_examples=True, aggregation="max"),
    Setting("max, description and examples", shows_examples=True, aggregation="max"),
    Setting("max, hybrid", shows_examples=True, aggregation="max", is_hybrid=True),
    Setting("max, with the id", shows_examples=True, aggregation="max", says_name=True),
)


def router(setting: Setting, encoder: Encodes, agents: Sequence[Agent]) -> IndexedRouter:
    """Build a router over a fleet."""
    routes = []
    for agent in agents:
        name = re.sub(r"[\W_]+", " ", agent.id)
        told = f"{name}: {agent.description}" if setting.says_name else agent.description
        remit = [told] if setting.shows_remit else []
        shown = list(agent.examples) if setting.shows_examples else []
        routes.append(Route(name=agent.id, utterances=[*remit, *shown]))
    return IndexedRouter(
        encoder=SameEncoder(encoder),
        routes=routes,
        sparse_encoder=TfidfEncoder() if setting.is_hybrid else None,
        aggregation=setting.aggregation,
    )


def tops(made: IndexedRouter, texts: Sequence[str]) -> list[tuple[str, float]]:
    """Give the best route of each text, before any threshold, and its confidence."""
    found = [made(text, limit=None) for text in texts]
    return [(choices[0].name, choices[0].confidence) for choices in found]


def fit(made: IndexedRouter, labelled: Mapping[str, str | None]) -> None:
    """Calibrate it on labelled texts that are no utterances of it; None: no route."""
    stored = {text for route in made.routes for text in route.utterances}
    kept = {text: label for text, label in labelled.items() if text not in stored}
    made.fit(list(kept), list(kept.values()))
