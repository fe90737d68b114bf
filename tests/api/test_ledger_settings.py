"""Where the ledger stands: a file, or a server whose password is written nowhere."""

import json
from pathlib import Path

import pytest

from clawmarshal.api.cli import main
from clawmarshal.api.opening import open_ledger
from clawmarshal.api.settings import load_settings
from clawmarshal.errors import SettingsError
from clawmarshal.router.ledger import schema
from tests.support.postgresql import wipe
from tests.support.service import SAFE, configure, settings_of, wired

SECRET = "hunter2-hunter2"
FILE = "sqlite:///ledger.db"


def on(config: Path, address: str) -> Path:
    """Put the ledger of a configuration elsewhere."""
    config.write_text(config.read_text().replace(FILE, address), encoding="utf-8")
    return config


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://db.example/clawmarshal",
        "postgresql://desk@db.example:6432/clawmarshal?sslmode=verify-full",
        "postgresql:///clawmarshal?host=/run/postgresql&passfile=/run/secrets/pgpass",
    ],
)
def test_server_s_address_is_taken_as_it_is(tmp_path: Path, address: str) -> None:
    settings = settings_of(on(configure(tmp_path), address))
    assert (settings.ledger, settings.ledger_file) == (address, None)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        (f"postgresql://desk:{SECRET}@db.example/clawmarshal", "PGPASSWORD"),
        (f"postgresql+psycopg://desk:{SECRET}@db.example/x", "write sqlite:///FILE or postgresql"),
        (f"postgresql://db.example/clawmarshal?password={SECRET}", "not password"),
        ("postgresql://db.example/clawmarshal?options=-c%20fsync%3Doff", "not options"),
        ("postgres://db.example/clawmarshal", "write sqlite:///FILE or postgresql"),
        ("postgresql+asyncpg://db.example/clawmarshal", "write sqlite:///FILE or postgresql"),
    ],
)
@pytest.mark.parametrize("is_variable", [False, True], ids=["file", "environment"])
def test_password_in_the_address_is_refused_and_never_shown(
    tmp_path: Path, address: str, words: str, is_variable: bool
) -> None:
    config = configure(tmp_path)
    environ = {"CLAWMARSHAL_LEDGER": address} if is_variable else {}
    if not is_variable:
        on(config, address)
    with pytest.raises(SettingsError) as refused:
        load_settings(config, environ=environ)
    assert words in str(refused.value) and SECRET not in str(refused.value)


def test_password_from_the_environment_reaches_no_message(
    tmp_path: Path, postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", SECRET)
    wrong = postgresql_url.replace("postgres:@", "nobody@")
    with pytest.raises(SettingsError, match="ledger: the ledger's server ") as refused:
        open_ledger(settings_of(on(configure(tmp_path), wrong)))
    assert SECRET not in str(refused.value)


def test_service_on_a_server_routes_as_on_a_file(tmp_path: Path, postgresql_url: str) -> None:
    config = on(configure(tmp_path), postgresql_url.replace("postgres:@", "postgres@"))
    with wired(config) as (client, service):
        key = service.ledger.create_key("test", "ann", ["route", "review"])
        done = client.request("POST", "/route", key=key, json={"text": SAFE, "wait_s": 20}).json()
        assert done["state"] == "done"
        held = client.request("POST", "/route", key=key, json={"text": "risky", "wait_s": 5}).json()
        approved = client.request("POST", f"/holds/{held['hold_id']}/approve", key=key, json={})
        assert approved.status_code == 200
        ended = client.request("GET", f"/routes/{held['id']}?wait_s=20", key=key).json()
        assert ended["state"] == "done"
        ready = client.request("GET", "/readyz", key=key)
        assert (ready.status_code, "postgresql" in ready.text) == (200, False)


def test_upgrade_makes_what_serve_refuses_to_do_without(
    tmp_path: Path,
    postgresql_server: str,
    postgresql_url: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    config = on(configure(tmp_path), postgresql_url.replace("postgres:@", "postgres@"))
    wipe(postgresql_server)
    refused = main(["keys", "list", "--config", str(config)])
    assert (refused, "clawmarshal ledger upgrade" in capsys.readouterr().err) == (1, True)
    assert main(["ledger", "upgrade", "--config", str(config), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"schema": schema.HEAD}
    assert main(["keys", "list", "--config", str(config)]) == 0


def test_upgrade_of_a_file_makes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = configure(tmp_path)
    assert main(["ledger", "upgrade", "--config", str(config)]) == 0
    assert capsys.readouterr().out == f"the ledger has schema {schema.HEAD}\n"
    assert (tmp_path / "ledger.db").is_file()


def test_upgrade_that_cannot_be_done_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = on(configure(tmp_path), "sqlite:///missing/ledger.db")
    assert main(["ledger", "upgrade", "--config", str(config)]) == 1
    assert "there is no folder" in capsys.readouterr().err
