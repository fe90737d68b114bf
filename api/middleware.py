"""What surrounds every request: request id, host check, access log, the last catch."""

import logging
import re
import secrets
import time
import traceback

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from clawmarshal.api.auth import is_allowed_host
from clawmarshal.api.metrics import Metrics
from clawmarshal.api.problems import Problem, response
from clawmarshal.api.tracing import HEADER, trace_of

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
OPEN_PATH = "/livez"

access = logging.getLogger("clawmarshal.access")
logger = logging.getLogger("clawmarshal.api")


class Surround:
    """Wrap an application.

    Parameters
    ----------
    app
        What is wrapped.
    allowed_hosts
        See `is_allowed_host`; only ``/livez`` answers to any name.
    metrics
        Counts every request.
    """

    def __init__(self, app: ASGIApp, *, allowed_hosts: frozenset[str], metrics: Metrics) -> None:
        self._app = app
        self._hosts = allowed_hosts
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; other ASGI events pass through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        await _Exchange(scope, send, hosts=self._hosts, metrics=self._metrics).run(
            self._app, receive
        )


class _Exchange:
    """One request and its answer."""

    def __init__(
        self, scope: Scope, send: Send, *, hosts: frozenset[str], metrics: Metrics
    ) -> None:
        self._scope = scope
        self._send = send
        self._hosts = hosts
        self._metrics = metrics
        self._status = 0
        headers = Headers(scope=scope)
        sent = headers.getlist("x-request-id")
        is_usable = len(sent) == 1 and REQUEST_ID.fullmatch(sent[0])
        self._id = sent[0] if is_usable else secrets.token_hex(8)
        self._trace = trace_of(headers.getlist(HEADER))
        state = scope.setdefault("state", {})
        state["request_id"], state["trace_id"] = self._id, self._trace.trace_id

    async def run(self, app: ASGIApp, receive: Receive) -> None:
        begin = time.monotonic()
        try:
            if self._host_is_allowed():
                await app(self._scope, receive, self._answer)
            else:
                await self._refuse_host(receive)
        except Exception as error:
            self._log_failure(error)
            if self._status:
                raise
            problem = Problem("internal", f"Look for {self._id} in the service's log.")
            await response(problem)(self._scope, receive, self._answer)
        finally:
            self._record(time.monotonic() - begin)

    def _host_is_allowed(self) -> bool:
        if self._scope["path"] == OPEN_PATH:
            return True
        hosts = Headers(scope=self._scope).getlist("host")
        return len(hosts) == 1 and is_allowed_host(hosts[0], self._hosts)

    async def _refuse_host(self, receive: Receive) -> None:
        problem = Problem(
            "host-not-allowed", "Use a loopback name, or list the name in server.allowed_hosts."
        )
        await response(problem)(self._scope, receive, self._answer)

    async def _answer(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Request-Id"] = self._id
            headers[HEADER] = self._trace.header
            headers["X-Content-Type-Options"] = "nosniff"
            headers.setdefault("Cache-Control", "no-store")
        await self._send(message)

    def _log_failure(self, error: Exception) -> None:
        # The words of a foreign error may hold message text, so only its kind and place are kept.
        places = [
            f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)
        ]
        logger.error(
            "request %s failed: %s at %s", self._id, type(error).__name__, " > ".join(places[-8:])
        )

    def _record(self, seconds: float) -> None:
        # The path as it is declared, never as it was sent: a path can hold anything.
        route = self._scope.get("route")
        path = getattr(route, "path", "unmatched")
        status = self._status or 499
        method = self._scope["method"] if route is not None else "other"
        self._metrics.request(method, path, status=status, seconds=seconds)
        line = {
            "event": "request",
            "id": self._id,
            "trace_id": self._trace.trace_id,
            "span_id": self._trace.span_id,
            "parent_id": self._trace.parent_id,
            "method": method,
            "path": path,
            "status": status,
            "ms": round(seconds * 1000, 1),
            "key": self._scope["state"].get("key_id"),
        }
        access.info("request", extra={"fields": line})
