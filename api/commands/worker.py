"""``worker``: more launches beside the service, here or on another host."""

from typing import TYPE_CHECKING, Annotated

import typer

from clawmarshal.api.commands.options import Config

if TYPE_CHECKING:
    from clawmarshal.api.settings import Settings


def worker(
    *,
    config: Config,
    agents: Annotated[
        str | None,
        typer.Option("--agents", help="Whose OpenClaw it reaches, by commas; for this one start."),
    ] = None,
    tags: Annotated[
        str | None,
        typer.Option(
            "--tags", help="Agents with any of these tags, by commas; for this one start."
        ),
    ] = None,
) -> None:
    """Launch what is ready until told to stop; decide nothing, answer nobody.

    With a SQLite ledger it runs on the machine of the service; with a PostgreSQL one anywhere. It
    takes only what is for the agents it reaches: those of transport.agents and transport.tags, or
    all. Prints 'worker: ID reaches AGENTS' once it looks for work.

    Example: clawmarshal worker --config clawmarshal.yaml --tags berlin
    """
    from clawmarshal.api.reloading import SettingsFile
    from clawmarshal.api.settings import load_settings
    from clawmarshal.api.worker import work

    def read() -> "Settings":
        settings = load_settings(config)
        if agents is None and tags is None:
            return settings
        told = {"agents": _names(agents), "tags": _names(tags)}
        transport = settings.transport.model_copy(update=told)
        return settings.model_copy(update={"transport": transport})

    work(read(), file=SettingsFile(config, read), on_started=_announce)


def _names(written: str | None) -> list[str]:
    return [name.strip() for name in (written or "").split(",") if name.strip()]


def _announce(worker_id: str, reached: list[str]) -> None:
    print(f"worker: {worker_id} reaches {', '.join(reached)}", flush=True)
