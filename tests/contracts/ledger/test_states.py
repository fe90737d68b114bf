"""No history that the state machine does not know, whatever is asked in whatever order."""

import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from clawmarshal.errors import ConflictError, ExpiredError, LedgerError
from clawmarshal.roster.agent import Risk
from clawmarshal.router.ledger import moves
from clawmarshal.router.ledger.audit import SERVICE
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import LaunchOrder, Mode
from clawmarshal.router.ledger.states import LEGAL_MOVES, RouteState
from clawmarshal.router.route import Outcome
from clawmarshal.transport.outcome import TurnResult, TurnState
from tests.support.clock import FakeClock
from tests.support.ledger_cases import ANNA, TERMS, decision, ready, submission, terms_of

PAIRS = list(itertools.product(RouteState, RouteState))
ILLEGAL = [(frm, to) for frm, to in PAIRS if to not in LEGAL_MOVES[frm]]


@pytest.fixture(scope="module")
def any_ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    ledger = Ledger(f"sqlite:///{tmp_path_factory.mktemp('any')}/ledger.db")
    yield ledger
    ledger.close()


@pytest.mark.parametrize(("frm", "to"), ILLEGAL, ids=lambda state: str(state))
def test_illegal_move_is_refused(any_ledger: Ledger, frm: RouteState, to: RouteState) -> None:
    with pytest.raises(ConflictError) as refused:
        any_ledger._database.write(
            lambda tx: moves.move(tx, "rt_any", frm=frm, to=to, actor=SERVICE)
        )
    assert refused.value.code == "illegal-move"


def test_move_from_where_the_route_is_not_changes_nothing(ledger: Ledger) -> None:
    route_id = ready(ledger)
    events = ledger.events(route_id)
    frm, to = RouteState.RUNNING, RouteState.DONE
    assert not ledger._database.write(
        lambda tx: moves.move(tx, route_id, frm=frm, to=to, actor=SERVICE)
    )
    assert ledger.events(route_id) == events


def test_move_that_must_be_undoes_its_transaction(ledger: Ledger) -> None:
    route_id = ready(ledger)
    before = ledger.route(route_id)

    def move_twice(tx: Transaction) -> None:
        moves.must_move(tx, route_id, frm=RouteState.READY, to=RouteState.CANCELLED, actor=SERVICE)
        moves.must_move(tx, route_id, frm=RouteState.READY, to=RouteState.HELD, actor=SERVICE)

    with pytest.raises(ConflictError) as refused:
        ledger._database.write(move_twice)
    assert refused.value.code == "route-moved"
    assert ledger.route(route_id) == before


OUTCOMES = st.sampled_from([Outcome.DISPATCH, Outcome.DISPATCH, *Outcome])
VERSIONS = st.sampled_from(["1", "1", "1", "2"])


class Books(RuleBasedStateMachine):
    """Two workers, reviewers and time do whatever they like to a few routes."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = FakeClock()
        self.ledger = Ledger(
            f"sqlite:///{Path(self.folder.name)}/ledger.db",
            clock=self.clock,
            hold_ttl_s={Risk.LOW: 500},
            ready_max_age_s=1000,
            pragmas={"synchronous": "OFF"},  # nobody pulls the plug here
        )
        self.workers = [self.ledger.register_worker(name) for name in "ab"]
        self.orders: list[LaunchOrder] = []
        self.routes: list[str] = []
        self.reruns: dict[str, int] = {}

    def teardown(self) -> None:
        self.ledger.close()
        self.folder.cleanup()

    def pick(self, number: int) -> str | None:
        return self.routes[number % len(self.routes)] if self.routes else None

    @rule(outcome=OUTCOMES, mode=st.sampled_from([Mode.DISPATCH, Mode.DISPATCH, Mode.DECIDE]))
    def arrive(self, outcome: Outcome, mode: Mode) -> None:
        conversation = ("a", None)[len(self.routes) % 2]
        route_id = self.ledger.accept(submission(conversation=conversation, mode=mode)).route_id
        self.routes.append(route_id)
        self.ledger.record(route_id, decision(outcome), explanation={}, terms=TERMS["finance"])

    @rule(number=st.integers(0, 9), is_yes=st.booleans(), version=VERSIONS)
    def answer(self, number: int, is_yes: bool, version: str) -> None:
        holds, _ = self.ledger.holds(state=None)
        if not holds:
            return
        hold = holds[number % len(holds)]
        try:
            if is_yes:
                self.ledger.approve(hold.id, ANNA, terms=terms_of(version=version))
            else:
                self.ledger.reject(hold.id, ANNA, reason="No.")
        except (ConflictError, ExpiredError):
            pass

    @rule(number=st.integers(0, 1), version=VERSIONS, available=st.booleans())
    def claim(self, number: int, version: str, available: bool) -> None:
        terms = {"finance": terms_of(version=version, available=available)}
        order = self.ledger.claim(self.workers[number], terms=terms, max_children=2)
        if order is not None:
            self.orders.append(order)

    @rule(number=st.integers(0, 9))
    def start(self, number: int) -> None:
        if self.orders:
            self.ledger.started(self.orders[number % len(self.orders)], 1)

    @rule(number=st.integers(0, 9), state=st.sampled_from(list(TurnState)))
    def finish(self, number: int, state: TurnState) -> None:
        if self.orders:
            order = self.orders[number % len(self.orders)]
            self.ledger.finish(order, TurnResult(state, "slug"))

    @rule(number=st.integers(0, 9))
    def renew(self, number: int) -> None:
        if self.orders:
            self.ledger.renew(self.orders[number % len(self.orders)])

    @rule(number=st.integers(0, 1))
    def die(self, number: int) -> None:
        self.ledger.release_worker(self.workers[number])
        self.workers[number] = self.ledger.register_worker("next")

    @rule(seconds=st.sampled_from([1, 29, 31, 200, 600]))
    def wait(self, seconds: int) -> None:
        self.clock.advance(seconds)

    @rule(seconds=st.sampled_from([-3600, -1, 1]))
    def jump(self, seconds: int) -> None:
        self.clock.jump(seconds)

    @rule()
    def sweep(self) -> None:
        self.ledger.sweep()
        self.ledger.expire()

    @rule(number=st.integers(0, 9))
    def cancel(self, number: int) -> None:
        route_id = self.pick(number)
        if route_id:
            try:
                self.ledger.cancel(route_id, ANNA)
            except ConflictError:
                pass

    @rule(number=st.integers(0, 9), said=st.sampled_from(["ran", "not_run", "rerun", "leave"]))
    def resolve(self, number: int, said: str) -> None:
        route_id = self.pick(number)
        if route_id is None:
            return
        try:
            self.ledger.resolve(route_id, ANNA, answer=said)
        except LedgerError:
            return
        if said == "rerun":
            self.reruns[route_id] = self.reruns.get(route_id, 0) + 1

    @invariant()
    def every_history_is_legal(self) -> None:
        for route_id in self.routes:
            events = self.ledger.events(route_id)
            moved = [event for event in events if event.kind in set(RouteState)]
            states = [RouteState(event.kind) for event in moved]
            for frm, to in itertools.pairwise(states):
                assert to in LEGAL_MOVES[frm]
            for before, after in itertools.pairwise(moved):
                if before.kind in ("unknown", "failed"):
                    assert after.actor.startswith("person:")
            assert states[-1] is self.ledger.route(route_id).state
            assert self.ledger.verify_chain(route_id).is_intact

    @invariant()
    def launches_are_at_most_once_unless_a_person_says_so(self) -> None:
        for route_id in self.routes:
            route = self.ledger.route(route_id)
            assert len(route.attempts) <= 1 + self.reruns.get(route_id, 0)
            is_open = [a for a in route.attempts if a.state in ("launching", "running")]
            assert len(is_open) == (route.state in ("launching", "running"))

    @invariant()
    def holds_and_routes_agree(self) -> None:
        held = {route.id for route in self.ledger.routes(state="held", limit=500)[0]}
        assert {hold.route_id for hold in self.ledger.holds(limit=500)[0]} == held


Books.TestCase.settings = settings(
    max_examples=25,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestBooks = Books.TestCase
