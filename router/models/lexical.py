"""Lexical features of a message against remits, with the standard library alone."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain, pairwise

from clawmarshal.router.models.features import Remit, content_words, stem, words

Columns = dict[str, list[float]]
"""Feature name to one value per remit, in the remits' order."""
GRAM_SIZES = (3, 4, 5)
_K1, _B = 1.2, 0.75
_SLICE = 4096


def grams(found: Sequence[str]) -> Iterator[str]:
    """Yield the character 3- to 5-grams of words joined by blanks."""
    joined = f" {' '.join(found)} "
    for size in GRAM_SIZES:
        for start in range(len(joined) - size + 1):
            yield joined[start : start + size]


class GramIndex:
    """Compare texts by TF-IDF weighted character n-grams.

    Parameters
    ----------
    documents
        Words of each document, at least one document.
    """

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        counted = [Counter(grams(document)) for document in documents]
        frequency = Counter(chain.from_iterable(counted))
        total = len(counted)
        self._size = total
        self._unknown = math.log((total + 1) / 0.5)
        self._idf = {g: math.log((total + 1) / (n + 0.5)) for g, n in frequency.items()}
        self._postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for number, document in enumerate(counted):
            weights = {g: (1 + math.log(n)) * self._idf[g] for g, n in document.items()}
            norm = math.sqrt(sum(w * w for w in weights.values())) or 1.0
            for gram, weight in weights.items():
                self._postings[gram].append((number, weight / norm))

    def cosines(self, found: Sequence[str], check: Callable[[], None]) -> list[float]:
        """Return the cosine of a text with each document.

        Only n-grams that some document has are kept, so that memory stays bounded by the roster.
        """
        known: Counter[str] = Counter()
        seen = 0
        for start in range(0, len(found), _SLICE):
            check()
            for gram in grams(found[start : start + _SLICE]):
                seen += 1
                if gram in self._idf:
                    known[gram] += 1
        cosines = [0.0] * self._size
        norm = (seen - known.total()) * self._unknown**2
        for gram, count in known.items():
            weight = (1 + math.log(count)) * self._idf[gram]
            norm += weight * weight
            for number, other in self._postings[gram]:
                cosines[number] += weight * other
        scale = 1 / math.sqrt(norm) if norm else 0.0
        return [cosine * scale for cosine in cosines]


class GramGroups:
    """Find the best document per group by character n-grams.

    Parameters
    ----------
    groups
        Words of each document of each group; a group may be empty, not all of them.
    """

    def __init__(self, groups: Sequence[Sequence[Sequence[str]]]) -> None:
        self._bounds = [0, *accumulate(map(len, groups))]
        self._index = GramIndex(list(chain.from_iterable(groups)))

    def best(self, found: Sequence[str], check: Callable[[], None]) -> list[float]:
        """Return the best cosine per group; 0 for an empty one."""
        cosines = self._index.cosines(found, check)
        return [max(cosines[a:b], default=0.0) for a, b in pairwise(self._bounds)]


class WordIndex:
    """Compare texts by BM25 over stems of content words.

    Parameters
    ----------
    documents
        Words of each document, at least one document.
    """

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        stems = [[stem(word) for word in content_words(document)] for document in documents]
        counted = [Counter(document) for document in stems]
        frequency = Counter(chain.from_iterable(counted))
        total = len(stems)
        average = sum(map(len, stems)) / total or 1.0
        self._size = total
        self._unknown = math.log(1 + (total + 0.5) / 0.5)
        self._idf = {s: math.log(1 + (total - n + 0.5) / (n + 0.5)) for s, n in frequency.items()}
        self._postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for number, document in enumerate(counted):
            length = 1 - _B + _B * len(stems[number]) / average
            for s, n in document.items():
                weight = self._idf[s] * n * (_K1 + 1) / (n + _K1 * length)
                self._postings[s].append((number, weight))

    def scores(self, found: Sequence[str]) -> tuple[list[float], list[float]]:
        """Return BM25 and the share of the text's idf mass found, for each document."""
        bm25, overlap, mass = [0.0] * self._size, [0.0] * self._size, 0.0
        for s in {stem(word) for word in content_words(found)}:
            idf = self._idf.get(s, self._unknown)
            mass += idf
            for number, weight in self._postings.get(s, ()):
                bm25[number] += weight
                overlap[number] += idf
        return bm25, [value / mass if mass else 0.0 for value in overlap]


class LexicalIndex:
    """Hold the lexical side of remits, computed once.

    Parameters
    ----------
    remits
        At least one.
    """

    def __init__(self, remits: Sequence[Remit]) -> None:
        whole = [words(" ".join((r.label, r.description, *r.examples))) for r in remits]
        units = [[words(text) for text in (r.label, *r.clauses, *r.examples)] for r in remits]
        self._words = WordIndex(whole)
        self._whole = GramIndex(whole)
        refused = [[words(text) for text in r.not_for] for r in remits]
        self._size, self._refuses = len(remits), any(refused)
        # One index for both, so that a word weighs the same for and against.
        self._units = GramGroups(units + refused)

    def columns(self, text: str, check: Callable[[], None] = lambda: None) -> Columns:
        """Compute every lexical feature of one message.

        Parameters
        ----------
        text
            Any length; all of it is read, in linear time.
        check
            Called between slices; raises when the deadline has passed.

        Returns
        -------
        Columns
            ``char``, ``char_unit``, ``bm25``, ``overlap``, and ``refused`` where a remit says what
            it is not for. All zero where nothing is shared.
        """
        found = words(text)
        bm25, overlap = self._words.scores(found)
        best = self._units.best(found, check)
        own, against = best[: self._size], best[self._size :]
        columns = {
            "char": self._whole.cosines(found, check),
            "char_unit": own,
            "bm25": bm25,
            "overlap": overlap,
        }
        if self._refuses:
            pairs = zip(against, own, strict=True)
            columns["refused"] = [max(0.0, theirs - ours) for theirs, ours in pairs]
        return columns
