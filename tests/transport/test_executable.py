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


def refused(*command: object) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        resolve(command)  # type: ignore[arg-type]  # paths of every kind
    return caught.value


def refusal(*command: object) -> tuple[str, str]:
    error = refused(*command)
    return error.code, str(error)


def test_missing_says_so(folder: Path) -> None:
    code, said = refusal(folder / "nosuch")

    assert code == "cli-missing" and "No such file" in said


def test_links_in_a_circle_are_missing(folder: Path) -> None:
    (folder / "a").symlink_to(folder / "b")
    (folder / "b").symlink_to(folder / "a")

    assert refused(folder / "a").code == "cli-missing"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may run whatever has one x")
def test_not_executable_for_us_says_so(folder: Path) -> None:
    assert refused(program(folder, mode=0o611)).code == "cli-not-executable"


def test_not_executable_says_so(folder: Path) -> None:
    code, said = refusal(program(folder, mode=0o600))

    assert code == "cli-not-executable" and "not executable" in said


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_not_readable_says_so(folder: Path) -> None:
    assert refused(program(folder), program(folder, "o.mjs", 0o300)).code == "cli-not-readable"


def test_directory_says_so(folder: Path) -> None:
    assert refusal(folder)[0] == "cli-folder"


def test_special_file_says_so(folder: Path) -> None:
    os.mkfifo(folder / "fifo")

    assert refusal(folder / "fifo")[0] == "cli-special-file"
    assert refused("/dev/null").code == "cli-special-file"


@pytest.mark.parametrize("path", ["openclaw", "./openclaw", "", "~/openclaw", "C:\\openclaw.exe"])
def test_relative_says_so(path: str) -> None:
    code, said = refusal(path)

    assert code == "cli-not-absolute" and "not an absolute path" in said


@pytest.mark.parametrize(
    "path", ["/bin/a\0b", "/bin/a\nb", "/bin/\x1b[2J", "/bin/a\u202eb"], ids=repr
)
def test_control_characters_are_refused(path: str) -> None:
    code, said = refusal(path)

    assert code == "cli-characters" and said.isprintable()


@pytest.mark.parametrize("name", ["openclaw.cmd", "openclaw.BAT", "openclaw.ps1"])
def test_batch_file_names_the_way_to_configure_node(folder: Path, name: str) -> None:
    code, said = refusal(program(folder, name))

    assert code == "cli-batch-file" and "openclaw.mjs]" in said
    assert refused(program(folder, "node"), folder / name).code == "cli-batch-file"
    assert refused("C:\\Users\\ann\\npm\\" + name).code == "cli-batch-file"


NPM_SHIM = """#!/bin/sh
basedir=$(dirname "$(echo "$0" | sed -e 's,\\\\,/,g')")
if [ -x "$basedir/node" ]; then
  exec "$basedir/node"  "$basedir/../openclaw/openclaw.mjs" "$@"
else
  exec node  "$basedir/../openclaw/openclaw.mjs" "$@"
fi
"""


def make_shim(folder: Path, kind: str) -> tuple[Path, Path]:
    """Install a script and a shim for it as a package manager does; return both."""
    for name in ("bin", "openclaw"):
        (folder / name).mkdir(mode=0o755)
    script = program(folder / "openclaw", "openclaw.mjs")
    shim = folder / "bin" / "openclaw"
    if kind == "link":
        shim.symlink_to("../openclaw/openclaw.mjs")
    else:
        shim.write_text(NPM_SHIM)
        shim.chmod(0o755)
    return shim, script


@pytest.mark.parametrize("kind", ["link", "shell script"])
def test_shim_beside_node_becomes_node_and_script(folder: Path, kind: str) -> None:
    shim, script = make_shim(folder, kind)
    node = program(folder / "bin", "node")

    assert resolve([str(shim)]).parts == (str(node), str(script))


@pytest.mark.parametrize("kind", ["link", "shell script"])
def test_shim_without_node_names_the_way_to_configure_it(folder: Path, kind: str) -> None:
    shim, script = make_shim(folder, kind)

    code, said = refusal(shim)

    assert code == "cli-shim" and str(script) in said and "command: [/path/to/node" in said


@pytest.mark.parametrize("kind", ["link", "shell script"])
def test_what_is_behind_a_shim_is_checked_too(folder: Path, kind: str) -> None:
    shim, script = make_shim(folder, kind)
    node = program(folder / "bin", "node", 0o757)

    assert refused(shim).code == "cli-writable"
    node.chmod(0o755)
    script.chmod(0o757)
    assert refused(shim).code == "cli-writable"


def test_links_are_resolved_for_good(folder: Path) -> None:
    real = program(folder, "openclaw-1")
    (folder / "openclaw").symlink_to(real)
    found = resolve([str(folder / "openclaw")])

    (folder / "openclaw").unlink()
    (folder / "openclaw").symlink_to(program(folder, "openclaw-2"))

    assert found.parts == found.files == (str(real),)


def test_writable_by_others_is_refused_with_the_mend(folder: Path) -> None:
    path = program(folder, mode=0o757)

    code, said = refusal(path)

    assert code == "cli-writable" and f"chmod go-w {path}" in said


AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")


@AS_ROOT
@pytest.mark.parametrize("group", [1, 54321], ids=["known", "unknown"])
def test_writable_by_another_group_is_refused(folder: Path, group: int) -> None:
    path = program(folder, mode=0o775)
    os.chown(path, -1, group)

    assert refused(path).code == "cli-writable"


@AS_ROOT
@pytest.mark.parametrize("owner", [1, 54321], ids=["known", "unknown"])
@pytest.mark.parametrize("what", ["file", "folder", "folder above", "link"])
def test_belonging_to_another_user_is_refused(folder: Path, owner: int, what: str) -> None:
    (folder / "a" / "b").mkdir(parents=True)
    path = program(folder / "a" / "b")
    link = folder / "link"
    link.symlink_to(path)
    place = {"file": path, "folder": path.parent, "folder above": folder / "a", "link": link}[what]
    os.chown(place, owner, -1, follow_symlinks=False)

    code, said = refusal(link)

    assert code == "cli-owner" and str(place) in said and "chown" in said


def test_writable_by_the_owners_own_group_is_accepted(folder: Path) -> None:
    path = program(folder, mode=0o775)

    assert resolve([str(path)])


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_folder_writable_by_others_is_refused_however_far_above_unless_sticky(
    folder: Path, depth: int
) -> None:
    (folder / "a" / "b").mkdir(parents=True)
    path = program(folder / "a" / "b")
    place = path.parents[depth]
    place.chmod(0o777)

    code, said = refusal(path)

    assert code == "cli-writable" and f"chmod go-w {place}" in said
    place.chmod(0o1777)
    assert resolve([str(path)])
    place.chmod(0o700)


@AS_ROOT
def test_in_a_sticky_folder_what_belongs_to_another_is_refused(folder: Path) -> None:
    path = program(folder)
    folder.chmod(0o1777)
    os.chown(path, 54321, -1)

    assert refused(path).code == "cli-owner"
    folder.chmod(0o700)


def test_folder_that_a_link_passes_through_counts(folder: Path) -> None:
    (folder / "open").mkdir()
    path = program(folder)
    (folder / "open" / "second").symlink_to(path)
    (folder / "first").symlink_to("open/../open/second")
    (folder / "open").chmod(0o777)

    assert refused(folder / "first").code == "cli-writable"
    (folder / "open").chmod(0o755)
    assert resolve([str(folder / "first")]).parts == (str(path),)


def test_script_in_a_folder_writable_by_others_is_refused(folder: Path) -> None:
    (folder / "open").mkdir()
    (folder / "open").chmod(0o777)

    error = refused(program(folder, "node"), program(folder / "open", "o.mjs"))

    assert error.code == "cli-writable"


@pytest.mark.parametrize(
    ("extra", "code"),
    [
        (["--deliver"], "cli-not-absolute"),
        (["-I", "--local"], "cli-not-absolute"),
        (["--require", "/x.js", "/o.mjs"], "cli-arguments"),
        (["--require=/x.js", "/o.mjs"], "cli-arguments"),
        (["-r", "/o.mjs"], "cli-arguments"),
        (["/o.mjs", "agent"], "cli-arguments"),
        (["--max-old-space-size=64\n--eval", "/o.mjs"], "cli-arguments"),
    ],
    ids=" ".join,
)
def test_no_argument_can_be_added(folder: Path, extra: list[str], code: str) -> None:
    assert refused(program(folder, "node"), *extra).code == code


@pytest.mark.parametrize("command", ["/usr/bin/openclaw agent", b"/usr/bin/openclaw", []], ids=repr)
def test_line_of_text_is_refused(command: object) -> None:
    with pytest.raises(SettingsError) as caught:
        resolve(command)  # type: ignore[arg-type]  # bad on purpose
    assert caught.value.code == "cli-arguments"


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
