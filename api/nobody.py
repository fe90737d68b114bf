"""Nobody: stands where a model is needed and none is asked."""

from clawmarshal.errors import DecisionUnavailableError
from clawmarshal.router.ballot import Ballot
from clawmarshal.router.decision import Answers
from clawmarshal.router.message import InboundMessage


class Nobody:
    """Give no answer, so that whatever is asked is held."""

    name = "nobody"

    async def answer(
        self, ballot: Ballot, message: InboundMessage, *, deadline_s: float
    ) -> Answers:
        """Raise."""
        raise DecisionUnavailableError("nothing is decided here")
