"""What is counted about stated probabilities, each against a figure worked out by hand."""

import math
import random

import pytest

from clawmarshal.router.scoring import (
    Point,
    Stated,
    auroc,
    calibration_error,
    coverage_at,
    coverage_curve,
    least_threshold,
    quantile,
    reliability,
    share,
    share_of,
)


def test_a_share_knows_its_interval() -> None:
    found = share(8, 10)
    assert found.value == 0.8
    assert found.low == pytest.approx(0.490, abs=1e-3)
    assert found.high == pytest.approx(0.943, abs=1e-3)


def test_a_share_of_nothing_is_no_number() -> None:
    found = share_of([])
    assert (found.count, found.value, found.low, found.high) == (0, None, None, None)


def test_a_share_stays_between_nothing_and_all() -> None:
    assert share(5, 5).high == 1.0
    assert share(0, 5).low == 0.0


def test_a_bound_belongs_to_the_bin_below_it() -> None:
    bins = reliability([Stated(0.2, True), Stated(0.2000001, False)], bins=5)
    assert [group.count for group in bins] == [1, 1, 0, 0, 0]
    assert (bins[0].low, bins[0].high, bins[0].right) == (0.0, 0.2, 1.0)
    assert (bins[2].stated, bins[2].right) == (None, None)


@pytest.mark.parametrize("probability", [0.0, 1.0], ids=["never", "certain"])
def test_the_ends_have_a_bin(probability: float) -> None:
    assert sum(group.count for group in reliability([Stated(probability, True)])) == 1


def test_calibration_error_is_the_mean_distance_by_counts() -> None:
    answers = [Stated(0.9, True), Stated(0.9, False), Stated(0.1, False), Stated(0.1, False)]
    assert calibration_error(answers, bins=10) == pytest.approx((2 * 0.4 + 2 * 0.1) / 4)


def test_calibration_error_of_nothing_is_no_number() -> None:
    assert calibration_error([]) is None


def test_what_is_meant_as_stated_has_no_error() -> None:
    answers = [Stated(0.75, True)] * 3 + [Stated(0.75, False)]
    assert calibration_error(answers) == pytest.approx(0.0)


def test_auroc_counts_a_tie_as_a_half() -> None:
    assert auroc([0.9, 0.5], [0.5, 0.1]) == pytest.approx((1 + 1 + 0.5 + 1) / 4)


def test_auroc_equals_counting_every_pair() -> None:
    draw = random.Random(7)
    higher = [round(draw.random(), 1) for _ in range(40)]
    lower = [round(draw.random(), 1) for _ in range(30)]
    pairs = [(a > b) + (a == b) / 2 for a in higher for b in lower]
    assert auroc(higher, lower) == pytest.approx(sum(pairs) / len(pairs))


@pytest.mark.parametrize(("higher", "lower"), [([], [0.1]), ([0.1], [])], ids=["none", "no other"])
def test_auroc_needs_both_kinds(higher: list[float], lower: list[float]) -> None:
    assert auroc(higher, lower) is None


def test_coverage_has_one_point_per_threshold() -> None:
    answers = [Stated(0.9, True), Stated(0.5, True), Stated(0.5, False), Stated(0.1, False)]
    curve = coverage_curve(answers)
    assert [(point.threshold, point.coverage) for point in curve] == [
        (0.9, 0.25),
        (0.5, 0.75),
        (0.1, 1.0),
    ]
    assert [point.error for point in curve] == pytest.approx([0.0, 1 / 3, 0.5])


def test_coverage_at_a_precision_is_the_largest() -> None:
    curve = (Point(0.9, 0.2, 0.0), Point(0.8, 0.4, 0.2), Point(0.7, 0.6, 0.1), Point(0.1, 1, 0.4))
    assert coverage_at(curve, precision=0.9) == 0.6
    assert least_threshold(curve, precision=0.9) == 0.7


def test_a_precision_out_of_reach_covers_nothing() -> None:
    curve = (Point(0.9, 1.0, 0.5),)
    assert coverage_at(curve, precision=0.9) == 0.0
    assert least_threshold(curve, precision=0.9) is None


def test_quantiles() -> None:
    assert quantile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert quantile([], 0.5) is None
    assert not math.isnan(quantile([1.0], 0.95) or 0.0)
