"""Many threads, one commit: who fails fails alone, nobody is told before the disk has it."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, event, insert, select
from sqlalchemy.exc import OperationalError

from clawmarshal.errors import ConflictError, LedgerError, LedgerUnavailableError
from clawmarshal.router.ledger import schema
from clawmarshal.router.ledger.acceptance import Acceptance
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.group_commit import MAX_BATCH, GroupCommit, Job
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import Accepted
from clawmarshal.router.ledger.sqlite import SqliteDatabase
from tests.support.ledger_cases import submission

PATIENCE_S = 10.0
Work = Callable[[Transaction], object]


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    ledger = Ledger(f"sqlite:///{tmp_path}/ledger.db", pragmas={"synchronous": "OFF"})
    yield ledger
    ledger.close()


def remembered(name: str) -> Work:
    """Return work that leaves a row."""

    def work(tx: Transaction) -> str:
        tx.connection.execute(insert(schema.meta).values(name=name, value="there"))
        return name

    return work


def names(ledger: Ledger) -> set[str]:
    with ledger._database.read() as tx:
        found = tx.connection.execute(select(schema.meta.c.name)).scalars()
        return {name for name in found if name != "schema_version"}


def commits_of(ledger: Ledger) -> GroupCommit:
    assert isinstance(ledger._database, SqliteDatabase)
    return ledger._database._commits


@contextmanager
def in_one_batch(ledger: Ledger, works: Sequence[Work]) -> Iterator[list[Future[object]]]:
    """Occupy the ledger until all the works wait, so that they are done together."""
    commits = commits_of(ledger)
    with ThreadPoolExecutor(len(works) + 1) as pool:
        is_led, is_enough = threading.Event(), threading.Event()

        def occupy(_tx: Transaction) -> None:
            is_led.set()
            assert is_enough.wait(PATIENCE_S)

        first = pool.submit(ledger._database.write, occupy)
        assert is_led.wait(PATIENCE_S)
        asked: list[Future[object]] = []
        for work in works:  # one by one: the order in the batch is the order here
            asked.append(pool.submit(ledger._database.write, work))
            until(lambda: commits.waiting == len(asked))
        is_enough.set()
        first.result(PATIENCE_S)
        yield asked


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.001)


@contextmanager
def counted_commits() -> Iterator[list[int]]:
    found: list[int] = []

    def count(_connection: Connection) -> None:
        found.append(1)

    event.listen(Engine, "commit", count)
    try:
        yield found
    finally:
        event.remove(Engine, "commit", count)


def test_works_that_wait_together_share_one_commit(ledger: Ledger) -> None:
    wanted = [f"w{number}" for number in range(20)]
    with (
        counted_commits() as commits,
        in_one_batch(ledger, [remembered(name) for name in wanted]) as asked,
    ):
        assert [job.result(PATIENCE_S) for job in asked] == wanted
    assert len(commits) == 2  # the one that occupied it, and one for all of them
    assert names(ledger) == set(wanted)


def test_batch_is_bounded(ledger: Ledger) -> None:
    works = [remembered(f"w{number}") for number in range(MAX_BATCH + 1)]
    with counted_commits() as commits, in_one_batch(ledger, works) as asked:
        for job in asked:
            job.result(PATIENCE_S)
    assert len(commits) == 3


@pytest.mark.parametrize("place", [0, 1, 2], ids=["first", "middle", "last"])
def test_work_that_raises_fails_alone(ledger: Ledger, place: int) -> None:
    def poison(tx: Transaction) -> None:
        remembered("poison")(tx)
        raise LedgerError("no", code="poison")

    works = [remembered("a"), remembered("b")]
    works.insert(place, poison)
    with in_one_batch(ledger, works) as asked:
        errors = [job.exception(PATIENCE_S) for job in asked]
    assert [isinstance(error, LedgerError) for error in errors] == [n == place for n in range(3)]
    assert names(ledger) == {"a", "b"}


def test_work_that_breaks_a_rule_of_the_schema_fails_alone(ledger: Ledger) -> None:
    with in_one_batch(ledger, [remembered("a"), remembered("a"), remembered("b")]) as asked:
        errors = [job.exception(PATIENCE_S) for job in asked]
    assert errors[0] is None and errors[2] is None
    assert isinstance(errors[1], LedgerError) and errors[1].code == "ledger-constraint"
    assert names(ledger) == {"a", "b"}


def test_work_under_which_the_database_fails_is_done_again_alone(ledger: Ledger) -> None:
    def broken(tx: Transaction) -> None:
        tx.connection.exec_driver_sql("SELECT 1 FROM no_such_table")

    with in_one_batch(ledger, [remembered("a"), broken, remembered("b")]) as asked:
        errors = [job.exception(PATIENCE_S) for job in asked]
    assert isinstance(errors[1], LedgerUnavailableError)
    assert (errors[0], errors[2]) == (None, None)
    assert names(ledger) == {"a", "b"}


def test_commit_that_fails_fails_for_all_and_leaves_nothing(ledger: Ledger) -> None:
    heard: list[str] = []
    ledger.listen(lambda route_id, _state: heard.append(route_id))

    def unfounded(tx: Transaction) -> None:
        tx.connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
        tx.connection.exec_driver_sql(
            "INSERT INTO messages (route_id, text, digest, salt, revision, labels, attachments)"
            " VALUES ('rt_nowhere', '', '', '', 0, '[]', '[]')"
        )

    def told(tx: Transaction) -> None:
        remembered("b")(tx)
        tx.moved.append(("rt_b", "ready"))  # type: ignore[arg-type]  # only its id is looked at

    with in_one_batch(ledger, [unfounded, told]) as asked:
        errors = [job.exception(PATIENCE_S) for job in asked]
    assert all(isinstance(error, LedgerError) for error in errors)
    assert names(ledger) == set() and heard == []
    assert ledger.accept(submission()).created


def test_nobody_is_answered_before_the_commit() -> None:
    is_asked, is_committed = threading.Event(), threading.Event()

    def run(batch: Sequence[Job]) -> None:
        for job in batch:
            job.result = "kept"
        is_asked.set()
        assert is_committed.wait(PATIENCE_S)

    commits = GroupCommit(run, patience_s=PATIENCE_S)
    with ThreadPoolExecutor(2) as pool:
        answer = pool.submit(commits.submit, lambda _tx: None)
        assert is_asked.wait(PATIENCE_S)
        assert not answer.done()
        is_committed.set()
        assert answer.result(PATIENCE_S) == "kept"


def test_work_whose_turn_does_not_come_is_told_so_and_never_done() -> None:
    done: list[Job] = []
    is_led, is_enough = threading.Event(), threading.Event()

    def run(batch: Sequence[Job]) -> None:
        done.extend(batch)
        is_led.set()
        assert is_enough.wait(PATIENCE_S)

    commits = GroupCommit(run, patience_s=0.05)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(commits.submit, lambda _tx: None)
        assert is_led.wait(PATIENCE_S)
        with pytest.raises(LedgerUnavailableError, match="busy"):
            commits.submit(lambda _tx: None)
        is_enough.set()
        first.result(PATIENCE_S)
    assert len(done) == 1 and commits.waiting == 0


def test_leader_that_is_interrupted_takes_nobody_with_it() -> None:
    is_led, is_enough = threading.Event(), threading.Event()
    runs: list[int] = []

    def run(batch: Sequence[Job]) -> None:
        runs.append(len(batch))
        if len(runs) == 1:
            is_led.set()
            assert is_enough.wait(PATIENCE_S)
        if len(runs) == 2:
            raise KeyboardInterrupt
        for job in batch:
            job.result = "kept"

    commits = GroupCommit(run, patience_s=PATIENCE_S)
    with ThreadPoolExecutor(3) as pool:
        pool.submit(commits.submit, lambda _tx: None)
        assert is_led.wait(PATIENCE_S)
        pair = [pool.submit(commits.submit, lambda _tx: None) for _ in range(2)]
        until(lambda: commits.waiting == 2)
        is_enough.set()
        errors = [job.exception(PATIENCE_S) for job in pair]
    kinds = sorted(type(error).__name__ for error in errors)
    assert kinds == ["KeyboardInterrupt", "LedgerUnavailableError"]
    assert commits.submit(lambda _tx: None) == "kept"


def accepted(future: Future[object]) -> Accepted:
    answer = future.result(PATIENCE_S)
    assert isinstance(answer, Accepted)
    return answer


@contextmanager
def counted_statements(word: str) -> Iterator[list[str]]:
    found: list[str] = []

    def count(_connection: object, _cursor: object, statement: str, *_more: object) -> None:
        if statement.startswith(word):
            found.append(statement)

    event.listen(Engine, "before_cursor_execute", count)
    try:
        yield found
    finally:
        event.remove(Engine, "before_cursor_execute", count)


def test_messages_that_wait_together_share_their_statements(ledger: Ledger) -> None:
    heard: list[str] = []
    ledger.listen(lambda route_id, _state: heard.append(route_id))
    works = [
        Acceptance(submission(f"Case {number}", key=f"k-{number}", message_id=f"m-{number}"))
        for number in range(20)
    ]
    with counted_statements("INSERT") as inserts, in_one_batch(ledger, works) as asked:
        answers = [accepted(job) for job in asked]
    assert len(inserts) == 4  # identities, routes, messages, events
    assert sorted(heard) == sorted(answer.route_id for answer in answers)
    for number, answer in enumerate(answers):
        assert answer.created
        assert ledger.route(answer.route_id).message.text == f"Case {number}"
        assert ledger.verify_chain(answer.route_id).is_intact
    again = ledger.accept(submission("Case 7", key="k-7", message_id="m-7"))
    assert (again.route_id, again.deduplicated_by) == (answers[7].route_id, "key")
    other = ledger.accept(submission("Case 9", message_id="m-9"))
    assert (other.route_id, other.deduplicated_by) == (answers[9].route_id, "message_id")


def test_twins_in_one_batch_make_one_route(ledger: Ledger) -> None:
    twin = submission("Due?", key="k")
    works = [Acceptance(submission("First", key="a")), *[Acceptance(twin)] * 3]
    with in_one_batch(ledger, works) as asked:
        answers = [accepted(job) for job in asked]
    assert [answer.created for answer in answers] == [True, True, False, False]
    assert len({answer.route_id for answer in answers}) == 2


def test_repeats_among_new_messages_are_found_and_another_body_fails_alone(ledger: Ledger) -> None:
    known = ledger.accept(submission("Due?", key="k"))
    works = [
        Acceptance(submission("A", key="a")),
        Acceptance(submission("Due?", key="k")),
        Acceptance(submission("Another body", key="k")),
        Acceptance(submission("B", key="b")),
    ]
    with in_one_batch(ledger, works) as asked:
        errors = [job.exception(PATIENCE_S) for job in asked]
        repeat = accepted(asked[1])
    assert [type(error) for error in errors] == [type(None), type(None), ConflictError, type(None)]
    assert (repeat.route_id, repeat.deduplicated_by) == (known.route_id, "key")
    assert len(ledger.routes()[0]) == 3


def test_message_that_cannot_be_written_fails_alone_among_others(ledger: Ledger) -> None:
    poison = submission("Poison", key="p", conversation="c")
    object.__setattr__(poison.message, "sender", "half a \ud800")
    works = [
        Acceptance(submission("A", key="a")),
        Acceptance(poison),
        Acceptance(submission("B", key="b")),
    ]
    with in_one_batch(ledger, works) as asked:
        errors = [job.exception(PATIENCE_S) for job in asked]
    assert errors[0] is None and errors[2] is None
    assert isinstance(errors[1], LedgerError) and errors[1].code == "text-invalid"
    assert {record.message.text for record in ledger.routes()[0]} == {"A", "B"}


def test_messages_under_which_the_database_fails_are_done_again_alone(ledger: Ledger) -> None:
    failed: list[str] = []

    def fail_once(_connection: object, _cursor: object, statement: str, *_more: object) -> None:
        if statement.startswith("INSERT INTO events") and not failed:
            failed.append(statement)
            raise OperationalError(statement, None, Exception("disk I/O error"))

    event.listen(Engine, "before_cursor_execute", fail_once)
    try:
        works = [Acceptance(submission(name, key=name)) for name in "ABC"]
        with in_one_batch(ledger, works) as asked:
            assert all(accepted(job).created for job in asked)
    finally:
        event.remove(Engine, "before_cursor_execute", fail_once)
    assert len(failed) == 1
    assert {record.message.text for record in ledger.routes()[0]} == {"A", "B", "C"}


def test_waiting_thread_that_is_interrupted_leaves_the_line_to_others() -> None:
    is_led, is_enough = threading.Event(), threading.Event()

    def run(batch: Sequence[Job]) -> None:
        is_led.set()
        assert is_enough.wait(PATIENCE_S)
        for job in batch:
            job.result = "kept"

    commits = GroupCommit(run, patience_s=PATIENCE_S)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(commits.submit, lambda _tx: None)
        assert is_led.wait(PATIENCE_S)
        heir = Job(lambda _tx: None, leads=True)  # as if it were told to lead and interrupted then
        commits._waiting.append(heir)
        second = pool.submit(commits.submit, lambda _tx: None)
        until(lambda: commits.waiting == 2)
        assert commits._give_up(heir)
        is_enough.set()
        assert first.result(PATIENCE_S) == second.result(PATIENCE_S) == "kept"
