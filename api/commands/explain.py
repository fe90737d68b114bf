"""``explain``: why a route was decided as it was, and what would have changed it."""

from typing import TYPE_CHECKING, Annotated

import typer

from clawmarshal.api.commands.options import Config, Json
from clawmarshal.api.commands.reconcile import sentence_of
from clawmarshal.api.commands.terminal import fields, say, say_json

if TYPE_CHECKING:
    from clawmarshal.api.explaining import Explained

RouteId = Annotated[str, typer.Argument(help="The route's id, rt_…", metavar="ROUTE")]
MAX_OPTIONS = 10


def explain(route_id: RouteId, *, config: Config, json: Json = False) -> None:
    """Say why a route was decided as it was: ballot, thresholds, gates, what would change it.

    Everything is read from the ledger, and every "would" is the gates run again over it.

    Example: clawmarshal explain rt_… --config clawmarshal.yaml
    """
    from clawmarshal.api.explaining import explained
    from clawmarshal.api.opening import opened_ledger
    from clawmarshal.api.settings import load_settings
    from clawmarshal.roster.loader import load_roster

    settings = load_settings(config)
    with opened_ledger(settings) as ledger:
        record = ledger.route(route_id)
    told = explained(record, load_roster(settings.roster))
    if json:
        say_json(told.as_json())
    else:
        _show(told)


def _show(told: "Explained") -> None:
    route, known = told.route, told.policy
    fields(
        {
            "route": route.id,
            "outcome": route.outcome,
            "agent": route.agent,
            "via": route.via,
            "model": ", ".join([route.model or "-", *route.notes]),
            "confidence": f"{route.confidence:.4f}, of an agent at least {told.least:.4f}",
            "margin": f"{route.margin:.4f}, at least {known.min_margin:.4f}",
            "risk": f"{route.risk.top}, {told.limit} at most; the rules say {route.risk.floor}",
        }
    )
    high = route.risk.probabilities.get("high")
    if high is not None:
        say(f"{'P(high)':10}  {high:.4f}, at most {known.max_high_probability:.4f}")
    say()
    say(f"ballot of {len(told.ballot)} agents, most probable first")
    for candidate in route.candidates[:MAX_OPTIONS]:
        say(f"  {candidate.probability:.4f}  {candidate.agent}")
    if len(route.candidates) > MAX_OPTIONS:
        say(f"  … and {len(route.candidates) - MAX_OPTIONS} more; --json lists them")
    say()
    for number, gate in enumerate(route.gates):
        say(f"gate {gate.number} {'decided' if number == 0 else 'fired too'}: {gate.detail}")
    if not route.gates:
        say("no gate fired")
    _show_challenger(told)
    _show_changes(told)
    _show_evidence(told)


def _show_evidence(told: "Explained") -> None:
    if told.evidence:
        say()
        say(f"evidence of what became of it, which stays {told.state} until a person says")
    for event in told.evidence:
        say(f"  {event.at:%Y-%m-%d %H:%M:%S}  {sentence_of(event.facts)}")


def _show_challenger(told: "Explained") -> None:
    said = told.challenger
    if said is None:
        return
    say()
    if isinstance(said, Exception):
        say(f"the challenger gave no usable answer: {said.code}")
        return
    say(f"the challenger {said.model} said {said.agent.option}, {said.agent.confidence:.4f}")


def _show_changes(told: "Explained") -> None:
    say()
    say("what would have changed it")
    for change in told.hindsight.changes:
        effect = "passes" if change.passes else "fires"
        after = f"{change.outcome}" + (
            f" ({change.reason})" if change.outcome != "dispatch" else ""
        )
        settings = " and ".join(
            f"{one.what} {one.instead} (it was {one.was})" for one in change.settings
        )
        say(f"  gate {change.gate} {effect} with {settings}: alone, {after}")
    for detail in told.hindsight.unmovable:
        say(f"  nothing that can be set: {detail}")
    together = told.hindsight.together
    if together is not None and len(told.route.gates) > 1:
        say(f"  all of them together: {together.outcome} {together.agent or ''}".rstrip())
    for note in told.remarks:
        say(f"note: {note}")
