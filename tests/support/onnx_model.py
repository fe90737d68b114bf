"""An ONNX model of one look-up, with its tokenizer, made on the spot."""

from pathlib import Path

import numpy as np
import onnx
import tokenizers

WORDS = {"[UNK]": 0, "invoice": 1, "tax": 2, "breach": 3, "up": 4}


def tokenizer() -> tokenizers.Tokenizer:
    """Know `WORDS`, and one sign for every other word."""
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(WORDS, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return made


def table() -> np.ndarray:
    """Return a row per word."""
    return np.random.default_rng(1).normal(size=(len(WORDS), 8)).astype(np.float32)


def save_onnx(folder: Path, weights: np.ndarray, *, beside: str | None = None) -> Path:
    """Write the model.

    Parameters
    ----------
    beside
        Name of a file that the weights go to; in the model itself where None.
    """
    kinds = onnx.TensorProto
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        "tiny",
        [onnx.helper.make_tensor_value_info("input_ids", kinds.INT64, ["batch", "tokens"])],
        [onnx.helper.make_tensor_value_info("last_hidden_state", kinds.FLOAT, ["b", "t", 8])],
        [onnx.numpy_helper.from_array(weights, "table")],
    )
    opset = [onnx.helper.make_opsetid("", 17)]
    model = onnx.helper.make_model(graph, opset_imports=opset, ir_version=9)
    path = folder / "tiny.onnx"
    if beside is not None:
        (folder / beside).unlink(missing_ok=True)
    onnx.save(
        model,
        path,
        save_as_external_data=beside is not None,
        location=beside,
        size_threshold=0,
    )
    tokenizer().save(str(folder / "tokenizer.json"))
    return path
