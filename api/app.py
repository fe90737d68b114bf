"""The HTTP application: endpoints, problems, and what surrounds them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from fastapi import Depends, FastAPI

from clawmarshal._version import __version__
from clawmarshal.api import problems
from clawmarshal.api.endpoints import health, holds, roster, route, routes, systemone, triage
from clawmarshal.api.endpoints import problems as problem_pages
from clawmarshal.api.key_use import KeyUse
from clawmarshal.api.metrics import Figures, Metrics
from clawmarshal.api.middleware import Surround
from clawmarshal.api.ports import Parts
from clawmarshal.api.queries import each_once
from clawmarshal.api.review import parts as review

Running = Callable[[], AbstractAsyncContextManager[None]]


@asynccontextmanager
async def nothing_to_start() -> AsyncIterator[None]:
    """Run nothing beside the application."""
    yield


def create_app(
    parts: Parts, *, running: Running = nothing_to_start, figures: Figures | None = None
) -> FastAPI:
    """Make the application.

    Parameters
    ----------
    parts
        What the endpoints work with.
    running
        Entered when the server starts and left when it stops: the dispatcher, the sweeps.
    figures
        What the ledger counts, for ``/metrics``.

    Returns
    -------
    FastAPI
        ``app.state.stopping`` is an event; set it to answer those who wait.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with running():
            yield
            app.state.stopping.set()
            await app.state.key_use.settled()

    app = FastAPI(
        title="clawmarshal",
        version=__version__,
        summary="The routing desk for fleets of OpenClaw agents.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        dependencies=[Depends(each_once)],
    )
    app.state.parts = parts
    app.state.stopping = asyncio.Event()
    app.state.metrics = Metrics(figures)
    app.state.key_use = KeyUse(parts.records.key_used)
    problems.install(app)
    for part in (
        route,
        routes,
        triage,
        holds,
        roster,
        systemone,
        health,
        problem_pages,
        *review.PARTS,
    ):
        app.include_router(part.endpoints)
    app.add_middleware(Surround, allowed_hosts=parts.allowed_hosts, metrics=app.state.metrics)
    return app
