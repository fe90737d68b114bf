"""Lanes let turns through in order, as many as there is room for."""

import asyncio

import pytest

from clawmarshal.errors import NotLaunchedError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.router.lanes import Lanes

ONE = AgentSpec("one", "Does one thing.")
TWO = AgentSpec("two", "Does two things.", concurrency=2)


class Floor:
    """Who is inside, and a door that opens when told."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self.inside: list[str] = []
        self.doors: dict[str, asyncio.Event] = {}

    def enter(self, name: str, agent: AgentSpec, session: str) -> "asyncio.Task[None]":
        self.doors[name] = asyncio.Event()
        return asyncio.create_task(self._turn(name, agent, session))

    async def _turn(self, name: str, agent: AgentSpec, session: str) -> None:
        async with self.lanes.turn(agent, session):
            self.inside.append(name)
            await self.doors[name].wait()
            self.inside.remove(name)


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_one_session_runs_one_turn_at_a_time_in_order() -> None:
    async def scene() -> None:
        floor = Floor(Lanes(max_children=4))
        turns = [floor.enter(name, TWO, "s") for name in "abc"]
        await settle()
        assert floor.inside == ["a"]
        floor.doors["a"].set()
        await settle()
        assert floor.inside == ["b"]
        floor.doors["b"].set()
        floor.doors["c"].set()
        await asyncio.gather(*turns)

    asyncio.run(scene())


def test_an_agent_runs_as_many_turns_as_it_may() -> None:
    async def scene() -> None:
        floor = Floor(Lanes(max_children=9))
        turns = [floor.enter(f"one{i}", ONE, f"s{i}") for i in range(2)]
        turns += [floor.enter(f"two{i}", TWO, f"t{i}") for i in range(3)]
        await settle()
        assert floor.inside == ["one0", "two0", "two1"]
        for door in floor.doors.values():
            door.set()
        await asyncio.gather(*turns)

    asyncio.run(scene())


def test_a_turn_that_waits_for_its_session_takes_no_room_from_others() -> None:
    async def scene() -> None:
        floor = Floor(Lanes(max_children=2))
        turns = [floor.enter("a", TWO, "same"), floor.enter("b", TWO, "same")]
        turns.append(floor.enter("c", ONE, "other"))
        await settle()
        assert floor.inside == ["a", "c"]
        for door in floor.doors.values():
            door.set()
        await asyncio.gather(*turns)

    asyncio.run(scene())


def test_all_turns_together_are_bounded() -> None:
    async def scene() -> None:
        floor = Floor(Lanes(max_children=1))
        turns = [floor.enter("a", ONE, "s"), floor.enter("b", TWO, "t")]
        await settle()
        assert floor.inside == ["a"]
        for door in floor.doors.values():
            door.set()
        await asyncio.gather(*turns)

    asyncio.run(scene())


def test_lanes_nobody_uses_are_forgotten() -> None:
    async def scene() -> None:
        lanes = Lanes()
        for i in range(100):
            async with lanes.turn(ONE, f"s{i}"):
                pass
        assert not lanes._lanes
        assert not lanes._users

    asyncio.run(scene())


def test_a_turn_that_gives_up_waiting_frees_its_place() -> None:
    async def scene() -> None:
        floor = Floor(Lanes(max_children=1))
        first = floor.enter("a", ONE, "s")
        await settle()
        second = floor.enter("b", ONE, "s")
        await settle()
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        floor.doors["a"].set()
        await first
        third = floor.enter("c", ONE, "s")
        await settle()
        assert floor.inside == ["c"]
        floor.doors["c"].set()
        await third

    asyncio.run(scene())


def test_a_turn_that_waited_too_long_is_refused_and_frees_its_place() -> None:
    async def scene() -> None:
        floor = Floor(Lanes(max_children=1, max_wait_s=0.02))
        first = floor.enter("a", ONE, "s")
        await settle()
        with pytest.raises(NotLaunchedError) as caught:
            await floor.enter("b", ONE, "s")
        assert caught.value.code == "waited-too-long"
        assert floor.lanes.waiting == 0
        floor.doors["a"].set()
        await first
        assert not floor.lanes._lanes

    asyncio.run(scene())


def test_one_more_than_may_wait_is_refused_at_once() -> None:
    async def scene() -> None:
        floor = Floor(Lanes(max_children=1, max_wait_s=5, max_waiting=1))
        turns = [floor.enter("a", ONE, "s")]
        await settle()
        turns.append(floor.enter("b", ONE, "t"))
        await settle()
        assert floor.lanes.waiting == 1
        with pytest.raises(NotLaunchedError) as caught:
            await floor.enter("c", ONE, "u")
        assert caught.value.code == "queue-full"
        for door in floor.doors.values():
            door.set()
        await asyncio.gather(*turns)
        assert floor.lanes.waiting == 0

    asyncio.run(scene())


def test_an_agent_never_takes_more_than_its_share() -> None:
    async def scene() -> None:
        floor = Floor(Lanes(max_children=2, per_agent=1))
        turns = [floor.enter(f"two{i}", TWO, f"t{i}") for i in range(2)]
        turns.append(floor.enter("one", ONE, "s"))
        await settle()
        assert floor.inside == ["two0", "one"]
        for door in floor.doors.values():
            door.set()
        await asyncio.gather(*turns)

    asyncio.run(scene())
