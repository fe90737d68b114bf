"""Services that decide nothing: a worker, and a desk for answering holds."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from clawmarshal.api.nobody import Nobody
from clawmarshal.api.reloading import SettingsFile
from clawmarshal.api.settings import Settings
from clawmarshal.api.wiring import Service, wire
from clawmarshal.errors import SettingsError
from clawmarshal.router.desk import RoutingDesk


def wire_worker(settings: Settings, *, file: SettingsFile | None = None) -> Service:
    """Join the parts of a worker: it launches what is ready, and no model decides anything.

    Raises
    ------
    SettingsError, RosterError, LedgerError
        As `wire`; or the mode is one in which nothing is launched.
    """
    if settings.mode != "enforce":
        raise SettingsError(f"mode: {settings.mode} launches nothing, so a worker has no work")
    return wire(settings, model=Nobody(), file=file, is_worker=True)


@asynccontextmanager
async def reviewing(settings: Settings) -> AsyncIterator[RoutingDesk]:
    """Open a desk that answers holds beside a running service; it decides and launches nothing.

    Raises
    ------
    SettingsError, RosterError, NotLaunchedError
        What would run cannot be told, so nothing can be approved.
    """
    service = wire(settings, model=Nobody())
    try:
        await service.transport.probe()
        await service.fleet.refresh()
        await service.elsewhere.refresh()
        yield service.desk
    finally:
        await service.close()
