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
TermsFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        help="Decide as this configuration says: its policy, deadline and model.",
        metavar="FILE",
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="Who decides: offline, lexical, or an import path such as package:name; with "
        "--config also system_one, challenger, or configured.",
        show_default="configured with --config, else offline",
    ),
]
Head = Annotated[
    Path | None, typer.Option("--head", help="A fit that `calibrate` wrote.", metavar="FILE")
]
Encoder = Annotated[
    str | None,
    typer.Option(
        "--encoder",
        help="An ONNX file, a model2vec or sentence-transformers folder, or package.module:name.",
        metavar="PATH",
    ),
]
Person = Annotated[
    str | None,
    typer.Option("--person", help="Who acts, for the audit record; you when left out."),
]
