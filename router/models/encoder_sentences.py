"""An encoder from a folder of sentence-transformers."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clawmarshal.router.models.encoder import Vectors


class SentenceTransformersEncoder:
    """Run a folder that sentence-transformers saved, on the processor.

    Code that such a folder may bring is never run, and nothing is fetched.

    Raises
    ------
    ImportError
        The ``sentence-transformers`` extra is not installed.
    """

    def __init__(self, path: Path) -> None:
        from sentence_transformers import SentenceTransformer

        self.name = f"sentence-transformers-{path.name}"
        self._model = SentenceTransformer(
            str(path), device="cpu", local_files_only=True, trust_remote_code=False
        )

    def encode(self, texts: Sequence[str]) -> "Vectors":
        """Encode a batch; a text over the model's limit in parts, of which the mean is taken."""
        import numpy as np

        parts = [list(self._parts(text)) for text in texts]
        flat = [part for some in parts for part, _ in some]
        rows = np.asarray(self._model.encode(flat, show_progress_bar=False), np.float32)
        made, start = [], 0
        for some in parts:
            weights = np.array([size for _, size in some], np.float32)
            made.append(weights @ rows[start : start + len(some)] / weights.sum())
            start += len(some)
        return np.stack(made)

    def _parts(self, text: str) -> Iterator[tuple[str, int]]:
        """Halve a text until each part fits; yield the parts with their number of tokens."""
        limit = self._model.max_seq_length
        size = 1 if limit is None else max(1, len(self._model.tokenizer(text)["input_ids"]))
        middle = text.rfind(" ", 1, len(text) // 2 + 1)
        middle = middle if middle > 0 else len(text) // 2
        halves = text[:middle].strip(), text[middle:].strip()
        if limit is None or size <= limit or not all(halves):
            yield text, size
            return
        for half in halves:
            yield from self._parts(half)
