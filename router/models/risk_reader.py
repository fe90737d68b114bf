"""RiskReader: vectors of a text for the risk classifier, whichever encoder routes."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from clawmarshal.router.models.choose import Reading
from clawmarshal.router.models.encoder import Encoder
from clawmarshal.router.models.features import windows, words
from clawmarshal.router.models.risk import shipped_head

if TYPE_CHECKING:
    from clawmarshal.router.models.dense import Reader
    from clawmarshal.router.models.everyday import Vectors


class RiskReader:
    """Encode for the shipped classifier, which understands the shipped encoder alone.

    Parameters
    ----------
    load
        Returns the shipped encoder; asked once, by `load` or at the first text. None from it, or
        another encoder, leaves risk to the rules.
    is_shared
        It is the encoder that routes: what was read for that is not read again.
    """

    def __init__(self, load: Callable[[], Encoder | None], *, is_shared: bool = False) -> None:
        self._load: Callable[[], Encoder | None] | None = load
        self._is_shared = is_shared
        self._reader: Reader | None = None
        self._loading = threading.Lock()

    def load(self) -> None:
        """Load the encoder now instead of at the first text that needs it."""
        with self._loading:
            if self._load is None:
                return
            encoder, self._load = self._load(), None
            if encoder is not None and encoder.name == shipped_head().encoder:
                from clawmarshal.router.models.dense import Reader

                self._reader = Reader(encoder)

    def vector(self, text: str, reading: Reading) -> "Vectors | None":
        """Return the vector of a text; None for one without words, or without the encoder.

        Parameters
        ----------
        text
            The text of `reading`, or a part of it.
        reading
            Told what could not be done.
        """
        self.load()
        if self._reader is None:
            reading.is_risk_read = False
            return None
        if not words(text):
            return None
        if self._is_shared and reading.vectors is not None and text == reading.text:
            return reading.vectors.written
        pieces, is_whole = windows(text)
        reading.is_whole = reading.is_whole and is_whole
        return self._reader.message(pieces, reading.check).written
