"""``roster check``: what is wrong with a roster file."""

from pathlib import Path
from typing import Annotated

import typer

from clawmarshal.api.commands.options import Json
from clawmarshal.api.commands.terminal import EXIT_ERROR, say, say_json

app = typer.Typer(help="The fleet.", no_args_is_help=True)


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="A roster file.", metavar="FILE")],
    json: Json = False,
) -> None:
    """Check a roster file: every fault with its line and column.

    Exit 0 when it can be used, 1 when it cannot.
    """
    from clawmarshal.api.fleet import check_file

    found = check_file(file)
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
