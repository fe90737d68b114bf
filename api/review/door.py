"""ReviewDoor: what the review pages work with beside what every endpoint has."""

from dataclasses import dataclass, field

from clawmarshal.api.rates import RateLimit
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.preview import Previewer

GUESSES_PER_MINUTE = 10
"""Wrong keys from one address before it is told to wait; a right key is never told so."""


@dataclass(frozen=True, slots=True)
class ReviewDoor:
    """The ledger as reviewers read it, and how they sign in."""

    ledger: Ledger
    previews: Previewer
    session_s: float = 604_800.0
    """How long a sign-in lasts; signing out or revoking its key ends it at once."""
    guesses: RateLimit = field(default_factory=lambda: RateLimit(GUESSES_PER_MINUTE))
