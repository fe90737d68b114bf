"""``roster check``, ``import`` and ``diff``: a roster file, alone and beside a live OpenClaw."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clawmarshal.api.commands.options import Json, TermsFile
from clawmarshal.api.commands.terminal import EXIT_ERROR, EXIT_USAGE, note, say, say_json
from clawmarshal.errors import ClawmarshalError

if TYPE_CHECKING:
    from clawmarshal.roster.drift import Difference
    from clawmarshal.roster.importing import Imported

EXIT_UNKNOWN = EXIT_USAGE
"""``roster diff`` could not tell."""

Service = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        help="The service's configuration file; the OpenClaw on PATH when left out.",
        metavar="FILE",
    ),
]

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


@app.command("import")
def import_(
    file: Annotated[
        Path | None,
        typer.Argument(help="A roster file; the configuration's when left out.", metavar="FILE"),
    ] = None,
    config: Service = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Let OpenClaw's descriptions, names and bindings replace the file's."
        ),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say it and write nothing.")] = False,
    json: Json = False,
) -> None:
    """Add the agents of a live OpenClaw to a roster file; what the file says already stays.

    Without a file and a configuration the roster is printed. Read what was imported before you
    use it: descriptions are somebody's text, and they decide who gets which message.

    Example: clawmarshal roster import --config clawmarshal.yaml
    """
    from clawmarshal.api.live import ask_fleet, audit_view, import_into, imported_view

    file = file or _roster_of(config)
    live = asyncio.run(ask_fleet(config))
    done, copy = import_into(file, live, force=force, is_dry=dry_run)
    warnings = audit_view(live)
    if json:
        say_json({**imported_view(done, file=file, copy=copy), "warnings": warnings})
        return
    if file is None:
        say(done.text.rstrip("\n"))
    else:
        _say_imported(done, file=file, copy=copy, is_dry=dry_run)
    for sentence in (*done.notes, *(str(warning["message"]) for warning in warnings)):
        note(f"  warning: {sentence}")


@app.command()
def diff(
    file: Annotated[
        Path | None,
        typer.Argument(help="A roster file; the configuration's when left out.", metavar="FILE"),
    ] = None,
    config: Service = None,
    json: Json = False,
) -> None:
    """Say where a roster file and the live OpenClaw differ.

    Exit 0 when they are the same, 1 when they differ, 2 when that cannot be told.

    Example: clawmarshal roster diff --config clawmarshal.yaml
    """
    from clawmarshal.api.live import UNKNOWN, ask_fleet, compare_file, diff_view

    try:
        chosen = file or _roster_of(config)
        if chosen is None:
            raise typer.BadParameter("name a roster file, or --config")
        live = asyncio.run(ask_fleet(config))
        drift = compare_file(chosen, live)
    except ClawmarshalError as error:
        note(f"clawmarshal: {error}")
        raise typer.Exit(EXIT_UNKNOWN) from error
    view = diff_view(drift, live)
    if json:
        say_json(view)
    elif drift is None:
        note(f"clawmarshal: {UNKNOWN}")
    else:
        _say_differences(drift.differences)
        if not drift.is_whole:
            note("only the ids were compared: OpenClaw's configuration is not understood")
        for sentence in (*view["refused"], *(w["message"] for w in view["warnings"])):
            note(f"  warning: {sentence}")
    if view["same"] is not True:
        raise typer.Exit(EXIT_UNKNOWN if view["same"] is None else EXIT_ERROR)


def _roster_of(config: Path | None) -> Path | None:
    if config is None:
        return None
    from clawmarshal.api.settings import load_settings

    return load_settings(config).roster


def _say_imported(done: "Imported", *, file: Path, copy: Path | None, is_dry: bool) -> None:
    verb = "would add" if is_dry else "added"
    say(f"{file.name}: {verb} {', '.join(done.added) or 'no agent'}")
    for difference in done.kept:
        say(f"  kept: {difference.message}; OpenClaw says {difference.openclaw!r}")
    for difference in done.replaced:
        say(f"  replaced: {difference.message}; the file said {difference.roster!r}")
    if done.loses_comments:
        where = f"; the former file is {copy.name}" if copy else ""
        say(f"  written anew: comments are gone from {file.name}{where}")


def _say_differences(differences: "tuple[Difference, ...]") -> None:
    for difference in differences:
        say(difference.message)
        if difference.openclaw is not None:
            say(f"  roster:   {difference.roster!r}")
            say(f"  openclaw: {difference.openclaw!r}")
    if not differences:
        say("the roster and OpenClaw name the same agents in the same words")
