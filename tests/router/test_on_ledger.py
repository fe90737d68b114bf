"""OpenClawRouter with a ledger: durable, holds in the queue, launched once over restarts."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from clawmarshal.errors import (
    LedgerUnavailableError,
    NotLaunchedError,
    OutcomeUnknownError,
    RouteRefusedError,
    TurnFailedError,
)
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.states import RouteState
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.scripted import ScriptedModel
from clawmarshal.router.openclaw_router import OpenClawRouter
from clawmarshal.transport.outcome import TurnState
from tests.support.fake_transport import FakeTransport, ending
from tests.support.rooms import FLEET, HIGH, REVIEWER, SAFE, says
from tests.support.turns import wait_until


@contextmanager
def router(
    folder: Path, transport: FakeTransport | None = None, *, model: ScriptedModel | None = None
) -> Iterator[OpenClawRouter]:
    made = OpenClawRouter(
        model or ScriptedModel(says()),
        FLEET,
        transport=transport or FakeTransport(),
        ledger=f"sqlite:///{folder}/desk.db",
    )
    with made:
        yield made


@contextmanager
def ledger(folder: Path) -> Iterator[Ledger]:
    """Look into the ledger from outside, as a reviewer's command does."""
    opened = Ledger(f"sqlite:///{folder}/desk.db")
    try:
        yield opened
    finally:
        opened.close()


def test_a_decided_route_waits_for_its_callers_word(tmp_path: Path) -> None:
    transport = FakeTransport()
    with router(tmp_path, transport) as ours, ledger(tmp_path) as book:
        route = ours.route(SAFE)
        assert route.routable
        assert book.route(route.id).state is RouteState.DECIDED
        assert transport.turns == []
        reply = ours.dispatch(route, SAFE)
        assert (str(reply), reply.agent, reply.raw_text) == ("fine", "finance", "fine")
        assert reply.run_id is not None
        assert book.route(route.id).state is RouteState.DONE


def test_a_second_dispatch_launches_nothing_even_after_a_restart(tmp_path: Path) -> None:
    first, second = FakeTransport(), FakeTransport()
    with router(tmp_path, first) as ours:
        route = ours.route(SAFE)
        reply = ours.dispatch(route, SAFE)
        assert ours.dispatch(route, SAFE) == reply
    with router(tmp_path, second) as ours:
        assert ours.dispatch(route, SAFE) == reply
    assert (len(first.turns), len(second.turns)) == (1, 0)


def test_what_was_decided_before_a_restart_can_be_dispatched_after_it(tmp_path: Path) -> None:
    with router(tmp_path) as ours:
        route = ours.route(SAFE)
    transport = FakeTransport()
    with router(tmp_path, transport) as ours:
        assert ours.dispatch(route, SAFE).text == "fine"
    assert len(transport.turns) == 1


def test_a_hold_enters_the_queue_and_runs_once_it_is_approved(tmp_path: Path) -> None:
    transport = FakeTransport()
    with router(tmp_path, transport, model=ScriptedModel(says(risk=HIGH))) as ours:
        route = ours.route(SAFE)
        with ledger(tmp_path) as book:
            (hold,), _ = book.holds()
            with pytest.raises(RouteRefusedError):
                ours.dispatch(route, SAFE)
            desk = ours._flow
            assert desk is not None
            flow = desk.result()
            approve = flow._desk.approve(hold.id, REVIEWER)  # type: ignore[attr-defined]  # a LedgerFlow
            ours._loop.start(approve).result()
            assert ours.dispatch(route, SAFE).text == "fine"
    assert len(transport.turns) == 1


def test_a_rejected_hold_is_refused(tmp_path: Path) -> None:
    with router(tmp_path, model=ScriptedModel(says(risk=HIGH))) as ours, ledger(tmp_path) as book:
        route = ours.route(SAFE)
        (hold,), _ = book.holds()
        book.reject(hold.id, REVIEWER, reason="no")
        with pytest.raises(RouteRefusedError, match="rejected"):
            ours.dispatch(route, SAFE)


def test_a_changed_route_another_text_and_an_unknown_route_are_refused(tmp_path: Path) -> None:
    transport = FakeTransport()
    with router(tmp_path, transport) as ours:
        route = ours.route(SAFE)
        for wrong, text in (
            (replace(route, agent="vault"), SAFE),
            (replace(route, id="rt_0"), SAFE),
            (route, SAFE + " "),
        ):
            with pytest.raises(RouteRefusedError):
                ours.dispatch(wrong, text)
    assert transport.turns == []


@pytest.mark.parametrize(
    ("state", "error"),
    [
        (TurnState.FAILED_NOT_RUN, NotLaunchedError),
        (TurnState.FAILED_RAN, TurnFailedError),
        (TurnState.UNKNOWN, OutcomeUnknownError),
    ],
)
def test_every_other_end_is_its_error(
    tmp_path: Path, state: TurnState, error: type[Exception]
) -> None:
    transport = FakeTransport(ending(state, "a-code"))
    with router(tmp_path, transport) as ours:
        route = ours.route(SAFE)
        for _ in range(2):
            with pytest.raises(error, match="a-code"):
                ours.dispatch(route, SAFE)
    assert len(transport.turns) == 1


def test_a_conversation_is_remembered_over_restarts(tmp_path: Path) -> None:
    with router(tmp_path) as ours:
        ours.dispatch(ours.route(InboundMessage(SAFE, conversation="c")), SAFE)
    with router(tmp_path, model=ScriptedModel(says(share=0.3))) as ours:
        assert ours.route(InboundMessage("Yes, do that.", conversation="c")).routable


def test_a_ledger_that_cannot_be_opened_is_said_and_can_be_tried_again(tmp_path: Path) -> None:
    folder = tmp_path / "later"
    ours = OpenClawRouter(
        ScriptedModel(says()),
        FLEET,
        transport=FakeTransport(),
        ledger=f"sqlite:///{folder}/desk.db",
    )
    with ours:
        with pytest.raises(LedgerUnavailableError):
            ours.route(SAFE)
        folder.mkdir()
        assert ours.route(SAFE).routable


def test_dispatches_at_the_same_time_launch_once(tmp_path: Path) -> None:
    transport = FakeTransport()

    async def scene(ours: OpenClawRouter) -> None:
        route = await ours.aroute(SAFE)
        replies = await asyncio.gather(*(ours.adispatch(route, SAFE) for _ in range(5)))
        assert {reply.text for reply in replies} == {"fine"}

    with router(tmp_path, transport) as ours:
        asyncio.run(scene(ours))
    assert len(transport.turns) == 1


def test_a_route_that_waited_too_long_says_so(tmp_path: Path) -> None:
    transport = FakeTransport(is_holding=True)
    book = Ledger(f"sqlite:///{tmp_path}/desk.db", ready_max_age_s=0.2)

    async def scene(ours: OpenClawRouter) -> None:
        routes = [await ours.aroute(InboundMessage(SAFE, conversation="c")) for _ in range(2)]
        first = asyncio.create_task(ours.adispatch(routes[0], SAFE))
        await asyncio.to_thread(wait_until, lambda: bool(transport.turns))
        second = asyncio.create_task(ours.adispatch(routes[1], SAFE))
        await asyncio.to_thread(wait_until, lambda: ours.waiting == 1)
        await asyncio.to_thread(wait_until, lambda: bool(book.expire()))
        with pytest.raises(NotLaunchedError) as caught:
            await second
        assert caught.value.code == "waited-too-long"
        transport.release()
        await first
        await ours.aclose()

    asyncio.run(
        scene(OpenClawRouter(ScriptedModel(says()), FLEET, transport=transport, ledger=book))
    )
    assert len(transport.turns) == 1
