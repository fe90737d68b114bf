"""A decision model by its name in a configuration, or by import path."""

import importlib
import sys
from pathlib import Path
from typing import cast

from clawmarshal.errors import SettingsError
from clawmarshal.router.decision import DecisionModel


def load_model(name: str) -> DecisionModel:
    """Return the model of a name, ready to answer.

    Parameters
    ----------
    name
        ``offline``; ``lexical``, which needs no extra; or ``package.module:name`` of a
        `DecisionModel` or of something that makes one when called without arguments.

    Raises
    ------
    SettingsError
        There is no such module or name, or it is no model.
    """
    if ":" in name:
        return _imported(name)
    if name not in ("offline", "lexical"):
        raise SettingsError(
            f"there is no model {name[:64]!r}; write offline, lexical or package.module:name"
        )
    from clawmarshal.router.models.local import LocalDecisionModel

    model = LocalDecisionModel(use_encoder=name == "offline")
    model.load()
    return model


def _imported(name: str) -> DecisionModel:
    module_name, _, attribute = name.partition(":")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        # A console script does not look into the working directory, where such a module often is.
        sys.path.append(str(Path.cwd()))
    try:
        found = getattr(importlib.import_module(module_name), attribute)
    except ImportError as error:
        raise SettingsError(f"decision.model: no module {module_name!r} can be imported") from error
    except AttributeError as error:
        raise SettingsError(f"decision.model: {module_name} has no {attribute}") from error
    makes_one = isinstance(found, type) or (callable(found) and not hasattr(found, "answer"))
    model = found() if makes_one else found
    if not hasattr(model, "answer") or not isinstance(getattr(model, "name", None), str):
        raise SettingsError(f"decision.model: {name} has no answer() or no name")
    return cast(DecisionModel, model)
