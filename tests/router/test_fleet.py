"""FleetWatch keeps the last word of its source, and knows when it knows nothing."""

import asyncio
from collections.abc import Iterator

import pytest

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
