"""An encoder from a path: the kind is told from the files, and its name holds their digest."""

import hashlib
import json
import mmap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from clawmarshal.errors import ClawmarshalError, SettingsError
from clawmarshal.router.models.encoder import Encoder
from clawmarshal.router.models.encoder_model2vec import Model2vecEncoder
from clawmarshal.router.models.encoder_onnx import OnnxEncoder
from clawmarshal.router.models.encoder_rows import CheckedEncoder
from clawmarshal.router.models.encoder_sentences import SentenceTransformersEncoder
from clawmarshal.router.models.onnx_files import external_files


@dataclass(frozen=True, slots=True)
class _Kind:
    """What reads a path, and which files decide what it says."""

    extra: str
    make: Callable[[Path], Encoder]
    folder: Path
    files: Callable[[], Iterable[Path]]


def open_encoder(path: Path) -> Encoder:
    """Open an ONNX file, or a folder of model2vec or sentence-transformers; from local files only.

    Raises
    ------
    SettingsError
        There is nothing that can be read there, its extra is not installed, or its rows are wrong.
    """
    kind = _kind(path)

    def make() -> Encoder:
        made = kind.make(path)
        return CheckedEncoder(made, f"{made.name}-{_digest(kind.files(), kind.folder)}")

    return checked(make, called=str(path), extra=kind.extra)


def checked(make: Callable[[], Encoder], *, called: str, extra: str | None = None) -> Encoder:
    """Make an encoder and try it once.

    Parameters
    ----------
    called
        What the operator named, for errors.
    extra
        What brings the library that `make` imports; None where that is not known.

    Raises
    ------
    SettingsError
        It cannot be made, or gives wrong rows.
    """
    try:
        made = make()
        made.encode(["warm up"])
    except ImportError as error:
        mend = f"clawmarshal[{extra}]; install it" if extra else f"a module ({error.name})"
        raise SettingsError(f"encoder: {called} needs {mend}") from error
    except Exception as error:  # the libraries raise their own kinds for a broken file
        is_told = isinstance(error, ClawmarshalError | ValueError)
        told = str(error) if is_told else type(error).__name__
        raise SettingsError(f"encoder: {called} cannot be used: {told}") from error
    return made


def _kind(path: Path) -> _Kind:
    if path.suffix == ".onnx" and path.is_file():
        tokenizer = path.with_name("tokenizer.json")
        if not tokenizer.is_file():
            raise SettingsError(f"encoder: {path} needs a tokenizer.json beside it")
        return _Kind("onnx", OnnxEncoder, path.parent, lambda: [path, tokenizer, *_weights(path)])
    if _is_model2vec(path):
        return _Kind("model2vec", Model2vecEncoder, path, lambda: _all_files(path))
    if _is_sentence_transformers(path):
        make = SentenceTransformersEncoder
        return _Kind("sentence-transformers", make, path, lambda: _all_files(path))
    raise SettingsError(
        f"encoder: {path} is no encoder; name an .onnx file, a folder saved by model2vec or "
        "sentence-transformers, or package.module:name"
    )


def _is_model2vec(path: Path) -> bool:
    """Tell by the config of a distilled model, or by the modules that model2vec writes."""
    config = _read(path / "config.json")
    if isinstance(config, dict) and config.get("model_type") == "model2vec":
        return True
    is_static = any(kind.endswith("StaticEmbedding") for kind in _modules(path)[:1])
    return is_static and (path / "model.safetensors").is_file()


def _is_sentence_transformers(path: Path) -> bool:
    return any(kind.startswith("sentence_transformers.") for kind in _modules(path))


def _modules(path: Path) -> list[str]:
    listed = _read(path / "modules.json")
    found = listed if isinstance(listed, list) else []
    return [str(one.get("type")) for one in found if isinstance(one, dict)]


def _read(path: Path) -> object:
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _all_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file())


def _weights(path: Path) -> list[Path]:
    """List the further files that hold the weights of an ONNX model."""
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return sorted(path.parent / name for name in external_files(memoryview(mapped)))


def _digest(files: Iterable[Path], folder: Path) -> str:
    total = hashlib.sha256()
    for file in files:
        with file.open("rb") as opened:
            name = file.relative_to(folder).as_posix()
            total.update(name.encode() + hashlib.file_digest(opened, "sha256").digest())
    return total.hexdigest()[:12]
