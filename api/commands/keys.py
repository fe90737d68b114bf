"""``keys``: who may use the service."""

from typing import Annotated

import typer

from clawmarshal.api.commands.options import Config, Json
from clawmarshal.api.commands.terminal import note, say, say_json, table, usage

SCOPES = ("route", "pin", "review", "admin")
app = typer.Typer(help="Keys: who may use the service.", no_args_is_help=True)


@app.command()
def create(
    *,
    name: Annotated[str, typer.Option("--name", help="What the key is for.")],
    person: Annotated[
        str | None,
        typer.Option("--person", help="Who owns the rows and decides; the name if left out."),
    ] = None,
    scopes: Annotated[str, typer.Option("--scopes", help="Among route, pin, review, admin.")],
    config: Config,
    json: Json = False,
) -> None:
    """Make a key and print it, alone; only its hash is kept. Makes the ledger if there is none.

    Example: clawmarshal keys create --name mailbox --scopes route --config clawmarshal.yaml
    """
    wanted = [scope.strip() for scope in scopes.split(",") if scope.strip()]
    odd = [scope for scope in wanted if scope not in SCOPES]
    if odd or not wanted:
        usage(f"--scopes takes {', '.join(SCOPES)}, separated by commas")
    if not name.strip() or (person is not None and not person.strip()):
        usage("--name and --person are not blank")
    from clawmarshal.api.opening import opened_ledger
    from clawmarshal.api.settings import load_settings

    with opened_ledger(load_settings(config)) as ledger:
        key = ledger.create_key(name, person or name, wanted)
    if json:
        say_json({"key": key, "name": name, "person": person or name, "scopes": sorted(wanted)})
        return
    print(key)
    note("Keep it: it is shown this once.")


@app.command("list")
def list_keys(*, config: Config, json: Json = False) -> None:
    """List the keys, revoked ones too; never the keys themselves."""
    from clawmarshal.api.opening import opened_ledger
    from clawmarshal.api.settings import load_settings

    with opened_ledger(load_settings(config)) as ledger:
        records = ledger.list_keys()
    if json:
        rows = [
            {
                "id": record.id,
                "name": record.name,
                "person": record.person,
                "scopes": sorted(record.scopes),
                "created_at": record.created_at.isoformat(),
                "revoked_at": record.revoked_at.isoformat() if record.revoked_at else None,
            }
            for record in records
        ]
        say_json({"keys": rows})
        return
    table(
        [
            (
                record.id,
                record.name,
                record.person,
                ",".join(sorted(record.scopes)),
                "revoked" if record.revoked_at else "active",
            )
            for record in records
        ],
        headings=("id", "name", "person", "scopes", "state"),
    )


@app.command()
def revoke(
    key_id: Annotated[str, typer.Argument(help="The key's id, ck_…, from 'keys list'.")],
    *,
    config: Config,
    json: Json = False,
) -> None:
    """End a key at once and for good."""
    from clawmarshal.api.opening import opened_ledger
    from clawmarshal.api.settings import load_settings

    with opened_ledger(load_settings(config)) as ledger:
        record = ledger.revoke_key(key_id)
    if json:
        say_json({"id": record.id, "name": record.name, "revoked": True})
    else:
        say(f"{record.id} ({record.name}) is revoked")
