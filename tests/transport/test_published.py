"""The page shows the tables that the code has, and none of them is missing."""

from pathlib import Path

import pytest

from clawmarshal.transport.environment import PUBLISHED, REFUSED
from clawmarshal.transport.published import TABLES, main, places, with_tables

PAGE = Path(__file__).parents[2] / "docs" / "transport.md"


def test_page_is_what_the_code_says() -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert with_tables(page) == page, "run `make docs`"


def test_page_has_a_place_for_every_table() -> None:
    assert places(PAGE.read_text(encoding="utf-8")) == list(TABLES)


def test_every_row_stands_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")

    for name in [row.name for row in PUBLISHED] + [name for row in REFUSED for name in row.names]:
        assert f"`{name}`" in page


def test_no_cell_breaks_its_table() -> None:
    for table in TABLES.values():
        head, *rows = table().splitlines()
        assert {row.count("|") for row in rows} == {head.count("|")}


def test_pages_are_written_anew(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- made by `make docs`: variables -->\nstale words\n<!-- end -->\nb\n")

    assert main([str(page)]) == 0

    written = page.read_text()
    assert "stale" not in written and "`OPENCLAW_NO_RESPAWN`" in written
    assert written.startswith("a\n") and written.endswith("-->\nb\n")


def test_unknown_table_is_an_error() -> None:
    with pytest.raises(KeyError):
        with_tables("<!-- made by `make docs`: nosuch -->\n<!-- end -->")
