"""Which programs are refused before anything runs, and what is said."""

import os
import sys
from pathlib import Path

import pytest

from clawmarshal.errors import NotLaunchedError, SettingsError
from clawmarshal.transport import executable as programs
from clawmarshal.transport.executable import (
    check_flags,
    check_version,
    find_openclaw,
    parse_version,
    resolve,
)
from tests.support.fake_openclaw import FLAGS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tmp_path.chmod(0o700)
    return tmp_path


def program(folder: Path, name: str = "openclaw", mode: int = 0o755) -> Path:
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


def test_absolute_executable_is_accepted(folder: Path) -> None:
    path = program(folder)

    assert resolve([str(path)]).parts == (str(path),)


def test_node_and_script_are_accepted_with_named_options(folder: Path) -> None:
    node, script = program(folder, "node"), program(folder, "openclaw.mjs", 0o644)

    found = resolve([str(node), "--max-old-space-size=64", str(script)])

    assert found.parts == (str(node), "--max-old-space-size=64", str(script))
    assert found.files == (str(node), str(script))


def test_own_interpreter_is_accepted_wherever_it_stands() -> None:
    assert resolve([sys.executable, "-I", str(Path(programs.__file__).with_name("stand_in.py"))])


def refusal(*command: object) -> str:
    with pytest.raises(SettingsError) as caught:
        resolve(command)  # type: ignore[arg-type]  # paths of every kind
    return str(caught.value)


def test_missing_says_so(folder: Path) -> None:
    assert "No such file" in refusal(folder / "nosuch")


def test_not_executable_says_so(folder: Path) -> None:
    assert "not executable" in refusal(program(folder, mode=0o644)) or os.geteuid() == 0
    assert "not executable" in refusal(program(folder, mode=0o600))


def test_directory_says_so(folder: Path) -> None:
    assert "is a directory" in refusal(folder)


def test_special_file_says_so(folder: Path) -> None:
    os.mkfifo(folder / "fifo")

    assert "not a regular file" in refusal(folder / "fifo")


def test_relative_says_so() -> None:
    assert "not an absolute path" in refusal("openclaw")


@pytest.mark.parametrize("name", ["openclaw.cmd", "openclaw.BAT", "openclaw.ps1"])
def test_batch_file_names_the_way_to_configure_node(folder: Path, name: str) -> None:
    said = refusal(program(folder, name))

    assert "batch file" in said and "openclaw.mjs]" in said


def test_npm_shim_names_the_way_to_configure_node(folder: Path) -> None:
    script = program(folder, "openclaw.mjs")
    shim = folder / "openclaw"
    shim.symlink_to(script)

    said = refusal(shim)

    assert str(script) in said and "command: [/path/to/node" in said


def test_writable_by_others_is_refused_with_the_mend(folder: Path) -> None:
    path = program(folder, mode=0o757)

    assert f"chmod go-w {path}" in refusal(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another group")
@pytest.mark.parametrize("group", [1, 54321], ids=["known", "unknown"])
def test_writable_by_another_group_is_refused(folder: Path, group: int) -> None:
    path = program(folder, mode=0o775)
    os.chown(path, -1, group)

    assert f"chmod go-w {path}" in refusal(path)


def test_writable_by_the_owners_own_group_is_accepted(folder: Path) -> None:
    path = program(folder, mode=0o775)

    assert resolve([str(path)])


def test_folder_writable_by_others_is_refused_unless_sticky(folder: Path) -> None:
    path = program(folder)
    folder.chmod(0o777)

    assert f"chmod go-w {folder}" in refusal(path)
    folder.chmod(0o1777)
    assert resolve([str(path)])
    folder.chmod(0o700)


def test_script_in_a_folder_writable_by_others_is_refused(folder: Path) -> None:
    (folder / "open").mkdir()
    (folder / "open").chmod(0o777)

    assert "others may write" in refusal(program(folder, "node"), program(folder / "open", "o.mjs"))


@pytest.mark.parametrize(
    "extra", [["--deliver"], ["-I", "--local"], ["--require", "x"]], ids=" ".join
)
def test_no_argument_can_be_added(folder: Path, extra: list[str]) -> None:
    node = program(folder, "node")

    assert refusal(node, *extra) or refusal(node, *extra, program(folder, "o.mjs"))


def test_line_of_text_is_refused() -> None:
    with pytest.raises(SettingsError):
        resolve("/usr/bin/openclaw agent")
    with pytest.raises(SettingsError):
        resolve([])


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ("OpenClaw 2026.9.6 (eb377ac)\n", "2026.9.6"),
        ("2026.10.12", "2026.10.12"),
        ("warn: x\nOpenClaw 2026.09.06-beta.1", "2026.9.6"),
        ("OpenClaw stand-in 2026.9.6 (no agent)", "2026.9.6"),
        ("v24.21.0", None),
        ("", None),
        ("2026.9.6.1", None),
    ],
    ids=repr,
)
def test_version_is_read(printed: str, version: str | None) -> None:
    assert parse_version(printed) == version


@pytest.mark.parametrize("version", ["2026.9.0", "2026.9.6", "2026.10.1", "2027.1.1"])
def test_new_enough_version_passes(version: str) -> None:
    assert check_version(version) == version


@pytest.mark.parametrize("version", ["2026.8.31", "2026.5.5", "2025.12.31", None])
def test_too_old_version_is_refused(version: str | None) -> None:
    with pytest.raises(NotLaunchedError) as caught:
        check_version(version)

    assert caught.value.code == "cli-version"


def test_help_with_every_flag_passes() -> None:
    check_flags("\n".join(FLAGS))


@pytest.mark.parametrize(
    "flag", ["--agent", "--session-key", "--message-file", "--timeout", "--json"]
)
def test_missing_flag_is_named(flag: str) -> None:
    text = "\n".join(line for line in FLAGS if not line.startswith(flag)) + f"\n{flag}-other"

    with pytest.raises(NotLaunchedError, match=flag) as caught:
        check_flags(text)
    assert caught.value.code == "cli-flags"


def test_installed_npm_shim_becomes_node_and_script(folder: Path) -> None:
    (folder / "bin").mkdir()
    node = program(folder / "bin", "node")
    script = program(folder, "openclaw.mjs")
    (folder / "bin" / "openclaw").symlink_to(script)

    assert find_openclaw({"PATH": f"rel:{folder / 'bin'}"}) == (str(node), str(script))


def test_installed_launcher_is_taken_as_it_is(folder: Path) -> None:
    path = program(folder)

    assert find_openclaw({"PATH": str(folder)}) == (str(path),)


def test_node_elsewhere_on_path_is_found(folder: Path) -> None:
    for name in ("bin", "nodebin"):
        (folder / name).mkdir()
    script = program(folder, "openclaw.mjs")
    (folder / "bin" / "openclaw").symlink_to(script)
    path = {"PATH": f"{folder / 'bin'}:{folder / 'nodebin'}"}

    with pytest.raises(SettingsError, match="no `node`"):
        find_openclaw(path)
    node = program(folder / "nodebin", "node")
    assert find_openclaw(path) == (str(node), str(script))


def test_nothing_installed_says_so() -> None:
    with pytest.raises(SettingsError, match="no `openclaw` on PATH"):
        find_openclaw({"PATH": "/nosuch"})


def test_fingerprint_changes_with_the_file(folder: Path) -> None:
    path = program(folder)
    found = resolve([str(path)])
    before = found.fingerprint()

    path.write_text("#!/bin/sh\n# other\n")

    assert found.fingerprint() != before
