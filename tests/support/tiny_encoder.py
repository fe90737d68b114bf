"""An encoder small enough to understand: hashed words, unit vectors, and a count of the calls."""

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class TinyEncoder:
    """Encode a text as the sum of its words' random directions."""

    def __init__(self, name: str = "tiny-1", size: int = 64) -> None:
        self.name = name
        self.size = size
        self.batches: list[list[str]] = []

    @property
    def texts(self) -> list[str]:
        """Every text it was asked for, in order."""
        return [text for batch in self.batches for text in batch]

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        assert texts, "an empty batch was asked for"
        assert all(text.strip() for text in texts), "a blank text was asked for"
        self.batches.append(list(texts))
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> NDArray[np.float32]:
        total = np.zeros(self.size, np.float32)
        for word in text.lower().replace(",", " ").replace(".", " ").split():
            draw = np.random.default_rng(zlib.crc32(word.encode()))
            total += draw.standard_normal(self.size).astype(np.float32)
        length = float(np.linalg.norm(total))
        unit: NDArray[np.float32] = total / np.float32(length or 1)
        return unit
