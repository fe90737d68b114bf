"""An encoder from a folder of model2vec."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clawmarshal.router.models.encoder import Vectors


class Model2vecEncoder:
    """Read the whole text with a static model; one thread.

    Raises
    ------
    ImportError
        The ``model2vec`` extra is not installed.
    """

    def __init__(self, path: Path) -> None:
        from model2vec import StaticModel

        self.name = f"model2vec-{path.name}"
        self._model = StaticModel.from_pretrained(path, force_download=False)

    def encode(self, texts: Sequence[str]) -> "Vectors":
        """Encode a batch; nothing is cut off."""
        found: Vectors = self._model.encode(list(texts), max_length=None, use_multiprocessing=False)
        return found
