"""``keys`` at a terminal: an end, a rotation with an overlap, and the last use."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from clawmarshal.api import cli
from clawmarshal.api.opening import opened_ledger
from tests.support.service import configure, settings_of

Said = Callable[..., tuple[int, str]]


@pytest.fixture
def said(tmp_path: Path) -> Said:
    config = str(configure(tmp_path))

    def run(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(cli.app, ["keys", *arguments, "--config", config])
        return done.exit_code, done.stdout

    return run


def listed(said: Said) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(said("list", "--json")[1])["keys"]
    return rows


def test_a_key_is_made_with_an_end(said: Said) -> None:
    made = said("create", "--name", "n", "--scopes", "route", "--expires", "90d")
    assert made[0] == 0
    (row,) = listed(said)
    lives = datetime.fromisoformat(row["expires_at"]) - datetime.fromisoformat(row["created_at"])
    assert lives == timedelta(days=90)
    assert (row["state"], row["last_used_at"]) == ("active", None)


def test_a_rotation_prints_the_new_key_alone_and_says_when_the_old_one_ends(
    said: Said, tmp_path: Path
) -> None:
    old = said("create", "--name", "n", "--person", "p", "--scopes", "route,pin")[1].strip()
    first = listed(said)[0]["id"]
    code, out = said("rotate", first, "--overlap", "1h")
    new = out.splitlines()[0]
    assert code == 0 and new.startswith("cmk_") and new != old
    rows = {row["id"]: row for row in listed(said)}
    assert [row["state"] for row in rows.values()] == ["replaced", "active"]
    second = rows[rows[first]["replaced_by"]]
    assert (second["person"], second["scopes"]) == ("p", ["pin", "route"])
    with opened_ledger(settings_of(tmp_path / "clawmarshal.yaml")) as ledger:
        assert ledger.authenticate(old) is not None
        assert ledger.authenticate(new) is not None
    assert said("rotate", first)[0] == 1
    assert json.loads(said("rotate", second["id"], "--overlap", "0", "--json")[1])["old"][
        "state"
    ] in ("over", "replaced")
    with opened_ledger(settings_of(tmp_path / "clawmarshal.yaml")) as ledger:
        assert ledger.authenticate(new) is None


def test_the_list_says_when_a_key_was_used(said: Said, tmp_path: Path) -> None:
    said("create", "--name", "n", "--scopes", "route")
    with opened_ledger(settings_of(tmp_path / "clawmarshal.yaml")) as ledger:
        ledger.key_used(ledger.list_keys()[0].id, "192.0.2.7")
    row = listed(said)[0]
    assert row["last_used_at"] is not None and row["last_address"] == "192.0.2.7"
    assert "never" in said("list")[1]


@pytest.mark.parametrize("written", ["", "1", "1y", "-1h", "0", "0h", "99999999d", "\u0661h"])
def test_an_end_that_is_none_is_refused(said: Said, written: str) -> None:
    made = said("create", "--name", "n", "--scopes", "route", "--expires", written)
    assert made[0] == 2
