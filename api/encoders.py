"""An encoder by its path in a configuration, or by import path."""

from pathlib import Path
from typing import cast

from clawmarshal.api.imports import imported, is_import_path, made
from clawmarshal.errors import SettingsError
from clawmarshal.router.models.encoder import Encoder
from clawmarshal.router.models.encoder_rows import CheckedEncoder
from clawmarshal.router.models.encoder_source import checked, open_encoder

SETTING = "decision.encoder"


def load_encoder(name: str) -> Encoder:
    """Return the encoder of a name, ready to encode.

    Parameters
    ----------
    name
        An ONNX file; a folder of model2vec or sentence-transformers; or ``package.module:name`` of
        an `Encoder` or of something that makes one when called without arguments.

    Raises
    ------
    SettingsError
        There is no encoder there, what it needs is not installed, or its rows are wrong.
    """
    if not is_import_path(name):
        return open_encoder(Path(name))
    found = imported(name, SETTING)
    return checked(lambda: _own(found, name), called=name)


def _own(found: object, name: str) -> Encoder:
    own = made(found, "encode")
    if not hasattr(own, "encode") or not isinstance(getattr(own, "name", None), str):
        raise SettingsError(f"{name} has no encode() or no name")
    encoder = cast(Encoder, own)
    return CheckedEncoder(encoder, encoder.name)
