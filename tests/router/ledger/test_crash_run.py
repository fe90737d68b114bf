"""A short form of bench/crash.py: a few hundred messages, processes killed at drawn edges."""

from contextlib import closing
from pathlib import Path

import pytest

from bench.crash import EDGES, Report, backend, count, crash
from bench.crash_part import note
from clawmarshal.router.ledger.ledger import Ledger
from tests.support.ledger_cases import DONE, launching

MESSAGES, KILLS, WORKERS, SEED = 160, 4, 3, 20_261_201


@pytest.mark.parametrize("name", ["sqlite", "postgresql"])
def test_killed_stopped_and_restarted_it_loses_nothing_and_launches_nothing_twice(
    tmp_path: Path, name: str
) -> None:
    with backend(name, tmp_path) as (url, restart):
        report = crash(
            url,
            tmp_path,
            messages=MESSAGES,
            kills=KILLS,
            workers=WORKERS,
            seed=SEED,
            restart=restart,
        )
    assert (report.twice, report.lost, report.wrong) == ([], [], [])
    assert report.answered == report.states.total() == MESSAGES
    assert report.kills.total() == KILLS and set(report.kills) <= set(EDGES)
    assert (report.stops, report.restarts) == (1, int(restart is not None))
    # Were a launch repeated, the children's own file would say so.
    assert report.states["done"] <= report.launches <= MESSAGES
    assert report.states["unknown"] > 0


@pytest.mark.parametrize(
    ("file", "line", "found"),
    [("launches", b"000003\n", "twice"), ("answered", b"000099\n", "lost")],
    ids=["a double launch", "a lost message"],
)
def test_the_count_sees(tmp_path: Path, file: str, line: bytes, found: str) -> None:
    with backend("sqlite", tmp_path) as (url, _), closing(Ledger(url)) as ledger:
        worker = ledger.register_worker("test")
        for number in range(5):
            text = f"What is due for case {number:06d}"
            order = launching(ledger, worker, text=text, key=f"k-{number}")
            ledger.finish(order, DONE)
            note(tmp_path / "answered", number)
            note(tmp_path / "launches", number)
        report = Report("sqlite", messages=5)
        count(report, ledger, tmp_path)
        assert report.is_right
        with (tmp_path / file).open("ab") as stream:
            stream.write(line)
        report = Report("sqlite", messages=5)
        count(report, ledger, tmp_path)
        assert getattr(report, found) == [int(line)]
