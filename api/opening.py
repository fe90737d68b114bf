"""Open the ledger of a configuration."""

from collections.abc import Iterator
from contextlib import contextmanager

from clawmarshal.api.settings import Settings
from clawmarshal.errors import LedgerError, SettingsError
from clawmarshal.router.ledger.database import ReviewRules
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.opening import upgrade_ledger


def open_ledger(settings: Settings) -> Ledger:
    """Open the ledger of a configuration; a file that is not there is made.

    Raises
    ------
    SettingsError
        Its folder is missing, the file or the server cannot be used, or a server's schema is older
        than this version.
    """
    with _told(settings):
        return Ledger(
            settings.ledger,
            ready_max_age_s=settings.limits.ready_age_s,
            hold_ttl_s={**settings.holds.expire_after_s},
            review=ReviewRules(
                two_reviewers=frozenset(settings.holds.two_reviewers),
                no_self_review=settings.holds.no_self_review,
                claim_required=settings.holds.claim_required,
                grace_s=settings.holds.grace_s,
            ),
            repeat_window_s=settings.limits.repeat_window_s,
            busy_timeout_s=settings.limits.ledger_busy_s,
        )


def upgrade(settings: Settings) -> str:
    """Bring the schema of a configuration's ledger up to this version; return the version.

    Raises
    ------
    SettingsError
        As `open_ledger`; or it is of a newer version.
    """
    with _told(settings):
        return upgrade_ledger(settings.ledger)


@contextmanager
def _told(settings: Settings) -> Iterator[None]:
    """Say to whoever starts us what is wrong with the ledger, and how to mend it."""
    file = settings.ledger_file
    if file is not None and not file.parent.is_dir():
        raise SettingsError(f"ledger: there is no folder {file.parent}; make it, or name another")
    try:
        yield
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
