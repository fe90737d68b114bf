"""The private folders are private, and gone when their owner is."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from clawmarshal.errors import NotLaunchedError, SettingsError
from clawmarshal.transport.workspace import Workspace, remove_tree, sweep, write_private


def mode(path: Path) -> int:
    return path.lstat().st_mode & 0o7777


def test_everything_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        workspace = Workspace(tmp_path)
        with workspace.attempt(b"hello") as folder:
            modes = [mode(p) for p in (workspace.path, folder.path, folder.cwd, workspace.home)]
            assert modes == [0o700] * 4
            assert mode(folder.message_file) == mode(workspace.path / "lock") == 0o600
            assert folder.message_file.read_bytes() == b"hello"
            assert not list(folder.cwd.iterdir())
    finally:
        os.umask(before)
    workspace.close()


def test_attempt_leaves_nothing_even_when_it_fails(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)

    with pytest.raises(RuntimeError), workspace.attempt(b"x") as folder:
        (folder.cwd / "junk").write_text("left by the child")
        raise RuntimeError

    assert not folder.path.exists()
    workspace.close()
    assert not list(tmp_path.iterdir())


def test_folder_that_vanished_is_not_launched(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    remove_tree(workspace.path)

    with pytest.raises(NotLaunchedError) as caught, workspace.attempt(b"x"):
        pass

    assert caught.value.code == "no-message-file"
    workspace.close()


@pytest.mark.parametrize("kind", ["file", "link", "dangling"])
def test_message_file_never_goes_through_what_is_there(tmp_path: Path, kind: str) -> None:
    path, victim = tmp_path / "message.txt", tmp_path / "victim"
    if kind != "dangling":
        victim.write_text("precious")
    path.symlink_to(victim) if kind != "file" else path.write_text("precious")

    with pytest.raises(FileExistsError):
        write_private(path, b"x")

    assert not victim.exists() or victim.read_text() == "precious"


def test_sweep_takes_only_what_nobody_holds(tmp_path: Path) -> None:
    alive = Workspace(tmp_path)
    dead = tmp_path / "clawmarshal-turns-dead"
    dead.mkdir()
    (dead / "lock").touch()
    strange = tmp_path / "clawmarshal-turns-strange"
    strange.mkdir()
    (tmp_path / "clawmarshal-turns-file").touch()
    (tmp_path / "clawmarshal-turns-link").symlink_to(tmp_path)

    assert sweep(tmp_path) == [dead]

    assert not dead.exists()
    assert alive.path.exists() and strange.exists()
    alive.close()


def test_new_folder_is_left_until_it_is_old(tmp_path: Path) -> None:
    new, old = tmp_path / ".new-clawmarshal-turns-a", tmp_path / ".new-clawmarshal-turns-b"
    new.mkdir()
    old.mkdir()
    os.utime(old, (0, 0))

    assert sweep(tmp_path) == [old]


def test_second_service_leaves_the_first_alone(tmp_path: Path) -> None:
    first = Workspace(tmp_path)
    with first.attempt(b"x") as folder:
        second = Workspace(tmp_path)
        assert folder.message_file.exists()
        second.close()
        assert folder.message_file.exists()
    first.close()


def test_lock_goes_with_the_owner(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    lock = os.open(workspace.path / "lock", os.O_RDWR)
    with pytest.raises(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    workspace.close()
    workspace.close()

    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(lock)


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A folder of a user without special rights, whom the test becomes."""
    folder = Path(tempfile.mkdtemp())
    if os.geteuid() != 0:
        yield folder
    else:
        os.chown(folder, 65534, 65534)
        os.seteuid(65534)
        try:
            yield folder
        finally:
            os.seteuid(0)
    shutil.rmtree(folder)


def test_what_a_child_closed_off_is_removed(unprivileged: Path) -> None:
    inner = unprivileged / "tree" / "shut" / "inner"
    inner.mkdir(parents=True)
    (inner / "file").touch()
    (unprivileged / "outside").mkdir(mode=0o500)
    (unprivileged / "tree" / "link").symlink_to(unprivileged / "outside")
    for path in (inner, inner.parent, inner.parent.parent):
        path.chmod(0)

    remove_tree(unprivileged / "tree")

    assert [path.name for path in unprivileged.iterdir()] == ["outside"]
    assert mode(unprivileged / "outside") == 0o500


def test_missing_parent_says_so(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="No such file"):
        Workspace(tmp_path / "nosuch")


def test_parent_with_unusual_characters_says_so(tmp_path: Path) -> None:
    (tmp_path / "a\nb").mkdir()

    with pytest.raises(SettingsError, match="characters"):
        Workspace(tmp_path / "a\nb")
