"""KeyUse: note when keys were used last, seldom enough that reading stays reading."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable

from clawmarshal.errors import LedgerError

EVERY_S = 60.0
MAX_KEYS = 4096
"""The key that was noted longest ago is forgotten first; its next use is noted again."""
Note = Callable[[str, str | None], None]


class KeyUse:
    """Write a key's use down at most once a minute, beside the request that used it.

    Parameters
    ----------
    note
        Writes; blocking. What it cannot write now is written at the next use.
    """

    def __init__(self, note: Note, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._note = note
        self._clock = clock
        self._noted: OrderedDict[str, float] = OrderedDict()
        self._writing: set[asyncio.Task[None]] = set()

    def used(self, key_id: str, address: str | None) -> None:
        """Tell of a use; returns at once."""
        now = self._clock()
        if now - self._noted.get(key_id, float("-inf")) < EVERY_S:
            return
        self._noted[key_id] = now
        self._noted.move_to_end(key_id)
        while len(self._noted) > MAX_KEYS:
            self._noted.popitem(last=False)
        task = asyncio.create_task(self._write(key_id, address), name="key-use")
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def settled(self) -> None:
        """Return once everything that was told is written, or could not be."""
        await asyncio.gather(*self._writing, return_exceptions=True)

    async def _write(self, key_id: str, address: str | None) -> None:
        try:
            await asyncio.to_thread(self._note, key_id, address)
        except LedgerError:
            self._noted.pop(key_id, None)
