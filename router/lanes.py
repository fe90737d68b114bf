"""Lanes: how many turns run at once in one process: in all, per agent, and one per session."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from clawmarshal.roster.agent import AgentSpec


class Lanes:
    """Let turns through in the order they came, as many as there is room for.

    Parameters
    ----------
    max_children
        Turns at once over all agents, from 1.
    """

    def __init__(self, max_children: int = 2) -> None:
        self._all = asyncio.Semaphore(max_children)
        self._lanes: dict[tuple[str, str], asyncio.Semaphore] = {}
        self._users: dict[tuple[str, str], int] = {}

    @asynccontextmanager
    async def turn(self, agent: AgentSpec, session_key: str) -> AsyncIterator[None]:
        """Wait for room, and hold it until the end of the block.

        The narrow lanes are entered first, so that a turn that waits for its session takes no
        room from the others.
        """
        async with AsyncExitStack() as stack:
            session = self._lane("session", session_key, room=1)
            await stack.enter_async_context(session)
            await stack.enter_async_context(self._lane("agent", agent.id, room=agent.concurrency))
            await stack.enter_async_context(self._all)
            yield

    @asynccontextmanager
    async def _lane(self, kind: str, name: str, *, room: int) -> AsyncIterator[None]:
        key = (kind, name)
        lane = self._lanes.setdefault(key, asyncio.Semaphore(room))
        self._users[key] = self._users.get(key, 0) + 1
        try:
            async with lane:
                yield
        finally:
            self._users[key] -= 1
            if not self._users[key]:
                del self._lanes[key], self._users[key]
