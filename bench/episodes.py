"""Rosters made from a roster: parts of it, agents merged, topics as agents.

A head fitted on four rosters alone would learn their four sizes and styles. Each episode asks the
same messages of another ballot, so that the weights must hold for small and large ballots, broad
and narrow remits, and few, many or no examples.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from corpus import NONE, Corpus, Labelled

from clawmarshal.roster.agent import AgentSpec

REPEATS = 8
ROWS = 350
NONE_ROWS = 45
Draw = np.random.Generator


def episodes(corpus: Corpus, *, examples: int, seed: int) -> Iterator[Corpus]:
    """Yield the episodes of one corpus.

    Parameters
    ----------
    corpus
        With all its examples.
    examples
        The most an agent keeps; 0 for remits alone. How many it has is drawn per agent.
    """
    makers = [part, merged]
    if len({row.topic for row in corpus.rows}) > 2:
        makers.append(topical)
    for number, maker in enumerate(makers):
        for repeat in range(REPEATS):
            draw = np.random.default_rng([seed, number, repeat, examples])
            yield maker(corpus, examples, draw)


def part(corpus: Corpus, examples: int, draw: Draw) -> Corpus:
    """Keep some agents, three at least; messages of the others belong to nobody."""
    most = len(corpus.agents)
    size = round(math.exp(draw.uniform(math.log(3), math.log(most))))
    kept = [corpus.agents[i] for i in sorted(draw.permutation(most)[:size])]
    ids = {agent.id for agent in kept}
    rows = [
        row if row.agent in ids else Labelled(row.id, row.text, NONE, row.topic)
        for row in corpus.rows
    ]
    agents = tuple(_shown(agent, agent.examples, examples, draw) for agent in kept)
    return Corpus(corpus.name, agents, _sample(rows, draw))


def merged(corpus: Corpus, examples: int, draw: Draw) -> Corpus:
    """Join agents, one to three at a time, into broader ones."""
    left = [corpus.agents[i] for i in draw.permutation(len(corpus.agents))]
    agents, owner = [], {}
    while left:
        size = int(draw.integers(1, 4))
        group, left = left[:size], left[size:]
        joined = "_".join(agent.id for agent in group)[:60]
        name = joined if draw.random() < 0.5 else group[0].id
        remit = " ".join(agent.description for agent in group)
        shown = [text for agent in group for text in agent.examples[:5]]
        agents.append(_shown(AgentSpec(name, remit), shown, examples, draw))
        owner.update(dict.fromkeys((agent.id for agent in group), name))
    rows = [
        Labelled(row.id, row.text, owner.get(row.agent, NONE), row.topic) for row in corpus.rows
    ]
    agents.sort(key=lambda agent: agent.id)
    return Corpus(corpus.name, tuple(agents), _sample(rows, draw))


def topical(corpus: Corpus, examples: int, draw: Draw) -> Corpus:
    """Make each of some topics an agent whose remit is the topic's name."""
    by_topic: dict[str, list[Labelled]] = defaultdict(list)
    for row in corpus.rows:
        if row.topic is not None and row.agent != NONE:
            by_topic[row.topic].append(row)
    topics = list(by_topic)
    size = min(len(topics), int(draw.integers(8, 60)))
    chosen = [topics[i] for i in draw.permutation(len(topics))[:size]]
    rows = [
        Labelled(row.id, row.text, NONE, row.topic)
        for row in corpus.rows
        if row.topic not in chosen or row.agent == NONE
    ]
    agents = []
    for topic in chosen:
        own = [by_topic[topic][i] for i in draw.permutation(len(by_topic[topic]))]
        shown = own[: min(examples, len(own) // 2)]
        name = re.sub(r"[^a-z0-9]+", "_", topic.casefold()).strip("_")
        texts = tuple(row.text for row in shown)
        remit = f"{name.replace('_', ' ').capitalize()}."
        agents.append(AgentSpec(name, remit, examples=texts))
        rows += [Labelled(row.id, row.text, name) for row in own[len(shown) :]]
    agents.sort(key=lambda agent: agent.id)
    return Corpus(corpus.name, tuple(agents), _sample(rows, draw))


def _shown(agent: AgentSpec, texts: Sequence[str], most: int, draw: Draw) -> AgentSpec:
    count = min(len(texts), int(draw.integers(0, most + 1)))
    kept = tuple(texts[i] for i in draw.permutation(len(texts))[:count])
    return AgentSpec(agent.id, agent.description, examples=kept)


def _sample(rows: Sequence[Labelled], draw: Draw) -> tuple[Labelled, ...]:
    owned = [row for row in rows if row.agent != NONE]
    others = [row for row in rows if row.agent == NONE]
    taken = [owned[i] for i in sorted(draw.permutation(len(owned))[:ROWS])]
    taken += [others[i] for i in sorted(draw.permutation(len(others))[:NONE_ROWS])]
    return tuple(taken)
