"""A port that leads to the Gateway once it is opened; until then a connection is refused."""

import socket
import threading
from contextlib import suppress

from tests.support.openclaw_lab import free_port


class GatewayDoor:
    """A Gateway that is down, and comes up when a test says so."""

    def __init__(self, gateway_port: int) -> None:
        self.port = free_port()
        self._target = ("127.0.0.1", gateway_port)
        self._listener: socket.socket | None = None

    def open(self) -> None:
        """Let everybody through from now on."""
        listener = self._listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._let_in, args=[listener], daemon=True).start()

    def close(self) -> None:
        """Let nobody in any more."""
        if self._listener is not None:
            with suppress(OSError):  # wakes the thread that accepts
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()

    def _let_in(self, listener: socket.socket) -> None:
        while True:
            try:
                inside, _ = listener.accept()
            except OSError:
                return
            outside = socket.create_connection(self._target)
            for ends in ((inside, outside), (outside, inside)):
                threading.Thread(target=_carry, args=ends, daemon=True).start()


def _carry(source: socket.socket, target: socket.socket) -> None:
    """Carry bytes until one end closes, then close the other."""
    with suppress(OSError):
        while chunk := source.recv(65536):
            target.sendall(chunk)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()
