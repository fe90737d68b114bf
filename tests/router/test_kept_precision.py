"""Thresholds that keep a precision: on tops whose best thresholds are known."""

import pytest

from clawmarshal.router.kept_precision import MIN_ROUTED, Sure, Thresholds, thresholds_for


def tops(*groups: tuple[int, float, bool, float]) -> list[Sure]:
    """Make so many of each probability, rightness and margin."""
    return [Sure(p, right, margin) for count, p, right, margin in groups for _ in range(count)]


def test_the_lowest_probability_that_keeps_the_precision_is_found() -> None:
    given = tops((40, 0.9, True, 0.5), (40, 0.6, True, 0.5), (40, 0.3, False, 0.5))
    found = thresholds_for(given, precision=0.9, margin=0.05)
    assert found == Thresholds(0.5999, 0.05, 80)


def test_what_is_under_the_margin_in_force_is_not_counted_on() -> None:
    given = tops((40, 0.9, True, 0.5), (40, 0.6, True, 0.02), (1, 0.3, False, 0.5))
    assert thresholds_for(given, precision=0.9, margin=0.05).routed == 41
    assert thresholds_for(given, precision=0.9, margin=0.0).routed == 81


def test_another_margin_is_taken_where_it_routes_clearly_more() -> None:
    wrong_and_close = (20, 0.6, False, 0.08)
    given = tops((40, 0.7, True, 0.5), wrong_and_close, (40, 0.5, True, 0.4))
    assert thresholds_for(given, precision=0.9, margin=0.05) == Thresholds(0.5, 0.1, 80)


def test_one_message_more_is_no_reason_for_another_margin() -> None:
    given = tops((40, 0.7, True, 0.5), (1, 0.5, True, 0.02))
    assert thresholds_for(given, precision=0.9, margin=0.05).min_margin == 0.05


@pytest.mark.parametrize("right", [True, False], ids=["too few", "too wrong"])
def test_none_is_found_where_none_keeps_it(right: bool) -> None:
    count = MIN_ROUTED - 1 if right else 60
    found = thresholds_for(tops((count, 0.9, right, 0.5)), precision=0.9, margin=0.05)
    assert found == Thresholds(None, 0.05, 0)


def test_nothing_gives_nothing() -> None:
    assert thresholds_for([], precision=0.9, margin=0.05) == Thresholds(None, 0.05, 0)
