"""ReviewDoor: what the review pages work with beside what every endpoint has."""

from dataclasses import dataclass

from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.preview import Previewer


@dataclass(frozen=True, slots=True)
class ReviewDoor:
    """The ledger as reviewers read it, and how they sign in."""

    ledger: Ledger
    previews: Previewer
    session_s: float = 604_800.0
    """How long a sign-in lasts; signing out or revoking its key ends it at once."""
