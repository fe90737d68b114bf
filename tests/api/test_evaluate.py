"""``evaluate`` with labels: on the terminal, as JSON, and as one page that hostile names fill."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest

from clawmarshal.api.cli import main
from clawmarshal.api.plots import MAX_MATRIX, coverage_plot, matrix, reliability_plot
from clawmarshal.api.report_page import report_page
from clawmarshal.api.report_text import report_lines
from clawmarshal.roster.agent import Risk
from clawmarshal.router.evaluation import Prediction
from clawmarshal.router.labels import Label
from clawmarshal.router.report import Cell, Report, report_of
from clawmarshal.router.scoring import Point, reliability
from tests.support.deciding import FLEET
from tests.support.service import ROSTER

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
ROWS = (
    {"id": "m1", "text": "Which invoices are due?", "agent": "finance", "lang": "en"},
    {"id": "m2", "text": "A phishing report about a credential.", "agent": "security"},
    {"id": "m3", "text": "Water the tomatoes.", "agent": "none", "outcome": "hold"},
    {"id": "m4", "text": "  ", "agent": "finance", "risk": "low"},
)
Said = Callable[..., tuple[int, str, str]]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Said:
    (tmp_path / "fleet.yaml").write_text(ROSTER, encoding="utf-8")

    def call(*arguments: str, rows: tuple[dict[str, str], ...] = ROWS) -> tuple[int, str, str]:
        data = tmp_path / "labelled.jsonl"
        data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        fixed = ("--roster", str(tmp_path / "fleet.yaml"), "--data", str(data))
        code = main(("evaluate", *fixed, "--model", "lexical", *arguments))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


class Page(HTMLParser):
    """The elements of a page, and what is outside of them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.values: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.values += [value or "" for _, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


def hostile_report() -> Report:
    predictions = [
        Prediction(HOSTILE, HOSTILE, 0.9, HOSTILE, 0.1, Risk.HIGH, 1.0, None, 0.9, "hold", HOSTILE),
        Prediction("b", "none", 0.1, "finance", 0.1, Risk.LOW, 1.0, HOSTILE, 0.3),
    ]
    labels = [
        Label(HOSTILE, "finance", frozenset({Risk.LOW}), HOSTILE, HOSTILE, HOSTILE),
        Label("b", "finance"),
    ]
    return report_of(predictions, labels, roster=FLEET, model=HOSTILE)


def test_a_report_on_the_terminal_says_how_right_it_was(said: Said) -> None:
    code, out, err = said("--report")
    assert code == 0
    assert "4 labelled of 4 messages, 2 agents" in out
    assert "calibration error" in out
    assert "coverage against error" in out
    assert re.search(r"^finance +2 ", out, re.MULTILINE)
    assert re.search(r"^en +1 ", out, re.MULTILINE)
    assert "no usable answer" in out
    assert "4 rows in" in err


def test_a_report_holds_no_message_text(said: Said, tmp_path: Path) -> None:
    files = [tmp_path / "r.json", tmp_path / "r.html"]
    code, out, _ = said("--report", "--report-json", str(files[0]), "--report-html", str(files[1]))
    assert code == 0
    for text in (out, *(file.read_text(encoding="utf-8") for file in files)):
        assert "tomatoes" not in text
        assert "invoices are due" not in text


def test_a_report_as_json_has_every_figure(said: Said, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    code, out, _ = said("--report-json", str(file), "--json")
    report = json.loads(file.read_text(encoding="utf-8"))
    assert code == 0
    assert json.loads(out)["report_json"] == str(file)
    assert report["labelled"] == 4
    assert len(report["reliability"]) == 15
    assert {line["name"] for line in report["by_agent"]} == {"finance", "security"}
    assert report["outcome_right"]["count"] == 1
    assert sum(report["errors"].values()) == 1


def test_predictions_can_be_written_beside_a_report(said: Said, tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    code, _, _ = said("--report", "--predictions", str(file))
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert code == 0
    assert [line["id"] for line in lines] == ["m1", "m2", "m3", "m4"]
    assert set(lines[0]) == {
        "id",
        "agent",
        "confidence",
        "top",
        "p_none",
        "risk",
        "latency_ms",
    }


def test_something_must_be_asked_for(said: Said) -> None:
    code, _, err = said()
    assert code == 2
    assert "--report" in err


def test_a_report_needs_a_label(said: Said) -> None:
    code, _, err = said("--report", rows=({"id": "a", "text": "hello"},))
    assert code == 2
    assert "no label" in err


def test_a_label_that_the_roster_has_not_is_refused(said: Said) -> None:
    code, _, err = said("--report", rows=({"id": "a", "text": "hello", "agent": "cook"},))
    assert code == 1
    assert "the roster has no agent 'cook'" in err


@pytest.mark.parametrize("place", ["no/such/folder.html", "."], ids=["no folder", "a folder"])
def test_a_place_that_cannot_be_written_is_refused_at_once(
    said: Said, tmp_path: Path, place: str
) -> None:
    code, _, err = said("--report-html", str(tmp_path / place))
    assert code == 1
    assert "cannot be written" in err


def test_the_page_needs_nothing_else(said: Said, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    assert said("--report-html", str(file))[0] == 0
    text = file.read_text(encoding="utf-8")
    page = Page(text)
    assert text.lstrip().startswith("<!doctype html>")
    assert not page.tags & {"script", "link", "img", "iframe", "object", "embed", "form"}
    assert not page.attributes & {"src", "href", "srcset"}
    assert not any(name.startswith("on") for name in page.attributes)
    assert not re.search(r"https?:|url\(|@import", text)
    assert "default-src 'none'" in " ".join(page.values)
    assert {"svg", "polyline", "circle", "rect"} <= page.tags
    assert "prefers-color-scheme: dark" in text
    assert "width=device-width" in text


def test_hostile_names_stay_text() -> None:
    text = report_page(hostile_report(), made_at=NOW, source=HOSTILE)
    page = Page(text)
    assert not page.tags & {"script", "img"}
    assert "onerror" not in page.attributes
    assert page.text.count(HOSTILE) >= 5
    assert "<script" not in text


def test_a_page_of_nothing_labelled_by_agents_can_be_made() -> None:
    report = report_of([], [], roster=FLEET, model="test")
    text = report_page(report, made_at=NOW, source="x")
    assert "nothing is labelled" in text
    assert list(report_lines(report))


def test_risk_and_outcomes_have_their_own_matrix() -> None:
    text = report_page(hostile_report(), made_at=NOW, source="x")
    assert 'aria-label="Risk tiers"' in text
    assert 'aria-label="Outcomes"' in text


def test_a_reliability_plot_draws_what_is_there() -> None:
    from clawmarshal.router.scoring import Stated

    plot = reliability_plot(reliability([Stated(1.0, True), Stated(0.02, False)]))
    assert len(plot.dots) == 2
    assert plot.dots[0].x < plot.dots[1].x
    assert plot.dots[0].y > plot.dots[1].y
    assert plot.dots[1].y == pytest.approx(plot.frame.top)
    assert all(dot.low >= dot.y >= dot.high - 0.1 for dot in plot.dots)


def test_a_coverage_plot_marks_thresholds() -> None:
    curve = (Point(0.9, 0.5, 0.0), Point(0.4, 1.0, 0.25))
    plot = coverage_plot(curve, thresholds={0.5, 0.95})
    (mark,) = plot.marks
    assert "from 0.50: 50% acted on, 0.0% of it wrong" in mark.title
    assert mark.y == pytest.approx(plot.frame.bottom)


def test_a_matrix_puts_nobody_first_and_too_many_names_aside() -> None:
    drawn = matrix((Cell("a", "none", 1), Cell("none", "none", 3), Cell("zeta", "zeta", 2)))
    assert drawn is not None
    assert drawn.names == ("none", "a", "zeta")
    assert [square.is_right for square in drawn.squares] == [False, True, True]
    many = tuple(Cell(f"a{number}", f"a{number}", 1) for number in range(MAX_MATRIX + 1))
    assert matrix(many) is None
    assert matrix(()) is None


def test_tiers_stand_in_their_order_and_a_small_matrix_is_drawn_larger() -> None:
    cells = tuple(Cell(tier, "low", 1) for tier in ("high", "low", "medium"))
    order = ("low", "medium", "high")
    drawn = matrix(cells, order=order)
    large = matrix(tuple(Cell(f"a{number}", "none", 1) for number in range(20)))
    assert drawn is not None
    assert large is not None
    assert drawn.names == order
    assert drawn.side > large.side


EVERYTHING = tuple(
    row | {"risk": "low", "lang": "en", "outcome": "dispatch"} for row in ROWS if row["id"] != "m4"
)


def test_the_page_shows_every_part_with_its_axes(said: Said, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    assert said("--report-html", str(file), rows=EVERYTHING)[0] == 0
    text = file.read_text(encoding="utf-8")
    for label in ("Reliability curve", "Coverage against error", "Confusion matrix", "Risk tiers"):
        assert f'aria-label="{label}"' in text
    for axis in ("stated probability", "share that was right", "share acted on"):
        assert f">{axis}</text>" in text
    assert ">share of it that is wrong</text>" in text
    for name in ("finance", "security", "en"):
        assert f'<th scope="row">{name}' in text
    assert "its stated probability is off by 0." in text


def test_the_terminal_and_the_json_have_every_part_too(said: Said, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    code, out, _ = said("--report", "--report-json", str(file), rows=EVERYTHING)
    assert code == 0
    for part in ("stated probability against", "coverage against error", "most confused"):
        assert part in out
    assert re.search(r"^agent +messages", out, re.MULTILINE)
    assert re.search(r"^language +messages", out, re.MULTILINE)
    assert re.search(r"^calibration error of risk +0\.\d+", out, re.MULTILINE)
    told = json.loads(file.read_text(encoding="utf-8"))
    assert {"reliability", "coverage", "confusion", "by_agent", "by_language"} <= told.keys()
    assert all(told[name] for name in ("reliability", "coverage", "confusion", "by_language"))
    assert told["risk"]["calibration_error"] is not None
