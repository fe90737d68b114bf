"""The pages about settings and the API say what the code says."""

import dataclasses
import re
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from clawmarshal.api.app import create_app
from clawmarshal.api.problems import PROBLEMS
from clawmarshal.api.schemas import RouteBody
from clawmarshal.api.settings import Settings
from tests.support.fake_desk import FakeDesk, fake_parts

DOCS = Path(__file__).resolve().parents[2] / "docs"
ROOMS = Path(__file__).resolve().parents[2]


def keys_of(model: Any, prefix: str = "") -> Iterator[str]:
    if issubclass(model, BaseModel):
        fields = {name: one.annotation for name, one in model.model_fields.items()}
    else:
        fields = {one.name: None for one in dataclasses.fields(model)}
    for name, kind in fields.items():
        is_section = isinstance(kind, type) and (
            issubclass(kind, BaseModel) or dataclasses.is_dataclass(kind)
        )
        if is_section and isinstance(kind, type):
            yield from keys_of(kind, f"{prefix}{name}.")
        else:
            yield prefix + name


def test_the_settings_table_names_every_setting_and_no_other() -> None:
    rows = re.findall(r"^\| `([a-z_.]+)` \|", (DOCS / "settings.md").read_text(), re.MULTILINE)
    assert sorted(rows) == sorted(keys_of(Settings))


def test_the_settings_table_names_the_defaults() -> None:
    text = (DOCS / "settings.md").read_text()
    written = dict(re.findall(r"^\| `([a-z_.]+)` \| `([^`]+)` \|", text, re.MULTILINE))
    sections = {
        name: one.annotation() if name == "server" else one.default
        for name, one in Settings.model_fields.items()
        if name in ("server", "decision", "policy", "limits") and one.annotation is not None
    }
    for key, value in written.items():
        section, _, name = key.partition(".")
        if section in sections:
            actual = attrgetter(name)(sections[section])
            assert value == (f"{actual:g}" if isinstance(actual, float) else str(actual)), key


def test_the_api_page_names_every_problem_with_its_status() -> None:
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| (\d{3}) \| (.+) \|$", _api_page(), re.MULTILINE)
    assert rows == [(code, str(kind.status), kind.title) for code, kind in PROBLEMS.items()]


def test_the_api_page_names_every_path_and_every_field_of_a_message() -> None:
    page = _api_page()
    for path in create_app(fake_parts(FakeDesk())).openapi()["paths"]:
        written = re.sub(r"\{\w+_id\}", "{id}", path)
        assert written in page, path
    for field in RouteBody.model_fields:
        assert f"`{field}`" in page, field


CODES_OF_OTHER_SURFACES = {"ledger-url", "ledger-newer", "ledger-constraint", "key-invalid"}
CODES_OF_OTHER_SURFACES |= {"scope-invalid", "text-not-utf8", "ledger-older", "ledger-unsafe"}
CODES_OF_OTHER_SURFACES |= {"ledger-driver", "ledger-network", "not-a-ledger", "key-ended"}
CODES_OF_THEIR_CLASS = {"illegal-move", "route-moved"}


@pytest.mark.parametrize("room", ["router/ledger", "router/desk.py", "router/message.py"])
def test_every_code_that_a_request_can_meet_has_a_problem(room: str) -> None:
    place = ROOMS / room
    files = [place] if place.is_file() else sorted(place.glob("*.py"))
    raised = {
        code
        for file in files
        for code in re.findall(r"Error\([^()]*code=\"([a-z-]+)\"", file.read_text(), re.DOTALL)
    }
    assert raised
    assert not raised - set(PROBLEMS) - CODES_OF_OTHER_SURFACES - CODES_OF_THEIR_CLASS


def _api_page() -> str:
    return (DOCS / "api.md").read_text(encoding="utf-8")
