"""Run a worker until it is told to stop: it launches what is ready and answers nobody."""

import asyncio
import contextlib
import signal
from collections.abc import Callable

from clawmarshal.api.logs import log_to_stderr
from clawmarshal.api.reloading import SettingsFile, reloading_on_hangup
from clawmarshal.api.settings import Settings
from clawmarshal.api.wiring import Service
from clawmarshal.api.without_model import wire_worker


def work(
    settings: Settings,
    *,
    file: SettingsFile | None = None,
    on_started: Callable[[str, list[str]], None],
) -> None:
    """Work until SIGTERM or SIGINT; turns that run then may end within ``server.stop_s``.

    Parameters
    ----------
    file
        Where the settings stand: SIGHUP has them read again.
    on_started
        Told the worker's id and the agents it reaches, once it claims.

    Raises
    ------
    SettingsError, RosterError, LedgerError
        Something configured cannot be used; nothing was claimed.
    """
    log_to_stderr()
    service = wire_worker(settings, file=file)
    reached = sorted(service.arrangement.reached)
    asyncio.run(_work(service, lambda worker: on_started(worker, reached)))


async def _work(service: Service, on_started: Callable[[str], None]) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    try:
        async with service.launching(), reloading_on_hangup(service.reloader):
            on_started(service.dispatcher.worker)
            await stopped.wait()
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(ValueError):
                loop.remove_signal_handler(number)
