"""A week in the life of a ledger, on a clock of its own: every book must balance at the end.

    python -m bench.week --messages 100000 --seed 1

With ``--state FILE --until DAY`` it stops after a day, as for a deploy, and the same command with a
later day goes on.

Messages come by day and by night, some of them twice and some with a used key; reviewers come and
go, answer each other's holds and run lost turns again; the service is deployed with another roster
twice a day and crashes as often: what it held in memory is gone, its locks are free. Workers lose
leases and report late. The simulation keeps books of its own, which are compared with the ledger's.
"""

import argparse
import contextlib
import os
import pickle
import platform
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from bench.crash import every_route
from clawmarshal.errors import ConflictError, ExpiredError
from clawmarshal.roster.agent import AgentSpec, Risk
from clawmarshal.router.ledger.binding import LaunchTerms, template_digest
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.opening import upgrade_ledger
from clawmarshal.router.ledger.records import (
    HoldRecord,
    LaunchOrder,
    Mode,
    Principal,
    RouteRecord,
    Submission,
)
from clawmarshal.router.ledger.sqlite import SqliteDatabase
from clawmarshal.router.ledger.states import LEGAL_MOVES, HoldState, RouteState
from clawmarshal.router.route import Outcome
from clawmarshal.transport.outcome import TurnResult, TurnState
from tests.support.clock import FakeClock
from tests.support.ledger_cases import decision, submission

ROOT = Path(__file__).resolve().parents[1]
S = RouteState
STEP_S = 120.0
STEPS_A_DAY = round(86_400 / STEP_S)
LEASE_S = 900.0
AGENTS = ("finance", "personal", "security")
PEOPLE = tuple(
    Principal(name, f"ck_{name}", frozenset({"review"})) for name in ("anna", "bela", "carl")
)
TTL_S: Mapping[Risk, float | None] = {Risk.LOW: 6 * 3600, Risk.MEDIUM: 86_400, Risk.HIGH: None}
ENDS = (
    *[TurnResult(TurnState.DONE, "ok", reply_text="fine", raw_text="fine")] * 40,
    TurnResult(TurnState.FAILED_NOT_RUN, "gateway-down"),
    TurnResult(TurnState.FAILED_RAN, "timeout"),
    TurnResult(TurnState.UNKNOWN, "killed"),
)


@dataclass(slots=True)
class Books:
    """What the simulation counts by itself."""

    accepted: dict[str, int] = field(default_factory=dict)
    """Number of the message, by route."""
    repeats: int = 0
    refused_bodies: int = 0
    orders: Counter[str] = field(default_factory=Counter)
    """Claims, by route."""
    launches: Counter[str] = field(default_factory=Counter)
    """Children that began, by attempt."""
    reruns: Counter[str] = field(default_factory=Counter)
    approved: int = 0
    rejected: int = 0
    second_answers: int = 0
    cancelled: int = 0
    late: int = 0
    deploys: int = 0
    crashes: int = 0


@dataclass(slots=True)
class Report:
    """What a week came to."""

    books: Books
    states: Counter[str] = field(default_factory=Counter)
    attempts: int = 0
    events: int = 0
    wrong: list[str] = field(default_factory=list)


_OF_A_PROCESS = frozenset({"_ledger", "_workers", "_terms"})


class Week:
    """Live through a week, step by step."""

    def __init__(self, url: str, *, messages: int, seed: int, days: int = 7) -> None:
        self._url, self._messages = url, messages
        self._steps, self._step = days * STEPS_A_DAY, 0
        self._rng = random.Random(seed)
        self._clock = FakeClock()
        self.books = Books()
        self._version = 0
        self._running: list[tuple[float, LaunchOrder]] = []
        self._sent: list[Submission] = []
        self._ledger = self._open()

    def live(self, *, until_day: int | None = None) -> bool:
        """Live through it, or until the end of a day; tell whether that was all."""
        end = self._steps if until_day is None else min(self._steps, until_day * STEPS_A_DAY)
        while self._step < end:
            self._step += 1
            due = self._messages * self._step // self._steps
            while len(self._sent) < due:
                self._message()
            self._work()
            self._review()
            self._upset()
            self._clock.advance(STEP_S)
        return end == self._steps

    def come_to_rest(self) -> Ledger:
        """Let everything end that is under way; return the ledger."""
        for _ in range(3):
            while self._work():
                self._clock.advance(STEP_S)
            self._clock.advance(LEASE_S * 2)
            self._ledger.sweep()
            self._ledger.expire()
        return self._ledger

    def save(self, file: Path) -> None:
        """Keep everything but the ledger, which is closed as for a deploy."""
        self._deploy()
        self._ledger.close()
        kept = {name: value for name, value in vars(self).items() if name not in _OF_A_PROCESS}
        file.write_bytes(pickle.dumps(kept))

    @classmethod
    def load(cls, file: Path) -> "Week":
        """Go on where `save` left off."""
        made = object.__new__(cls)
        vars(made).update(pickle.loads(file.read_bytes()))
        made._ledger = made._open()
        return made

    def close(self) -> None:
        """Close the ledger."""
        self._ledger.close()

    def _open(self) -> Ledger:
        self._terms = {name: self._terms_of(name) for name in AGENTS}
        pragmas = {"synchronous": "OFF"}  # nobody pulls the plug of this machine
        ledger = Ledger(
            self._url, clock=self._clock, hold_ttl_s=TTL_S, pragmas=pragmas, busy_timeout_s=30
        )
        self._workers = [ledger.register_worker(f"w{n}") for n in range(2)]
        return ledger

    def _terms_of(self, name: str) -> LaunchTerms:
        what = f"What belongs to {name}, edition {self._version // 2}."
        spec = AgentSpec(name, what, concurrency=16)
        return LaunchTerms(spec, template_digest({"argv": ["agent"]}), timeout_s=60)

    def _message(self) -> None:
        number, draw = len(self._sent), self._rng.random()
        mode = Mode.DECIDE if draw < 0.02 else Mode.DISPATCH
        asked = submission(
            f"Case {number}",
            key=f"k-{number}",
            conversation=f"c-{self._rng.randrange(self._messages)}",
            sender=f"s-{self._rng.randrange(500)}",
            mode=mode,
        )
        self._sent.append(asked)
        accepted = self._ledger.accept(asked)
        assert accepted.created and accepted.route_id not in self.books.accepted
        self.books.accepted[accepted.route_id] = number
        if self._rng.random() < 0.01 and self._crash():
            self._decide_left()  # it died between the acceptance and the decision
        else:
            self._decide(accepted.route_id)
        self._again(number, accepted.route_id)

    def _again(self, number: int, route_id: str) -> None:
        """Send some a second time, and some with another body."""
        draw = self._rng.random()
        if draw < 0.04:
            again = self._ledger.accept(self._sent[number])
            assert (again.route_id, again.created) == (route_id, False)
            self.books.repeats += 1
        elif draw < 0.05:
            message = replace(self._sent[number].message, text="Another body")
            with contextlib.suppress(ConflictError):
                self._ledger.accept(replace(self._sent[number], message=message))
                raise AssertionError("a used key took another body")
            self.books.refused_bodies += 1

    def _decide(self, route_id: str) -> None:
        agent, draw = self._rng.choice(AGENTS), self._rng.random()
        outcome = Outcome.DISPATCH
        if draw < 0.15:
            outcome = Outcome.HOLD
        elif draw < 0.2:
            outcome = Outcome.DECLINE if draw < 0.18 else Outcome.CLARIFY
        route = decision(outcome, agent=agent, risk=self._rng.choice(tuple(Risk)))
        self._ledger.record(route_id, route, explanation={}, terms=self._terms[agent])

    def _decide_left(self) -> None:
        for route_id in self._ledger.undecided():
            self._decide(route_id)

    def _work(self) -> bool:
        """End what is due and claim what has room; tell whether anything is under way."""
        now = self._clock.boot_s()
        due = [order for ends, order in self._running if ends <= now]
        self._running = [(ends, order) for ends, order in self._running if ends > now]
        for order in due:
            if not self._ledger.finish(order, self._rng.choice(ENDS)):
                self.books.late += 1
        for worker in self._workers:
            while (claimed := self._claimed(worker)) is not None:
                # One in five hundred takes so long that its lease is over.
                is_slow = self._rng.random() < 0.002
                lasts = LEASE_S * 1.5 if is_slow else self._rng.random() * STEP_S * 2
                self._running.append((now + lasts, claimed))
        self._ledger.sweep()
        self._ledger.expire()
        return bool(self._running)

    def _claimed(self, worker: str) -> LaunchOrder | None:
        order = self._ledger.claim(worker, terms=self._terms, max_children=24, lease_s=LEASE_S)
        if order is None:
            return None
        self.books.orders[order.route_id] += 1
        if self._rng.random() < 0.001:  # it stood still beyond the window, and may not launch
            self._ledger.finish(order, TurnResult(TurnState.FAILED_NOT_RUN, "late"))
            return self._claimed(worker)
        self.books.launches[order.attempt_id] += 1
        assert self._ledger.started(order, 1)
        return order

    def _review(self) -> None:
        """Let whoever is there answer some holds and look after some lost turns."""
        hour = self._clock.now().hour
        present = [p for n, p in enumerate(PEOPLE) if 8 * n <= hour < 8 * n + 6]
        for person in present:
            holds, _ = self._ledger.holds(limit=self._rng.randrange(1, 12))
            for hold in self._rng.sample(holds, len(holds)):
                self._answer(hold, person)
        if present and self._rng.random() < 0.3:
            self._look_after_unknown(present[0])
        if self._rng.random() < 0.05:
            self._cancel_something()

    def _answer(self, hold: HoldRecord, person: Principal) -> None:
        try:
            if self._rng.random() < 0.75:
                terms = self._terms[
                    self._rng.choice((*[hold.suggestion] * 9, *AGENTS)) or "finance"
                ]
                digest = self._ledger.hold_digest(hold.id, terms)
                self._ledger.approve(hold.id, person, terms=terms, digest=digest)
                self.books.approved += 1
            else:
                self._ledger.reject(hold.id, person, reason="no")
                self.books.rejected += 1
        except ExpiredError:
            return
        if self._rng.random() < 0.2:
            self._second_answer(hold.id, PEOPLE[(PEOPLE.index(person) + 1) % len(PEOPLE)])

    def _second_answer(self, hold_id: str, person: Principal) -> None:
        """Answer what another has answered: the first stays, whatever comes back."""
        first = self._ledger.hold(hold_id)
        with contextlib.suppress(ConflictError):
            self._ledger.reject(hold_id, person, reason="not this")
        assert self._ledger.hold(hold_id) == first
        self.books.second_answers += 1

    def _look_after_unknown(self, person: Principal) -> None:
        lost, _ = self._ledger.routes(state=str(S.UNKNOWN), limit=5)
        for route in lost:
            answer = self._rng.choice(("ran", "not_run", "rerun", "leave"))
            with contextlib.suppress(ConflictError):  # too early to run it again
                self._ledger.resolve(route.id, person, answer=answer)
                self.books.reruns[route.id] += answer == "rerun"

    def _cancel_something(self) -> None:
        held, _ = self._ledger.routes(state=str(S.HELD), limit=3)
        for route in held[:1]:
            self._ledger.cancel(route.id, PEOPLE[0])
            self.books.cancelled += 1

    def _upset(self) -> None:
        """Deploy or crash, each about twice a day."""
        draw = self._rng.random() * 86_400 / STEP_S
        if draw < 2:
            self._deploy()
        elif draw < 4:
            self._crash()

    def _deploy(self) -> None:
        """End what runs, close, and open with another edition of the roster."""
        for _, order in self._running:
            if not self._ledger.finish(order, ENDS[0]):
                self.books.late += 1
        self._running = []
        self._ledger.close()
        self._version += 1
        self.books.deploys += 1
        self._ledger = self._open()

    def _crash(self) -> bool:
        """Lose what is in memory, as SIGKILL does: locks are free, nothing is said to anybody."""
        database = self._ledger._database
        if not isinstance(database, SqliteDatabase):
            return False
        for descriptor in database._locks._held.values():
            os.close(descriptor)
        database._engine.dispose()
        self._running = []
        self.books.crashes += 1
        self._ledger = self._open()
        self._ledger.sweep()
        return True


def balance(report: Report, ledger: Ledger) -> None:
    """Compare the ledger's books with those of the simulation."""
    books, seen = report.books, Counter[str]()
    chained = answers = 0
    for record in every_route(ledger):
        seen[record.id] += 1
        report.states[str(record.state)] += 1
        report.attempts += len(record.attempts)
        check = ledger.verify_chain(record.id)
        chained += check.events
        faults = [None if check.is_intact else check.fault, *faults_of(record, ledger, books)]
        report.wrong += [f"{record.id}: {fault}" for fault in faults if fault]
    for hold in every_hold(ledger):
        answers += hold.person is not None
        is_answered = hold.state in (HoldState.APPROVED, HoldState.REJECTED)
        if is_answered is not (hold.person is not None):
            report.wrong.append(f"{hold.id}: {hold.state} by {hold.person}")
    report.events = chained
    sums = {
        "messages": (len(seen), len(books.accepted)),
        "routes of one message": (max(seen.values(), default=1), 1),
        "attempts": (report.attempts, books.orders.total()),
        "answers": (answers, books.approved + books.rejected),
        "launches of one attempt": (max(books.launches.values(), default=1), 1),
        "by state": (sum(report.states.values()), len(books.accepted)),
    }
    report.wrong += [f"{name}: {a} and not {b}" for name, (a, b) in sums.items() if a != b]
    if set(seen) != set(books.accepted):
        report.wrong.append("other routes than were accepted")


def faults_of(record: RouteRecord, ledger: Ledger, books: Books) -> Iterator[str]:
    """Say what does not add up in one route."""
    if record.message.text != f"Case {books.accepted.get(record.id)}":
        yield "another message's text"
    if len(record.attempts) != books.orders[record.id]:
        yield f"{len(record.attempts)} attempts, {books.orders[record.id]} orders"
    if len(record.attempts) > 1 + books.reruns[record.id]:
        yield "a machine ran it again"
    if (record.state is S.HELD) is not (
        record.hold is not None and record.hold.state is HoldState.OPEN
    ):
        yield f"{record.state} with a hold that is {record.hold and record.hold.state}"
    kinds = [event.kind for event in ledger.events(record.id) if event.kind in set(S)]
    if not kinds or kinds[-1] != record.state:
        yield f"{record.state}, and its last event is {kinds[-1:]}"
    for before, after in pairwise(kinds):
        if S(after) not in LEGAL_MOVES[S(before)]:
            yield f"moved from {before} to {after}"


def every_hold(ledger: Ledger) -> Iterator[HoldRecord]:
    """Yield every hold."""
    cursor = None
    while True:
        page, cursor = ledger.holds(state=None, limit=500, cursor=cursor)
        yield from page
        if cursor is None:
            return


def week(url: str, *, messages: int, seed: int, days: int = 7) -> Report:
    """Live through a week on an empty ledger and balance the books; see the module."""
    made = Week(url, messages=messages, seed=seed, days=days)
    report = Report(made.books)
    try:
        made.live()
        balance(report, made.come_to_rest())
    finally:
        made.close()
    return report


def written(report: Report, told: argparse.Namespace) -> list[str]:
    """Write the report as Markdown."""
    where = (
        f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}"
    )
    books = report.books
    rows = {
        "messages accepted, each in one state": len(books.accepted),
        "repeats that found their first": books.repeats,
        "used keys with another body, refused": books.refused_bodies,
        "launches ordered, each one attempt": books.orders.total(),
        "runs again, by a person's word": books.reruns.total(),
        "holds approved": books.approved,
        "holds rejected": books.rejected,
        "second answers, which changed nothing": books.second_answers,
        "ends that came after the lease": books.late,
        "deploys with another roster": books.deploys,
        "crashes": books.crashes,
        "events, each in its chain": report.events,
        "what does not balance": len(report.wrong),
    }
    return [
        "# A week in the life",
        "",
        f"Made with `python -m bench.week --messages {told.messages} --seed {told.seed}` on "
        f"{where}.",
        "",
        "| | |",
        "| --- | ---: |",
        *(f"| {name} | {count:,} |" for name, count in rows.items()),
        "",
        "| state at the end | routes |",
        "| --- | ---: |",
        *(f"| {state} | {count:,} |" for state, count in sorted(report.states.items())),
    ]


def main() -> None:
    """Live, write, and fail when anything does not balance."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where the ledger stands; kept with --until")
    parser.add_argument("--until", type=int, default=7, help="stop after this day")
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results/week.md")
    told = parser.parse_args()
    folder = told.folder or Path(tempfile.mkdtemp(prefix="week-"))
    state, url = folder / "state", f"sqlite:///{folder}/ledger.db"
    if state.exists():
        made = Week.load(state)
    else:
        upgrade_ledger(url)
        made = Week(url, messages=told.messages, seed=told.seed)
    if not made.live(until_day=told.until):
        made.save(state)
        print(f"day {told.until} is over: {len(made.books.accepted)} messages")
        return
    report = Report(made.books)
    balance(report, made.come_to_rest())
    made.close()
    if told.folder is None:
        shutil.rmtree(folder)
    print("\n".join(report.wrong[:20]))
    told.out.write_text("\n".join(written(report, told)) + "\n", encoding="utf-8")
    print("\n".join(written(report, told)))
    sys.exit(1 if report.wrong else 0)


if __name__ == "__main__":
    main()
