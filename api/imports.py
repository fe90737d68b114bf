"""What an operator names by import path: ``package.module:name``."""

import importlib
import re
import sys
from pathlib import Path

from clawmarshal.errors import SettingsError

_IMPORT_PATH = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", re.ASCII)


def is_import_path(name: str) -> bool:
    """Tell whether a name is an import path and not one of a file."""
    return _IMPORT_PATH.fullmatch(name) is not None


def imported(name: str, setting: str) -> object:
    """Import what a name stands for; a class, or what else makes one, is not called.

    Parameters
    ----------
    setting
        Where the name stands, for errors: ``decision.model``.

    Raises
    ------
    SettingsError
        There is no such module or name.
    """
    module_name, _, attribute = name.partition(":")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        # A console script does not look into the working directory, where such a module often is.
        sys.path.append(str(Path.cwd()))
    try:
        return getattr(importlib.import_module(module_name), attribute)
    except (ImportError, ValueError) as error:
        raise SettingsError(f"{setting}: no module {module_name!r} can be imported") from error
    except AttributeError as error:
        raise SettingsError(f"{setting}: {module_name} has no {attribute}") from error


def made(found: object, method: str) -> object:
    """Call what has no such method and can be called; a class always."""
    is_maker = isinstance(found, type) or not hasattr(found, method)
    return found() if is_maker and callable(found) else found
