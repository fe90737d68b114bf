"""Waiters are told of what they listen to, and of nothing else."""

import asyncio

from clawmarshal.router.waiters import Waiters


def test_everybody_who_listens_is_told() -> None:
    async def scene() -> None:
        waiters = Waiters()
        with waiters.listen("a") as first, waiters.listen("a") as second:
            waiters.tell("a")
            await asyncio.gather(first.wait(), second.wait())

    asyncio.run(scene())


def test_news_of_another_name_wakes_nobody() -> None:
    async def scene() -> None:
        waiters = Waiters()
        with waiters.listen("a") as news:
            waiters.tell("b")
            await news.wait_at_most(0.001)
            assert not news.is_set()

    asyncio.run(scene())


def test_who_left_is_forgotten() -> None:
    waiters = Waiters()
    with waiters.listen("a"):
        with waiters.listen("a"):
            pass
        assert len(waiters._listening["a"]) == 1
    assert not waiters._listening
    waiters.tell("a")
