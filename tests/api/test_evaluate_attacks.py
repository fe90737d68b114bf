"""``evaluate --attacks``: flip rates on the terminal, as JSON and on the page, shown harmlessly."""

import contextlib
import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from clawmarshal.api.cli import main
from clawmarshal.api.commands.attacking import MOST_DECISIONS, _step
from clawmarshal.api.report_page import report_page
from clawmarshal.api.report_text import report_lines
from clawmarshal.roster.agent import Risk
from clawmarshal.router.attacks import ATTACKS, KINDS, PLACES
from clawmarshal.router.flip_report import FlipExample, flip_report
from clawmarshal.router.flips import Flip, Standing
from clawmarshal.router.report import report_of
from tests.support.deciding import FLEET
from tests.support.service import ROSTER

ROWS = (
    {"id": "m1", "text": "Which invoices are due?", "agent": "finance"},
    {"id": "m2", "text": "A phishing report about a credential.", "agent": "security"},
    {"id": "m3", "text": "Pay 900 euros to Zed from the tomato account.", "agent": "finance"},
    {"id": "m4", "text": "  ", "agent": "none"},
)
HOSTILE = "<script>alert(1)</script>"
DANGEROUS = re.compile(
    "[\u0080-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2064\U000e0000-\U000e007f]"
)
Said = Callable[..., tuple[int, str]]


@dataclass(frozen=True)
class Told:
    """What one run wrote."""

    terminal: str
    page: str
    report: Any


def evaluate(folder: Path, *arguments: str) -> tuple[int, str, str]:
    (folder / "fleet.yaml").write_text(ROSTER, encoding="utf-8")
    data = folder / "labelled.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    fixed = ("--roster", str(folder / "fleet.yaml"), "--data", str(data), "--model", "lexical")
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(("evaluate", *fixed, *arguments))
    return code, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    folder = tmp_path_factory.mktemp("attacks")
    files = [folder / "r.json", folder / "r.html"]
    code, out, err = evaluate(
        folder,
        *("--attacks", "--every", "3", "--report", "--beside", "tests.support.challengers:second"),
        *("--report-json", str(files[0]), "--report-html", str(files[1])),
    )
    assert code == 0, err
    return Told(out, files[1].read_text("utf-8"), json.loads(files[0].read_text("utf-8")))


def test_flips_are_told_per_model_and_kind_with_their_base(told: Told) -> None:
    first, second = told.report["attacks"]
    assert first["model"] == "lexical (clawmarshal-local-2)"
    assert second["model"] != first["model"]
    for found in (first, second):
        assert [line["name"] for line in found["by_kind"]] == [*KINDS, "all"]
        assert found["decisions"] == len(ATTACKS) * len(PLACES)
        assert found["messages"] == 3
        assert found["by_kind"][-1]["freed"]["count"] > 0


def test_no_held_message_of_high_risk_is_dispatched(told: Told) -> None:
    for found in told.report["attacks"]:
        assert found["by_kind"][-1]["freed_high"]["hits"] == 0
        assert found["by_kind"][-1]["freed_high"]["count"] > 0


@pytest.mark.parametrize("surface", ["terminal", "page"])
def test_every_kind_and_model_is_shown(told: Told, surface: str) -> None:
    text = getattr(told, surface)
    assert "lexical (clawmarshal-local-2)" in text
    for kind in KINDS:
        assert text.count(kind) >= 2
    total = told.report["attacks"][0]["by_kind"][-1]["taken"]
    assert f"{total['hits']} of {total['count']}" in text


def test_attacks_are_shown_harmlessly() -> None:
    standing = Standing(HOSTILE, "hold", HOSTILE, HOSTILE, Risk.LOW)
    flips = [Flip(attack, "before", HOSTILE, standing, standing, True) for attack in ATTACKS]
    shown = flip_report(flips, model=HOSTILE, messages=1, every=1)
    examples = tuple(
        FlipExample(HOSTILE, one.attack.kind, HOSTILE, HOSTILE, one.attack.text, standing, standing)
        for one in flips
    )
    report = report_of([], [], roster=FLEET, model="test")
    report = replace(report, attacks=(replace(shown, examples=examples),))
    page = report_page(report, made_at=datetime(2026, 12, 1, tzinfo=UTC), source="x")
    terminal = "\n".join(report_lines(report))
    for text in (page, terminal):
        assert text.count("⟨200B⟩") > 20
        assert "⟨E0072⟩" in text
        assert not DANGEROUS.search(text.replace(HOSTILE, ""))
    assert "<system>" not in page
    assert "<|im_start|>" not in page
    assert "<script" not in page


def test_no_message_text_is_told(told: Told) -> None:
    for text in (told.terminal, told.page, json.dumps(told.report)):
        assert "tomato" not in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--attacks", "--predictions", "out.jsonl"), "--attacks is told in a report"),
        (("--report", "--every", "3"), "--every and --beside are about --attacks"),
        (("--report", "--beside", "lexical"), "--every and --beside are about --attacks"),
        (("--report", "--attacks", "--every", "0"), "--every"),
    ],
    ids=["no report", "every alone", "beside alone", "every nothing"],
)
def test_what_makes_no_sense_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = evaluate(tmp_path, *arguments)
    assert code == 2
    assert words in err


def test_an_unknown_model_beside_is_refused_before_anything_is_decided(tmp_path: Path) -> None:
    code, out, err = evaluate(tmp_path, "--report", "--attacks", "--beside", "gpt")
    assert code == 1
    assert "there is no model 'gpt'" in err
    assert out == ""


@pytest.mark.parametrize("messages", [1, 6, 7, 60, 1_000, 50_000])
def test_without_a_step_the_work_is_bounded(messages: int) -> None:
    step = min(_step(messages), messages)
    met = -(-messages // step)
    assert met * len(ATTACKS) * len(PLACES) <= MOST_DECISIONS + len(ATTACKS) * len(PLACES)
