"""Keys of a service that is configured and not started yet."""

from pathlib import Path

from clawmarshal.api.opening import opened_ledger
from tests.support.service import settings_of


def key_for(config: Path, *scopes: str, person: str = "test") -> str:
    """Make a key."""
    with opened_ledger(settings_of(config)) as ledger:
        return ledger.create_key(person, person, scopes)
