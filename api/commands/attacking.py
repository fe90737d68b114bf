"""``evaluate --attacks``: the messages under the corpus of attacks, one model after the other."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from clawmarshal.api.commands.terminal import Progress, usage
from clawmarshal.errors import MessageError

if TYPE_CHECKING:
    from clawmarshal.api.choosing import Terms
    from clawmarshal.roster.roster import Roster
    from clawmarshal.router.decision import DecisionModel
    from clawmarshal.router.evaluation import Row
    from clawmarshal.router.flip_report import FlipReport
    from clawmarshal.router.flips import MessageId

Attacks = Annotated[
    bool, typer.Option("--attacks", help="Report what 160 attacks beside the messages change.")
]
Every = Annotated[
    int | None,
    typer.Option(
        "--every",
        min=1,
        help="Each attack on every so many-th message; at most 4,000 decisions if left out.",
    ),
]
Beside = Annotated[
    list[str] | None,
    typer.Option(
        "--beside", help="Another model, or a fit's file, under the same attacks; repeatable."
    ),
]
MOST_DECISIONS = 4_000
"""Per model, where nobody says how many."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A model, and how it was named on the command line."""

    name: str
    model: "DecisionModel"

    @property
    def title(self) -> str:
        """Tell models apart that call themselves the same."""
        return self.name if self.name == self.model.name else f"{self.name} ({self.model.name})"


def under_attack(
    asked: "Sequence[Asked]",
    fleet: "Roster",
    rows: "Sequence[Row]",
    *,
    terms: "Terms",
    every: int | None,
) -> "tuple[FlipReport, ...]":
    """Decide the messages under attack with each model, count what flips, and close the model.

    Parameters
    ----------
    asked
        At least one.
    fleet
        The roster.
    rows
        Texts that no message may hold are left out.
    terms
        The thresholds and the deadline that hold for every model.
    every
        Each attack meets each so many-th message; as few as needed where None.
    """
    messages = _messages(rows)
    if not messages:
        usage("--attacks needs a text that a message may hold")
    step = min(every or _step(len(messages)), len(messages))
    return tuple(asyncio.run(_tried(one, fleet, messages, terms=terms, step=step)) for one in asked)


def _messages(rows: "Sequence[Row]") -> "Mapping[MessageId, str]":
    from clawmarshal.router.message import InboundMessage

    found: dict[MessageId, str] = {}
    for row in rows:
        try:
            found[row.id] = InboundMessage(row.text).text
        except MessageError:
            continue
    return found


def _step(messages: int) -> int:
    """Return the least step that keeps within the number of decisions."""
    from clawmarshal.router.attacks import ATTACKS, PLACES

    return max(1, -(-len(ATTACKS) * len(PLACES) * messages // MOST_DECISIONS))


async def _tried(
    asked: Asked,
    fleet: "Roster",
    messages: "Mapping[MessageId, str]",
    *,
    terms: "Terms",
    step: int,
) -> "FlipReport":
    from clawmarshal.router.attacks import PLACES
    from clawmarshal.router.decider import Decider
    from clawmarshal.router.flip_report import flip_report
    from clawmarshal.router.flips import count_of, flips
    from clawmarshal.router.models.closing import closing

    total = count_of(len(messages), every=step) * len(PLACES)
    progress, found = Progress(total, what=f"decided under attack by {asked.name}"), []
    decider = Decider(asked.model, fleet, policy=terms.policy, deadline_s=terms.deadline_s)
    async with closing(asked.model):
        async for flip in flips(decider, messages, every=step):
            found.append(flip)
            progress.step(len(found))
    return flip_report(found, model=asked.title, messages=len(messages), every=step)
