"""Who closes the connections to a System One server: nothing stays open, whoever used it."""

import asyncio
import contextlib
import gc
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmarshal.router.ballot import fleet_ballot
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.closing import close_connections, close_model, closing
from clawmarshal.router.models.system_one import SystemOneModel
from clawmarshal.router.openclaw_router import OpenClawRouter
from clawmarshal.router.route import Route
from tests.support.deciding import FLEET
from tests.support.fake_transport import FakeTransport
from tests.support.loopback_server import LoopbackServer
from tests.support.system_one_server import MODEL
from tests.support.turns import wait_until

TEXT = "When is the tax due?"


def made(
    server: LoopbackServer, ledger: str | None = None, *, deadline_s: float = 4.0
) -> OpenClawRouter:
    return OpenClawRouter(
        SystemOneModel(server.url, MODEL),
        FLEET,
        transport=FakeTransport(),
        ledger=ledger,
        deadline_s=deadline_s,
    )


def in_a_block(router: OpenClawRouter) -> Route:
    with router:
        return router.route(TEXT)


def by_close(router: OpenClawRouter) -> Route:
    route = router.route(TEXT)
    router.close()
    return route


def by_aclose(router: OpenClawRouter) -> Route:
    async def scene() -> Route:
        route = await router.aroute(TEXT)
        await router.aclose()
        return route

    return asyncio.run(scene())


def in_an_async_block(router: OpenClawRouter) -> Route:
    async def scene() -> Route:
        async with router:
            return await router.aroute(TEXT)

    return asyncio.run(scene())


def by_a_transport_that_fails_to_close(router: OpenClawRouter) -> Route:
    class Failing(FakeTransport):
        async def close(self) -> None:
            raise RuntimeError("no")

    router._transport = Failing()
    route = router.route(TEXT)
    with pytest.raises(RuntimeError, match="no"):
        router.close()
    return route


WAYS = [
    in_a_block,
    by_close,
    by_aclose,
    in_an_async_block,
    by_a_transport_that_fails_to_close,
]


@pytest.mark.parametrize("has_ledger", [False, True], ids=["in memory", "ledger"])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_router_leaves_no_connection_open(
    tmp_path: Path, way: Callable[[OpenClawRouter], Route], has_ledger: bool
) -> None:
    ledger = f"sqlite:///{tmp_path}/desk.db" if has_ledger else None
    with LoopbackServer() as server:
        route = way(made(server, ledger))
        assert (route.agent, route.model) == ("finance", MODEL)
        assert wait_until(lambda: server.open == 0)
        assert len(server.requests) == 1
    gc.collect()


def test_a_decision_that_is_under_way_at_the_close_leaves_nothing_open() -> None:
    async def scene(server: LoopbackServer) -> None:
        router = made(server, deadline_s=0.3)
        asked = asyncio.create_task(router.aroute(TEXT))
        while not server.requests:
            await asyncio.sleep(0.01)
        await router.aclose()
        await asyncio.gather(asked, return_exceptions=True)
        assert wait_until(lambda: server.open == 0)

    with LoopbackServer(lambda _: None) as server:
        asyncio.run(scene(server))
    gc.collect()


def test_a_model_that_two_routers_share_serves_the_one_that_is_left() -> None:
    with LoopbackServer() as server:
        model = SystemOneModel(server.url, MODEL)
        first = OpenClawRouter(model, FLEET, transport=FakeTransport())
        with OpenClawRouter(model, FLEET, transport=FakeTransport()) as second:
            first.route(TEXT)
            second.route(TEXT)
            first.close()
            assert wait_until(lambda: server.open == 1)
            assert second.route(TEXT).agent == "finance"
        assert wait_until(lambda: server.open == 0)
        assert first.route(TEXT).agent == "finance"
        first.close()
        assert wait_until(lambda: server.open == 0)


def test_a_model_of_ones_own_is_closed_on_every_way_out() -> None:
    message = InboundMessage(TEXT)

    async def scene(server: LoopbackServer) -> None:
        for error in (None, RuntimeError("on the way")):
            model = SystemOneModel(server.url, MODEL)
            with pytest.raises(RuntimeError) if error else contextlib.nullcontext():
                async with closing(model):
                    await model.answer(fleet_ballot(FLEET, message), message, deadline_s=5)
                    if error:
                        raise error
            assert wait_until(lambda: server.open == 0)

    with LoopbackServer() as server:
        asyncio.run(scene(server))
        assert len(server.requests) == 2


class Troublesome:
    """A model whose ends fail, each in its own way."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    async def aclose(self) -> None:
        """Fail."""
        self.calls.append("aclose")
        raise OSError("secret words")

    def close(self) -> None:
        """Fail."""
        self.calls.append("close")
        raise ValueError("secret words")


def test_a_model_that_fails_to_close_stops_nobody(caplog: pytest.LogCaptureFixture) -> None:
    model = Troublesome()
    asyncio.run(close_model(model))
    assert model.calls == ["aclose", "close"]
    assert [one.message for one in caplog.records] == [
        "a model cannot be closed: OSError",
        "a model cannot be closed: ValueError",
    ]
    assert "secret" not in caplog.text
    asyncio.run(close_connections(model))
    assert model.calls[2:] == ["aclose"]
    asyncio.run(close_model(object()))
