"""Labels, and predictions counted against them."""

import json
from dataclasses import replace

import pytest

from clawmarshal.errors import MessageError
from clawmarshal.roster.agent import Risk
from clawmarshal.router.evaluation import Prediction
from clawmarshal.router.labels import Label, read_labels
from clawmarshal.router.report import Cell, Report, report_of
from tests.support.deciding import FLEET

AGENTS = {"finance", "personal", "security"}


def lines(*rows: object) -> list[bytes]:
    return [json.dumps(row).encode() for row in rows]


def found(
    row: str, agent: str, *, top: str | None = None, sure: float = 0.8, none: float = 0.1
) -> Prediction:
    routed = agent != "none"
    return Prediction(
        id=row,
        agent=agent,
        confidence=sure if routed else none,
        top=top or agent,
        p_none=none,
        risk=Risk.LOW,
        latency_ms=2.0,
        top_probability=sure,
        outcome="dispatch" if routed else "hold",
        reason=None if routed else "no_match",
    )


def told() -> Report:
    predictions = [
        found("a", "finance", sure=0.9),
        found("b", "security", sure=0.7),
        found("c", "none", top="personal", sure=0.3),
        found("d", "none", top="finance", sure=0.2, none=0.7),
        found("e", "finance", sure=0.6),
        found("unlabelled", "finance"),
    ]
    labels = [
        Label("a", "finance", risk=frozenset({Risk.LOW}), language="en", outcome="dispatch"),
        Label("b", "finance", risk=frozenset({Risk.HIGH}), language="de"),
        Label("c", "personal", risk=frozenset({Risk.LOW, Risk.MEDIUM}), language="en"),
        Label("d", "none", outcome="hold", reason="risk"),
        Label("e", "none"),
        Label("unlabelled", None, risk=frozenset({Risk.LOW})),
    ]
    return report_of(predictions, labels, roster=FLEET, model="test")


def test_labels_are_read() -> None:
    rows = lines(
        {"id": 1, "text": "a", "agent": "finance", "risk": "high", "lang": "de"},
        {"id": "b", "text": "b", "agent": None, "risk": ["low", "medium"]},
        {"id": "c", "text": "c", "outcome": "hold", "reason": "risk"},
    )
    read = read_labels([*rows, b"\n"], agents=AGENTS)
    assert read == (
        Label(1, "finance", frozenset({Risk.HIGH}), "de"),
        Label("b", "none", frozenset({Risk.LOW, Risk.MEDIUM})),
        Label("c", None, outcome="hold", reason="risk"),
    )


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ({"agent": "finnance"}, "line 1, column 1: the roster has no agent 'finnance'"),
        ({"agent": 7}, "agent is the id of an agent"),
        ({"risk": "severe"}, "risk is one of low, medium, high"),
        ({"risk": [["low"]]}, "risk is one of"),
        ({"lang": 3}, "lang is a text"),
    ],
    ids=["unknown agent", "a number", "unknown tier", "nested", "language"],
)
def test_a_bad_label_is_named_with_its_line(label: dict[str, object], words: str) -> None:
    with pytest.raises(MessageError) as raised:
        read_labels(lines({"id": 1, "text": "x", **label}), agents=AGENTS)
    assert raised.value.code == "labels-invalid"
    assert words in str(raised.value)


def test_shares_count_what_they_say() -> None:
    report = told()
    assert (report.rows, report.labelled) == (6, 5)
    assert (report.top1.hits, report.top1.count) == (2, 3)
    assert (report.right.hits, report.right.count) == (2, 5)
    assert (report.in_scope_routed.hits, report.in_scope_routed.count) == (2, 3)
    assert (report.routed_precision.hits, report.routed_precision.count) == (1, 3)
    assert (report.nobody_found.hits, report.nobody_found.count) == (1, 2)


def test_out_of_scope_is_told_by_the_probability_of_none() -> None:
    assert told().oos_auroc == pytest.approx((3 + 1.5) / 6)


def test_confusion_holds_every_labelled_row() -> None:
    report = told()
    assert sum(cell.count for cell in report.confusion) == 5
    assert Cell("finance", "security", 1) in report.confusion
    assert Cell("none", "none", 1) in report.confusion


def test_an_agent_line_names_who_takes_its_messages() -> None:
    by_name = {line.name: line for line in told().by_agent}
    assert by_name["finance"].taken_by == "security"
    assert (by_name["finance"].precision.hits, by_name["finance"].precision.count) == (1, 2)
    assert by_name["security"].count == 0
    assert by_name["personal"].taken_by is None


def test_languages_have_lines_where_rows_name_them() -> None:
    report = told()
    assert [(line.name, line.top1.hits, line.count) for line in report.by_language] == [
        ("de", 0, 1),
        ("en", 2, 2),
    ]
    plain = report_of([found("a", "finance")], [Label("a", "finance")], roster=FLEET, model="test")
    assert plain.by_language == ()


def test_risk_and_outcomes_are_counted_where_labelled() -> None:
    report = told()
    assert report.risk is not None
    assert (report.risk.accepted.hits, report.risk.accepted.count) == (3, 4)
    assert (report.risk.high_found.hits, report.risk.high_found.count) == (0, 1)
    assert (report.risk.false_high.hits, report.risk.false_high.count) == (0, 3)
    assert (report.outcome_right.hits, report.outcome_right.count) == (1, 2)
    assert Cell("hold: risk", "hold: no_match", 1) in report.outcomes


def test_the_stated_probability_of_a_tier_is_held_against_what_was_accepted() -> None:
    sure = Prediction("a", "none", 0.0, "none", 0.9, Risk.LOW, 1.0, risk_probability=0.9)
    wrong = replace(sure, id="b", risk=Risk.HIGH, risk_probability=0.6)
    unknown = replace(sure, id="c", risk_probability=None)
    labels = [Label(name, "none", risk=frozenset({Risk.LOW})) for name in "abc"]
    report = report_of([sure, wrong, unknown], labels, roster=FLEET, model="test")
    assert report.risk is not None
    assert report.risk.accepted.count == 3
    assert report.risk.calibration_error == pytest.approx((0.1 + 0.6) / 2)


def test_misses_are_ids_surest_first() -> None:
    assert [miss["id"] for miss in told().misses] == ["b", "e", "c"]


def test_coverage_is_about_best_agents_and_counts_nobody_as_wrong() -> None:
    assert [(point.threshold, point.error) for point in told().coverage] == [
        (0.9, 0.0),
        (0.7, 0.5),
        (0.6, pytest.approx(2 / 3)),
        (0.3, 0.5),
        (0.2, pytest.approx(0.6)),
    ]


def test_a_report_is_json() -> None:
    text = json.dumps(told().as_json(), allow_nan=False)
    assert json.loads(text)["right"]["count"] == 5


def test_an_answer_that_cannot_be_used_is_counted() -> None:
    broken = Prediction("a", "none", 0.0, "none", None, Risk.HIGH, 1.0, "deadline")
    report = report_of([broken], [Label("a", "finance")], roster=FLEET, model="test")
    assert report.errors == {"deadline": 1}
    assert report.top1.hits == 0
