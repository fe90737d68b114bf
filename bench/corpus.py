"""Labelled messages of one roster, and their features as the shipped code computes them."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import yaml

from clawmarshal.roster.agent import AgentSpec
from clawmarshal.router.models.choose import Chooser, Reading
from clawmarshal.router.models.dense import Vectors
from clawmarshal.router.models.encoder import Encoder, UseEncoder
from clawmarshal.router.models.features import Remit
from clawmarshal.router.models.head import Heads

NAMES = ("clinc10", "banking77", "fleet10", "xsid8")
NONE = "none"


class RememberingEncoder:
    """Encode each text once per run; the benchmark asks for the same texts many times."""

    def __init__(self, inner: Encoder) -> None:
        self.name = inner.name
        self._inner = inner
        self._known: dict[str, Vectors] = {}

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode what is new, and return one row per text."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self._inner.encode(new), strict=True))
        return np.stack([self._known[text] for text in texts]) if texts else np.zeros((0, 1))


@dataclass(frozen=True)
class Labelled:
    """One message and the agent it belongs to."""

    id: str
    text: str
    agent: str
    """An agent id, or ``none``."""
    language: str | None = None


@dataclass(frozen=True)
class Corpus:
    """A roster and the messages labelled with its agents."""

    name: str
    agents: tuple[AgentSpec, ...]
    rows: tuple[Labelled, ...]
    digests: dict[str, str] = field(default_factory=dict)
    """File name to SHA-256."""

    def gold(self) -> np.ndarray:
        """Return the index of each row's agent, -1 for none."""
        places = {agent.id: place for place, agent in enumerate(self.agents)}
        return np.array([places.get(row.agent, -1) for row in self.rows])

    def without_examples(self) -> "Corpus":
        """Return the corpus with remits alone."""
        agents = tuple(AgentSpec(agent.id, agent.description) for agent in self.agents)
        return Corpus(self.name, agents, self.rows, self.digests)


@dataclass(frozen=True)
class Table:
    """Features of every row against every agent of one corpus."""

    corpus: Corpus
    columns: dict[str, np.ndarray]
    """Feature name to an array of rows by agents."""
    gold: np.ndarray


def load(folder: Path, name: str, *, examples: int) -> Corpus:
    """Read ``rosters/NAME.yaml`` and ``NAME.dev.jsonl``.

    Parameters
    ----------
    examples
        How many examples per agent are kept, from the first.
    """
    sources = [folder / "rosters" / f"{name}.yaml", folder / f"{name}.dev.jsonl"]
    contents = [source.read_bytes() for source in sources]
    agents = tuple(
        AgentSpec(agent["id"], agent["description"], examples=agent["examples"][:examples])
        for agent in sorted(yaml.safe_load(contents[0])["agents"], key=lambda a: a["id"])
    )
    rows = tuple(
        Labelled(row["id"], row["text"], row["agent"], row.get("lang"))
        for row in map(json.loads, contents[1].splitlines())
    )
    digests = {s.name: hashlib.sha256(c).hexdigest() for s, c in zip(sources, contents, strict=True)}
    return Corpus(name, agents, rows, digests)


def tabulate(corpus: Corpus, chooser: Chooser) -> Table:
    """Compute every feature of every row with the shipped code."""
    remits = [Remit.of(agent) for agent in corpus.agents]
    index = chooser.index(tuple(remits), lambda: remits)
    made = [chooser.columns(index, Reading(row.text)) for row in corpus.rows]
    columns = {name: np.array([c[name] for c in made]) for name in made[0]}
    return Table(corpus, columns, corpus.gold())


def chooser(*, has_encoder: bool = True) -> Chooser:
    """Return a chooser without weights, for its features alone."""
    encoder = RememberingEncoder(UseEncoder()) if has_encoder else None
    return Chooser(Heads("fitting", encoder.name if encoder else "", {}), encoder)


def corpora(folder: Path, *, examples: int) -> Iterator[Corpus]:
    """Yield the corpora of the development files."""
    for name in NAMES:
        yield load(folder, name, examples=examples)
