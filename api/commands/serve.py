"""``serve``: the service."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clawmarshal.api.commands.terminal import usage

if TYPE_CHECKING:
    from clawmarshal.api.wiring import Service

EXAMPLE = Path("examples/clawmarshal.yaml")


def serve(
    *,
    config: Annotated[
        Path | None,
        typer.Option("--config", "-c", help="The configuration file.", metavar="FILE"),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65535, help="Another port; 0 picks a free one."),
    ] = None,
    quickstart: Annotated[
        Path | None,
        typer.Option(
            "--quickstart",
            metavar="DIR",
            help="Make configuration, ledger and keys in DIR, print the keys, and serve.",
        ),
    ] = None,
) -> None:
    """Run the service until it is told to stop.

    Prints its address once it answers, as a line 'address: http://…'.

    Example: clawmarshal serve --config clawmarshal.yaml
    """
    if config is None and quickstart is None:
        usage("name the configuration with --config, or make one with --quickstart DIR")
    # Imported here: the server takes a while, and --help needs none of it.
    from clawmarshal.api.quickstart import (
        CONFIG,
        prepare,
        print_keys,
        print_review_page,
        say_what_answers,
    )
    from clawmarshal.api.reloading import SettingsFile
    from clawmarshal.api.server import serve_settings
    from clawmarshal.api.settings import load_settings

    if quickstart is not None:
        read = partial(prepare, quickstart, example=config or EXAMPLE)
        settings = read()

        def greet(service: "Service") -> None:
            print_keys(service.ledger)
            print_review_page(service.address)
            say_what_answers(settings)

        file = SettingsFile(quickstart / CONFIG, read)
        serve_settings(settings, file=file, port=port, on_started=greet)
    elif config is not None:
        file = SettingsFile(config, partial(load_settings, config))
        serve_settings(file.read(), file=file, port=port)
