"""What every encoder from outside must give: one finite row of length 1 per text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clawmarshal.errors import DecisionInvalidError
from clawmarshal.router.models.encoder import Encoder

if TYPE_CHECKING:
    from clawmarshal.router.models.encoder import Vectors


UNREAD = "encoder-unread"
"""Code of a text that the encoder has no direction for."""


class CheckedEncoder:
    """Pass on the rows of another encoder, made float32 and of length 1; refuse wrong ones.

    Parameters
    ----------
    encoder
        Whose rows are checked.
    name
        With a digest of its files where it has some.
    """

    def __init__(self, encoder: Encoder, name: str) -> None:
        self.name = name
        self._encoder = encoder

    def encode(self, texts: Sequence[str]) -> "Vectors":
        """Encode a batch.

        Raises
        ------
        DecisionInvalidError
            ``encoder-rows``: not one row per text, or a row is not finite. ``encoder-unread``:
            a row has no direction, as of a text in which the encoder knows no word.
        """
        import numpy as np

        rows = np.asarray(self._encoder.encode(list(texts)), np.float32)
        if rows.ndim != 2 or len(rows) != len(texts) or not rows.shape[1]:
            raise _wrong(f"gave shape {rows.shape} for {len(texts)} text(s)")
        if not np.isfinite(rows).all():
            raise _wrong("gave numbers that are not finite")
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if (lengths < 1e-6).any():
            raise unread()
        unit: Vectors = rows / lengths
        return unit


def unread() -> DecisionInvalidError:
    """Say that an encoder knows nothing of a text."""
    return DecisionInvalidError("the encoder knows no word of the text", code=UNREAD)


def _wrong(what: str) -> DecisionInvalidError:
    return DecisionInvalidError(f"the encoder {what}", code="encoder-rows")
