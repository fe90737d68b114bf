"""Remits and a text -> a distribution: the local model without its event loop."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clawmarshal.router.models.encoder import Encoder
from clawmarshal.router.models.features import Remit, windows, words
from clawmarshal.router.models.head import Distribution, Heads
from clawmarshal.router.models.lexical import Columns, LexicalIndex

if TYPE_CHECKING:
    from clawmarshal.router.models.dense import DenseIndex, MessageVectors, Reader

MAX_CACHED_BALLOTS = 64


def _never() -> None:
    return None


@dataclass(slots=True)
class Reading:
    """One message while it is being judged."""

    text: str
    check: Callable[[], None] = _never
    """Raises when the deadline has passed."""
    is_whole: bool = True
    """False where the encoder saw windows spread over the text instead of all of it."""
    is_risk_read: bool = True
    """False where the risk classifier was wanted and its encoder is not there."""
    vectors: "MessageVectors | None" = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class BallotIndex:
    """The message-independent side of one ballot."""

    lexical: LexicalIndex
    dense: "DenseIndex | None"
    has_examples: bool


class Chooser:
    """Tell how well each remit fits a text.

    Not thread-safe: one thread at a time.

    Parameters
    ----------
    heads
        Fitted with `encoder`, or for lexical features alone.
    encoder
        None for lexical features alone.
    """

    def __init__(self, heads: Heads, encoder: Encoder | None) -> None:
        self.heads = heads
        self.encoder = encoder
        self._indexes: OrderedDict[Hashable, BallotIndex] = OrderedDict()
        self._reader = None if encoder is None else _reader(encoder, heads)

    def index(self, key: Hashable, remits: Callable[[], Sequence[Remit]]) -> BallotIndex:
        """Return the index of a ballot, from the cache where the key is known.

        Parameters
        ----------
        key
            Equal keys mean equal remits.
        remits
            Called where the key is not known; at least one remit.
        """
        if (known := self._indexes.get(key)) is not None:
            self._indexes.move_to_end(key)
            return known
        made = self._index(tuple(remits()))
        self._indexes[key] = made
        if len(self._indexes) > MAX_CACHED_BALLOTS:
            self._indexes.popitem(last=False)
        return made

    def columns(self, index: BallotIndex, reading: Reading) -> Columns:
        """Compute every feature of the message against the ballot."""
        columns = index.lexical.columns(reading.text, reading.check)
        encoded = self._encoded(reading)
        if index.dense is not None and encoded is not None:
            columns.update(index.dense.columns(encoded))
        return columns

    def distribution(self, index: BallotIndex, reading: Reading) -> Distribution | None:
        """Return the probabilities of the ballot's options; None for a text without words."""
        if not words(reading.text):
            return None
        head = self.heads.head(
            has_encoder=self.encoder is not None, has_examples=index.has_examples
        )
        return head.distribution(self.columns(index, reading))

    def _encoded(self, reading: Reading) -> "MessageVectors | None":
        if reading.vectors is None and self._reader is not None:
            pieces, reading.is_whole = windows(reading.text)
            reading.vectors = self._reader.message(pieces, reading.check)
        return reading.vectors

    def _index(self, remits: Sequence[Remit]) -> BallotIndex:
        has_examples = any(remit.examples for remit in remits)
        if self._reader is None:
            return BallotIndex(LexicalIndex(remits), None, has_examples)
        from clawmarshal.router.models.dense import DenseIndex

        return BallotIndex(LexicalIndex(remits), DenseIndex(remits, self._reader), has_examples)


def _reader(encoder: Encoder, heads: Heads) -> "Reader":
    # Here and above: numpy is imported when the model is loaded, not with the package.
    from clawmarshal.router.models.dense import Reader

    background = heads.background if heads.encoder == encoder.name else ()
    return Reader(encoder, background, topics=heads.topics)
