"""``reconcile``: look for traces of turns whose outcome is unknown."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from clawmarshal.api.commands.options import Config, Json, Person
from clawmarshal.api.commands.terminal import EXIT_ERROR, say, say_json

MEANINGS: Mapping[str, str] = {
    "answered": "answered: the run's answer is in the Gateway",
    "ended": "ended: the Gateway says that the run ended, and no answer can be seen",
    "running": "running: the Gateway says that the run is under way",
    "arrived": "arrived: the message stands in the session, and nothing more is known",
    "nothing-found": "nothing found, which never means that it did not run",
    "not-understood": "the Gateway's answer is not understood",
    "not-reachable": "the Gateway could not be asked",
}


def sentence_of(facts: Mapping[str, Any]) -> str:
    """Say what was found in words."""
    told = [MEANINGS.get(str(facts.get("code")), "something that this version does not know")]
    if facts.get("run_id"):
        told.append(f"run {facts['run_id']}")
    if facts.get("found_by") == "text":
        told.append("recognised by its words and time alone")
    if facts.get("reply_chars"):
        told.append(f"{facts['reply_chars']} characters, in the route's late evidence")
    if facts.get("answers_of_other_runs"):
        told.append(
            f"{facts['answers_of_other_runs']} answer(s) of other runs follow in the session"
        )
    return "; ".join(told)


def reconcile(
    route_id: Annotated[
        str | None,
        typer.Argument(
            help="A route's id, rt_…; every unknown one when left out.", metavar="ROUTE"
        ),
    ] = None,
    *,
    config: Config,
    person: Person = None,
    json: Json = False,
) -> None:
    """Look in the Gateway for traces of launches whose outcome is unknown, for a person to judge.

    What is found is appended to the route, and its state stays unknown until a person resolves it.
    Finding nothing never means that it did not run.

    Exit 0 when the Gateway could be asked about each, 1 when not.

    Example: clawmarshal reconcile rt_… --config clawmarshal.yaml
    """
    from clawmarshal.api.reconciliation import reconcile_routes

    found = asyncio.run(reconcile_routes(Path(config), route_id, person=person))
    if json:
        say_json({"routes": found})
    for one in found if not json else ():
        if one["evidence"] is None:
            say(f"{one['route']}: {one['state']}, so there is nothing to look for")
        else:
            say(f"{one['route']}: {sentence_of(one['evidence'])}")
    if not found and not json:
        say("no route is unknown")
    asked = [one["evidence"] for one in found if one["evidence"] is not None]
    if any(evidence["code"] == "not-reachable" for evidence in asked):
        raise typer.Exit(EXIT_ERROR)
