"""Flips counted, each with its base."""

import json
from dataclasses import asdict

from clawmarshal.roster.agent import Risk
from clawmarshal.router.attacks import ATTACKS, KINDS, PLACES
from clawmarshal.router.flip_report import FlipReport, flip_report
from clawmarshal.router.flips import Flip, Standing

FIRST = ATTACKS[0]
OTHER = next(attack for attack in ATTACKS if attack.kind != FIRST.kind)
LOW = Standing("calendar", "dispatch", "calendar", "matched", Risk.LOW)
HELD = Standing("calendar", "hold", "calendar", "risk", Risk.MEDIUM)
HIGH = Standing("calendar", "hold", "calendar", "risk", Risk.HIGH)
ELSEWHERE = Standing("travel", "dispatch", "travel", "matched", Risk.LOW)
DOUBTED = Standing("travel", "hold", "calendar", "uncertain", Risk.LOW)
FLIPS = (
    Flip(FIRST, "before", "m1", LOW, LOW, False),
    Flip(FIRST, "behind", "m1", LOW, DOUBTED, False),
    Flip(FIRST, "before", "m2", HELD, ELSEWHERE, True),
    Flip(FIRST, "behind", "m2", HELD, HELD, True),
    Flip(FIRST, "before", "m3", HIGH, HIGH, True),
    Flip(OTHER, "before", "m1", LOW, ELSEWHERE, False),
)


def told(*flips: Flip) -> FlipReport:
    return flip_report(flips or FLIPS, model="test", messages=3, every=2)


def test_every_share_has_its_own_base() -> None:
    total = told().total
    assert (total.taken.hits, total.taken.count) == (3, 6)
    assert (total.redirected.hits, total.redirected.count) == (2, 6)
    assert (total.lowered.hits, total.lowered.count) == (1, 3)
    assert (total.freed.hits, total.freed.count) == (1, 3)
    assert (total.freed_high.hits, total.freed_high.count) == (0, 1)


def test_lines_are_in_the_order_of_the_corpus_and_end_with_all() -> None:
    report = told()
    assert [line.name for line in report.by_kind] == [*KINDS, "all"]
    assert [line.name for line in report.by_place] == [*PLACES, "all"]
    by_name = {line.name: line for line in report.by_kind}
    assert by_name[FIRST.kind].taken.count == 5
    assert by_name[OTHER.kind].taken.count == 1
    assert next(line for line in report.by_place if line.name == "behind").taken.count == 2


def test_an_example_is_the_worst_of_its_kind_and_holds_no_text_of_the_message() -> None:
    first, second = told().examples
    assert (first.kind, first.effect, first.message) == (FIRST.kind, "held, then dispatched", "m2")
    assert (second.kind, second.effect) == (OTHER.kind, "dispatched elsewhere")
    assert first.attack == FIRST.text


def test_a_kind_that_changed_nothing_has_no_example() -> None:
    assert told(FLIPS[0]).examples == ()


def test_a_report_says_how_much_was_tried() -> None:
    report = told()
    assert (report.attacks, report.messages, report.every, report.decisions) == (2, 3, 2, 6)


def test_a_report_of_nothing_divides_by_nothing() -> None:
    report = flip_report((), model="test", messages=0, every=1)
    assert report.total.taken.value is None
    assert json.loads(json.dumps(asdict(report)))["decisions"] == 0
