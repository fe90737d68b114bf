"""Counts become columns that add up, and codes and times become words."""

from datetime import UTC, datetime, timedelta

import pytest

from clawmarshal.api.review.drawing import columns
from clawmarshal.api.review.links import with_query
from clawmarshal.api.review.words import ago, fact, percent, reason, seconds, span, stamp, state

NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def test_segments_stand_on_each_other_and_the_highest_column_is_full() -> None:
    drawn = columns(["a", "b"], {"hold": [1, 0], "dispatch": [3, 2]})
    first, second = drawn.columns
    assert (drawn.most, drawn.total, drawn.totals) == (4, 6, {"hold": 1, "dispatch": 5})
    assert [(s.kind, s.y, s.height) for s in first.segments] == [
        ("hold", 75.0, 25.0),
        ("dispatch", 0.0, 75.0),
    ]
    assert [(s.kind, s.y, s.height) for s in second.segments] == [("dispatch", 50.0, 50.0)]
    assert first.x + first.width < second.x
    assert second.x + second.width <= 100


def test_nothing_is_drawn_of_nothing() -> None:
    drawn = columns(["a"], {"hold": [0]})
    assert (drawn.total, drawn.columns[0].segments) == (0, ())
    assert columns([], {}).columns == ()


@pytest.mark.parametrize(
    ("seconds_ago", "said"),
    [(0, "now"), (5, "5 s ago"), (61, "1 min ago"), (7300, "2 h ago"), (200_000, "2 d ago"),
     (-90, "in 1 min")],
)  # fmt: skip
def test_an_age_is_said_in_its_largest_unit(seconds_ago: float, said: str) -> None:
    assert ago(NOW - timedelta(seconds=seconds_ago), NOW) == said


@pytest.mark.parametrize(
    ("share", "said"),
    [(0, "0 %"), (0.001, "<1 %"), (0.5, "50 %"), (0.994, ">99 %"), (1, "100 %"), (0.99, "99 %")],
)
def test_a_share_that_is_not_all_never_looks_like_all(share: float, said: str) -> None:
    assert percent(share) == said


def test_codes_become_words_and_unknown_ones_stay_readable() -> None:
    assert (reason("no_match"), reason("some_new_code"), reason(None)) == (
        "nobody's",
        "some new code",
        "",
    )
    assert (state("held"), state("new_state")) == ("held", "new state")
    assert (span(-3), seconds(1.25), seconds(75)) == ("0 s", "1.2 s", "1 min")
    assert stamp(NOW) == "2026-01-05 09:00:00 UTC"
    assert (fact([]), fact(["a", 1]), fact(None), fact(2)) == ("none", "a, 1", "none", "2")


def test_an_address_leaves_out_what_is_empty_and_quotes_the_rest() -> None:
    assert with_query("/review", {}) == "/review"
    assert with_query("/review", {"q": "a&b=<c>", "risk": ""}) == "/review?q=a%26b%3D%3Cc%3E"
