"""From an older ledger to this one, with everything that is in it; never from a newer one."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, Engine, create_engine, inspect, text
from sqlalchemy.pool import NullPool

from clawmarshal.errors import LedgerError
from clawmarshal.router.ledger import migration, schema
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.opening import parse, upgrade_ledger
from clawmarshal.router.ledger.states import RouteState
from tests.support.clock import FakeClock
from tests.support.ledger_cases import ANNA, DONE, TERMS, ready
from tests.support.postgresql import wipe

BEFORE_ALEMBIC = Path(__file__).parents[2] / "support" / "ledger_before_alembic.sql"
"""A ledger of the version before Alembic, with a route in every state it knew."""
LATER_S = 5000.0
FIRST = "0001"


@pytest.fixture
def old_file(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(BEFORE_ALEMBIC.read_text(encoding="utf-8"))
    return path


@pytest.fixture
def old(old_file: Path) -> Iterator[Ledger]:
    clock = FakeClock()
    clock.advance(LATER_S)
    ledger = Ledger(f"sqlite:///{old_file}", clock=clock)
    yield ledger
    ledger.close()


@pytest.fixture
def bare_postgresql(postgresql_server: str) -> Iterator[str]:
    """Return the address of a database without tables; it has the ledger's again afterwards."""
    wipe(postgresql_server)
    yield postgresql_server
    wipe(postgresql_server)
    upgrade_ledger(postgresql_server)


def engine_of(url: str) -> Engine:
    return create_engine(parse(url), poolclass=NullPool)


def differences(connection: Connection) -> list[object]:
    """List what sets the tables that are there apart from those the code knows."""
    context = MigrationContext.configure(connection, opts={"compare_type": True})
    return list(compare_metadata(context, schema.metadata))


def test_every_route_of_an_older_file_stands_where_it_stood(old: Ledger) -> None:
    routes, _ = old.routes(limit=100)
    found = {route.state for route in routes}
    assert found == set(RouteState) - {RouteState.APPROVED}  # never seen between two transactions
    assert len(routes) == 16
    assert {route.message.text: route.state for route in routes}["rejected"] == "rejected"


def test_audit_trails_of_an_older_file_stay_intact(old: Ledger) -> None:
    for route in old.routes(limit=100)[0]:
        check = old.verify_chain(route.id)
        assert check.is_intact and check.events > 0


def test_older_file_goes_on_working(old: Ledger) -> None:
    worker = old.register_worker("new")
    assert len(old.sweep()) == 2  # what was under way when the old program ended
    (hold,), _ = old.holds()
    assert old.approve(hold.id, ANNA, terms=TERMS["finance"]).decision == "approve"
    order = old.claim(worker, terms=TERMS, max_children=8)
    assert order is not None and order.route_id == hold.route_id  # it is the oldest that is ready
    assert old.finish(order, DONE)
    order = old.claim(worker, terms=TERMS, max_children=8)
    assert order is not None and order.message.text == "approved and ready"
    (key,) = old.list_keys()
    assert key.name == "mailbox"


def test_repeat_of_a_message_in_an_older_file_is_a_repeat(old: Ledger) -> None:
    received = next(r for r in old.routes(limit=100)[0] if r.message.text == "received")
    again = old.accept(old.submission(received.id))
    assert (again.route_id, again.created) == (received.id, False)


def test_older_file_gets_the_tables_of_a_new_one(old: Ledger) -> None:
    with old._database.read() as tx:
        assert differences(tx.connection) == []


def test_new_file_has_the_tables_that_the_code_knows(tmp_path: Path) -> None:
    with closing(Ledger(f"sqlite:///{tmp_path}/new.db")) as ledger:
        with ledger._database.read() as tx:
            assert differences(tx.connection) == []


def test_programs_from_before_alembic_refuse_what_this_one_made(old: Ledger) -> None:
    with old._database.read() as tx:
        query = text("SELECT value FROM meta WHERE name = 'schema_version'")
        assert int(tx.connection.execute(query).scalar_one()) > 1  # all that they knew


def test_second_opening_of_an_upgraded_file_changes_nothing(old: Ledger, old_file: Path) -> None:
    before = old.routes(limit=100)
    with closing(Ledger(f"sqlite:///{old_file}", clock=FakeClock())) as again:
        assert again.routes(limit=100)[0] != ()
    assert old.routes(limit=100) == before


def test_upgrade_that_fails_leaves_the_older_file_as_it_was(old_file: Path) -> None:
    with closing(sqlite3.connect(old_file)) as connection:
        before = list(connection.iterdump())
        # In the way of the last thing that an upgrade writes.
        connection.execute("CREATE VIEW alembic_version AS SELECT 1 AS other")
        blocked = list(connection.iterdump())
    with pytest.raises(LedgerError):
        Ledger(f"sqlite:///{old_file}")
    with closing(sqlite3.connect(old_file)) as connection:
        assert list(connection.iterdump()) == blocked
        connection.execute("DROP VIEW alembic_version")
        assert list(connection.iterdump()) == before


@pytest.mark.parametrize("version", ["9999", "1000"])
def test_file_of_a_newer_version_is_refused_and_untouched(tmp_path: Path, version: str) -> None:
    path = tmp_path / "ledger.db"
    Ledger(f"sqlite:///{path}").close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (version,))
        connection.commit()
        before = list(connection.iterdump())
    with pytest.raises(LedgerError) as refused:
        Ledger(f"sqlite:///{path}")
    assert refused.value.code == "ledger-newer" and version in str(refused.value)
    with closing(sqlite3.connect(path)) as connection:
        assert list(connection.iterdump()) == before


def test_server_without_a_schema_is_refused_with_the_command(bare_postgresql: str) -> None:
    with pytest.raises(LedgerError, match="clawmarshal ledger upgrade") as refused:
        Ledger(bare_postgresql)
    assert refused.value.code == "ledger-older"
    with engine_of(bare_postgresql).connect() as connection:
        assert inspect(connection).get_table_names() == []


def test_server_gets_the_tables_that_the_code_knows(bare_postgresql: str) -> None:
    assert upgrade_ledger(bare_postgresql) == schema.HEAD
    with engine_of(bare_postgresql).connect() as connection:
        assert differences(connection) == []
    with closing(Ledger(bare_postgresql)) as ledger:
        assert ready(ledger)


def test_server_of_the_first_schema_is_refused_until_it_is_upgraded(bare_postgresql: str) -> None:
    engine = engine_of(bare_postgresql)
    with engine.begin() as connection:
        migration.run_steps(connection, FIRST)
    if schema.HEAD != FIRST:
        with pytest.raises(LedgerError) as refused:
            Ledger(bare_postgresql)
        assert refused.value.code == "ledger-older"
    assert upgrade_ledger(bare_postgresql) == schema.HEAD
    with engine.connect() as connection:
        assert differences(connection) == []
    Ledger(bare_postgresql).close()


def test_upgrade_of_a_server_that_is_up_to_date_changes_nothing(postgresql_url: str) -> None:
    with closing(Ledger(postgresql_url)) as ledger:
        route_id = ready(ledger)
        assert upgrade_ledger(postgresql_url) == schema.HEAD
        assert ledger.route(route_id).state is RouteState.READY


def test_newer_server_is_neither_opened_nor_upgraded(postgresql_url: str) -> None:
    with engine_of(postgresql_url).begin() as connection:
        connection.execute(schema.version.update().values(version_num="9999"))
    for attempt in (Ledger, upgrade_ledger):
        with pytest.raises(LedgerError) as refused:
            attempt(postgresql_url)
        assert refused.value.code == "ledger-newer"
