"""What `make run` says before there is a Python to say it."""

import shutil
import sys
from pathlib import Path

import pytest

from tests.support.fenced import ROOT
from tests.support.newcomer import running

OLD = """\
#!/bin/sh
# Python 3.10, as far as a version check can tell.
exec {python} -c 'import sys; sys.version_info = (3, 10, 4); exec(sys.argv[1])' "$2"
"""
NO_VENV = """\
#!/bin/sh
[ "$1" = -m ] || exit 0
mkdir -p "$3/bin" && touch "$3/bin/python"
echo 'ensurepip is not available; apt install python3-venv' >&2
exit 1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    return tmp_path


def script(folder: Path, text: str) -> str:
    file = folder / "fake-python"
    file.write_text(text, encoding="utf-8")
    file.chmod(0o755)
    return str(file)


def said(folder: Path, python: str) -> list[str]:
    """Run make with a Python; return its lines, without make's own word that it failed."""
    with running("make", "run", f"PYTHON={python}", folder=folder) as process:
        code, printed = process.ended(60)
    assert code == 2
    assert not (folder / ".venv").exists()
    assert not any("Traceback" in line for line in process.errors)
    return printed + [line for line in process.errors if not line.startswith("make:")]


def test_an_old_python_is_one_line_with_the_mend(folder: Path) -> None:
    python = script(folder, OLD.format(python=sys.executable))
    (line,) = said(folder, python)
    assert "needs Python 3.11 or later" in line
    assert "is 3.10" in line
    assert "make run PYTHON=" in line


def test_no_python_at_all_is_one_line_with_the_mend(folder: Path) -> None:
    (line,) = said(folder, "/nowhere/python3")
    assert "there is no /nowhere/python3" in line
    assert "make run PYTHON=" in line


def test_a_virtual_environment_that_could_not_be_made_is_not_taken_for_one(folder: Path) -> None:
    (line,) = said(folder, script(folder, NO_VENV))
    assert "python3-venv" in line
