"""``doctor``: what is wrong with this installation, and how to mend it."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clawmarshal.api.commands.options import Json
from clawmarshal.api.commands.terminal import say, say_json

if TYPE_CHECKING:
    from clawmarshal.api.doctor.findings import Finding


def doctor(
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            "-c",
            help="The service's configuration file; the machine alone when left out.",
            metavar="FILE",
        ),
    ] = None,
    turn: Annotated[
        str | None,
        typer.Option("--turn", help="Launch one real turn of one line for it.", metavar="AGENT"),
    ] = None,
    json: Json = False,
) -> None:
    """Look at everything a service needs and say what is wrong, with the mend.

    Nothing is changed; only --turn launches anything. Exit 0 when all is well, 1 with warnings, 2
    when something fails.

    Example: clawmarshal doctor --config clawmarshal.yaml
    """
    from clawmarshal.api.doctor.findings import exit_code

    found = asyncio.run(_examined(config, turn, is_shown=not json))
    if json:
        say_json(
            {
                "exit_code": exit_code(found),
                "findings": [
                    {
                        "name": finding.name,
                        "verdict": str(finding.verdict),
                        "detail": finding.detail,
                        "mend": finding.mend,
                    }
                    for finding in found
                ],
            }
        )
    raise typer.Exit(exit_code(found))


async def _examined(config: Path | None, turn: str | None, *, is_shown: bool) -> "list[Finding]":
    """Collect the findings, and show each as soon as it is there."""
    from clawmarshal.api.doctor.examination import examine

    found = []
    async for finding in examine(config, turn=turn):
        found.append(finding)
        if is_shown:
            say(f"{finding.verdict:4}  {finding.name}: {finding.detail}")
            if finding.mend is not None:
                say(f"        mend: {finding.mend}")
    return found
