"""What the environment overrides of a configuration."""

import json
from collections.abc import Container, Mapping
from typing import Any

from clawmarshal.errors import Fault

PREFIX = "CLAWMARSHAL_"


def overrides_in(
    environ: Mapping[str, str], sections: Container[str], faults: list[Fault]
) -> dict[tuple[str, ...], Any]:
    """Pick the variables that name settings; whole sections are known, so typos are faults."""
    found: dict[tuple[str, ...], Any] = {}
    for name in sorted(environ):
        if not name.startswith(PREFIX):
            continue
        path = tuple(name[len(PREFIX) :].lower().split("__"))
        if path[0] in sections and len(path) <= 2:
            found[path] = _value(environ[name])
        elif len(path) > 1:
            faults.append(Fault(f"{name} names no setting"))
    return found


def _value(written: str) -> object:
    """Read lists and mappings as JSON; everything else is a text that the field converts."""
    if written[:1] in ("[", "{"):
        try:
            return json.loads(written)
        except ValueError:
            return written
    return written


def merged(values: Mapping[str, Any], overrides: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    """Put overrides over what a file says."""
    whole = {k: dict(v) if isinstance(v, dict) else v for k, v in values.items()}
    for path, value in overrides.items():
        if len(path) == 1:
            whole[path[0]] = value
        else:
            section = whole.setdefault(path[0], {})
            if isinstance(section, dict):
                section[path[1]] = value
    return whole
