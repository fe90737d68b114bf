"""Readers: the few threads in which the long outputs of children are taken apart."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

READERS = 2
_POOL = ThreadPoolExecutor(READERS, thread_name_prefix="clawmarshal-reader")
"""Few, and no others: each thread that ever read a long output keeps some MiB of what it freed, and
the loop's own pool grows by a thread whenever outputs come together (bench/results/soak.md)."""


async def in_reader(function: Callable[[*Ts], T], *arguments: *Ts) -> T:
    """Call a function in one of the readers; others wait for their turn, the loop does not."""
    return await asyncio.get_running_loop().run_in_executor(_POOL, function, *arguments)
