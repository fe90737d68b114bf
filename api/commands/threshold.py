"""``calibrate`` for a model that has no weights of ours: where its answers may be acted on."""

import asyncio
import json as codec
from pathlib import Path
from typing import TYPE_CHECKING

from clawmarshal.api.commands.terminal import Progress, note, say, say_json
from clawmarshal.api.files import read_lines, write_whole

if TYPE_CHECKING:
    from clawmarshal.roster.roster import Roster
    from clawmarshal.router.ledger.records import HoldRecord, RouteRecord
    from clawmarshal.router.threshold_fit import Labelled, ThresholdFit


def find_threshold(
    model: str,
    *,
    roster: Path,
    data: Path | None,
    config: Path | None,
    precision: float,
    out: Path | None,
    json: bool,
) -> None:
    """Ask a model about labelled messages, and suggest ``policy.min_probability`` for it.

    Raises
    ------
    SettingsError, RosterError, MessageError
        There is no such model; the roster or the lines cannot be used; there are too few.
    """
    from clawmarshal.api.choosing import chosen_model, terms_of
    from clawmarshal.roster.loader import load_roster
    from clawmarshal.router.models.closing import closing
    from clawmarshal.router.threshold_fit import fit_threshold

    fleet = load_roster(roster)
    terms = terms_of(config, fleet)
    labelled = _labelled(data, config, fleet)
    asked = chosen_model(model, terms=terms)
    progress = Progress(len(labelled), what=f"decided by {asked.name}")

    async def fit() -> "ThresholdFit":
        async with closing(asked):
            return await fit_threshold(
                asked,
                fleet,
                labelled=labelled,
                precision=precision,
                deadline_s=terms.deadline_s,
                step=progress.step,
            )

    told = asyncio.run(fit())
    document = _document(told, roster_digest=fleet.digest)
    if out is not None:
        write_whole(out, codec.dumps(document, indent=1) + "\n")
    if json:
        say_json(document)
    else:
        _say(told)
        if out is not None:
            note(f"written to {out}")


def reviews_of(config: Path) -> "list[tuple[HoldRecord, RouteRecord]]":
    """Read every hold that was approved, and its route."""
    from clawmarshal.api.opening import opened_ledger
    from clawmarshal.api.settings import load_settings

    reviews, cursor, is_more = [], None, True
    with opened_ledger(load_settings(config)) as ledger:
        while is_more:
            holds, cursor = ledger.holds(state="approved", limit=500, cursor=cursor)
            reviews += [(hold, ledger.route(hold.route_id)) for hold in holds]
            is_more = cursor is not None
    return reviews


def _labelled(data: Path | None, config: Path | None, fleet: "Roster") -> "tuple[Labelled, ...]":
    from clawmarshal.router.evaluation import read_rows
    from clawmarshal.router.labels import read_labels
    from clawmarshal.router.threshold_fit import labelled_reviews, labelled_rows

    found: tuple[Labelled, ...] = ()
    if data is not None:
        lines = read_lines(data)
        labels = read_labels(lines, agents={agent.id for agent in fleet})
        found += labelled_rows(read_rows(lines), labels, fleet)
    if config is not None:
        found += labelled_reviews(reviews_of(config), fleet)
    return found


def _document(told: "ThresholdFit", *, roster_digest: str) -> dict[str, object]:
    from dataclasses import asdict

    return {**asdict(told), "roster_sha256": roster_digest}


def _say(told: "ThresholdFit") -> None:
    unanswered = ", ".join(f"{code} {count}" for code, count in told.errors.items())
    say(
        f"{told.rows} labelled messages, {told.nobody} of them nobody's"
        + (f"; without a usable answer: {unanswered}" if unanswered else "")
    )
    say(f"best answer right  {told.right:.1%}")
    if told.min_probability is None:
        say(f"threshold          none keeps {told.precision:.0%} right on these messages")
        return
    say(
        f"threshold          policy.min_probability {told.min_probability:g} "
        f"keeps {told.precision:.0%} right on these messages"
    )
    if told.held_out_precision is not None:
        say(
            f"cross-validation   {told.held_out_coverage:.1%} routed, "
            f"{told.held_out_precision:.1%} of it right, by thresholds of other messages"
        )
    say(f"it holds for {told.model} alone")
