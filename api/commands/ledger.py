"""``ledger``: the schema of the record."""

import typer

from clawmarshal.api.commands.options import Config, Json
from clawmarshal.api.commands.terminal import say, say_json

app = typer.Typer(help="The ledger: its schema.", no_args_is_help=True)


@app.command()
def upgrade(*, config: Config, json: Json = False) -> None:
    """Bring the ledger's schema up to this version, or make it on an empty PostgreSQL database.

    A SQLite file is upgraded by whatever opens it first; a server's schema only by this command.
    Stop every service and worker of an older version before.

    Example: clawmarshal ledger upgrade --config clawmarshal.yaml
    """
    from clawmarshal.api.opening import upgrade as upgrade_configured
    from clawmarshal.api.settings import load_settings

    version = upgrade_configured(load_settings(config))
    if json:
        say_json({"schema": version})
    else:
        say(f"the ledger has schema {version}")
