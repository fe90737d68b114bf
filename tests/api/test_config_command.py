"""``config``: check, show and schema."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from clawmarshal.api.cli import main
from clawmarshal.api.commands.config import NESTED, settings_schema
from clawmarshal.api.settings import Settings
from tests.support.service import configure

ROOT = Path(__file__).parents[2]
Said = Callable[..., tuple[int, str, str]]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(["config", *arguments])
        told = capsys.readouterr()
        return code, told.out, told.err

    return call


def test_a_good_configuration_is_said_to_be(said: Said, tmp_path: Path) -> None:
    config = str(configure(tmp_path))
    code, out, _ = said("check", "-c", config)
    assert (code, out.startswith("ok: 2 agents, 2 reached, revision ")) == (0, True)
    code, out, _ = said("check", "-c", config, "--json")
    told = json.loads(out)
    assert (told["ok"], told["reached"]) == (True, ["finance", "security"])
    assert len(told["revision"]) == 12
    assert not (tmp_path / "ledger.db").exists(), "it starts and makes nothing"


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("polcy: {}\n", "policy"),
        ("limits: {lease_s: 0}\n", "lease_s"),
        ("policy: {fallback: nobody}\n", "nobody"),
        ("audit: {key_file: none}\n", "audit.key_file"),
    ],
)
def test_what_is_wrong_is_said_with_its_mend(
    said: Said, tmp_path: Path, more: str, says: str
) -> None:
    code, out, err = said("check", "-c", str(configure(tmp_path, more=more)))
    assert (code, out) == (1, "")
    assert says in err


def test_every_setting_is_shown_with_where_it_comes_from(
    said: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAWMARSHAL_LIMITS__LEASE_S", "45")
    config = str(configure(tmp_path, more="policy: {min_margin: 0.1}\n"))
    code, out, _ = said("show", "-c", config, "--json")
    told = json.loads(out)
    assert code == 0
    assert told["limits.lease_s"] == {"value": 45.0, "from": "CLAWMARSHAL_LIMITS__LEASE_S"}
    assert told["policy.min_margin"] == {"value": 0.1, "from": "file"}
    assert told["policy.min_probability"] == {"value": 0.5, "from": "default"}
    assert told["mode"] == {"value": "enforce", "from": "default"}
    names = {name.partition(".")[0] for name in told}
    assert names == set(Settings.model_fields)
    assert {name.partition(".")[0] for name in told if "." in name} == NESTED
    code, out, _ = said("show", "-c", config)
    assert "limits.lease_s" in out
    assert "CLAWMARSHAL_LIMITS__LEASE_S" in out


def test_the_published_schema_is_that_of_the_settings(said: Said) -> None:
    assert (ROOT / "docs" / "settings.schema.json").read_text("utf-8") == settings_schema()
    assert said("schema")[1] == settings_schema()


def test_the_example_fits_the_schema_and_a_typo_does_not() -> None:
    schema: dict[str, Any] = json.loads(settings_schema())
    validator = Draft202012Validator(schema)
    example = yaml.safe_load((ROOT / "examples" / "clawmarshal.yaml").read_text("utf-8"))
    assert list(validator.iter_errors(example)) == []
    assert list(validator.iter_errors({**example, "polcy": {}}))
    assert list(validator.iter_errors({**example, "limits": {"lease_s": "soon"}}))
