"""``routes``: every message's way, what became of lost turns, and erasure on request."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from clawmarshal.api.commands.options import Config, Json, Person
from clawmarshal.api.commands.people import operator
from clawmarshal.api.commands.terminal import note, say, say_json, table, usage

if TYPE_CHECKING:
    from clawmarshal.router.ledger.ledger import Ledger
    from clawmarshal.router.ledger.records import Principal, RouteRecord

app = typer.Typer(help="Every message's way.", no_args_is_help=True)

RouteId = Annotated[str, typer.Argument(help="The route's id, rt_…", metavar="ROUTE")]
PAGE = 200


@app.command("list")
def list_routes(
    *,
    config: Config,
    state: Annotated[
        str | None, typer.Option("--state", help="done, held, unknown, failed, …; all if left out.")
    ] = None,
    search: Annotated[
        str | None, typer.Option("--search", help="Words of the text, sender or conversation.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=500)] = 50,
    cursor: Annotated[str | None, typer.Option("--cursor", help="Where a page ended.")] = None,
    json: Json = False,
) -> None:
    """List routes, newest first.

    Example: clawmarshal routes list --state unknown --config clawmarshal.yaml
    """
    from clawmarshal.api.opening import opened_ledger
    from clawmarshal.api.settings import load_settings
    from clawmarshal.api.views import RoutePage, route_view
    from clawmarshal.router.ledger.records import RouteFilter
    from clawmarshal.router.ledger.states import RouteState

    if state is not None and state not in list(RouteState):
        usage(f"--state is one of {', '.join(RouteState)}")
    with opened_ledger(load_settings(config)) as ledger:
        wanted = RouteFilter(state=state, words=search)
        found, following = ledger.routes(wanted=wanted, limit=limit, cursor=cursor)
    if json:
        page = RoutePage(routes=[route_view(one) for one in found], next=following)
        say_json(page.model_dump(mode="json"))
        return
    table(
        [
            (r.id, f"{r.accepted_at:%Y-%m-%d %H:%M}", r.state, r.agent or "-", r.reason or "-")
            for r in found
        ],
        headings=("id", "accepted", "state", "agent", "reason"),
    )
    if following is not None:
        say(f"… and more: --cursor {following}")


@app.command()
def resolve(
    route_id: RouteId,
    *,
    config: Config,
    answer: Annotated[
        Literal["ran", "not_run", "rerun", "leave"],
        typer.Option("--answer", help="It ran, it did not, run it again, or leave it unknown."),
    ],
    because: Annotated[str | None, typer.Option("--note", help="Kept with the answer.")] = None,
    person: Person = None,
) -> None:
    """Say what became of a turn whose end nobody saw; see `explain ROUTE` for what was found.

    Example: clawmarshal routes resolve rt_… --answer ran --config clawmarshal.yaml
    """
    from clawmarshal.api.opening import opened_ledger
    from clawmarshal.api.settings import load_settings

    with opened_ledger(load_settings(config)) as ledger:
        told = ledger.resolve(route_id, operator(person, "admin"), answer=answer, note=because)
    say(f"{told.id} is {told.state}")


@app.command()
def cancel(route_id: RouteId, *, config: Config, person: Person = None) -> None:
    """Cancel what was not launched; a running turn is asked to stop by its service."""
    from clawmarshal.api.opening import opened_ledger
    from clawmarshal.api.settings import load_settings

    with opened_ledger(load_settings(config)) as ledger:
        told = ledger.cancel(route_id, operator(person, "admin"))
    say(f"{told.id} is {told.state}")


@app.command()
def erase(
    route_ids: Annotated[
        list[str] | None, typer.Argument(help="Routes, rt_…", metavar="[ROUTE]...")
    ] = None,
    *,
    config: Config,
    sender: Annotated[str | None, typer.Option("--sender", help="All of a sender.")] = None,
    conversation: Annotated[
        str | None, typer.Option("--conversation", help="All of a conversation.")
    ] = None,
    channel: Annotated[str | None, typer.Option("--channel", help="In this channel.")] = None,
    reason: Annotated[
        str | None,
        typer.Option("--reason", help="Kept for ever: a number, nothing about a person."),
    ] = None,
    is_sure: Annotated[bool, typer.Option("--yes", help="Erase; without it, only count.")] = False,
    person: Person = None,
) -> None:
    """Erase what messages said, who sent them, and their replies; what was done stays provable.

    A route that waits or runs still needs its text: it is named, and the exit code is 1.

    Example: clawmarshal routes erase --sender kim --channel mail --reason 2026-17 --yes -c FILE
    """
    if bool(route_ids) == bool(sender or conversation):
        usage("name routes, or --sender or --conversation")
    from clawmarshal.api.opening import opened_ledger
    from clawmarshal.api.settings import load_settings

    with opened_ledger(load_settings(config)) as ledger:
        ids = list(route_ids or _of(ledger, sender, conversation, channel))
        if not is_sure:
            say(f"{len(ids)} routes would be erased; say --yes to do it")
            return
        left = _erase(ledger, ids, operator(person, "admin"), reason)
    say(f"{len(ids) - left} routes erased, {left} left")
    if left:
        raise typer.Exit(1)


def _erase(ledger: "Ledger", ids: list[str], principal: "Principal", reason: str | None) -> int:
    from clawmarshal.errors import ConflictError

    left = 0
    for route_id in ids:
        try:
            ledger.erase(route_id, principal, reason=reason)
        except ConflictError as error:
            left += 1
            note(f"{route_id}: {error}")
    return left


def _of(
    ledger: "Ledger", sender: str | None, conversation: str | None, channel: str | None
) -> Iterator[str]:
    from clawmarshal.router.ledger.records import RouteFilter

    wanted = RouteFilter(sender=sender, conversation=conversation, channel=channel)
    cursor: str | None = None
    while True:
        found: tuple[RouteRecord, ...]
        found, cursor = ledger.routes(wanted=wanted, limit=PAGE, cursor=cursor)
        yield from (one.id for one in found)
        if cursor is None:
            return
