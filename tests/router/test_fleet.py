"""FleetWatch keeps the last word of its source, and knows when it knows nothing."""

import asyncio
from collections.abc import Iterator

import pytest

from clawmarshal.roster.openclaw import LiveAgent, LiveFleet
from clawmarshal.router.fleet import FleetSource, FleetWatch


class Source:
    """Says one thing after another."""

    def __init__(self, *words: "frozenset[str] | Exception | None") -> None:
        self.words: Iterator[frozenset[str] | Exception | None] = iter(words)
        self.asked = asyncio.Event()

    async def fleet(self) -> frozenset[str] | None:
        self.asked.set()
        word = next(self.words)
        if isinstance(word, Exception):
            raise word
        return word


def test_a_source_is_what_has_a_fleet() -> None:
    assert isinstance(Source(), FleetSource)
    assert not isinstance(object(), FleetSource)


def test_the_last_word_stands() -> None:
    async def scene() -> None:
        watch = FleetWatch(Source(frozenset({"a"}), None))
        assert watch.agents is None
        assert await watch.refresh() == frozenset({"a"})
        assert watch.agents == frozenset({"a"})
        assert await watch.refresh() is None
        assert watch.agents is None

    asyncio.run(scene())


def test_a_source_that_fails_means_unknown(caplog: pytest.LogCaptureFixture) -> None:
    async def scene() -> None:
        watch = FleetWatch(Source(frozenset({"a"}), RuntimeError("secret words")))
        await watch.refresh()
        assert await watch.refresh() is None

    asyncio.run(scene())
    assert "fleet unknown: RuntimeError" in caplog.text
    assert "secret words" not in caplog.text


def test_no_source_is_never_known() -> None:
    assert asyncio.run(FleetWatch(None).refresh()) is None


def test_it_asks_in_the_background_until_it_is_closed() -> None:
    async def scene() -> None:
        source = Source(frozenset({"a"}), frozenset({"b"}))
        watch = FleetWatch(source, every_s=0.001)
        watch.start()
        await source.asked.wait()
        source.asked.clear()
        await source.asked.wait()
        await watch.close()
        assert watch.agents == frozenset({"b"})
        await watch.close()

    asyncio.run(scene())


class LiveSource:
    """Says one description after another; asked for ids alone, it fails."""

    def __init__(self, *words: LiveFleet | None) -> None:
        self.words = iter(words)

    async def live_fleet(self) -> LiveFleet | None:
        return next(self.words)

    async def fleet(self) -> frozenset[str] | None:
        raise AssertionError("both were asked")


def described(*agents: LiveAgent) -> LiveFleet:
    return LiveFleet(frozenset(agent.id for agent in agents), agents)


def test_what_agents_are_like_is_kept_as_long_as_it_is_known() -> None:
    first = described(LiveAgent("a", unasked=("exec",)), LiveAgent("b"))

    async def scene() -> None:
        watch = FleetWatch(LiveSource(first, None))
        assert (watch.age_s, watch.live) == (None, None)
        assert await watch.refresh() == frozenset({"a", "b"})
        assert (watch.live, watch.unasked) == (first, frozenset({"a"}))
        assert watch.age_s is not None
        assert await watch.refresh() is None
        assert (watch.live, watch.age_s is None) == (None, False)

    asyncio.run(scene())


@pytest.mark.parametrize(
    "later", [None, LiveFleet(frozenset({"a"}), None)], ids=["unknown", "ids-alone"]
)
def test_not_knowing_what_agents_may_do_is_no_permission(later: LiveFleet | None) -> None:
    async def scene() -> None:
        acts = described(LiveAgent("a", unasked=("exec",)))
        watch = FleetWatch(LiveSource(acts, later, described(LiveAgent("a"))))
        await watch.refresh()
        await watch.refresh()
        assert watch.unasked == frozenset({"a"})
        await watch.refresh()
        assert watch.unasked == frozenset()

    asyncio.run(scene())


def test_that_it_became_unknown_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    async def scene() -> None:
        watch = FleetWatch(LiveSource(described(LiveAgent("a")), None, None))
        for _ in range(3):
            await watch.refresh()

    asyncio.run(scene())
    assert caplog.text.count("fleet unknown") == 1
