"""Calls that block, made in the threads of a pool."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(
    pool: Executor, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
) -> T:
    """Run a blocking call in one of the pool's threads, and return or raise what it does.

    A cancelled await leaves the call to end by itself: a transaction is never cut off.
    """
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(pool, partial(function, *args, **kwargs))
