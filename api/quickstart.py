"""The first minute: a configuration, a ledger and two keys in one folder."""

import shutil
from pathlib import Path

from clawmarshal.api.commands.terminal import note
from clawmarshal.api.settings import (
    Settings,
    configured_openclaw,
    load_settings,
    person_of_process,
)
from clawmarshal.errors import SettingsError
from clawmarshal.router.ledger.ledger import Ledger

CONFIG = "clawmarshal.yaml"
KEYS = {
    "route key": ("quickstart-route", ("route",)),
    "review key": ("quickstart-review", ("review",)),
}


def prepare(folder: Path, *, example: Path) -> Settings:
    """Make a folder to run from, and return what is configured there.

    What is there already stays as it is, so edits survive. A real OpenClaw that the environment
    names is launched; else the stand-in of the example.

    Parameters
    ----------
    folder
        Made with mode 0700 when it is not there.
    example
        The configuration to begin with; its roster comes along.

    Raises
    ------
    SettingsError
        The example is not there or cannot be used, or the folder cannot be made.
    """
    config = folder / CONFIG
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not config.exists():
            _copy(example, config)
    except OSError as error:
        raise SettingsError(f"{folder} cannot be used: {error.strerror}") from error
    settings = load_settings(config)
    openclaw = configured_openclaw()
    if openclaw is None:
        return settings
    command, client_config = openclaw
    real = {
        "command": command,
        "openclaw_config": client_config,
        "gateway": None,
        "stand_in": False,
    }
    return settings.model_copy(update={"transport": settings.transport.model_copy(update=real)})


def print_keys(ledger: Ledger) -> None:
    """Make fresh keys, end those of the last start, and print the new ones, one per line."""
    names = {name for name, _ in KEYS.values()}
    for old in ledger.list_keys():
        if old.name in names and old.revoked_at is None:
            ledger.revoke_key(old.id)
    person = person_of_process()
    for label, (name, scopes) in KEYS.items():
        print(f"{label}: {ledger.create_key(name, person, scopes)}", flush=True)


def print_review_page(address: str) -> None:
    """Print where a person answers holds; the review key signs in there."""
    print(f"review page: {address}/review", flush=True)
    note("Open the review page in a browser, and sign in with the review key.")


def say_what_answers(settings: Settings) -> None:
    """Tell the person at the terminal whether agents run, and how to stop; on the error stream."""
    if settings.transport.stand_in:
        note("No OpenClaw is configured: a stand-in answers, and no agent runs. Ctrl-C stops.")
    else:
        note("Messages are launched on the configured OpenClaw. Ctrl-C stops.")


def _copy(example: Path, config: Path) -> None:
    if not example.is_file():
        raise SettingsError(
            f"there is no example configuration {example}; run this where it is, or name one "
            "with --config"
        )
    roster = load_settings(example, environ={}).roster
    shutil.copyfile(roster, config.parent / roster.name)
    shutil.copyfile(example, config)
