"""An encoder from a path: the kind is told from the files, and its name holds their digest."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from clawmarshal.errors import SettingsError
from clawmarshal.router.models.encoder import Encoder
from clawmarshal.router.models.encoder_model2vec import Model2vecEncoder
from clawmarshal.router.models.encoder_onnx import OnnxEncoder
from clawmarshal.router.models.encoder_rows import CheckedEncoder


def open_encoder(path: Path) -> Encoder:
    """Open a model2vec folder or an ONNX file; only local files are read.

    Raises
    ------
    SettingsError
        There is nothing that can be read there, its extra is not installed, or its rows are wrong.
    """
    kind, make, files = _kind(path)
    try:
        made = make(path)
        checked = CheckedEncoder(made, f"{made.name}-{_digest(files)}")
        checked.encode(["warm up"])
    except ImportError as error:
        raise SettingsError(f"encoder: {path} needs clawmarshal[{kind}]; install it") from error
    except Exception as error:  # the libraries raise their own kinds for a broken file
        told = str(error) if isinstance(error, SettingsError | ValueError) else type(error).__name__
        raise SettingsError(f"encoder: {path} cannot be used: {told}") from error
    return checked


def _kind(path: Path) -> tuple[str, Callable[[Path], Encoder], list[Path]]:
    if path.suffix == ".onnx" and path.is_file():
        tokenizer = path.with_name("tokenizer.json")
        if not tokenizer.is_file():
            raise SettingsError(f"encoder: {path} needs a tokenizer.json beside it")
        weights = sorted(path.parent.glob(f"{path.name}[._]*"))
        return "onnx", OnnxEncoder, [path, tokenizer, *weights]
    if _is_model2vec(path):
        return "model2vec", Model2vecEncoder, sorted(f for f in path.iterdir() if f.is_file())
    raise SettingsError(
        f"encoder: {path} is no encoder; name an .onnx file or a folder saved by model2vec"
    )


def _is_model2vec(path: Path) -> bool:
    """Tell by the config of a distilled model, or by the modules that model2vec writes."""
    config, modules = _read(path / "config.json"), _read(path / "modules.json")
    if isinstance(config, dict) and config.get("model_type") == "model2vec":
        return True
    first = modules[0] if isinstance(modules, list) and modules else None
    is_static = isinstance(first, dict) and str(first.get("type")).endswith("StaticEmbedding")
    return is_static and (path / "model.safetensors").is_file()


def _read(path: Path) -> object:
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _digest(files: list[Path]) -> str:
    total = hashlib.sha256()
    for file in files:
        with file.open("rb") as opened:
            total.update(file.name.encode() + hashlib.file_digest(opened, "sha256").digest())
    return total.hexdigest()[:12]
