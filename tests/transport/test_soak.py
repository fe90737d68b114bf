"""Five hundred turns of everything that can go wrong: every outcome right, and nothing left."""

from pathlib import Path

from bench.soak import soak
from tests.support.behaviours import BEHAVIOURS

TURNS = 500
FLAT_KIB = 40 * 1024
"""What the service may grow by: each thread that reads large outputs keeps about 4 MiB."""


def test_five_hundred_turns_with_faults_leave_nothing(tmp_path: Path) -> None:
    report = soak(TURNS, seed=20_260_906, side_by_side=8, folder=tmp_path)

    assert report.turns == TURNS
    assert report.wrong == []
    assert report.left == dict.fromkeys(report.left, 0)
    assert len(report.drawn) > len(BEHAVIOURS) * 0.8
    first = min(kib for _, kib in report.memory["service"])
    assert report.memory["service"][-1][1] - first < FLAT_KIB
    spawner = [kib for _, kib in report.memory["spawner"]]
    assert max(spawner) - min(spawner) < 4 * 1024
