"""A short form of bench/week.py: one day, some hundred messages, and books that must balance."""

from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from bench.week import Report, Week, balance, week
from clawmarshal.router.ledger.ledger import Ledger
from tests.support.clock import FakeClock
from tests.support.tampering import unguarded

MESSAGES, SEED = 250, 3


def test_books_of_a_day_with_crashes_and_deploys_balance(tmp_path: Path) -> None:
    report = week(f"sqlite:///{tmp_path}/ledger.db", messages=MESSAGES, seed=SEED, days=1)
    assert report.wrong == []
    books = report.books
    assert report.states.total() == len(books.accepted) == MESSAGES
    assert report.attempts == books.orders.total() > MESSAGES / 2
    assert min(books.crashes, books.deploys, books.approved, books.rejected, books.repeats) > 0


MEDDLING = {
    "a state": "UPDATE routes SET state = 'declined' WHERE number = (SELECT min(number) FROM"
    " routes WHERE state = 'done')",
    "an event": "DELETE FROM events WHERE number = (SELECT max(number) FROM events)",
    "an event's facts": "UPDATE events SET facts = '{}' WHERE number = 3",
    "an attempt": "DELETE FROM attempts WHERE fence = 5",
    "an answer": "UPDATE holds SET person = NULL WHERE number = (SELECT min(number) FROM holds"
    " WHERE person IS NOT NULL)",
}


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Report]:
    file = tmp_path_factory.mktemp("week") / "ledger.db"
    made = Week(f"sqlite:///{file}", messages=120, seed=SEED, days=1)
    made.live()
    made.come_to_rest()
    made.close()
    return file, Report(made.books)


@pytest.mark.parametrize("statement", MEDDLING.values(), ids=MEDDLING)
def test_books_see_what_was_meddled_with(
    tmp_path: Path, lived: tuple[Path, Report], statement: str
) -> None:
    source, report = lived
    file = tmp_path / "ledger.db"
    file.write_bytes(source.read_bytes())
    engine = create_engine(f"sqlite:///{file}")
    with engine.begin() as connection, unguarded(connection):
        assert connection.execute(text(statement)).rowcount == 1
    engine.dispose()
    report = Report(report.books)
    with closing(Ledger(f"sqlite:///{file}", clock=FakeClock())) as ledger:
        balance(report, ledger)
    assert report.wrong
