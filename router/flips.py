"""Flips: what an attack beside a message changes in what is decided of it; pure."""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from clawmarshal.errors import MessageError
from clawmarshal.roster.agent import Risk
from clawmarshal.router.attacks import ATTACKS, Attack, attacked
from clawmarshal.router.directives import has_directive
from clawmarshal.router.explanation import Evidence
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.policy import Verdict
from clawmarshal.router.route import Outcome, Route
from clawmarshal.router.thresholds import Circumstances

HOLDS_AGAINST_HARM = frozenset({"risk", "directive", "undisplayable"})
"""The reasons to hold that no text may talk a message out of."""
MessageId = str | int


class Decides(Protocol):
    """What decides a message: a `Decider`."""

    async def decide(
        self, message: InboundMessage, *, circumstances: Circumstances
    ) -> tuple[Route, Evidence]:
        """Decide what should happen to a message."""
        ...

    def reconsider(self, message: InboundMessage, *, agent: str, evidence: Evidence) -> Verdict:
        """Decide again for another target."""
        ...


@dataclass(frozen=True, slots=True)
class Standing:
    """What was decided of one text."""

    best: str
    """The option with the highest probability, none counted as one."""
    outcome: str
    agent: str | None
    reason: str
    risk: Risk


@dataclass(frozen=True, slots=True)
class Flip:
    """What one attack did to one message."""

    attack: Attack
    place: str
    message: MessageId
    before: Standing
    """Of the message alone."""
    after: Standing
    """Of the message with the attack; its risk is for the target that the message alone has."""
    was_held: bool
    """The message is held for its risk or as a directive, and is a directive still."""

    @property
    def takes_agent(self) -> bool:
        """Another option has the highest probability."""
        return self.before.best != self.after.best

    @property
    def redirects(self) -> bool:
        """It is dispatched, and was not, or to another agent."""
        told = (self.before.agent, self.before.outcome) != (self.after.agent, self.after.outcome)
        return self.after.outcome == Outcome.DISPATCH and told

    @property
    def lowers(self) -> bool:
        """The risk is lower than the message's own, for the same agent."""
        return self.after.risk.level < self.before.risk.level

    @property
    def frees(self) -> bool:
        """The message is held against harm, and is dispatched with the attack."""
        return self.was_held and self.after.outcome == Outcome.DISPATCH


async def flips(
    decider: Decides,
    messages: Mapping[MessageId, str],
    *,
    attacks: Sequence[Attack] = ATTACKS,
    every: int = 1,
) -> AsyncIterator[Flip]:
    """Decide every message alone, and under its share of the attacks in every place.

    Parameters
    ----------
    decider
        With the gates that are tried.
    messages
        By id; texts that no message may hold are passed over, with an attack too.
    attacks
        What is put beside them.
    every
        Each attack meets each so many-th message, the next attack those after them. At least 1;
        more than there are messages counts as their number, so that each attack meets one.
    """
    alone = [(name, text, message) for name, text in messages.items() if (message := _read(text))]
    stood = [
        (await decider.decide(message, circumstances=Circumstances()))[0] for *_, message in alone
    ]
    for attack, place in _pairs(len(alone), attacks, every):
        name, text, _ = alone[place]
        for at, whole in attacked(text, attack):
            if (message := _read(whole)) is not None:
                before = stood[place]
                yield await _flip(decider, name, before, message=message, attack=attack, at=at)


def count_of(messages: int, *, attacks: Iterable[Attack] = ATTACKS, every: int = 1) -> int:
    """Return how many messages meet an attack; each is decided once per place."""
    return sum(1 for _ in _pairs(messages, attacks, every))


def _pairs(messages: int, attacks: Iterable[Attack], every: int) -> Iterator[tuple[Attack, int]]:
    step = max(1, min(every, messages))
    for number, attack in enumerate(attacks):
        for place in range(number % step, messages, step):
            yield attack, place


async def _flip(
    decider: Decides,
    name: MessageId,
    before: Route,
    *,
    message: InboundMessage,
    attack: Attack,
    at: str,
) -> Flip:
    after, evidence = await decider.decide(message, circumstances=Circumstances())
    held_for = HOLDS_AGAINST_HARM & {str(reason) for reason in before.reasons}
    if not has_directive(message.text):  # "/new" behind a line is none to OpenClaw either
        held_for -= {"directive"}
    risk = after.risk.top
    if before.agent is not None:  # limits and floors depend on the target: compare the same one
        risk = decider.reconsider(message, agent=before.agent, evidence=evidence).risk.top
    return Flip(attack, at, name, _standing(before), _standing(after, risk), bool(held_for))


def _standing(route: Route, risk: Risk | None = None) -> Standing:
    best = route.candidates[0].agent if route.candidates else ""
    return Standing(
        best, str(route.outcome), route.agent, str(route.reason), risk or route.risk.top
    )


def _read(text: str) -> InboundMessage | None:
    try:
        return InboundMessage(text)
    except MessageError:
        return None
