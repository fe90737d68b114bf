"""A decision model by its name in a configuration, or by import path."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, cast

from clawmarshal.api.imports import imported, made
from clawmarshal.errors import SettingsError
from clawmarshal.router.decision import DecisionModel

if TYPE_CHECKING:
    from clawmarshal.router.models.encoder import Encoder
    from clawmarshal.router.models.head import Heads


def load_model(
    name: str, *, head: Path | None = None, encoder: "str | Encoder | None" = None
) -> DecisionModel:
    """Return the model of a name, ready to answer.

    Parameters
    ----------
    name
        ``offline``; ``lexical``, which needs no extra; or ``package.module:name`` of a
        `DecisionModel` or of something that makes one when called without arguments.
    head
        A fit that ``calibrate`` wrote, for ``offline`` and ``lexical``; the shipped one where None.
    encoder
        For ``offline``: as `load_encoder` takes it, or one that is loaded; `head` must be fitted
        with it.

    Raises
    ------
    SettingsError
        There is no such module or name, or it is no model; or `head` is no fit, or is for another
        model.
    """
    if ":" in name:
        if head is not None or encoder is not None:
            which = "head is for offline and lexical" if head else "encoder is for offline"
            raise SettingsError(f"decision.{which}, not for {name}")
        return _imported(name)
    if name not in ("offline", "lexical"):
        raise SettingsError(
            f"there is no model {name[:64]!r}; write offline, lexical or package.module:name"
            " (a system_one server needs a configuration)"
        )
    from clawmarshal.api.encoders import load_encoder
    from clawmarshal.router.models.local import LocalDecisionModel

    heads = None if head is None else read_heads(head)
    if encoder is not None and name != "offline":
        raise SettingsError(f"decision.encoder is for offline, not for {name}")
    opened = load_encoder(encoder) if isinstance(encoder, str) else encoder
    if name == "offline":
        _check_fit(heads, opened)
    model = LocalDecisionModel(encoder=opened, use_encoder=name == "offline", heads=heads)
    model.load()
    return model


def _check_fit(heads: "Heads | None", encoder: "Encoder | None") -> None:
    """Refuse an encoder that the weights were not fitted with: its figures would mean nothing."""
    from clawmarshal.router.models.head import shipped_heads

    shipped = shipped_heads()
    wanted, used = (heads or shipped).encoder, encoder.name if encoder else shipped.encoder
    if wanted != used:
        raise SettingsError(
            f"decision.head: the fit is for the encoder {wanted}, not for {used}; "
            "name a fit of that encoder; clawmarshal calibrate --encoder PATH makes one"
        )


def read_heads(path: Path) -> "Heads":
    """Read a ``*.head.json`` file.

    Raises
    ------
    SettingsError
        It cannot be read, or is no fit of the local model.
    """
    from clawmarshal.router.models.head import heads_from

    mend = "write one with clawmarshal calibrate"
    try:
        document = json.loads(path.read_text("utf-8"))
        if not isinstance(document, dict):
            raise TypeError("not an object")
        return heads_from(document)
    except OSError as error:
        raise SettingsError(f"decision.head: {path} cannot be read ({error.strerror})") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise SettingsError(f"decision.head: {path.name} is no fit; {mend}") from error


def _imported(name: str) -> DecisionModel:
    model = made(imported(name, "decision.model"), "answer")
    if not hasattr(model, "answer") or not isinstance(getattr(model, "name", None), str):
        raise SettingsError(f"decision.model: {name} has no answer() or no name")
    return cast(DecisionModel, model)
