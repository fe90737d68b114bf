"""``verify`` and ``export``: whether the record is the one that was written, and all of it."""

import json as json_text
import sys
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clawmarshal.api.commands.options import Config, Json
from clawmarshal.api.commands.terminal import Progress, say, say_json

if TYPE_CHECKING:
    from clawmarshal.router.ledger.verification import Verification


def verify(
    *,
    config: Config,
    against: Annotated[
        str | None,
        typer.Option("--against", help="The digest of a checkpoint that you kept elsewhere."),
    ] = None,
    json: Json = False,
) -> None:
    """Recompute every chain and checkpoint, and compare them with the rows beside them.

    Exit 0 when all is intact, 1 with what is wrong. Keep the last checkpoint's digest elsewhere:
    only that tells when somebody who owns the database writes all of it anew.

    Example: clawmarshal verify --config clawmarshal.yaml --against 5f0c…
    """
    from clawmarshal.api.opening import opened_ledger
    from clawmarshal.api.settings import load_settings, seal_key

    settings = load_settings(config)
    with opened_ledger(settings) as ledger:
        progress = Progress(ledger.newest_event(), what="events")
        key = seal_key(settings.audit)
        found = ledger.verify(key=key, against=against, progress=progress.step)
    if json:
        say_json(_view(found))
    else:
        _tell(found)
    if not found.is_intact:
        raise typer.Exit(1)


def export(
    *,
    config: Config,
    after: Annotated[
        int, typer.Option("--after", min=0, help="Go on behind the event of this number.")
    ] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", help="A new file, mode 0600; the terminal otherwise.")
    ] = None,
) -> None:
    """Write the audit trail as JSON lines that can be verified without this program.

    No text of a message is in it. docs/audit.md has the rule.

    Example: clawmarshal export --config clawmarshal.yaml --out trail.jsonl
    """
    from clawmarshal.api.files import private_file
    from clawmarshal.api.opening import opened_ledger
    from clawmarshal.api.settings import load_settings

    with opened_ledger(load_settings(config)) as ledger:
        if out is None:
            for line in ledger.export(after=after):
                sys.stdout.write(json_text.dumps(line, ensure_ascii=True) + "\n")
            return
        with private_file(out) as stream:
            for line in ledger.export(after=after):
                stream.write(json_text.dumps(line, ensure_ascii=True) + "\n")


def _view(found: "Verification") -> dict[str, object]:
    last = found.newest
    return {
        "intact": found.is_intact,
        "events": found.events,
        "chains": found.chains,
        "checkpoints": found.checkpoints,
        "unsealed": found.unsealed,
        "newest": last
        and {"through": last.through, "at": last.at.isoformat(), "digest": last.digest},
        "faults": [{"where": wrong.where, "what": wrong.what} for wrong in found.faults],
    }


def _tell(found: "Verification") -> None:
    for wrong in found.faults:
        say(f"{wrong.where}: {wrong.what}")
    verdict = "intact" if found.is_intact else "NOT INTACT"
    say(
        f"{verdict}: {found.events} events in {found.chains} chains, {found.checkpoints} "
        f"checkpoints, {found.unsealed} events behind the last"
    )
    if found.newest is not None:
        at = found.newest.at.astimezone(UTC)
        say(f"keep elsewhere: checkpoint of {at:%Y-%m-%d %H:%M} UTC {found.newest.digest}")
