"""Serve an ASGI application in the same process, lifespan included, to a client that waits."""

import asyncio
import contextlib
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

import httpx
from fastapi import FastAPI

T = TypeVar("T")
BASE_URL = "http://127.0.0.1"


class AppClient:
    """Send requests to an application whose event loop runs in a thread of its own."""

    def __init__(self, app: FastAPI) -> None:
        self.app = app
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._http: httpx.AsyncClient | None = None
        self._stack = contextlib.AsyncExitStack()

    def __enter__(self) -> "AppClient":
        self._thread.start()
        self.run(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self._stack.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the application's loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(60)

    def start(self, coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
        """Begin a coroutine on the application's loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def request(
        self, method: str, path: str, *, key: str | None = None, **more: Any
    ) -> httpx.Response:
        """Send one request, with a bearer key unless it is None."""
        headers = dict(more.pop("headers", None) or {})
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        return self.run(self.http.request(method, path, headers=headers, **more))

    @property
    def http(self) -> httpx.AsyncClient:
        """The client below; its coroutines go through `run`."""
        assert self._http is not None
        return self._http

    async def _start(self) -> None:
        await self._stack.enter_async_context(self.app.router.lifespan_context(self.app))
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        self._http = await self._stack.enter_async_context(
            httpx.AsyncClient(transport=transport, base_url=BASE_URL, timeout=30)
        )


@contextlib.contextmanager
def served(app: FastAPI) -> Iterator[AppClient]:
    """Start an application and stop it at the end."""
    with AppClient(app) as client:
        yield client
