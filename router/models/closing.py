"""Closing a model: what it holds open is let go of, on the event loop that used it."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

LOG = logging.getLogger("clawmarshal")
CLOSE_S = 5.0
"""How long a model of another hand may take to close; then it is left."""
M = TypeVar("M")


async def close_connections(model: object) -> None:
    """Close what a model opened on the running event loop; elsewhere it stays usable.

    Its ``aclose()`` is called where it has one. A model that fails to close is noted, since
    whoever closes it has more to close.
    """
    close = getattr(model, "aclose", None)
    if not callable(close):
        return
    try:
        async with asyncio.timeout(CLOSE_S):
            await close()
    except Exception as error:  # a custom model is foreign code
        LOG.warning("a model cannot be closed: %s", type(error).__name__)


async def close_model(model: object) -> None:
    """Close a model of one's own: its connections, then its threads (``close()``)."""
    await close_connections(model)
    close = getattr(model, "close", None)
    if callable(close):
        try:
            close()
        except Exception as error:  # as above
            LOG.warning("a model cannot be closed: %s", type(error).__name__)


@asynccontextmanager
async def closing(model: M) -> AsyncIterator[M]:
    """Use a model of one's own for the length of a block."""
    try:
        yield model
    finally:
        await close_model(model)
