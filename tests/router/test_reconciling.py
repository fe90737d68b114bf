"""The reconciler looks again, a bounded number of times, and moves nothing."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from clawmarshal.errors import NotFoundError
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.states import RouteState
from clawmarshal.router.reconciling import Reconciler, look_up
from clawmarshal.transport.evidence import Evidence, EvidenceCode, LostTurn
from tests.support.ledger_cases import ANNA, DONE, launching, lost

C = EvidenceCode


class Trail:
    """A source that says what it was told to say, and remembers who was asked about."""

    def __init__(self, *codes: EvidenceCode, breaks: bool = False) -> None:
        self.codes = list(codes)
        self.asked: list[LostTurn] = []
        self.at_once = self.most_at_once = 0
        self.breaks = breaks

    async def evidence(self, turn: LostTurn) -> Evidence:
        """Say the next of its words, then for ever the last."""
        self.asked.append(turn)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        if self.breaks:
            raise RuntimeError("no source")
        return Evidence(self.codes.pop(0) if len(self.codes) > 1 else self.codes[0])


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    made = Ledger(f"sqlite:///{tmp_path}/ledger.db", pragmas={"synchronous": "OFF"})
    yield made
    made.close()


def run(
    ledger: Ledger,
    trail: Trail,
    body: Callable[[Reconciler], Awaitable[None]],
    *,
    looks: int = 3,
    agents: frozenset[str] | None = None,
) -> None:
    """Run a reconciler without pauses around `body`."""

    async def around() -> None:
        reconciler = Reconciler(ledger, trail, pauses_s=[0.0] * looks, agents=agents)
        await reconciler.start()
        try:
            await body(reconciler)
        finally:
            await reconciler.close()

    asyncio.run(around())


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.005)


def evidence(ledger: Ledger, route_id: str) -> list[object]:
    return [event.facts["code"] for event in ledger.route(route_id).evidence]


@pytest.mark.parametrize("code", [C.ANSWERED, C.ENDED], ids=str)
def test_what_was_left_is_looked_up_once_it_is_final(ledger: Ledger, code: EvidenceCode) -> None:
    route, trail = lost(ledger), Trail(code)

    async def body(_: Reconciler) -> None:
        await until(lambda: evidence(ledger, route.id) != [])

    run(ledger, trail, body)
    assert evidence(ledger, route.id) == [code]
    assert ledger.route(route.id).state is RouteState.UNKNOWN


def test_what_is_not_final_is_looked_up_again_and_not_for_ever(ledger: Ledger) -> None:
    route, trail = lost(ledger), Trail(C.RUNNING, C.NOT_REACHABLE, C.NOTHING_FOUND)

    async def body(reconciler: Reconciler) -> None:
        await until(lambda: not reconciler.waiting)

    run(ledger, trail, body)
    assert evidence(ledger, route.id) == [C.RUNNING, C.NOT_REACHABLE, C.NOTHING_FOUND]
    assert ledger.route(route.id).state is RouteState.UNKNOWN


def test_route_that_becomes_unknown_is_looked_up(ledger: Ledger) -> None:
    trail = Trail(C.ANSWERED)

    async def body(_: Reconciler) -> None:
        route = await asyncio.to_thread(lost, ledger)
        await until(lambda: evidence(ledger, route.id) == [C.ANSWERED])

    run(ledger, trail, body)
    (asked,) = trail.asked
    assert (asked.agent_id, asked.run_id) == ("finance", None)


def test_route_that_ended_well_is_never_looked_up(ledger: Ledger) -> None:
    trail = Trail(C.ANSWERED)

    async def body(_: Reconciler) -> None:
        order = await asyncio.to_thread(launching, ledger, ledger.register_worker("w"))
        await asyncio.to_thread(ledger.finish, order, DONE)
        other = await asyncio.to_thread(lost, ledger, conversation="c")
        await until(lambda: evidence(ledger, other.id) != [])

    run(ledger, trail, body)
    assert len(trail.asked) == 1


def test_route_that_a_person_resolved_is_left_alone(ledger: Ledger) -> None:
    route, trail = lost(ledger), Trail(C.RUNNING)
    ledger.resolve(route.id, ANNA, answer="ran")

    async def looked() -> Evidence | None:
        with ThreadPoolExecutor(1) as pool:
            return await look_up(ledger, trail, route.id, pool=pool)

    assert asyncio.run(looked()) is None
    assert (trail.asked, evidence(ledger, route.id)) == ([], [])


def test_one_is_asked_about_at_a_time(ledger: Ledger) -> None:
    routes, trail = [lost(ledger, conversation=str(n)) for n in range(5)], Trail(C.ANSWERED)

    async def body(reconciler: Reconciler) -> None:
        await until(lambda: not reconciler.waiting)

    run(ledger, trail, body)
    assert [evidence(ledger, route.id) for route in routes] == [[C.ANSWERED]] * 5
    assert trail.most_at_once == 1


def test_source_that_breaks_is_asked_again_and_ends_nothing(ledger: Ledger) -> None:
    route, trail = lost(ledger), Trail(C.ANSWERED, breaks=True)

    async def body(reconciler: Reconciler) -> None:
        await until(lambda: not reconciler.waiting)

    run(ledger, trail, body)
    assert (len(trail.asked), evidence(ledger, route.id)) == (3, [])


def test_close_ends_a_look_under_way(ledger: Ledger) -> None:
    lost(ledger)

    class Slow(Trail):
        async def evidence(self, turn: LostTurn) -> Evidence:
            self.asked.append(turn)
            await asyncio.Event().wait()
            raise AssertionError("never")

    trail = Slow(C.ANSWERED)

    async def body(_: Reconciler) -> None:
        await until(lambda: len(trail.asked) == 1)

    run(ledger, trail, body)


def test_both_forms_of_a_neutralised_text_are_looked_for(ledger: Ledger) -> None:
    route, trail = lost(ledger), Trail(C.ANSWERED)
    with_directive = lost(ledger, text="Use $skill now", conversation="c")

    async def looked() -> None:
        with ThreadPoolExecutor(1) as pool:
            await look_up(ledger, trail, route.id, pool=pool)
            await look_up(ledger, trail, with_directive.id, pool=pool, principal=ANNA)

    asyncio.run(looked())
    assert [len(turn.texts) for turn in trail.asked] == [1, 2]
    assert ledger.route(with_directive.id).evidence[0].actor == "person:anna"


def test_route_that_is_not_there_is_an_error(ledger: Ledger) -> None:
    async def looked() -> None:
        with ThreadPoolExecutor(1) as pool:
            await look_up(ledger, Trail(C.ANSWERED), "rt_" + "0" * 32, pool=pool)

    with pytest.raises(NotFoundError):
        asyncio.run(looked())


def test_agent_of_another_host_is_not_asked_about_here(ledger: Ledger) -> None:
    trail, route = Trail(C.ANSWERED), lost(ledger)

    async def body(reconciler: Reconciler) -> None:
        await until(lambda: not reconciler.waiting)

    run(ledger, trail, body, agents=frozenset({"security"}))
    assert (trail.asked, evidence(ledger, route.id)) == ([], [])
    run(ledger, trail, body, agents=frozenset({"finance"}))
    assert evidence(ledger, route.id) == [C.ANSWERED]


def test_look_by_hand_at_an_agent_of_another_host_finds_nobody_to_ask(ledger: Ledger) -> None:
    trail, route = Trail(C.ANSWERED), lost(ledger)

    with ThreadPoolExecutor(1) as pool:
        look = look_up(ledger, trail, route.id, pool=pool, agents=frozenset({"security"}))
        assert asyncio.run(look) is None
    assert (trail.asked, evidence(ledger, route.id)) == ([], [])
