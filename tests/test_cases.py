"""Every case from the field is answered by tests that exist."""

import json
import re
from pathlib import Path

import pytest

from tests.support.service import run_python

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "cases.md"
AREAS = {
    "Output": "B001 B002 B004 B005 B007 B008 B009 B010 B011",
    "Process": "B013 B014 B016 B017 B019 B020",
    "Concurrency": "B022 B023 B025 B026 B028 B029",
    "Duplicates": "B031 B032 B033 B034 B035 B037",
    "Wrong agent": "B044 B046 B047 B049 B050",
    "Agent id": "B052 B053 B055",
    "Encoding and argv": "B056 B058 B059 B061 B062",
    "Temporary files": "B064 B065",
    "Secrets": "B066 B067 B068",
    "Injection": "B070 B071 B073",
}
COLLECT = """
import json, pathlib, sys, pytest
class Names:
    def pytest_collection_finish(self, session):
        names = json.dumps([one.nodeid for one in session.items])
        pathlib.Path({out!r}).write_text(names)
sys.exit(pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", *{files!r}], [Names()]))
"""


def rows() -> dict[str, list[list[str]]]:
    """Return the rows of each area, cell by cell."""
    areas: dict[str, list[list[str]]] = {}
    for part in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        title, *lines = part.splitlines()
        cells = [line.strip("|").split(" | ") for line in lines if line.startswith("| B")]
        areas[title] = [[cell.strip() for cell in row] for row in cells]
    return areas


def named(cell: str) -> list[str]:
    return re.findall(r"`(tests/[^`]+)`", cell)


def test_every_case_has_its_row_in_its_area() -> None:
    found = {area: " ".join(row[0][:4] for row in table) for area, table in rows().items()}

    assert found == AREAS


def test_every_row_says_where_it_was_seen_and_names_a_test() -> None:
    for row in [row for table in rows().values() for row in table]:
        assert len(row) == 4, row
        assert row[1] and row[2] and named(row[3]), row


@pytest.mark.timeout(240)
def test_every_test_that_is_named_exists(tmp_path: Path) -> None:
    wanted = {test for table in rows().values() for row in table for test in named(row[3])}
    files = sorted({test.partition("::")[0] for test in wanted})
    out = tmp_path / "names.json"

    code, told, err = run_python(COLLECT.format(out=str(out), files=files), cwd=ROOT)

    assert code == 0, told + err
    exact = set(json.loads(out.read_text()))
    known = exact | {name.partition("[")[0] for name in exact}
    assert sorted(wanted - known) == []
