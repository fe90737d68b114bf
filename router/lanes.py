"""Lanes: how many turns run at once in one process: in all, per agent, and one per session."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from clawmarshal.errors import NotLaunchedError
from clawmarshal.roster.agent import AgentSpec


class Lanes:
    """Let turns through in the order they came, as many as there is room for.

    Parameters
    ----------
    max_children
        Turns at once over all agents, from 1.
    per_agent
        Turns at once of any one agent, whatever it may have itself; `max_children` where None.
    max_wait_s
        Seconds a turn waits for room.
    max_waiting
        Turns that may wait at once.
    """

    def __init__(
        self,
        max_children: int = 2,
        *,
        per_agent: int | None = None,
        max_wait_s: float = 600.0,
        max_waiting: int = 1000,
    ) -> None:
        self._all = asyncio.Semaphore(max_children)
        self._per_agent = max_children if per_agent is None else per_agent
        self._max_wait_s = max_wait_s
        self._max_waiting = max_waiting
        self._lanes: dict[tuple[str, str], asyncio.Semaphore] = {}
        self._users: dict[tuple[str, str], int] = {}
        self.waiting = 0
        """Turns that wait for room now."""

    @asynccontextmanager
    async def turn(self, agent: AgentSpec, session_key: str) -> AsyncIterator[None]:
        """Wait for room, and hold it until the end of the block.

        The narrow lanes are entered first, so that a turn that waits for its session takes no
        room from the others.

        Raises
        ------
        NotLaunchedError
            ``waited-too-long``, or ``queue-full``: it does not even wait.
        """
        async with AsyncExitStack() as stack:
            await self._enter(stack, agent, session_key)
            yield

    async def _enter(self, stack: AsyncExitStack, agent: AgentSpec, session_key: str) -> None:
        if self.waiting >= self._max_waiting:
            raise NotLaunchedError(f"{self.waiting} turns wait for room", code="queue-full")
        self.waiting += 1
        try:
            async with asyncio.timeout(self._max_wait_s):
                session = self._lane("session", session_key, room=1)
                await stack.enter_async_context(session)
                room = min(agent.concurrency, self._per_agent)
                await stack.enter_async_context(self._lane("agent", agent.id, room=room))
                await stack.enter_async_context(self._all)
        except TimeoutError as error:
            raise NotLaunchedError(
                f"no room within {self._max_wait_s:g} s; {self.waiting - 1} others wait",
                code="waited-too-long",
            ) from error
        finally:
            self.waiting -= 1

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
