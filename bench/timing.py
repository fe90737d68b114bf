"""How long single decisions take; imports nothing, so that a process can be weighed with it."""

import time
from collections.abc import Awaitable, Callable, Sequence


async def milliseconds(
    decide: Callable[[str], Awaitable[object]], texts: Sequence[str]
) -> list[float]:
    """Time each text alone; the first is decided once more before, untimed."""
    await decide(texts[0])
    taken = []
    for text in texts:
        started = time.perf_counter()
        await decide(text)
        taken.append((time.perf_counter() - started) * 1000)
    return taken
