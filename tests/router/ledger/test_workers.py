"""A lock that ends with its process."""

import os
import stat
from pathlib import Path

import pytest

from clawmarshal.errors import LedgerUnavailableError
from clawmarshal.router.ledger.workers import WorkerLocks


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "workers"


def test_held_lock_is_alive_for_all(folder: Path) -> None:
    own, other = WorkerLocks(folder), WorkerLocks(folder)
    own.hold("wk_1")
    assert not own.is_dead("wk_1")
    assert not other.is_dead("wk_1")


def test_released_lock_is_dead(folder: Path) -> None:
    own, other = WorkerLocks(folder), WorkerLocks(folder)
    own.hold("wk_1")
    own.release("wk_1")
    assert other.is_dead("wk_1")
    assert list(folder.iterdir()) == []
    own.release("wk_1")


def test_unlocked_file_is_dead_and_swept(folder: Path) -> None:
    own = WorkerLocks(folder)
    own.hold("wk_1")
    (folder / "wk_2.lock").touch()  # what a killed process leaves behind
    assert WorkerLocks(folder).is_dead("wk_2")
    WorkerLocks(folder).sweep()
    assert [path.name for path in folder.iterdir()] == ["wk_1.lock"]


def test_file_that_cannot_be_looked_at_is_not_judged(folder: Path) -> None:
    own = WorkerLocks(folder)
    own.hold("wk_1")
    (folder / "wk_2.lock").mkdir()  # opening it for writing fails
    assert not own.is_dead("wk_2")


def test_lock_is_not_inherited_by_programs(folder: Path) -> None:
    own = WorkerLocks(folder)
    own.hold("wk_1")
    assert not os.get_inheritable(own._held["wk_1"])
    assert stat.S_IMODE((folder / "wk_1.lock").stat().st_mode) == 0o600


def test_lock_of_a_name_in_use_is_refused(folder: Path) -> None:
    own = WorkerLocks(folder)
    folder.mkdir()
    (folder / "wk_1.new").touch()
    with pytest.raises(LedgerUnavailableError):
        own.hold("wk_1")


def test_own_lock_is_alive_though_its_file_was_removed(folder: Path) -> None:
    own = WorkerLocks(folder)
    own.hold("wk_1")
    (folder / "wk_1.lock").unlink()
    assert not own.is_dead("wk_1")
    assert WorkerLocks(folder).is_dead("wk_1")
