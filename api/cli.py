"""The command line."""

import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from clawmarshal._version import __version__
from clawmarshal.api.commands import (
    calibrate,
    compare,
    config,
    demo,
    doctor,
    evaluate,
    explain,
    holds,
    keys,
    ledger,
    reconcile,
    roster,
    route,
    routes,
    serve,
    verify,
    worker,
)
from clawmarshal.api.commands.terminal import EXIT_ERROR, note
from clawmarshal.errors import ClawmarshalError, ConflictError

INTERRUPTED = 130

app = typer.Typer(
    help="The routing desk for fleets of OpenClaw agents.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
app.command()(serve.serve)
app.command()(worker.worker)
app.command()(route.route)
app.command()(evaluate.evaluate)
app.command()(explain.explain)
app.command()(reconcile.reconcile)
app.command()(calibrate.calibrate)
app.command()(compare.compare)
app.command()(demo.demo)
app.command()(doctor.doctor)
app.command()(verify.verify)
app.command()(verify.export)
app.add_typer(config.app, name="config")
app.add_typer(holds.app, name="holds")
app.add_typer(routes.app, name="routes")
app.add_typer(roster.app, name="roster")
app.add_typer(keys.app, name="keys")
app.add_typer(ledger.app, name="ledger")


def _version(is_asked: bool) -> None:
    if is_asked:
        print(f"clawmarshal {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    """Exit codes: 0 done, 1 an error with its mend, 2 wrong usage, 130 interrupted."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    argv
        Without the program's name; the process's own where None.
    """
    try:
        app(args=None if argv is None else list(argv), prog_name="clawmarshal")
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else int(exit_.code is not None)
    except ClawmarshalError as error:
        note(f"clawmarshal: {error}{_winner(error)}")
        return EXIT_ERROR
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output left; say nothing more into it, not even at exit.
        sys.stdout = None
        return EXIT_ERROR
    except Exception as error:  # the outer edge: a fault of ours is a line, not a screenful
        note(f"clawmarshal: internal error, {_place(error)}; please report it")
        return EXIT_ERROR
    return 0


def _winner(error: ClawmarshalError) -> str:
    """Name who answered first, where somebody did."""
    if not isinstance(error, ConflictError) or error.winner is None:
        return ""
    won = error.winner
    return f" ({won.get('decision')} by {won.get('person')} at {won.get('at')})"


def _place(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {frame.name}, {Path(frame.filename).name}:{frame.lineno}"
