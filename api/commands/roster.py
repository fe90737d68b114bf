"""``roster check``: what is wrong with a roster file."""

from pathlib import Path
from typing import Annotated

import typer

from clawmarshal.api.commands.options import Json, TermsFile
from clawmarshal.api.commands.terminal import EXIT_ERROR, say, say_json

app = typer.Typer(help="The fleet.", no_args_is_help=True)


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="A roster file.", metavar="FILE")],
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            help="Messages, lines of {id, text} and agent where known: whom does a model confuse?",
            metavar="FILE",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", help="Ask this model about the remits; offline with --data, as for evaluate."
        ),
    ] = None,
    config: TermsFile = None,
    json: Json = False,
) -> None:
    """Check a roster file: every fault with its line and column, and what will go astray.

    With --data, --model or --config, a model is asked about every remit, example and message:
    which remits it confuses, which thresholds are out of reach, which agents it never chooses.

    Exit 0 when it can be used, 1 when it cannot.

    Example: clawmarshal roster check fleet.yaml --data labelled.jsonl
    """
    from clawmarshal.api.fleet import check_file, check_file_with

    found = check_file(file)
    if found["ok"] and not (data is None and model is None and config is None):
        found["warnings"] += check_file_with(file, model, data=data, config=config)
    if json:
        say_json(found)
    elif found["ok"]:
        say(f"{file.name}: {found['agents']} agents, digest {found['digest'][:12]}")
        for warning in found["warnings"]:
            say(f"  warning: {', '.join(warning['agents'])}: {warning['message']}")
    else:
        say(f"{file.name}: {len(found['faults'])} fault(s)")
        for fault in found["faults"]:
            place = f"line {fault['line']}, column {fault['column']}: " if fault["line"] else ""
            say(f"  {place}{fault['message']}")
    if not found["ok"]:
        raise typer.Exit(EXIT_ERROR)
