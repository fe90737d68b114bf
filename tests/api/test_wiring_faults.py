"""What a service says when something that was configured cannot be used."""

import sys
import time
from pathlib import Path

import pytest

from clawmarshal.api.models import load_model
from clawmarshal.api.wiring import wire
from clawmarshal.errors import SettingsError
from clawmarshal.router.models.scripted import ScriptedModel
from tests.support.asgi import served
from tests.support.fake_openclaw import FLAGS, write_fake
from tests.support.service import configure, play, settings_of, wired

SILENT = """#!{python} -I
import os, sys
if not os.path.exists({mark!r}): sys.exit(1)
print("OpenClaw 2026.9.6" if sys.argv[1] == "--version" else {flags!r})
"""


def test_a_cli_that_is_silent_makes_the_service_unready_until_it_speaks(tmp_path: Path) -> None:
    mark, cli = tmp_path / "speaks", tmp_path / "openclaw"
    text = SILENT.format(python=sys.executable, mark=str(mark), flags=" ".join(FLAGS))
    cli.write_text(text, encoding="utf-8")
    cli.chmod(0o755)
    service = wire(settings_of(configure(tmp_path, command=[str(cli)])), model=ScriptedModel(play))
    service.probe_again_s = 0.05
    with served(service.app()) as client:
        key = service.ledger.create_key("n", "ann", ["route"])
        silent = client.request("GET", "/readyz", key=key)
        assert (silent.status_code, silent.json()["reasons"]) == (503, ["cli-silent"])
        mark.touch()
        deadline = time.monotonic() + 20
        while client.request("GET", "/readyz").is_error and time.monotonic() < deadline:
            pass
        ready = client.request("GET", "/readyz", key=key)
        assert (ready.status_code, ready.json()["transport"]) == (200, "openclaw 2026.9.6")


def test_a_cli_that_vanishes_is_seen_while_the_service_runs(tmp_path: Path) -> None:
    cli = write_fake(tmp_path)
    config = configure(tmp_path, command=cli.command)
    service = wire(settings_of(config), model=ScriptedModel(play))
    service.probe_again_s = 0.05
    with served(service.app()) as client:
        key = service.ledger.create_key("n", "ann", ["route"])
        assert client.request("GET", "/readyz").status_code == 200
        cli.path.unlink()
        deadline = time.monotonic() + 20
        while client.request("GET", "/readyz").is_success and time.monotonic() < deadline:
            pass
        assert client.request("GET", "/readyz", key=key).json()["reasons"] == ["cli-missing"]
        write_fake(tmp_path, version="OpenClaw 2026.5.1")
        while time.monotonic() < deadline:
            reasons = client.request("GET", "/readyz", key=key).json()["reasons"]
            if reasons == ["cli-version"]:
                break
        assert reasons == ["cli-version"]


@pytest.mark.parametrize(
    ("version", "words"), [("OpenClaw 2026.7.1", "older than"), ("nonsense", "its version")]
)
def test_a_cli_that_cannot_be_launched_refuses_the_start(
    tmp_path: Path, version: str, words: str
) -> None:
    cli = write_fake(tmp_path, version=version)
    with (
        pytest.raises(SettingsError, match=words),
        wired(configure(tmp_path, command=cli.command)),
    ):
        pass


def _make(tmp_path: Path, kind: str) -> list[str]:
    path = tmp_path / ("openclaw.cmd" if kind == "batch file" else "openclaw")
    if kind != "missing":
        path.write_text("#!/bin/sh\n", encoding="utf-8")
        path.chmod(0o644 if kind == "not executable" else 0o755)
    return ["openclaw"] if kind == "relative" else [str(path)]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("missing", "No such file"),
        ("not executable", "not executable"),
        ("batch file", "batch file"),
        ("relative", "not an absolute path"),
    ],
)
def test_a_command_that_cannot_run_is_said_with_its_key(
    tmp_path: Path, kind: str, words: str
) -> None:
    config = configure(tmp_path, command=_make(tmp_path, kind))
    with pytest.raises(SettingsError, match=rf"transport\.command.*{words}"):
        wire(settings_of(config), model=ScriptedModel(play))


def test_a_client_configuration_that_is_missing_is_said(tmp_path: Path) -> None:
    config = configure(tmp_path, command=write_fake(tmp_path).command)
    (tmp_path / "client.json5").unlink()
    with pytest.raises(SettingsError, match=r"transport\.openclaw_config"):
        wire(settings_of(config), model=ScriptedModel(play))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("policy: {fallback: finanse}\n", r"policy\.fallback.*did you mean finance"),
        ("decision: {model: 'no.such:thing'}\n", r"decision\.model.*no module"),
        ("decision: {model: 'os:nothing'}\n", r"decision\.model.*has no nothing"),
        ("decision: {model: 'os:sep'}\n", r"decision\.model.*no answer"),
    ],
)
def test_a_name_that_leads_nowhere_is_said_with_its_key(
    tmp_path: Path, more: str, words: str
) -> None:
    config = configure(tmp_path)
    kept = [line for line in config.read_text().splitlines() if more[:8] not in line]
    config.write_text("\n".join([*kept, more]))
    with pytest.raises(SettingsError, match=words):
        wire(settings_of(config))


def test_a_model_of_one_s_own_is_found_by_its_import_path() -> None:
    model = load_model("tests.support.service:model")
    assert model.name == "scripted"
    assert load_model("lexical").name.startswith("clawmarshal-local")


def test_a_ledger_without_its_folder_is_said_with_the_mend(tmp_path: Path) -> None:
    config = configure(tmp_path)
    text = config.read_text().replace("sqlite:///ledger.db", "sqlite:///missing/ledger.db")
    config.write_text(text)
    with pytest.raises(SettingsError, match=r"ledger: there is no folder .*make it"):
        wire(settings_of(config), model=ScriptedModel(play))


def test_a_file_that_is_no_ledger_is_said(tmp_path: Path) -> None:
    config = configure(tmp_path)
    (tmp_path / "ledger.db").write_bytes(b"not a database, but long enough to look like one" * 99)
    with pytest.raises(SettingsError, match="ledger"):
        wire(settings_of(config), model=ScriptedModel(play))
