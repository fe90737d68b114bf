"""Arguments that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Config = Annotated[
    Path, typer.Option("--config", "-c", help="The service's configuration file.", metavar="FILE")
]
RosterFile = Annotated[
    Path, typer.Option("--roster", "-r", help="The fleet, a YAML file.", metavar="FILE")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Model = Annotated[
    str,
    typer.Option(
        "--model", help="Who decides: offline, lexical, or an import path such as package:name."
    ),
]
Person = Annotated[
    str | None,
    typer.Option("--person", help="Who acts, for the audit record; you when left out."),
]
