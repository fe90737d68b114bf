"""``calibrate``: from labelled lines and from reviewers, into a file that the settings load."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmarshal.api.cli import main
from clawmarshal.api.models import load_model, read_heads
from clawmarshal.api.settings import load_settings
from clawmarshal.errors import SettingsError
from clawmarshal.router.models.head import shipped_heads
from tests.support.labelled import labelled, write
from tests.support.service import ROSTER, configure, settings_of, wired

Said = Callable[..., tuple[int, str, str]]
EVERYBODY = ("finance", "security", "none")


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Said:
    (tmp_path / "fleet.yaml").write_text(ROSTER, encoding="utf-8")

    def call(*arguments: str) -> tuple[int, str, str]:
        fixed = ("--roster", str(tmp_path / "fleet.yaml"), "--model", "lexical")
        code = main(("calibrate", *fixed, "--out", str(tmp_path / "my.head.json"), *arguments))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_labelled_lines_become_a_fit(said: Said, tmp_path: Path) -> None:
    data = write(tmp_path / "labelled.jsonl", labelled(*EVERYBODY))
    code, out, err = said("--data", str(data))
    assert code == 0
    assert "75 labelled messages, 25 of them nobody's" in out
    assert "cross-validation" in out
    assert re.search(r"policy\.min_probability 0\.\d+ and policy\.min_margin 0\.\d+ keep 90%", out)
    assert "do not use it" in out
    assert "answers right" in out
    assert "decision.head" not in err
    document = json.loads((tmp_path / "my.head.json").read_text(encoding="utf-8"))
    assert document["provenance"]["data"] == "labelled.jsonl"
    assert len(document["provenance"]["data_sha256"]) == 64
    shipped = shipped_heads().by_name["lexical"]
    assert document["heads"]["lexical"]["option"] != dict(shipped.option)
    assert document["heads"]["lexical"]["none"] != dict(shipped.none)
    assert "tomato" not in json.dumps(document)


def test_the_figures_as_json(said: Said, tmp_path: Path) -> None:
    data = write(tmp_path / "labelled.jsonl", labelled(*EVERYBODY))
    code, out, _ = said("--data", str(data), "--json", "--precision", "0.8")
    told = json.loads(out)
    assert code == 0
    assert told["error_after"] < told["error_before"]
    assert told["precision"] == 0.8
    assert 0 < told["min_probability"] < 1
    assert told["min_margin"] == 0.05
    assert told["helps"] is False


def test_a_fit_that_helps_says_where_it_is_named(said: Said, tmp_path: Path) -> None:
    data = write(tmp_path / "labelled.jsonl", labelled("finance", "security"))
    code, out, err = said("--data", str(data))
    assert code == 0
    assert "do not use it" not in out
    assert "decision.head" in err


def test_too_few_are_refused_and_nothing_is_written(said: Said, tmp_path: Path) -> None:
    data = write(tmp_path / "labelled.jsonl", labelled("finance", count=12))
    code, _, err = said("--data", str(data))
    assert code == 1
    assert "12 labelled messages can be used and 50 are needed" in err
    assert not (tmp_path / "my.head.json").exists()


@pytest.mark.parametrize(
    "arguments",
    [(), ("--data", "x", "--precision", "2")],
    ids=["no labels", "no share"],
)
def test_wrong_usage_is_exit_2(said: Said, arguments: tuple[str, ...]) -> None:
    assert said(*arguments)[0] == 2


def test_the_settings_load_the_fit(said: Said, tmp_path: Path) -> None:
    data = write(tmp_path / "labelled.jsonl", labelled(*EVERYBODY))
    assert said("--data", str(data))[0] == 0
    config = configure(tmp_path)
    text = config.read_text(encoding="utf-8")
    config.write_text(
        text.replace("{model: lexical}", "{model: lexical, head: my.head.json}"), encoding="utf-8"
    )
    settings = settings_of(config)
    assert settings.decision.head == tmp_path / "my.head.json"
    version = read_heads(tmp_path / "my.head.json").version
    model = load_model("lexical", head=settings.decision.head)
    assert model.name == f"clawmarshal-local-{version}"


@pytest.mark.parametrize(
    "text",
    ["{", "[]", "{}", '{"version": 1, "encoder": "", "heads": [], "background": []}'],
    ids=["no JSON", "a list", "empty", "no heads"],
)
def test_a_file_that_is_no_fit_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.head.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match="clawmarshal calibrate"):
        load_model("lexical", head=path)


def test_a_fit_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        load_model("lexical", head=tmp_path / "no.head.json")


def test_a_fit_belongs_to_models_of_ours(tmp_path: Path) -> None:
    config = configure(tmp_path)
    text = config.read_text(encoding="utf-8")
    config.write_text(
        text.replace("{model: lexical}", "{model: 'a:b', head: x.json}"), encoding="utf-8"
    )
    with pytest.raises(SettingsError, match=r"decision\.head is for model"):
        load_settings(config, environ={})
    with pytest.raises(SettingsError, match=r"decision\.head"):
        load_model("a:b", head=tmp_path / "x.json")


def reviewed(config: Path, *, to: str | None = None, every: int = 1, count: int = 50) -> None:
    """Let messages be held, and a reviewer approve each, every so manyth as another agent."""
    texts = [row["text"] for row in labelled("finance", "security")][:count]
    with wired(config) as (client, service):
        route = service.ledger.create_key("r", "ann", ["route"])
        review = service.ledger.create_key("v", "rita", ["review"])
        for number, text in enumerate(texts):
            body = {"text": f"nobody {text}", "wait_s": 5}
            held = client.request("POST", "/route", key=route, json=body).json()["hold_id"]
            answer = {"agent": to} if to and number % every == 0 else {}
            path = f"/holds/{held}/approve"
            done = client.request("POST", path, key=review, json=answer)
            assert done.status_code == 200, done.text


def test_what_reviewers_approved_counts_as_labels(said: Said, tmp_path: Path) -> None:
    config = configure(tmp_path)
    reviewed(config, to="security", every=2)
    code, out, err = said("--config", str(config), "--json")
    assert code == 0, err
    document = json.loads((tmp_path / "my.head.json").read_text(encoding="utf-8"))
    assert document["provenance"]["reviews"] == 50
    assert json.loads(out)["rows"] == 50


def test_a_reassignment_is_the_label_and_not_what_was_suggested(said: Said, tmp_path: Path) -> None:
    shares = []
    for name, to in (("as suggested", None), ("reassigned", "security")):
        (tmp_path / name).mkdir()
        config = configure(tmp_path / name)
        reviewed(config, to=to)
        code, out, err = said("--config", str(config), "--json")
        assert code == 0, err
        shares.append(json.loads(out)["right_after"])
    assert shares[1] < shares[0] - 0.2


def test_too_few_reviews_are_refused(said: Said, tmp_path: Path) -> None:
    config = configure(tmp_path)
    reviewed(config, count=12)
    code, _, err = said("--config", str(config))
    assert code == 1
    assert "12 labelled messages can be used and 50 are needed: with fewer" in err
    assert not (tmp_path / "my.head.json").exists()
