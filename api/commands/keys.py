"""``keys``: who may use the service."""

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from clawmarshal.api.commands.options import Config, Json
from clawmarshal.api.commands.terminal import note, say, say_json, table, usage

if TYPE_CHECKING:
    from clawmarshal.router.ledger.records import KeyRecord

SCOPES = ("route", "pin", "review", "admin")
_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_DURATION = re.compile(r"(\d{1,9})([smhd])|0", re.ASCII)
_LONGEST_S = 10 * 366 * 86_400
Expires = Annotated[
    str | None,
    typer.Option("--expires", help="When it ends by itself: 15m, 12h, 90d; never if left out."),
]
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
    expires: Expires = None,
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
    lifetime_s = seconds_of(expires, "--expires")
    from clawmarshal.api.opening import opened_ledger
    from clawmarshal.api.settings import load_settings

    with opened_ledger(load_settings(config)) as ledger:
        key = ledger.create_key(name, person or name, wanted, lifetime_s=lifetime_s)
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
        say_json({"keys": [_shown(record) for record in records]})
        return
    table(
        [
            (
                record.id,
                record.name,
                record.person,
                ",".join(sorted(record.scopes)),
                _state(record),
                _written(record.expires_at) or "never",
                _written(record.last_used_at) or "never",
            )
            for record in records
        ],
        headings=("id", "name", "person", "scopes", "state", "ends", "last used"),
    )


@app.command()
def rotate(
    key_id: Annotated[str, typer.Argument(help="The key's id, ck_…, from 'keys list'.")],
    *,
    overlap: Annotated[
        str,
        typer.Option("--overlap", help="How long the old key stays valid: 0, 90s, 15m, 12h, 7d."),
    ] = "24h",
    expires: Expires = None,
    config: Config,
    json: Json = False,
) -> None:
    """Put a new key in the place of another and print it, alone; both are valid for a while.

    Example: clawmarshal keys rotate ck_0… --overlap 24h --config clawmarshal.yaml
    """
    overlap_s, lifetime_s = seconds_of(overlap, "--overlap"), seconds_of(expires, "--expires")
    from clawmarshal.api.opening import opened_ledger
    from clawmarshal.api.settings import load_settings

    with opened_ledger(load_settings(config)) as ledger:
        key, new, old = ledger.rotate_key(key_id, overlap_s=overlap_s or 0, lifetime_s=lifetime_s)
    if json:
        say_json({"key": key, "new": _shown(new), "old": _shown(old)})
        return
    print(key)
    note(f"Keep it: it is shown this once. {old.id} ends at {_written(old.expires_at)}.")


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


def seconds_of(written: str | None, option: str) -> float | None:
    """Read a duration such as ``12h``; None where there is none."""
    if written is None:
        return None
    found = _DURATION.fullmatch(written.strip())
    seconds = int(found[1]) * _UNITS_S[found[2]] if found and found[1] else 0
    if found is None or seconds > _LONGEST_S or (option == "--expires" and seconds == 0):
        usage(f"{option} takes a number and s, m, h or d, such as 12h; at most ten years")
    return float(seconds)


def _shown(record: "KeyRecord") -> dict[str, object]:
    return {
        "id": record.id,
        "name": record.name,
        "person": record.person,
        "scopes": sorted(record.scopes),
        "state": _state(record),
        "created_at": _written(record.created_at),
        "revoked_at": _written(record.revoked_at),
        "expires_at": _written(record.expires_at),
        "last_used_at": _written(record.last_used_at),
        "last_address": record.last_address,
        "replaced_by": record.replaced_by,
        "is_proxied": record.is_proxied,
    }


def _state(record: "KeyRecord") -> str:
    if record.revoked_at:
        return "revoked"
    if not record.is_valid(datetime.now(UTC)):
        return "over"
    return "replaced" if record.replaced_by else "active"


def _written(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat(timespec="seconds")
