"""``compare``: two models on identical inputs."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmarshal.api.cli import main
from clawmarshal.roster.agent import Risk
from clawmarshal.router.comparison import Flip, compare
from clawmarshal.router.evaluation import Prediction
from clawmarshal.router.labels import Label
from tests.support.labelled import labelled, write
from tests.support.service import ROSTER

Said = Callable[..., tuple[int, str, str]]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Said:
    (tmp_path / "fleet.yaml").write_text(ROSTER, encoding="utf-8")
    data = write(tmp_path / "in.jsonl", labelled("finance", "security", "none", count=5))

    def call(*arguments: str) -> tuple[int, str, str]:
        fixed = ("--roster", str(tmp_path / "fleet.yaml"), "--data", str(data))
        code = main(("compare", *arguments, *fixed))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def found(row: str, agent: str, *, top: str | None = None, ms: float = 1.0) -> Prediction:
    return Prediction(row, agent, 0.8, top or agent, 0.1, Risk.LOW, ms)


def test_a_model_agrees_with_itself(said: Said) -> None:
    code, out, _ = said("lexical", "lexical", "--json")
    told = json.loads(out)
    assert code == 0
    assert told["agree"]["value"] == 1.0
    assert told["flips"] == []
    assert told["rows"] == told["labelled"] == 15
    assert told["first"]["right"] == told["second"]["right"]
    assert told["first"]["latency_p95_ms"] > 0


def test_a_model_by_import_path_is_compared(said: Said) -> None:
    code, out, _ = said("lexical", "tests.support.service:model", "--json")
    told = json.loads(out)
    assert code == 0
    assert told["second"]["model"].startswith("scripted")
    assert told["second"]["top1"]["value"] == 0.5
    assert all(flip["second"] == "finance" for flip in told["flips"])


def test_for_people_flips_are_ids(said: Said) -> None:
    code, out, _ = said("lexical", "tests.support.service:model")
    assert code == 0
    assert "same answer" in out
    assert "none-0: none -> finance  (it is none)" in out
    assert "tomato" not in out


def test_a_model_that_is_not_there_is_named(said: Said) -> None:
    code, _, err = said("lexical", "oracle")
    assert code == 1
    assert "there is no model 'oracle'" in err


def test_flips_say_who_mends_and_who_breaks() -> None:
    told = compare(
        [found("a", "finance"), found("b", "none", top="security"), found("c", "finance")],
        [found("a", "security"), found("b", "security"), found("c", "finance")],
        [Label("a", "finance"), Label("b", "security")],
        names=("one", "two"),
    )
    assert told.flips == (
        Flip("a", "finance", "security", "finance"),
        Flip("b", "none", "security", "security"),
    )
    assert (told.mended, told.broken) == (1, 1)
    assert (told.agree.hits, told.agree_top.hits) == (1, 2)
    assert (told.first.right.hits, told.second.right.hits) == (1, 1)
    assert told.second.top1.hits == 1


def test_without_labels_there_is_agreement_alone() -> None:
    told = compare([found("a", "x")], [found("a", "y")], [], names=("one", "two"))
    assert told.labelled == 0
    assert told.first.right.value is None
    assert told.first.calibration_error is None
    assert told.flips == (Flip("a", "x", "y", None),)
    assert (told.mended, told.broken) == (0, 0)
