"""``config``: what a service would be told, before it is."""

import json as json_text
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from clawmarshal.api.commands.options import Config, Json
from clawmarshal.api.commands.terminal import say, say_json, table

if TYPE_CHECKING:
    from clawmarshal.api.settings import Settings

app = typer.Typer(help="The configuration: check it, show it, its schema.", no_args_is_help=True)
NESTED = frozenset(
    {"server", "transport", "decision", "policy", "fleet", "holds", "audit", "limits"}
)


@app.command()
def check(*, config: Config, json: Json = False) -> None:
    """Read a configuration and its roster as a service would, and start nothing.

    Every fault is listed at once, with its place and the mend; exit 1 then.

    Example: clawmarshal config check --config clawmarshal.yaml
    """
    from clawmarshal.api.arranging import arrange
    from clawmarshal.api.settings import gateway_of, load_settings, seal_key

    settings = load_settings(config)
    arrangement = arrange(settings)
    gateway_of(settings.transport)
    seal_key(settings.audit)
    if json:
        reached = sorted(arrangement.reached)
        say_json({"ok": True, "revision": arrangement.revision, "reached": reached})
        return
    agents = len(arrangement.roster)
    say(f"ok: {agents} agents, {len(arrangement.reached)} reached, revision {arrangement.revision}")


@app.command()
def show(*, config: Config, json: Json = False) -> None:
    """Show every setting in force, and where it comes from: the file, the environment, a default.

    No secret is a setting: where one stands is shown, not what stands there.

    Example: clawmarshal config show --config clawmarshal.yaml
    """
    from clawmarshal.api.settings import load_settings

    rows = list(_rows(load_settings(config), config))
    if json:
        say_json({name: {"value": value, "from": source} for name, value, source in rows})
        return
    table(
        [(name, _written(value), source) for name, value, source in rows],
        headings=("setting", "value", "from"),
    )


@app.command()
def schema() -> None:
    """Print the JSON Schema of the configuration file, for editors and other programs.

    Example: clawmarshal config schema > clawmarshal.schema.json
    """
    print(settings_schema(), end="")


def settings_schema() -> str:
    """Return the JSON Schema of the configuration file."""
    from clawmarshal.api.settings import Settings

    document = Settings.model_json_schema()
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema", **document}
    return json_text.dumps(document, indent=1, sort_keys=True) + "\n"


def _rows(settings: "Settings", config: Path) -> Iterator[tuple[str, object, str]]:
    from clawmarshal.api.faults import read_source
    from clawmarshal.api.overrides import overrides_in

    written = read_source(config).values
    overridden = overrides_in(os.environ, type(settings).model_fields, [])
    for name, value in settings.model_dump(mode="json").items():
        if name not in NESTED:
            yield name, value, _source((name,), written, overridden)
            continue
        for key, inner in value.items():
            yield f"{name}.{key}", inner, _source((name, key), written, overridden)


def _source(
    place: tuple[str, ...], written: Mapping[str, Any], overridden: Mapping[tuple[str, ...], Any]
) -> str:
    if place in overridden or place[:1] in overridden:
        return "CLAWMARSHAL_" + "__".join(place).upper()
    found: Any = written
    for step in place:
        if not isinstance(found, Mapping) or step not in found:
            return "default"
        found = found[step]
    return "file"


def _written(value: object) -> str:
    return value if isinstance(value, str) else json_text.dumps(value)
