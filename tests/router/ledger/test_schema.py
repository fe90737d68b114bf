"""One schema for SQLite and PostgreSQL."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Dialect, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from clawmarshal.router.ledger.schema import Instant, metadata, microseconds

DIALECTS: list[Dialect] = [sqlite.dialect(), postgresql.dialect()]  # type: ignore[no-untyped-call]  # theirs


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("table", metadata.sorted_tables, ids=lambda table: table.name)
def test_table_can_be_made_in_both_databases(table: Table, dialect: Dialect) -> None:
    made = str(CreateTable(table).compile(dialect=dialect))
    assert made.strip().startswith(f"CREATE TABLE {table.name}")
    for index in table.indexes:
        made = str(CreateIndex(index).compile(dialect=dialect))
        assert ("WHERE" in made) is (index.name or "").startswith("ux_")


@given(st.datetimes(timezones=st.just(UTC)))
def test_instant_comes_back_exactly(instant: datetime) -> None:
    column, dialect = Instant(), DIALECTS[0]
    stored = column.process_bind_param(instant, dialect)
    assert column.process_result_value(stored, dialect) == instant


@given(st.datetimes(timezones=st.just(UTC)), st.integers(1, 10**9))
def test_later_instants_are_greater_numbers(instant: datetime, later: int) -> None:
    try:
        after = instant + timedelta(microseconds=later)
    except OverflowError:
        return
    assert microseconds(after) == microseconds(instant) + later


@pytest.mark.parametrize("stored", [-(2**62), 2**62], ids=["before", "after"])
def test_instant_that_no_calendar_holds_is_readable(stored: int) -> None:
    found = Instant().process_result_value(stored, DIALECTS[0])
    assert found in (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))
