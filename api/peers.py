"""Peers: connections that send or read too slowly, or that are no HTTP, are ended in words."""

import asyncio
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from clawmarshal.api.problems import MEDIA_TYPE, PROBLEMS, Problem, document

BUSY_RETRY_S = 2


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a peer may take, and how many there may be."""

    head_s: float = 15.0
    """Until a request's head is there, and until the rest of a body that nobody reads is."""
    stall_s: float = 30.0
    """How long an answer may stay unread."""
    max_connections: int = 2000


class PatientProtocol(H11Protocol):
    """Speak HTTP/1.1 with peers of any speed, and let none keep a connection for nothing.

    The server below waits for ever for a head, for a body that no endpoint reads, and for a peer
    that takes no answer. Bodies that endpoints read have their own deadline.
    """

    patience: ClassVar[Patience] = Patience()
    _head_timer: asyncio.TimerHandle | None = None
    _stall_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the class above
        """Begin to wait for a head; refuse one connection too many."""
        super().connection_made(transport)
        if len(self.connections) > self.patience.max_connections:
            self._refuse(
                Problem(
                    "too-many-connections",
                    "Nothing was accepted.",
                    headers={"Retry-After": str(BUSY_RETRY_S)},
                )
            )
            return
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the timers."""
        self._stop_head_timer()
        self._stop_stall_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in what came."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Go on to the next request, or wait for the rest of this one's body."""
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        """Begin to wait for a peer that does not read."""
        super().pause_writing()
        if self._stall_timer is None:
            self._stall_timer = self.loop.call_later(self.patience.stall_s, self._cut)

    def resume_writing(self) -> None:
        """Note that it reads again."""
        self._stop_stall_timer()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Say in a problem document that this was no HTTP."""
        self._refuse(Problem("request-malformed", "Send HTTP/1.1 as RFC 9112 has it."))

    def _watch(self) -> None:
        """Wait for a head or an unread body only while one is owed."""
        if self.transport.is_closing() or not self._is_owed():
            self._stop_head_timer()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(self.patience.head_s, self._give_up)

    def _is_owed(self) -> bool:
        if self.cycle is not None and not self.cycle.response_complete:
            return False
        if self.conn.their_state is h11.SEND_BODY:
            return True  # answered, and the rest of the body still comes
        # Between two requests the server's own keep-alive timer runs, until a byte comes.
        return self.cycle is None or bool(self.conn.trailing_data[0])

    def _give_up(self) -> None:
        self._head_timer = None
        if self.transport.is_closing():
            return
        is_begun = bool(self.conn.trailing_data[0])
        if is_begun and self.conn.our_state is h11.IDLE:
            detail = f"The head must arrive within {self.patience.head_s:g} s."
            self._refuse(Problem("head-timeout", detail))
        else:
            self.transport.close()

    def _cut(self) -> None:
        # What is written already may never leave, so closing in order would wait for ever.
        self._stall_timer = None
        self.transport.abort()

    def _refuse(self, problem: Problem) -> None:
        """Answer with a problem and close."""
        body = json.dumps(document(problem)).encode()
        self.transport.write(_answer(PROBLEMS[problem.code].status, body, problem.headers))
        self.transport.close()

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _stop_stall_timer(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None


def protocol_with(patience: Patience) -> type[PatientProtocol]:
    """Return the protocol with other limits."""
    return type("PatientProtocol", (PatientProtocol,), {"patience": patience})


def _answer(status: int, body: bytes, more: Mapping[str, str]) -> bytes:
    headers = {
        "Content-Type": MEDIA_TYPE,
        "Content-Length": str(len(body)),
        "Cache-Control": "no-store",
        "Connection": "close",
        "X-Request-Id": secrets.token_hex(8),
        **more,
    }
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + body
