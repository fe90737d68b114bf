"""Labelled messages of one roster, and their features as the shipped code computes them."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import yaml

from clawmarshal.roster.agent import AgentSpec
from clawmarshal.router.models.choose import Chooser, Reading
from clawmarshal.router.models.dense import DenseIndex, Reader, Vectors
from clawmarshal.router.models.encoder import Encoder, UseEncoder
from clawmarshal.router.models.features import Remit, windows
from clawmarshal.router.models.head import Heads
from clawmarshal.router.models.lexical import LexicalIndex

NAMES = ("clinc10", "banking77", "fleet10", "xsid8")
NONE = "none"
TOPICS = Path(__file__).parent / "everyday.txt"
CLINC7_DROPS = ("travel", "work", "kitchen_and_dining")


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
        return np.stack([self._known[text] for text in texts])


@dataclass(frozen=True)
class Labelled:
    """One message and the agent it belongs to."""

    id: str
    text: str
    agent: str
    """An agent id, or ``none``."""
    topic: str | None = None
    """What the message is about, finer than its agent, where the source says so."""
    language: str | None = None


@dataclass(frozen=True)
class Corpus:
    """A roster and the messages labelled with its agents."""

    name: str
    agents: tuple[AgentSpec, ...]
    rows: tuple[Labelled, ...]
    digests: Mapping[str, str] = field(default_factory=dict)
    """File name to SHA-256."""

    @property
    def remits(self) -> list[Remit]:
        """What the model may read of the agents."""
        return [Remit.of(agent) for agent in self.agents]

    def gold(self) -> np.ndarray:
        """Return the index of each row's agent, -1 for none."""
        places = {agent.id: place for place, agent in enumerate(self.agents)}
        return np.array([places.get(row.agent, -1) for row in self.rows])

    def without(self, name: str, dropped: Sequence[str]) -> "Corpus":
        """Drop agents from the ballot; their messages then belong to nobody."""
        agents = tuple(agent for agent in self.agents if agent.id not in dropped)
        return Corpus(name, agents, self.rows)


@dataclass(frozen=True)
class Table:
    """Features of every row against every agent of one corpus."""

    corpus: Corpus
    columns: Mapping[str, np.ndarray]
    """Feature name to an array of rows by agents."""
    gold: np.ndarray


class Tabulator:
    """Compute features with the shipped code; lexical ones once per corpus.

    Parameters
    ----------
    encoder
        None for lexical features alone.
    """

    def __init__(self, encoder: Encoder | None) -> None:
        self.encoder = encoder
        self.topics = () if encoder is None else tuple(TOPICS.read_text("utf-8").splitlines())
        self._lexical: dict[int, tuple[Corpus, list[dict[str, list[float]]]]] = {}
        self._tables: dict[int, Table] = {}
        self._background: Sequence[float] = ()

    def table(self, corpus: Corpus, background: Sequence[float] = ()) -> Table:
        """Compute every feature of every row; asked again with one background, once."""
        if background != self._background:
            self._tables.clear()
            self._background = background
        if id(corpus) not in self._tables:
            self._tables[id(corpus)] = self._made(corpus, background)
        return self._tables[id(corpus)]

    def _made(self, corpus: Corpus, background: Sequence[float]) -> Table:
        made = self._lexical_columns(corpus)
        if self.encoder is not None:
            reader = Reader(self.encoder, background, topics=self.topics)
            index = DenseIndex(corpus.remits, reader)
            dense = [index.columns(reader.message(windows(r.text)[0])) for r in corpus.rows]
            made = [{**few, **more} for few, more in zip(made, dense, strict=True)]
        columns = {name: np.array([c[name] for c in made]) for name in made[0]}
        return Table(corpus, columns, corpus.gold())

    def background(self, corpora: Sequence[Corpus]) -> list[float]:
        """Return the mean vector of the corpora's messages, each corpus with the same weight."""
        if self.encoder is None:
            return []
        means = [
            np.mean([self.encoder.encode([row.text])[0] for row in corpus.rows], axis=0)
            for corpus in corpora
        ]
        return [round(float(number), 4) for number in np.mean(means, axis=0)]

    def _lexical_columns(self, corpus: Corpus) -> list[dict[str, list[float]]]:
        known = self._lexical.get(id(corpus))
        if known is None:
            index = LexicalIndex(corpus.remits)
            known = (corpus, [index.columns(row.text) for row in corpus.rows])
            self._lexical[id(corpus)] = known
        return known[1]


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
        Labelled(row["id"], row["text"], row["agent"], row.get("intent"), row.get("lang"))
        for row in map(json.loads, contents[1].splitlines())
    )
    names = [source.name for source in sources]
    digests = {n: hashlib.sha256(c).hexdigest() for n, c in zip(names, contents, strict=True)}
    return Corpus(name, agents, rows, digests)


def corpora(folder: Path, *, examples: int) -> Iterator[Corpus]:
    """Yield the corpora of the development files."""
    for name in NAMES:
        yield load(folder, name, examples=examples)


def default_encoder() -> Encoder:
    """Return the encoder of the offline extra, remembering."""
    return RememberingEncoder(UseEncoder())


def scored(heads: Heads, encoder: Encoder | None, corpus: Corpus) -> np.ndarray:
    """Answer every row as the product would; one row each, the last column is none."""
    chooser = Chooser(heads, encoder)
    index = chooser.index(corpus.name, lambda: corpus.remits)
    answers = []
    for row in corpus.rows:
        found = chooser.distribution(index, Reading(row.text))
        fit = [0.0] * len(corpus.agents) + [1.0] if found is None else [*found.options, found.none]
        answers.append(fit)
    return np.array(answers)
