"""Wait for a route's end, and give up when the caller leaves or the service stops."""

import asyncio
from collections.abc import Coroutine
from enum import Enum
from typing import Any, TypeVar

from fastapi import Request

Result = TypeVar("Result")


class GivenUp(Enum):
    """Why a wait ended without its result."""

    CALLER_GONE = "caller gone"
    STOPPING = "stopping"


async def wait_for(request: Request, coroutine: Coroutine[Any, Any, Result]) -> Result | GivenUp:
    """Run a wait while somebody is there to hear its result.

    Parameters
    ----------
    request
        Its body was read already.
    coroutine
        Changes nothing: it is cancelled when the caller leaves or the service stops.
    """
    end = asyncio.ensure_future(coroutine)
    gone = asyncio.ensure_future(_departure(request))
    stop = asyncio.ensure_future(request.app.state.stopping.wait())
    try:
        await asyncio.wait((end, gone, stop), return_when=asyncio.FIRST_COMPLETED)
        if end.done():
            return end.result()
        return GivenUp.CALLER_GONE if gone.done() else GivenUp.STOPPING
    finally:
        for future in (end, gone, stop):
            future.cancel()


async def _departure(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
