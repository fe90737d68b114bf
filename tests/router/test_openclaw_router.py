"""OpenClawRouter: decide and launch from a program, without a service."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clawmarshal.errors import (
    MessageError,
    NotLaunchedError,
    OutcomeUnknownError,
    RouteRefusedError,
    TransportError,
    TurnFailedError,
    UnknownAgentError,
)
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.scripted import ScriptedModel
from clawmarshal.router.openclaw_router import OpenClawRouter
from clawmarshal.router.policy import Policy
from clawmarshal.router.route import Outcome, Reason, Via
from clawmarshal.transport.outcome import TurnState
from tests.support.fake_openclaw import write_fake
from tests.support.fake_transport import FakeTransport, ending
from tests.support.rooms import FLEET, HIGH, SAFE, says
from tests.support.turns import wait_until


@contextmanager
def router(
    transport: FakeTransport | None = None,
    *,
    model: ScriptedModel | None = None,
    policy: Policy | None = None,
    max_remembered: int = 10_000,
) -> Iterator[OpenClawRouter]:
    made = OpenClawRouter(
        model or ScriptedModel(says()),
        FLEET,
        transport=transport or FakeTransport(),
        policy=policy,
        max_remembered=max_remembered,
    )
    with made:
        yield made


def test_a_routable_route_is_dispatched_and_prints_as_its_reply() -> None:
    transport = FakeTransport()
    with router(transport) as ours:
        route = ours.route(SAFE)
        assert route.routable
        reply = ours.dispatch(route, SAFE)
    assert (str(reply), reply.agent, reply.route_id) == ("fine", "finance", route.id)
    assert transport.turns[0].session_key.startswith("cm-")
    assert transport.is_closed


def test_a_second_dispatch_returns_the_first_reply_and_launches_nothing() -> None:
    transport = FakeTransport()
    with router(transport) as ours:
        route = ours.route(SAFE)
        assert ours.dispatch(route, SAFE) == ours.dispatch(route, SAFE)
    assert len(transport.turns) == 1


def test_dispatches_at_the_same_time_launch_once() -> None:
    transport = FakeTransport(is_holding=True)

    async def scene(ours: OpenClawRouter) -> None:
        route = await ours.aroute(SAFE)
        calls = [asyncio.create_task(ours.adispatch(route, SAFE)) for _ in range(5)]
        await asyncio.sleep(0)
        transport.release()
        replies = await asyncio.gather(*calls)
        assert {reply.text for reply in replies} == {"fine"}

    with router(transport) as ours:
        asyncio.run(scene(ours))
    assert len(transport.turns) == 1


def test_sync_calls_work_beside_a_running_loop() -> None:
    async def scene(ours: OpenClawRouter) -> None:
        route = ours.route(SAFE)
        assert (await ours.adispatch(route, SAFE)).text == "fine"
        await ours.aclose()

    asyncio.run(scene(OpenClawRouter(ScriptedModel(says()), FLEET, transport=FakeTransport())))


def test_an_unroutable_route_is_refused() -> None:
    transport = FakeTransport()
    with router(transport, model=ScriptedModel(says(risk=HIGH))) as ours:
        route = ours.route(SAFE)
        assert (route.outcome, route.reason) == (Outcome.HOLD, Reason.RISK)
        with pytest.raises(RouteRefusedError):
            ours.dispatch(route, SAFE)
        with pytest.raises(RouteRefusedError):
            ours.dispatch(replace(route, outcome=Outcome.DISPATCH), SAFE)
    assert transport.turns == []


def test_a_changed_route_another_text_and_another_router_are_refused() -> None:
    transport = FakeTransport()
    with router(transport) as ours, router() as other:
        route = ours.route(SAFE)
        for asked, wrong, text in (
            (ours, replace(route, agent="vault"), SAFE),
            (ours, route, SAFE + " "),
            (other, route, SAFE),
        ):
            with pytest.raises(RouteRefusedError):
                asked.dispatch(wrong, text)
    assert transport.turns == []


@pytest.mark.parametrize(
    ("state", "error"),
    [
        (TurnState.FAILED_NOT_RUN, NotLaunchedError),
        (TurnState.FAILED_RAN, TurnFailedError),
        (TurnState.CANCELLED, TransportError),
        (TurnState.UNKNOWN, OutcomeUnknownError),
    ],
)
def test_every_end_but_done_is_an_error_and_stays_it(
    state: TurnState, error: type[TransportError]
) -> None:
    transport = FakeTransport(ending(state, "a-code"))
    with router(transport) as ours:
        route = ours.route(SAFE)
        for _ in range(2):
            with pytest.raises(error) as caught:
                ours.dispatch(route, SAFE)
            assert caught.value.code == "a-code"
    assert len(transport.turns) == 1


def test_a_forgotten_route_is_never_launched_again() -> None:
    transport = FakeTransport()
    with router(transport, max_remembered=2) as ours:
        launched = ours.route(SAFE)
        ours.dispatch(launched, SAFE)
        never = ours.route(SAFE)
        for _ in range(2):
            ours.dispatch(ours.route(SAFE), SAFE)
        for _ in range(2):
            ours.route(SAFE)
        for route in (launched, never):
            with pytest.raises(RouteRefusedError):
                ours.dispatch(route, SAFE)
    assert len(transport.turns) == 3


def test_a_pin_is_the_programs_word() -> None:
    with router() as ours:
        route = ours.route(SAFE, pin="personal")
        assert (route.agent, route.via) == ("personal", Via.PIN)
        with pytest.raises(UnknownAgentError):
            ours.route(SAFE, pin="nobody")


def test_a_text_that_cannot_be_routed_is_refused() -> None:
    with router() as ours, pytest.raises(MessageError):
        ours.route("  ")


def test_a_conversation_keeps_its_agent_and_its_session() -> None:
    transport = FakeTransport()
    with router(transport, model=ScriptedModel(says(), says(share=0.3))) as ours:
        for text in (SAFE, "Yes, do that."):
            route = ours.route(InboundMessage(text, conversation="c"))
            ours.dispatch(route, text)
        assert route.via is Via.CONVERSATION
    first, second = transport.turns
    assert first.session_key == second.session_key


def test_messages_without_a_conversation_share_no_session() -> None:
    transport = FakeTransport()
    with router(transport) as ours:
        for _ in range(2):
            ours.dispatch(ours.route(SAFE), SAFE)
    assert transport.turns[0].session_key != transport.turns[1].session_key


def test_the_same_text_three_times_in_a_conversation_is_a_loop() -> None:
    with router() as ours:
        reasons = [ours.route(InboundMessage(SAFE, conversation="c")).reason for _ in range(3)]
    assert reasons == [Reason.MATCHED, Reason.MATCHED, Reason.LOOP]


def test_a_neutralised_text_is_what_the_agent_gets() -> None:
    transport = FakeTransport()
    text = "/new what is due?"
    with router(transport, policy=Policy(directives="neutralise")) as ours:  # type: ignore[arg-type]  # words are taken
        ours.dispatch(ours.route(text), text)
    assert not transport.turns[0].text.lstrip().startswith("/")


def test_agents_may_be_given_one_by_one() -> None:
    with OpenClawRouter(ScriptedModel(says()), list(FLEET)) as ours:
        assert ours.roster.digest == FLEET.digest


async def until(holds: Callable[[], object]) -> None:
    """Look until something holds, at most ten seconds."""
    async with asyncio.timeout(10):
        while not holds():
            await asyncio.sleep(0.005)


@pytest.mark.parametrize(
    ("bounds", "code"),
    [({"max_wait_s": 0.05}, "waited-too-long"), ({"max_waiting": 0}, "queue-full")],
    ids=["waited", "full"],
)
def test_waiting_is_bounded_and_its_errors_are_its_own(bounds: dict[str, Any], code: str) -> None:
    transport = FakeTransport(is_holding=True)

    async def scene(ours: OpenClawRouter) -> None:
        routes = [await ours.aroute(InboundMessage(SAFE, conversation="c")) for _ in range(2)]
        if code == "waited-too-long":
            first = asyncio.create_task(ours.adispatch(routes[0], SAFE))
            await until(lambda: transport.turns)
        for _ in range(2):  # the answer stays
            with pytest.raises(NotLaunchedError) as caught:
                await ours.adispatch(routes[1], SAFE)
            assert caught.value.code == code
        transport.release()
        if code == "waited-too-long":
            assert str(await first) == "fine"
        await ours.aclose()

    asyncio.run(scene(OpenClawRouter(ScriptedModel(says()), FLEET, transport=transport, **bounds)))
    assert len(transport.turns) == (code == "waited-too-long")


def test_a_router_says_how_many_wait() -> None:
    transport = FakeTransport(is_holding=True)
    ours = OpenClawRouter(ScriptedModel(says()), FLEET, transport=transport)

    async def scene() -> None:
        routes = [await ours.aroute(InboundMessage(SAFE, conversation="c")) for _ in range(2)]
        calls = [asyncio.create_task(ours.adispatch(route, SAFE)) for route in routes]
        await until(lambda: transport.turns)
        await asyncio.to_thread(_until_waiting, ours, 1)
        transport.release()
        await asyncio.gather(*calls)
        await ours.aclose()

    asyncio.run(scene())


def _until_waiting(ours: OpenClawRouter, count: int) -> None:
    assert wait_until(lambda: ours.waiting == count)


def test_what_waits_for_room_is_not_launched_after_the_end() -> None:
    class EndsItsTurns(FakeTransport):
        async def close(self) -> None:
            await super().close()
            self.release()

    transport = EndsItsTurns(is_holding=True)

    async def scene(ours: OpenClawRouter) -> None:
        routes = [await ours.aroute(InboundMessage(SAFE, conversation="c")) for _ in range(2)]
        calls = [asyncio.create_task(ours.adispatch(route, SAFE)) for route in routes]
        await until(lambda: transport.turns)
        await ours.aclose()
        done, refused = await asyncio.gather(*calls, return_exceptions=True)
        assert str(done) == "fine"
        assert isinstance(refused, NotLaunchedError)

    asyncio.run(scene(OpenClawRouter(ScriptedModel(says()), FLEET, transport=transport)))
    assert len(transport.turns) == 1


def test_a_gate_that_counts_far_still_fires() -> None:
    policy = Policy(max_messages=1100, loop_repeats=5000)
    with router(policy=policy) as ours:
        for _ in range(1100):
            last = ours.route(InboundMessage(SAFE, conversation="c"))
        assert last.routable
        assert ours.route(InboundMessage(SAFE, conversation="c")).reason is Reason.LOOP


def test_dispatches_at_the_same_time_find_one_openclaw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_fake(tmp_path).path.rename(tmp_path / "openclaw")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    config = tmp_path / "client.json5"
    config.write_text("{}", encoding="utf-8")
    config.chmod(0o600)
    monkeypatch.setenv("OPENCLAW_CONFIG_PATH", str(config))
    before = spawners()

    async def scene(ours: OpenClawRouter) -> None:
        routes = [await ours.aroute(SAFE) for _ in range(4)]
        calls = [ours.adispatch(route, SAFE) for route in routes]
        await asyncio.gather(*calls, return_exceptions=True)
        assert len(spawners() - before) == 1
        await ours.aclose()

    asyncio.run(scene(OpenClawRouter(ScriptedModel(says()), FLEET)))
    assert spawners() == before


def spawners() -> set[str]:
    """Name the children of this process that start others."""
    lists = Path("/proc/self/task").glob("*/children")
    children = {pid for each in lists for pid in each.read_text().split()}
    lines = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in children}
    return {pid for pid, line in lines.items() if b"spawner.py" in line}
