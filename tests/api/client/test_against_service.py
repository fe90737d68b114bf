"""The client against the real service on loopback: a message, a hold, an approval, streams."""

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from clawmarshal.api.client import (
    AsyncClient,
    Client,
    ConflictProblem,
    KeyRefusedProblem,
    NotFoundProblem,
)
from clawmarshal.api.opening import opened_ledger
from tests.support.service import RISKY, SAFE, configure, serving, settings_of

SCOPES = {"route": ["route"], "other": ["route"], "review": ["review"]}


class Running:
    """A service and its keys."""

    def __init__(self, address: str, keys: dict[str, str], config: Path) -> None:
        self.address = address
        self.keys = keys
        self.config = config

    def client(self, name: str) -> Client:
        return Client(self.address, self.keys[name])


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    config = configure(tmp_path_factory.mktemp("service"))
    with opened_ledger(settings_of(config)) as ledger:
        keys = {name: ledger.create_key(name, name, scopes) for name, scopes in SCOPES.items()}
    with serving("--config", str(config)) as process:
        yield Running(process.address(), keys, config)


def test_a_message_is_sent_waited_for_and_listed(running: Running) -> None:
    with running.client("route") as client:
        route = client.send(SAFE, wait_s=30, channel="one", conversation="c-1")
        assert route.id is not None
        assert (route.state, route.ran) == ("done", True)
        assert (route.reply or "").startswith("[stand-in]")
        again = client.route(route.id)
        assert again.message is not None and again.message.text == SAFE
        assert [one.id for one in client.every_route(channel="one")] == [route.id]
        assert {agent.id for agent in client.agents()} == {"finance", "security"}
        kinds = [event.kind for event in client.events(route.id)]
        assert kinds == [event.kind for event in client.follow(route.id)]
        assert kinds[0] == "received" and kinds[-1] == "done"
        last = client.events(route.id)[-1].number
        assert list(client.follow(route.id, after=last)) == []


def test_a_repeat_by_its_key_is_the_same_route(running: Running) -> None:
    with running.client("route") as client:
        routes = [client.send(SAFE, wait_s=30, idempotency_key="k-1") for _ in range(2)]
    assert routes[0].id == routes[1].id
    assert routes[0].raw == routes[1].raw


def test_a_hold_is_answered_once_and_exactly_as_it_was_shown(running: Running) -> None:
    with running.client("route") as caller, running.client("review") as reviewer:
        held = caller.send(RISKY, wait_s=30)
        assert held.is_held and held.hold_id is not None and held.id is not None
        hold = reviewer.hold(held.hold_id)
        assert hold.etag is not None and hold.gates
        assert reviewer.reject(hold, reason="a test").decision == "reject"
        # The retry of an answer that stands, and an answer to what no longer stands.
        assert reviewer.reject(hold, reason="a test").decision == "reject"
        with pytest.raises(ConflictProblem) as caught:
            reviewer.approve(hold)
        assert caught.value.code == "hold-changed"
        with pytest.raises(ConflictProblem) as caught:
            reviewer.approve(hold.id)
        assert caught.value.code == "hold-decided"
        assert caught.value.winner is not None and caught.value.winner["person"] == "review"


def test_what_another_person_sent_is_not_there(running: Running) -> None:
    with running.client("route") as owner, running.client("other") as other:
        route = owner.send(SAFE, wait_s=30)
        assert route.id is not None
        with pytest.raises(NotFoundProblem):
            other.route(route.id)
        with pytest.raises(NotFoundProblem):
            list(other.follow(route.id))
        with pytest.raises(KeyRefusedProblem):
            other.approve("hd_" + "0" * 32)


def test_the_stream_of_holds_misses_nothing_between_two_connections(running: Running) -> None:
    with running.client("route") as caller, running.client("review") as reviewer:
        with contextlib.closing(reviewer.follow_holds()) as events:
            ready = next(events)
            assert ready.kind == "ready"
            first = caller.send(RISKY + " 1", wait_s=30)
            seen = next(events)
        assert (seen.kind, seen.hold_id, seen.route_id) == ("held", first.hold_id, first.id)
        second = caller.send(RISKY + " 2", wait_s=30)
        assert first.hold_id is not None and second.hold_id is not None
        reviewer.reject(first.hold_id, reason="a test")
        with contextlib.closing(reviewer.follow_holds(after=seen.number)) as events:
            rest = [next(events) for _ in range(2)]
        assert [(event.kind, event.hold_id) for event in rest] == [
            ("held", second.hold_id),
            ("rejected", first.hold_id),
        ]


def test_the_async_client_does_the_same(running: Running) -> None:
    async def talk() -> None:
        async with AsyncClient(running.address, running.keys["route"]) as client:
            route = await client.send(SAFE, wait_s=30)
            assert route.id is not None and route.state == "done"
            assert (await client.wait(route.id, timeout_s=5)).is_resting
            kinds = [event.kind async for event in client.follow(route.id)]
            assert kinds[-1] == "done"

    asyncio.run(talk())


def test_a_revoked_key_ends_its_streams_and_waits_at_once(running: Running) -> None:
    with opened_ledger(settings_of(running.config)) as ledger:
        key = ledger.create_key("lost", "lost", ["review"])
        (key_id,) = [one.id for one in ledger.list_keys() if one.name == "lost"]
        with Client(running.address, key) as client, running.client("route") as caller:
            events = client.follow_holds()
            assert next(events).kind == "ready"
            ledger.revoke_key(key_id)
            caller.send(RISKY + " after", wait_s=30)
            with pytest.raises(KeyRefusedProblem):
                next(events)
