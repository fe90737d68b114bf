"""Predictions for a command: a model asked about many rows, with progress, closed at the end."""

from typing import TYPE_CHECKING

from clawmarshal.api.commands.terminal import Progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clawmarshal.api.choosing import Terms
    from clawmarshal.roster.roster import Roster
    from clawmarshal.router.decision import DecisionModel
    from clawmarshal.router.evaluation import Prediction, Row


async def predicted(
    model: "DecisionModel",
    fleet: "Roster",
    *,
    rows: "Sequence[Row]",
    terms: "Terms",
    what: str = "decided",
) -> "list[Prediction]":
    """Ask about every row, one after the other, and close the model."""
    from clawmarshal.router.evaluation import predict
    from clawmarshal.router.models.closing import closing

    progress, found = Progress(len(rows), what=what), []
    async with closing(model):
        async for answer in predict(
            model, fleet, rows=rows, policy=terms.policy, deadline_s=terms.deadline_s
        ):
            found.append(answer)
            progress.step(len(found))
    return found
