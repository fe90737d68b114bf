"""Open the ledger of a configuration."""

from collections.abc import Iterator
from contextlib import contextmanager

from clawmarshal.api.settings import Settings
from clawmarshal.errors import LedgerError, SettingsError
from clawmarshal.router.ledger.ledger import Ledger


def open_ledger(settings: Settings) -> Ledger:
    """Open the ledger of a configuration; a file that is not there is made.

    Raises
    ------
    SettingsError
        Its folder is missing, or the file cannot be used.
    """
    folder = settings.ledger_file.parent
    if not folder.is_dir():
        raise SettingsError(f"ledger: there is no folder {folder}; make it, or name another")
    try:
        return Ledger(
            settings.ledger,
            ready_max_age_s=settings.limits.ready_age_s,
            busy_timeout_s=settings.limits.ledger_busy_s,
        )
    except LedgerError as error:
        raise SettingsError(f"ledger: {error}") from error


@contextmanager
def opened_ledger(settings: Settings) -> Iterator[Ledger]:
    """Open the ledger of a configuration for a while; see `open_ledger`."""
    ledger = open_ledger(settings)
    try:
        yield ledger
    finally:
        ledger.close()
