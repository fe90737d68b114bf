"""The fleet of a live OpenClaw, beside a roster file: imported, compared, audited."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clawmarshal.api.files import write_whole
from clawmarshal.api.transports import asking
from clawmarshal.errors import RosterError
from clawmarshal.roster.drift import Difference, Drift, compare
from clawmarshal.roster.importing import Imported, import_fleet
from clawmarshal.roster.loader import load_roster
from clawmarshal.roster.openclaw import LiveFleet

UNKNOWN = (
    "fleet unknown: the Gateway's answer is empty, unreadable or not understood; this never means "
    "that there are no agents. `clawmarshal doctor` says what is wrong"
)


async def ask_fleet(config: Path | None) -> LiveFleet | None:
    """Ask the Gateway of a configuration, else of the environment, once.

    Raises
    ------
    SettingsError
        There is no OpenClaw to ask, or what is configured cannot be used.
    """
    async with asking(config) as transport:
        return await transport.live_fleet()


def import_into(
    file: Path | None, live: LiveFleet | None, *, force: bool, is_dry: bool
) -> tuple[Imported, Path | None]:
    """Write what OpenClaw has into a roster file; see `import_fleet`.

    Parameters
    ----------
    file
        Made where it is missing; None to write nothing.
    is_dry
        Write nothing.

    Returns
    -------
    tuple[Imported, Path | None]
        What was done, and the copy of the former file where it was written anew.

    Raises
    ------
    RosterError
        The fleet is unknown, or the file cannot be used. Nothing was written.
    MessageError
        The file cannot be written, or somebody else wrote it meanwhile.
    """
    if live is None:
        raise RosterError(UNKNOWN)
    before = _text_of(file) if file is not None else None
    done = import_fleet(live, existing=before, force=force)
    if file is None or is_dry or done.text == before:
        return done, None
    target = file.resolve()
    copy = _copied(target) if done.loses_comments else None
    if _text_of(target) != before:
        raise RosterError(f"{file} was changed while this ran; nothing was written, run it again")
    write_whole(target, done.text)
    return done, copy


def diff_view(drift: Drift | None, live: LiveFleet | None) -> dict[str, Any]:
    """Return what differs, as JSON; ``same`` is null where that cannot be told."""
    return {
        "fleet": "unknown" if live is None else "known",
        "described": live is not None and live.agents is not None,
        "same": None if drift is None else drift.is_none,
        "differences": [difference_view(d) for d in drift.differences] if drift else [],
        "refused": list(live.refused) if live else [],
        "warnings": audit_view(live),
    }


def difference_view(difference: Difference) -> dict[str, object]:
    """Return one difference as JSON."""
    return {
        "code": str(difference.code),
        "agent": difference.agent,
        "message": difference.message,
        "roster": difference.roster,
        "openclaw": difference.openclaw,
    }


def audit_view(live: LiveFleet | None) -> list[dict[str, object]]:
    """List what each agent could send or run unasked, with the deny list that ends it."""
    if live is None:
        return []
    return [
        {
            "agent": agent.id,
            "capabilities": [str(capability) for capability in agent.capabilities],
            "deny": list(agent.unasked),
            "message": agent.warning,
        }
        for agent in live.agents or ()
        if agent.unasked
    ]


def imported_view(done: Imported, *, file: Path | None, copy: Path | None) -> Mapping[str, Any]:
    """Return an import as JSON."""
    return {
        "file": str(file) if file is not None else None,
        "added": list(done.added),
        "kept": [difference_view(d) for d in done.kept],
        "replaced": [difference_view(d) for d in done.replaced],
        "notes": list(done.notes),
        "copy": str(copy) if copy is not None else None,
        "text": done.text if file is None else None,
    }


def compare_file(file: Path, live: LiveFleet | None) -> Drift | None:
    """Compare a roster file with the live fleet; None where that is unknown.

    Raises
    ------
    RosterError
        The file cannot be used.
    """
    roster = load_roster(file)
    return None if live is None else compare(roster, live)


def _text_of(file: Path) -> str | None:
    """Return the text of a roster that can be used, None where there is none."""
    if not os.path.lexists(file):
        return None
    load_roster(file)
    return file.read_bytes().decode("utf-8")


def _copied(file: Path) -> Path:
    """Keep the former file beside the new one, under a name that nothing has."""
    for number in range(1, 1000):
        copy = file.with_name(f"{file.name}.before-import-{number}")
        if not os.path.lexists(copy):
            shutil.copy2(file, copy)
            return copy
    raise RosterError(f"{file} has 999 copies from former imports; remove some")
