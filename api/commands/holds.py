"""``holds``: the queue, read and answered on the ledger itself."""

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clawmarshal.api.commands.options import Config, Json, Person
from clawmarshal.api.commands.people import operator
from clawmarshal.api.commands.terminal import fields, say, say_json, table, usage
from clawmarshal.roster.agent import Risk

if TYPE_CHECKING:
    from clawmarshal.router.ledger.records import HoldRecord

app = typer.Typer(help="What waits for a human.", no_args_is_help=True)

HoldId = Annotated[str, typer.Argument(help="The hold's id, hd_…", metavar="HOLD")]


@app.command("list")
def list_holds(
    *,
    config: Config,
    state: Annotated[
        str, typer.Option("--state", help="open, approved, rejected, expired, cancelled or all.")
    ] = "open",
    limit: Annotated[int, typer.Option("--limit", min=1, max=500)] = 50,
    json: Json = False,
) -> None:
    """List holds, oldest first."""
    from clawmarshal.api.opening import opened_ledger
    from clawmarshal.api.settings import load_settings
    from clawmarshal.api.views import HoldPage, hold_view
    from clawmarshal.router.ledger.states import HoldState

    if state != "all" and state not in list(HoldState):
        usage(f"--state is one of {', '.join(HoldState)}, all")
    with opened_ledger(load_settings(config)) as ledger:
        wanted = None if state == "all" else state
        holds, following = ledger.holds(state=wanted, limit=limit)
    if json:
        page = HoldPage(holds=[hold_view(hold) for hold in holds], next=following)
        say_json(page.model_dump(mode="json"))
        return
    table(
        [
            (h.id, f"{h.created_at:%Y-%m-%d %H:%M}", h.risk, h.reason, h.suggestion or "-", h.state)
            for h in holds
        ],
        headings=("id", "since", "risk", "reason", "suggestion", "state"),
    )
    if following is not None:
        say("… and more; raise --limit")


@app.command()
def show(hold_id: HoldId, *, config: Config, json: Json = False) -> None:
    """Show one hold: what was asked, why it waits, what would run."""
    from clawmarshal.api.opening import opened_ledger
    from clawmarshal.api.settings import load_settings
    from clawmarshal.api.views import hold_detail_view

    with opened_ledger(load_settings(config)) as ledger:
        hold = ledger.hold(hold_id)
        view = hold_detail_view(hold, ledger.route(hold.route_id))
    if json:
        say_json(view.model_dump(mode="json"))
        return
    message = view.route.message
    fields(
        {
            "hold": view.id,
            "state": view.state,
            "route": f"{view.route_id} ({view.route.state})",
            "from": f"{message.sender or '-'} in {message.channel or '-'}",
            "suggestion": view.suggestion,
            "risk": view.risk,
            "decision": view.decision and f"{view.decision} by {view.person}",
            "note": view.note,
            "digest": view.digest,
        }
    )
    for gate in view.gates:
        say(f"  gate {gate.get('number')}: {gate.get('detail')}")
    for candidate in view.route.candidates[:5]:
        say(f"  {candidate.probability:5.2f}  {candidate.agent}")
    say()
    say(message.text)


@app.command("queue")
def show_queue(
    *,
    config: Config,
    risk: Annotated[Risk | None, typer.Option("--risk", help="Of this risk only.")] = None,
    search: Annotated[
        str | None, typer.Option("--search", help="Words of the text, sender or conversation.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=500)] = 50,
    cursor: Annotated[str | None, typer.Option("--cursor", help="Where a page ended.")] = None,
    json: Json = False,
) -> None:
    """Show what waits as it should be worked: the riskiest first, of these the oldest.

    Example: clawmarshal holds queue --config clawmarshal.yaml --risk high
    """
    from clawmarshal.api.opening import opened_ledger
    from clawmarshal.api.settings import load_settings
    from clawmarshal.api.views import queue_page
    from clawmarshal.router.ledger.triage import TriageFilter

    with opened_ledger(load_settings(config)) as ledger:
        wanted = TriageFilter(risk=risk, words=search)
        found = ledger.triage(wanted, limit=limit, cursor=cursor)
    if json:
        say_json(queue_page(found, following=found.next).model_dump(mode="json"))
        return
    counts = ", ".join(f"{found.by_risk.get(tier, 0)} {tier}" for tier in reversed(Risk))
    say(f"open: {counts}")
    table(
        [
            (r.hold.id, r.hold.risk, f"{r.hold.created_at:%Y-%m-%d %H:%M}", r.hold.reason,
             r.hold.suggestion or "-", r.claim.person if r.claim else "-", r.excerpt[:60])
            for r in found.rows
        ],
        headings=("id", "risk", "since", "reason", "suggestion", "claimed by", "text"),
    )  # fmt: skip
    if found.next is not None:
        say(f"… and more: --cursor {found.next}")


@app.command()
def claim(hold_id: HoldId, *, config: Config, person: Person = None) -> None:
    """Tell the others that you look at it; it runs out after 15 minutes."""
    from clawmarshal.api.opening import opened_ledger
    from clawmarshal.api.settings import load_settings

    with opened_ledger(load_settings(config)) as ledger:
        taken = ledger.claim_hold(hold_id, operator(person))
    say(f"{hold_id} is claimed by {taken.person} until {taken.until:%Y-%m-%d %H:%M} UTC")


@app.command()
def release(hold_id: HoldId, *, config: Config, person: Person = None) -> None:
    """Give a claimed hold back to the others."""
    from clawmarshal.api.opening import opened_ledger
    from clawmarshal.api.settings import load_settings

    with opened_ledger(load_settings(config)) as ledger:
        ledger.release_hold(hold_id, operator(person))
    say(f"{hold_id} is nobody's")


@app.command()
def approve(
    hold_id: HoldId,
    *,
    config: Config,
    agent: Annotated[str | None, typer.Option("--agent", help="Another agent.")] = None,
    note: Annotated[str | None, typer.Option("--note", help="Kept with the answer.")] = None,
    digest: Annotated[str | None, typer.Option("--digest", help="What was shown to you.")] = None,
    person: Person = None,
    json: Json = False,
) -> None:
    """Say yes: the running service launches it, once.

    Example: clawmarshal holds approve hd_… --config clawmarshal.yaml --note "called the sender"
    """

    async def answer() -> "HoldRecord":
        from clawmarshal.api.settings import load_settings
        from clawmarshal.api.without_model import reviewing

        async with reviewing(load_settings(config)) as desk:
            return await desk.approve(
                hold_id, operator(person), agent=agent, note=note, digest=digest
            )

    _tell(asyncio.run(answer()), is_json=json)


@app.command()
def reject(
    hold_id: HoldId,
    *,
    config: Config,
    reason: Annotated[str, typer.Option("--reason", help="Why; kept with the answer.")],
    person: Person = None,
    json: Json = False,
) -> None:
    """Say no: it is never launched."""
    if not reason.strip():
        usage("--reason says why in a few words")
    from clawmarshal.api.opening import opened_ledger
    from clawmarshal.api.settings import load_settings

    with opened_ledger(load_settings(config)) as ledger:
        hold = ledger.reject(hold_id, operator(person), reason=reason)
    _tell(hold, is_json=json)


def _tell(hold: "HoldRecord", *, is_json: bool) -> None:
    from clawmarshal.api.views import hold_view

    view: dict[str, Any] = hold_view(hold).model_dump(mode="json")
    if is_json:
        say_json(view)
        return
    if hold.decision is None:
        say(f"{hold.id} waits for a second yes; said so far: {', '.join(hold.approvals)}")
        return
    done = {"approve": "approved", "reject": "rejected"}[str(hold.decision)]
    target = f" for {hold.agent}" if hold.agent and hold.decision == "approve" else ""
    say(f"{hold.id} is {done}{target} by {hold.person}")
