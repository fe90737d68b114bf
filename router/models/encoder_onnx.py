"""An encoder from an ONNX file, with the tokenizer.json beside it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from clawmarshal.router.models.encoder_rows import unread

if TYPE_CHECKING:
    from clawmarshal.router.models.encoder import Vectors

OUTPUTS = ("sentence_embedding", "last_hidden_state", "token_embeddings")
"""Looked for in this order; the first output where none is there."""
MAX_TOKENS = 256
"""Longer texts are encoded in parts, and the mean is taken by the parts' tokens."""


class OnnxEncoder:
    """Run an ONNX file on one thread; token rows are averaged over the attention mask.

    Parameters
    ----------
    path
        The model; ``tokenizer.json`` stands beside it.
    output
        Which output is read; found where None.

    Raises
    ------
    ImportError
        The ``onnx`` extra is not installed.
    ValueError
        The model has no such output.
    """

    def __init__(self, path: Path, *, output: str | None = None) -> None:
        import onnxruntime
        import tokenizers

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.name = f"onnx-{path.stem}"
        self._tokenizer = tokenizers.Tokenizer.from_file(str(path.with_name("tokenizer.json")))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
        self._inputs = {one.name for one in self._session.get_inputs()}
        outputs = [one.name for one in self._session.get_outputs()]
        found = output or next((name for name in OUTPUTS if name in outputs), outputs[0])
        if found not in outputs:
            raise ValueError(f"there is no output {found!r}")
        self._output = found

    def encode(self, texts: Sequence[str]) -> "Vectors":
        """Encode a batch, text by text: nothing is padded and nothing is cut off."""
        import numpy as np

        return np.concatenate([self._row(text) for text in texts])

    def _row(self, text: str) -> "Vectors":
        import numpy as np

        first = self._tokenizer.encode(text)
        parts = [part for part in (first, *first.overflowing) if part.ids]
        if not parts:
            raise unread()
        weights = np.array([len(part.ids) for part in parts], np.float32)
        rows = np.concatenate([self._part(part.ids) for part in parts])
        mean: Vectors = (weights @ rows)[None] / weights.sum()
        return mean

    def _part(self, ids: Sequence[int]) -> "Vectors":
        import numpy as np

        one = np.array([ids], np.int64)
        given = {
            "input_ids": one,
            "attention_mask": np.ones_like(one),
            "token_type_ids": np.zeros_like(one),
        }
        fed = {name: value for name, value in given.items() if name in self._inputs}
        found = np.asarray(self._session.run([self._output], fed)[0], np.float32)
        pooled: Vectors = found.mean(1) if found.ndim == 3 else found
        return pooled
