"""Run the application on a socket: address printed once it answers, SIGTERM in order."""

import asyncio
import signal
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn

from clawmarshal.api.logs import log_to_stderr
from clawmarshal.api.peers import Patience, protocol_with
from clawmarshal.api.reloading import SettingsFile, reloading_on_hangup
from clawmarshal.api.settings import Settings
from clawmarshal.api.wiring import Service, wire
from clawmarshal.errors import SettingsError


class _Server(uvicorn.Server):
    """Say when it answers, and answer those who wait when it is told to stop."""

    def __init__(
        self, config: uvicorn.Config, *, on_started: Callable[[], None], stopping: asyncio.Event
    ) -> None:
        super().__init__(config)
        self._on_started = on_started
        self._stopping = stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        if self.started:
            self._on_started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; who waits for a route's end gets what there is.

        A second SIGINT waits for nobody. The signal is not raised again afterwards, as the server
        would by itself: a stop that was asked for is a success.
        """
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True
        self._stopping.set()


def serve_settings(
    settings: Settings,
    *,
    file: SettingsFile | None = None,
    port: int | None = None,
    on_started: Callable[[Service], None] = lambda service: None,
) -> None:
    """Serve until SIGTERM or SIGINT.

    Parameters
    ----------
    settings
        What was configured.
    file
        Where that stands: SIGHUP has it read again.
    port
        Instead of the configured one; 0 picks a free one.
    on_started
        Called once the service answers and its address is printed.

    Raises
    ------
    SettingsError, RosterError, LedgerError
        Something configured cannot be used; nothing was accepted.
    """
    log_to_stderr()
    # Bound before the model is loaded, so that a port in use is said at once; nobody is let in
    # before everything runs.
    with _bind(settings.server.host, settings.server.port if port is None else port) as listener:
        service = wire(settings, file=file)

        def announce() -> None:
            service.address = _address(listener)
            print(f"address: {service.address}", flush=True)
            on_started(service)

        asyncio.run(_serve(service, listener, announce=announce))


async def _serve(
    service: Service, listener: socket.socket, *, announce: Callable[[], None]
) -> None:
    app = service.app(runs_service=False)
    config = uvicorn.Config(
        app,
        http=protocol_with(_patience(service.settings)),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=max(1, round(service.settings.server.stop_s)),
    )
    server = _Server(config, on_started=announce, stopping=app.state.stopping)
    async with service.running(), reloading_on_hangup(service.reloader):
        await server.serve(sockets=[listener])


def _patience(settings: Settings) -> Patience:
    return Patience(
        head_s=settings.limits.head_timeout_s,
        stall_s=settings.limits.stall_s,
        max_connections=settings.server.max_connections,
    )


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise SettingsError(
            f"server.port: {host} port {port} cannot be used ({error.strerror or error}); stop "
            "what uses it, or choose another with --port (make run: PORT=…)"
        ) from error
    return listener


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
