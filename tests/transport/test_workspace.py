"""The private folders are private, and gone when their owner is."""

import asyncio
import fcntl
import os
import resource
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clawmarshal.errors import NotLaunchedError, SettingsError
from clawmarshal.transport.folders import filesystem_of, sweep, write_private
from clawmarshal.transport.removing import remove_tree
from clawmarshal.transport.workspace import AttemptFolder, Workspace
from tests.support.turns import descriptors


def mode(path: Path) -> int:
    return path.lstat().st_mode & 0o7777


def during(
    workspace: Workspace, look: Callable[[AttemptFolder], object], message: bytes = b"x"
) -> None:
    """Hold the folder of one attempt while a test looks at it."""

    async def hold() -> None:
        async with workspace.attempt(message) as folder:
            look(folder)

    asyncio.run(hold())


def test_everything_is_private_whatever_the_umask(tmp_path: Path) -> None:
    def look(folder: AttemptFolder) -> None:
        modes = [mode(p) for p in (workspace.path, folder.path, folder.cwd, workspace.home)]
        assert modes == [0o700] * 4
        assert mode(folder.message_file) == 0o600
        assert folder.message_file.read_bytes() == b"hello"
        assert not list(folder.cwd.iterdir())

    before = os.umask(0)
    try:
        workspace = Workspace(tmp_path)
        during(workspace, look, b"hello")
    finally:
        os.umask(before)
    workspace.close()


def test_attempt_leaves_nothing_even_when_it_fails(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)

    def fail(folder: AttemptFolder) -> None:
        (folder.cwd / "junk").write_text("left by the child")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        during(workspace, fail)

    assert not list(workspace.path.glob("at-*"))
    workspace.close()
    assert not list(tmp_path.iterdir())


def test_attempt_that_the_child_removed_itself_is_gone(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)

    during(workspace, lambda folder: remove_tree(folder.path))

    assert not list(workspace.path.glob("at-*"))
    workspace.close()


@pytest.mark.parametrize("what", ["all", "home", "replaced"])
def test_folder_that_was_taken_away_is_made_again(tmp_path: Path, what: str) -> None:
    workspace = Workspace(tmp_path)
    first = workspace.path
    remove_tree(workspace.home if what == "home" else first)
    if what == "replaced":
        first.mkdir(mode=0o777)

    def look(folder: AttemptFolder) -> None:
        assert folder.message_file.read_bytes() == b"x"
        assert [mode(p) for p in (workspace.path, workspace.home, workspace.tmp)] == [0o700] * 3
        assert (workspace.path == first) is (what == "home")

    during(workspace, look)
    workspace.close()

    assert [path for path in tmp_path.iterdir() if path != first] == []


def test_folder_made_again_is_locked_as_the_first_was(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    remove_tree(workspace.path)
    workspace.ensure()

    assert sweep(tmp_path) == []

    workspace.close()


def test_folder_that_cannot_be_made_again_is_not_launched(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    workspace = Workspace(tmp_path / "base")
    remove_tree(tmp_path / "base")

    with pytest.raises(NotLaunchedError) as caught:
        during(workspace, lambda folder: None)

    assert caught.value.code == "no-message-file"
    workspace.close()


def test_closed_workspace_makes_nothing(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.close()

    with pytest.raises(NotLaunchedError) as caught:
        workspace.ensure()

    assert caught.value.code == "transport-closed"
    assert not list(tmp_path.iterdir())


def test_disk_is_refused_where_a_tmpfs_is_asked_for(tmp_path: Path) -> None:
    if filesystem_of(tmp_path) in ("tmpfs", "ramfs"):
        pytest.skip("the tests' own folder is on a tmpfs")

    with pytest.raises(SettingsError, match="needs_tmpfs"):
        Workspace(tmp_path, needs_tmpfs=True)

    assert not list(tmp_path.iterdir())


def test_tmpfs_is_taken_where_it_is_asked_for() -> None:
    workspace = Workspace(needs_tmpfs=True)

    assert filesystem_of(workspace.path) == "tmpfs"
    assert workspace.path.parent == Path("/dev/shm")

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
    (dead / "at-1").mkdir()
    (dead / "at-1" / "message.txt").touch()
    (tmp_path / "clawmarshal-turns-file").touch()
    (tmp_path / "clawmarshal-turns-link").symlink_to(tmp_path)

    assert sweep(tmp_path) == [dead]

    assert not dead.exists()
    assert alive.path.exists()
    alive.close()


def test_new_folder_is_left_until_it_is_old(tmp_path: Path) -> None:
    new, old = tmp_path / ".new-clawmarshal-turns-a", tmp_path / ".new-clawmarshal-turns-b"
    new.mkdir()
    old.mkdir()
    os.utime(old, (0, 0))

    assert sweep(tmp_path) == [old]


def test_second_service_leaves_the_first_alone(tmp_path: Path) -> None:
    first = Workspace(tmp_path)

    def look(folder: AttemptFolder) -> None:
        second = Workspace(tmp_path)
        assert folder.message_file.exists()
        second.close()
        assert folder.message_file.exists()

    during(first, look)
    first.close()


def test_lock_goes_with_the_owner(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    lock = os.open(workspace.path, os.O_RDONLY)
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


def make_deep(top: Path, levels: int) -> None:
    """Make folders in folders, further than a path or Python's recursion reaches."""
    here = os.open(top, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", 0o700, dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.fchmod(here, 0)
    os.close(here)


def test_folders_of_any_depth_are_removed_with_few_descriptors(unprivileged: Path) -> None:
    (unprivileged / "tree").mkdir()
    make_deep(unprivileged / "tree", 3000)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = descriptors()
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
    try:
        remove_tree(unprivileged / "tree")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert not list(unprivileged.iterdir())
    assert descriptors() == before


def test_many_folders_beside_one_another_are_removed(unprivileged: Path) -> None:
    for name in range(300):
        (unprivileged / "tree" / str(name) / "inner").mkdir(parents=True)

    remove_tree(unprivileged / "tree")

    assert not list(unprivileged.iterdir())


def test_deep_folders_of_a_service_that_is_gone_keep_no_other_from_its_start(
    tmp_path: Path,
) -> None:
    left = tmp_path / "clawmarshal-turns-gone"
    left.mkdir()
    make_deep(left, 1500)

    workspace = Workspace(tmp_path)

    assert list(tmp_path.iterdir()) == [workspace.path]
    workspace.close()


def test_folder_that_cannot_be_removed_is_named_in_the_log(
    unprivileged: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (unprivileged / "closed" / "tree" / "inner").mkdir(parents=True)
    (unprivileged / "closed").chmod(0o500)

    remove_tree(unprivileged / "closed" / "tree")

    assert f"{unprivileged}/closed/tree cannot be removed whole" in caplog.text
    assert not list((unprivileged / "closed" / "tree").iterdir())
    (unprivileged / "closed").chmod(0o700)


def test_folder_of_another_user_does_not_keep_the_rest(unprivileged: Path) -> None:
    if os.geteuid() == os.getuid():
        pytest.skip("only root can make a folder of another user")
    tree = unprivileged / "tree"
    for name in ("a", "foreign", "z"):
        (tree / name / "inner").mkdir(parents=True)
    os.seteuid(0)
    os.chown(tree / "foreign", 0, 0)
    os.chmod(tree / "foreign", 0o700)
    os.seteuid(65534)

    remove_tree(tree)

    assert [path.name for path in tree.iterdir()] == ["foreign"]
    os.seteuid(0)


def test_missing_parent_says_so(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="No such file"):
        Workspace(tmp_path / "nosuch")


def test_parent_with_unusual_characters_says_so(tmp_path: Path) -> None:
    (tmp_path / "a\nb").mkdir()

    with pytest.raises(SettingsError, match="characters"):
        Workspace(tmp_path / "a\nb")


def test_base_that_leaves_no_room_for_a_name_is_not_launched(tmp_path: Path) -> None:
    base = tmp_path
    while len(str(base)) < 3800:
        base = base / ("d" * 200)
    base = base / ("e" * (4050 - len(str(base)) - 1))
    base.mkdir(parents=True)
    workspace = Workspace(base)

    with pytest.raises(NotLaunchedError, match="too long") as caught:
        during(workspace, lambda folder: None)

    assert caught.value.code == "no-message-file"
    workspace.close()
    assert not list(base.iterdir())


def test_message_that_does_not_fit_on_the_disk_is_not_launched(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        with pytest.raises(NotLaunchedError) as caught:
            during(workspace, lambda folder: None, b"x" * 100)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert caught.value.code == "no-message-file"
    assert not list(workspace.path.glob("at-*"))
    workspace.close()
