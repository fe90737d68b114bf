"""Which files an ONNX model keeps its weights in besides its own, told from its bytes; pure."""

from collections.abc import Iterator, Mapping

_FIELDS: Mapping[str, Mapping[int, str]] = {
    "model": {7: "graph", 25: "function"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node", 11: "attribute"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {13: "entry"},
}
"""Kind of message -> number of a field -> the kind it holds, as far as tensors are in there."""
_SIZES = {1: 8, 5: 4}
"""Of fields of a fixed size, by wire type."""
_NUMBER, _HOLDS_BYTES = 0, 2
_MAX_VARINT_BYTES = 10


def external_files(model: memoryview) -> frozenset[str]:
    """List the files that a model's tensors name, relative to the model's folder.

    Parameters
    ----------
    model
        The ``.onnx`` file; what stands in it is skipped over, not copied.

    Raises
    ------
    ValueError
        It is no ONNX model.

    Notes
    -----
    Source: onnx/onnx.proto of ONNX 1.23, ``TensorProto.external_data``; checked 2026-12-01.
    """
    return frozenset(_locations(model, "model"))


def _locations(message: memoryview, kind: str) -> Iterator[str]:
    if kind == "entry":
        parts = {number: bytes(value).decode() for number, value in _fields(message)}
        if parts.get(1) == "location":
            yield parts.get(2, "")
        return
    for number, value in _fields(message):
        if held := _FIELDS[kind].get(number):
            yield from _locations(value, held)


def _fields(message: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Yield the fields that hold bytes, by their number."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        wire, size = tag & 7, _SIZES.get(tag & 7, 0)
        if wire in (_NUMBER, _HOLDS_BYTES):
            told, at = _varint(message, at)
            size = told if wire == _HOLDS_BYTES else 0
        elif not size:
            raise ValueError("it is no ONNX model")
        if at + size > len(message):
            raise ValueError("it is no ONNX model, or it was cut off")
        if wire == _HOLDS_BYTES:
            yield tag >> 3, message[at : at + size]
        at += size


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for place, byte in enumerate(message[at : at + _MAX_VARINT_BYTES]):
        value |= (byte & 127) << (7 * place)
        if byte < 128:
            return value, at + place + 1
    raise ValueError("it is no ONNX model, or it was cut off")
