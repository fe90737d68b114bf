"""SystemOneModel: a DecisionModel behind any server that speaks System One."""

import asyncio
import re
import time
from collections.abc import Iterable
from typing import Self

import httpx

from clawmarshal.errors import DecisionInvalidError, DecisionUnavailableError, SettingsError
from clawmarshal.router.ballot import Ballot, ChoiceQuestion
from clawmarshal.router.decision import Answers
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.breaker import Breaker
from clawmarshal.router.models.exchange import ApiKey, Budget, Exchange
from clawmarshal.router.models.masking import Masker
from clawmarshal.router.models.projection import project
from clawmarshal.router.models.sitting import Sitting
from clawmarshal.router.models.wire import printable_name
from clawmarshal.router.redaction import Redactor

DEFAULT_CAP = 24
LEAST_CAP, MOST_CAP = 4, 255
_NUMBER_LIKE = re.compile(r"\d+", re.ASCII)


class SystemOneModel:
    """Ask a System One server; nothing it says is acted on before it is validated.

    Both orders of the fleet and the risk go into one request. A fleet over the server's option
    cap is asked in groups, in rounds, within the same deadline. An answer by another model than
    the pinned one is refused in strict mode; otherwise it is marked ``model-mismatch``, shown to
    the reviewer, and held by gate 2, since thresholds hold for one model alone.

    Parameters
    ----------
    base_url
        What goes before the path: ``https://``, or ``http://`` on loopback.
    name
        The pinned model, as the server wants it named in the request.
    path
        The endpoint's path.
    key
        Sent to the origin of `base_url` alone; None where the server needs none.
    answers_as
        Further ids under which the pinned model answers, for servers that name it otherwise.
    option_cap
        Options the server takes in one choice, ``none_of_these`` counted: 4 to 255.
    envelope
        True for the dialect that wraps responses in ``{"result": …, "success": true}``.
    strict
        True refuses answers without ``confidence`` and answers by another model.
    redactor
        What is cut out of texts before they leave, of agents' remits too. A message that lost
        something counts as truncated.
    breaker
        One of its own where None.
    transport, exchange
        For tests: a transport in place of the network, or the whole exchange.

    Raises
    ------
    SettingsError
        The address, the name or the cap cannot be used.
    """

    def __init__(
        self,
        base_url: str,
        name: str,
        *,
        path: str = "/v1/systemone",
        key: ApiKey | None = None,
        answers_as: Iterable[str] = (),
        option_cap: int = DEFAULT_CAP,
        envelope: bool = False,
        strict: bool = False,
        redactor: Redactor | None = None,
        breaker: Breaker | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        exchange: Exchange | None = None,
    ) -> None:
        if printable_name(name) is None:
            raise SettingsError("decision.name: write the model's id, in printable ASCII")
        if not LEAST_CAP <= option_cap <= MOST_CAP:
            raise SettingsError(f"decision.option_cap is between {LEAST_CAP} and {MOST_CAP}")
        self._name = name
        self._accepted = frozenset({name, *answers_as})
        self._cap = option_cap
        self._is_strict = strict
        self._redactor = redactor
        self._masker = Masker(redactor)
        self._breaker = breaker or Breaker()
        self._exchange = exchange or Exchange(
            base_url, path, key=key, envelope=envelope, transport=transport
        )

    @property
    def name(self) -> str:
        """The pinned model."""
        return self._name

    async def answer(
        self, ballot: Ballot, message: InboundMessage, *, deadline_s: float
    ) -> Answers:
        """Ask the server; see `DecisionModel.answer`.

        Raises
        ------
        DecisionUnavailableError
            ``timeout``, ``unreachable``, ``circuit-open``, ``config``, ``bad-request``,
            ``too-large``, ``auth``, ``blocked``, ``quota``, ``rate-limited``, ``server``,
            ``overloaded``.
        DecisionInvalidError
            ``protocol``, ``model-mismatch`` (strict), ``rounds-undecided``, ``ballot-invalid``, or
            as `parse_body` and `validate_answer`.
        """
        begin = time.monotonic()
        # A hair before the caller's own clock, so that the error is ours and says what happened.
        ends_at = asyncio.get_running_loop().time() + deadline_s - min(0.05, deadline_s * 0.05)
        with self._breaker.guarding():
            try:
                async with asyncio.timeout_at(ends_at):
                    sitting = self._sitting(ballot, message, Budget(ends_at))
                    return await sitting.answers(begin=begin)
            except TimeoutError:
                raise DecisionUnavailableError(
                    f"no answer within {deadline_s:g} s", code="timeout"
                ) from None

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self._exchange.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _sitting(self, ballot: Ballot, message: InboundMessage, budget: Budget) -> Sitting:
        _check_names(ballot)
        asked, masked = self._masker.ballot(ballot)
        return Sitting(
            exchange=self._exchange,
            name=self._name,
            accepted=self._accepted,
            cap=self._cap,
            is_strict=self._is_strict,
            ballot=asked,
            projection=project(message, redactor=self._redactor),
            budget=budget,
            notes=[f"questions-redacted:{masked}"] if masked else [],
        )


def _check_names(ballot: Ballot) -> None:
    """Refuse option names that some servers put into another order, or read as something else."""
    for question in ballot.questions.values():
        if not isinstance(question, ChoiceQuestion):
            continue
        for option in question.criteria:
            if not option or _NUMBER_LIKE.fullmatch(option) or option == "__proto__":
                raise DecisionInvalidError(
                    "an option is empty, a number or __proto__", code="ballot-invalid"
                )
