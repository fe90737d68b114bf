"""What is ready is launched once, whatever the transport and the ledger do."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clawmarshal.errors import LedgerUnavailableError
from clawmarshal.router.ledger.binding import LaunchTerms
from clawmarshal.router.ledger.dispatcher import Dispatcher
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import LaunchOrder, RouteRecord
from clawmarshal.router.ledger.states import RouteState
from clawmarshal.transport.outcome import Turn, TurnResult, TurnState
from tests.support.clock import FakeClock
from tests.support.fake_transport import FakeTransport, done, ending
from tests.support.ledger_cases import (
    ANNA,
    FINANCE,
    SECURITY,
    TERMS,
    decision,
    held,
    lost,
    ready,
    submission,
)

S = RouteState
LEASE_S = 0.3
"""Of the ledger's clock, which stands still; heartbeats come by the real one, every 0.1 s."""


class FlakyLedger(Ledger):
    """A ledger whose named methods are away for a while."""

    away: dict[str, int]
    """Method to how many more calls of it fail."""
    bug: str | None = None
    """The method that raises what no ledger may."""

    def _fail(self, name: str) -> None:
        if self.bug == name:
            raise RuntimeError("a bug")
        if self.away.get(name, 0) > 0:
            self.away[name] -= 1
            raise LedgerUnavailableError("away")

    def claim(self, worker: str, **terms: Any) -> LaunchOrder | None:
        self._fail("claim")
        return super().claim(worker, **terms)

    def started(self, order: LaunchOrder, pid: int) -> bool:
        self._fail("started")
        return super().started(order, pid)

    def renew(self, order: LaunchOrder) -> bool:
        self._fail("renew")
        return super().renew(order)

    def finish(self, order: LaunchOrder, result: TurnResult) -> bool:
        self._fail("finish")
        return super().finish(order, result)

    def release_worker(self, worker: str) -> None:
        self._fail("release_worker")
        super().release_worker(worker)


@pytest.fixture
def ledger(tmp_path: Path, clock: FakeClock) -> Iterator[FlakyLedger]:
    ledger = FlakyLedger(
        f"sqlite:///{tmp_path}/ledger.db", clock=clock, pragmas={"synchronous": "OFF"}
    )
    ledger.away = {}
    yield ledger
    ledger.close()


@contextlib.asynccontextmanager
async def dispatching(
    ledger: Ledger,
    transport: FakeTransport,
    clock: FakeClock,
    *,
    drain_s: float = 10.0,
    **settings: Any,
) -> AsyncIterator[Dispatcher]:
    chosen = {"terms": lambda: TERMS, "poll_s": 60.0, "backoff_s": 0.01, "lease_s": LEASE_S}
    dispatcher = Dispatcher(ledger, transport, clock=clock, **{**chosen, **settings})
    await dispatcher.start()
    try:
        yield dispatcher
    finally:
        await dispatcher.close(drain_s=drain_s)


async def until(holds: Callable[[], object]) -> None:
    """Look until something holds, at most ten seconds."""
    async with asyncio.timeout(10):
        while not holds():
            await asyncio.sleep(0.005)


async def settled(ledger: Ledger, route_id: str) -> RouteRecord:
    await until(lambda: ledger.route(route_id).is_resting)
    return ledger.route(route_id)


def run(scene: Coroutine[Any, Any, None]) -> None:
    asyncio.run(scene)


def test_ready_route_is_launched_and_its_reply_kept(ledger: FlakyLedger, clock: FakeClock) -> None:
    async def scene() -> None:
        route_id = ready(ledger, conversation="a")
        transport = FakeTransport(done("It is due in May."))
        async with dispatching(ledger, transport, clock):
            route = await settled(ledger, route_id)
        assert (route.state, route.reply_text) == (S.DONE, "It is due in May.")
        (turn,) = transport.turns
        (attempt,) = route.attempts
        assert (turn.agent, turn.text, turn.timeout_s) == (FINANCE, route.message.text, 60)
        assert (turn.attempt_id, turn.session_key) == (attempt.id, attempt.session_key)
        assert clock.boot_s() < turn.not_after_boot_s < clock.boot_s() + LEASE_S
        assert attempt.pid == 4001

    run(scene())


@pytest.mark.parametrize(
    ("neutralises", "sent"), [(True, "> /new what is due?"), (False, "/new what is due?")]
)
def test_directives_are_made_inert_where_the_terms_say_so(
    ledger: FlakyLedger, clock: FakeClock, neutralises: bool, sent: str
) -> None:
    async def scene() -> None:
        terms = {"finance": replace(TERMS["finance"], neutralises=neutralises)}
        transport = FakeTransport()
        async with dispatching(ledger, transport, clock, terms=lambda: terms):
            route = await settled(ledger, ready(ledger, "/new what is due?"))
        assert transport.turns[0].text == sent
        assert route.message.text == "/new what is due?"

    run(scene())


def test_route_that_becomes_ready_is_launched_at_once(
    ledger: FlakyLedger, clock: FakeClock
) -> None:
    async def scene() -> None:
        transport = FakeTransport()
        async with dispatching(ledger, transport, clock):
            hold = held(ledger)
            await asyncio.to_thread(ledger.approve, hold.id, ANNA, terms=TERMS["finance"])
            assert (await settled(ledger, hold.route_id)).state is S.DONE

    run(scene())


def test_route_of_another_process_is_found_by_looking(
    ledger: FlakyLedger, clock: FakeClock
) -> None:
    async def scene() -> None:
        other = Ledger(f"sqlite:///{ledger.path}", clock=clock)
        async with dispatching(ledger, FakeTransport(), clock, poll_s=0.01):
            route_id = ready(other)
            assert (await settled(other, route_id)).state is S.DONE
        other.close()

    run(scene())


def test_wake_makes_it_look_at_once(ledger: FlakyLedger, clock: FakeClock) -> None:
    async def scene() -> None:
        other = Ledger(f"sqlite:///{ledger.path}", clock=clock)
        async with dispatching(ledger, FakeTransport(), clock) as dispatcher:
            route_id = ready(other)
            dispatcher.wake()
            assert (await settled(other, route_id)).state is S.DONE
        other.close()

    run(scene())


def test_every_move_of_this_process_is_told(ledger: FlakyLedger, clock: FakeClock) -> None:
    async def scene() -> None:
        told: list[str] = []
        async with dispatching(ledger, FakeTransport(), clock, changed=told.append):
            route_id = ready(ledger)
            rejected = held(ledger)
            await settled(ledger, route_id)
            await until(lambda: told.count(route_id) == 6)
            assert told.count(rejected.route_id) == 3

    run(scene())


def test_no_more_turns_than_children(ledger: FlakyLedger, clock: FakeClock) -> None:
    async def scene() -> None:
        first = ready(ledger)
        second = ledger.accept(submission()).route_id
        ledger.record(second, decision(agent="security"), explanation={}, terms=TERMS["security"])
        transport = FakeTransport(is_holding=True)
        async with dispatching(ledger, transport, clock, max_children=1) as dispatcher:
            await transport.arrived()
            dispatcher.wake()
            await asyncio.to_thread(ledger.ping)
            assert dispatcher.running == (first,)
            assert [turn.agent for turn in transport.turns] == [FINANCE]
            transport.release()
            await settled(ledger, second)
        assert [turn.agent for turn in transport.turns] == [FINANCE, SECURITY]

    run(scene())


def test_hung_turn_keeps_nobody_else_waiting(ledger: FlakyLedger, clock: FakeClock) -> None:
    async def scene() -> None:
        hung = ready(ledger)
        others = []
        for _ in range(5):
            route_id = ledger.accept(submission()).route_id
            ledger.record(
                route_id, decision(agent="security"), explanation={}, terms=TERMS["security"]
            )
            others.append(route_id)

        class Transport(FakeTransport):
            async def launch(self, turn: Turn, watcher: Any = None) -> TurnResult:
                if turn.agent is FINANCE:
                    return await super().launch(turn, watcher)
                return done()(turn)

        transport = Transport(is_holding=True)
        async with dispatching(ledger, transport, clock, drain_s=0.0):
            for route_id in others:
                assert (await settled(ledger, route_id)).state is S.DONE
            assert ledger.route(hung).state is S.RUNNING

    run(scene())


def test_transport_that_breaks_leaves_unknown(ledger: FlakyLedger, clock: FakeClock) -> None:
    def broken(turn: Turn) -> TurnResult:
        raise OSError("no such program")

    async def scene() -> None:
        transport = FakeTransport(broken)
        async with dispatching(ledger, transport, clock):
            first = await settled(ledger, ready(ledger))
            assert (first.state, first.reason) == (S.UNKNOWN, "transport-broken")
            transport.answer = done()
            assert (await settled(ledger, ready(ledger))).state is S.DONE

    run(scene())


def test_failure_before_the_start_is_certain(ledger: FlakyLedger, clock: FakeClock) -> None:
    async def scene() -> None:
        not_run = ending(TurnState.FAILED_NOT_RUN, "cli-missing")
        async with dispatching(ledger, FakeTransport(not_run, starts=False), clock):
            route = await settled(ledger, ready(ledger))
        assert (route.state, route.reason, route.ran) == (S.FAILED, "cli-missing", False)

    run(scene())


@pytest.mark.parametrize(
    ("stopped", "state", "reason"),
    [
        (None, S.UNKNOWN, "stopped"),
        (TurnResult(TurnState.CANCELLED, "aborted"), S.CANCELLED, "aborted"),
    ],
    ids=["no word", "the Gateway's word"],
)
def test_cancelled_turn_is_stopped_and_its_word_counts(
    ledger: FlakyLedger,
    clock: FakeClock,
    stopped: TurnResult | None,
    state: RouteState,
    reason: str,
) -> None:
    async def scene() -> None:
        route_id = ready(ledger)
        transport = FakeTransport(is_holding=True, stopped=stopped)
        async with dispatching(ledger, transport, clock) as dispatcher:
            await transport.arrived()
            assert await dispatcher.cancel(route_id)
            await until(lambda: transport.stopped_turns)
            assert await dispatcher.cancel(route_id)  # breaks nothing off
            route = await settled(ledger, route_id)
            await until(lambda: not dispatcher.running)
            assert not await dispatcher.cancel(route_id)
        assert (route.state, route.reason) == (state, reason)
        assert len(transport.stopped_turns) == 1

    run(scene())


def test_close_lets_turns_end(ledger: FlakyLedger, clock: FakeClock) -> None:
    async def scene() -> None:
        route_id, waiting = ready(ledger), ready(ledger)
        transport = FakeTransport(is_holding=True)
        async with dispatching(ledger, transport, clock):
            await transport.arrived()
            asyncio.get_running_loop().call_later(0.05, transport.release)
        assert ledger.route(route_id).state is S.DONE
        assert ledger.route(waiting).state is S.READY

    run(scene())


def test_close_stops_turns_that_do_not_end(ledger: FlakyLedger, clock: FakeClock) -> None:
    async def scene() -> None:
        route_id = ready(ledger)
        transport = FakeTransport(is_holding=True)
        async with dispatching(ledger, transport, clock, drain_s=0.0):
            await transport.arrived()
        assert len(transport.stopped_turns) == 1
        assert ledger.route(route_id).state is S.UNKNOWN
        assert list(Path(f"{ledger.path}.workers").iterdir()) == []

    run(scene())


def test_dispatcher_that_never_started_closes(ledger: FlakyLedger) -> None:
    async def scene() -> None:
        await Dispatcher(ledger, FakeTransport(), terms=lambda: TERMS).close()

    run(scene())


def test_close_goes_on_without_the_ledger(ledger: FlakyLedger, clock: FakeClock) -> None:
    async def scene() -> None:
        async with dispatching(ledger, FakeTransport(), clock):
            ledger.away = {"release_worker": 1}

    run(scene())


def test_start_gives_up_what_a_dead_service_launched(ledger: FlakyLedger, clock: FakeClock) -> None:
    async def scene() -> None:
        worker = ledger.register_worker("dead")
        route_id = ready(ledger)
        ledger.claim(worker, terms=TERMS, max_children=1)
        ledger.release_worker(worker)
        transport = FakeTransport()
        async with dispatching(ledger, transport, clock):
            assert ledger.route(route_id).state is S.UNKNOWN
        assert transport.turns == []

    run(scene())


def test_sweep_comes_again_with_time(ledger: FlakyLedger, clock: FakeClock) -> None:
    async def scene() -> None:
        other = Ledger(f"sqlite:///{ledger.path}", clock=clock)
        async with dispatching(ledger, FakeTransport(), clock, sweep_s=5.0) as dispatcher:
            worker, route_id = other.register_worker("doomed"), ready(other)
            assert other.claim(worker, terms=TERMS, max_children=1, lease_s=3600)
            other.release_worker(worker)
            dispatcher.wake()
            await until(lambda: dispatcher.last_error is None)
            assert ledger.route(route_id).state is S.LAUNCHING
            clock.advance(5.0)
            dispatcher.wake()
            assert (await settled(ledger, route_id)).state is S.UNKNOWN
        other.close()

    run(scene())


def test_heartbeat_keeps_the_lease(ledger: FlakyLedger, clock: FakeClock) -> None:
    async def scene() -> None:
        route_id = ready(ledger)
        transport = FakeTransport(is_holding=True)
        async with dispatching(ledger, transport, clock):
            await transport.arrived()
            for _ in range(3):
                until_then = ledger.route(route_id).attempts[0].lease_until
                clock.advance(LEASE_S * 0.9)
                await until(lambda: ledger.route(route_id).attempts[0].lease_until > until_then)  # noqa: B023 - awaited here
            transport.release()
            assert (await settled(ledger, route_id)).state is S.DONE

    run(scene())


def test_lost_lease_stops_the_child_and_keeps_the_evidence(
    ledger: FlakyLedger, clock: FakeClock
) -> None:
    async def scene() -> None:
        route_id = ready(ledger)
        late = TurnResult(TurnState.DONE, "ok", reply_text="late")
        transport = FakeTransport(is_holding=True, stopped=late)
        async with dispatching(ledger, transport, clock):
            await transport.arrived()
            clock.advance(LEASE_S)
            route = await settled(ledger, route_id)
            await until(lambda: ledger.route(route_id).attempts[0].late_evidence)
        assert (route.state, route.reply_text) == (S.UNKNOWN, None)
        evidence = ledger.route(route_id).attempts[0].late_evidence
        assert evidence is not None and evidence["reply_text"] == "late"
        assert len(transport.turns) == 1

    run(scene())


def test_child_that_starts_after_its_lease_is_stopped(
    ledger: FlakyLedger, clock: FakeClock
) -> None:
    async def scene() -> None:
        route_id = ready(ledger)
        transport = FakeTransport(is_holding=True, before_start=lambda: clock.advance(300))
        async with dispatching(ledger, transport, clock, lease_s=300.0):  # no heartbeat so soon
            route = await settled(ledger, route_id)
        assert route.state is S.UNKNOWN
        assert len(transport.stopped_turns) == 1

    run(scene())


def test_paused_worker_cannot_launch_beside_a_second_run(
    ledger: FlakyLedger, clock: FakeClock
) -> None:
    """Paused between commit and exec; its lease ends, a person runs it again; then it wakes."""

    async def scene() -> None:
        def exec_or_refuse(turn: Turn) -> TurnResult:
            if clock.boot_s() > turn.not_after_boot_s:
                return TurnResult(TurnState.FAILED_NOT_RUN, "launch-window-over")
            return done()(turn)

        route_id = ready(ledger)
        paused = FakeTransport(exec_or_refuse, is_holding=True, starts=False)
        async with dispatching(ledger, paused, clock):
            await paused.arrived()
            ledger.away = {"renew": 10_000}  # it does not run, so it renews nothing
            clock.advance(3600)
            second = Ledger(f"sqlite:///{ledger.path}", clock=clock)
            assert second.sweep() == (route_id,)
            second.resolve(route_id, ANNA, answer="rerun")
            other = FakeTransport(exec_or_refuse)
            async with dispatching(second, other, clock):
                assert (await settled(second, route_id)).state is S.DONE
            paused.release()
        one, two = ledger.route(route_id).attempts
        assert (one.state, two.state) == ("unknown", "done")
        assert one.late_evidence is not None
        second.close()

    run(scene())


def test_ledger_that_is_away_stops_nothing_for_good(ledger: FlakyLedger, clock: FakeClock) -> None:
    async def scene() -> None:
        ledger.away = {"claim": 2}
        transport = FakeTransport()
        async with dispatching(ledger, transport, clock, poll_s=0.01) as dispatcher:
            await until(lambda: dispatcher.last_error == "ledger-unavailable")
            assert (await settled(ledger, ready(ledger))).state is S.DONE
            await until(lambda: dispatcher.last_error is None)

    run(scene())


def test_bug_in_a_round_stops_nothing_for_good(ledger: FlakyLedger, clock: FakeClock) -> None:
    async def scene() -> None:
        is_broken = True

        def terms() -> Mapping[str, LaunchTerms]:
            if is_broken:
                raise RuntimeError("a bug")
            return TERMS

        transport = FakeTransport()
        async with dispatching(ledger, transport, clock, poll_s=0.01, terms=terms) as dispatcher:
            await until(lambda: dispatcher.last_error == "dispatcher-error")
            is_broken = False
            assert (await settled(ledger, ready(ledger))).state is S.DONE

    run(scene())


def test_start_that_cannot_be_noted_is_noted_with_the_end(
    ledger: FlakyLedger, clock: FakeClock
) -> None:
    async def scene() -> None:
        ledger.away = {"started": 1}
        async with dispatching(ledger, FakeTransport(), clock):
            route = await settled(ledger, ready(ledger))
        assert route.state is S.DONE

    run(scene())


def test_end_is_written_when_the_ledger_is_back(ledger: FlakyLedger, clock: FakeClock) -> None:
    async def scene() -> None:
        ledger.away = {"finish": 3}
        async with dispatching(ledger, FakeTransport(), clock):
            route = await settled(ledger, ready(ledger))
        assert (route.state, ledger.away["finish"]) == (S.DONE, 0)

    run(scene())


def test_end_that_cannot_be_written_within_the_lease_becomes_unknown(
    ledger: FlakyLedger, clock: FakeClock
) -> None:
    async def scene() -> None:
        ledger.away = {"finish": 10_000, "renew": 10_000}
        async with dispatching(ledger, FakeTransport(), clock) as dispatcher:
            route_id = ready(ledger)
            await until(lambda: ledger.away["finish"] < 9_990)
            assert dispatcher.running == (route_id,)
            clock.advance(LEASE_S)
            await until(lambda: not dispatcher.running)
            assert ledger.sweep() == (route_id,)

    run(scene())


def test_bug_at_the_end_leaves_unknown(ledger: FlakyLedger, clock: FakeClock) -> None:
    async def scene() -> None:
        ledger.bug = "finish"
        async with dispatching(ledger, FakeTransport(), clock) as dispatcher:
            route_id = ready(ledger)
            await until(lambda: ledger.route(route_id).state is S.RUNNING)
            await until(lambda: not dispatcher.running)
            clock.advance(LEASE_S)
            assert ledger.sweep() == (route_id,)

    run(scene())


def test_renewal_that_fails_within_the_lease_stops_nothing(
    ledger: FlakyLedger, clock: FakeClock
) -> None:
    async def scene() -> None:
        ledger.away = {"renew": 2}
        route_id = ready(ledger)
        transport = FakeTransport(is_holding=True)
        async with dispatching(ledger, transport, clock):
            await until(lambda: ledger.away["renew"] == 0)
            assert transport.stopped_turns == []
            transport.release()
            assert (await settled(ledger, route_id)).state is S.DONE

    run(scene())


def test_renewal_that_fails_beyond_the_lease_stops_the_child(
    ledger: FlakyLedger, clock: FakeClock
) -> None:
    async def scene() -> None:
        ledger.away = {"renew": 10_000}
        route_id = ready(ledger)
        transport = FakeTransport(is_holding=True)
        async with dispatching(ledger, transport, clock):
            await transport.arrived()
            clock.advance(LEASE_S)
            await until(lambda: transport.stopped_turns)
            assert (await settled(ledger, route_id)).state is S.UNKNOWN

    run(scene())


def test_two_dispatchers_on_one_file_launch_each_route_once(
    ledger: FlakyLedger, clock: FakeClock
) -> None:
    async def scene() -> None:
        second = Ledger(f"sqlite:///{ledger.path}", clock=clock)
        ids = [ready(ledger) for _ in range(12)]
        transport = FakeTransport()
        async with (
            dispatching(ledger, transport, clock, poll_s=0.005),
            dispatching(second, transport, clock, poll_s=0.005),
        ):
            for route_id in ids:
                assert (await settled(ledger, route_id)).state is S.DONE
        assert len(transport.turns) == len(ids)
        second.close()

    run(scene())


def test_move_after_the_end_of_the_loop_is_told_to_nobody(
    ledger: FlakyLedger, clock: FakeClock
) -> None:
    async def scene() -> None:
        dispatcher = Dispatcher(ledger, FakeTransport(), terms=lambda: TERMS, clock=clock)
        await dispatcher.start()

    run(scene())
    assert ledger.accept(submission()).created


def test_unknown_is_left_to_a_person(ledger: FlakyLedger, clock: FakeClock) -> None:
    async def scene() -> None:
        route = lost(ledger)
        transport = FakeTransport()
        async with dispatching(ledger, transport, clock, poll_s=0.01, sweep_s=0.0):
            clock.advance(100_000)
            assert (await settled(ledger, ready(ledger))).state is S.DONE
        assert ledger.route(route.id).state is S.UNKNOWN
        assert len(transport.turns) == 1

    run(scene())


class StoppingTransport(FakeTransport):
    """A transport that ends a launch when told, and says what became of it."""

    def __init__(self, result: TurnResult) -> None:
        super().__init__(lambda _: result, is_holding=True)
        self.stops: list[str] = []

    def stop(self, attempt_id: str) -> bool:
        self.stops.append(attempt_id)
        self.release()
        return True


@pytest.mark.parametrize(
    ("result", "state", "ran"),
    [
        (TurnResult(TurnState.DONE, "ok", reply_text="fine"), S.DONE, True),
        (TurnResult(TurnState.FAILED_NOT_RUN, "called-off"), S.FAILED, False),
        (TurnResult(TurnState.UNKNOWN, "stopped"), S.UNKNOWN, None),
    ],
    ids=["a reply was read", "not started", "nobody knows"],
)
def test_what_a_stopped_turn_came_to_is_kept(
    ledger: FlakyLedger, clock: FakeClock, result: TurnResult, state: RouteState, ran: bool | None
) -> None:
    async def scene() -> None:
        route_id, transport = ready(ledger), StoppingTransport(result)
        async with dispatching(ledger, transport, clock) as dispatcher:
            await transport.arrived()
            assert await dispatcher.cancel(route_id)
            assert await dispatcher.cancel(route_id)
            route = await settled(ledger, route_id)
        assert (route.state, route.ran, len(transport.stops)) == (state, ran, 1)

    run(scene())


def test_turn_cancelled_before_the_transport_has_it_certainly_did_not_run(
    ledger: FlakyLedger, clock: FakeClock
) -> None:
    class AtOnce(Dispatcher):
        def _launch(self, order: LaunchOrder, terms: LaunchTerms, claimed_boot_s: float) -> None:
            super()._launch(order, terms, claimed_boot_s)
            self._turns[order.attempt_id].stop()

    async def scene() -> None:
        route_id, transport = ready(ledger), FakeTransport(is_holding=True)
        dispatcher = AtOnce(ledger, transport, terms=lambda: TERMS, lease_s=LEASE_S, clock=clock)
        await dispatcher.start()
        route = await settled(ledger, route_id)
        await dispatcher.close()
        assert (route.state, route.reason, route.ran) == (S.FAILED, "called-off", False)
        assert transport.turns == []

    run(scene())


def test_cancel_between_claim_and_launch_is_not_lost(ledger: FlakyLedger, clock: FakeClock) -> None:
    class CancelledAtOnce(FlakyLedger):
        def claim(self, worker: str, **terms: Any) -> LaunchOrder | None:
            order = super().claim(worker, **terms)
            if order is not None:
                self.cancel(order.route_id, ANNA)
            return order

    async def scene() -> None:
        route_id, transport = ready(ledger), FakeTransport(is_holding=True)
        ledger.__class__ = CancelledAtOnce
        async with dispatching(ledger, transport, clock, lease_s=60.0):
            route = await settled(ledger, route_id)
        assert route.state in (S.UNKNOWN, S.FAILED)

    run(scene())


def test_cancel_by_another_process_reaches_the_turn(ledger: FlakyLedger, clock: FakeClock) -> None:
    async def scene() -> None:
        route_id, transport = ready(ledger), FakeTransport(is_holding=True)
        async with dispatching(ledger, transport, clock):
            await transport.arrived()
            other = Ledger(f"sqlite:///{ledger.path}", clock=clock)
            assert other.cancel(route_id, ANNA).state is S.RUNNING
            other.close()
            await settled(ledger, route_id)
        assert len(transport.stopped_turns) == 1

    run(scene())


def test_wish_for_one_launch_does_not_stop_the_next(ledger: FlakyLedger, clock: FakeClock) -> None:
    async def scene() -> None:
        route_id = ready(ledger)
        not_run = TurnResult(TurnState.FAILED_NOT_RUN, "called-off")
        async with dispatching(
            ledger, transport := StoppingTransport(not_run), clock
        ) as dispatcher:
            await transport.arrived()
            ledger.cancel(route_id, ANNA)
            await dispatcher.cancel(route_id)
            await settled(ledger, route_id)
            transport.answer = done()
            ledger.resolve(route_id, ANNA, answer="rerun")
            await until(lambda: ledger.route(route_id).state is S.DONE)
        assert len(transport.stops) == 1

    run(scene())


def test_bug_in_a_renewal_stops_the_child_once_the_lease_is_over(
    ledger: FlakyLedger, clock: FakeClock
) -> None:
    async def scene() -> None:
        ready(ledger)
        transport = FakeTransport(is_holding=True)
        async with dispatching(ledger, transport, clock):
            await transport.arrived()
            ledger.bug = "renew"
            clock.advance(LEASE_S)
            await until(lambda: transport.stopped_turns)

    run(scene())
