"""Everyday topics: what nobody serves, with and without each agent, and how far one stands out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmarshal.router.models.everyday import Everyday, Nearness, Served, Vectors, unit

TOPICS = 12
COSINES = st.floats(-1, 1, width=32)
ROWS = st.lists(COSINES, min_size=TOPICS, max_size=TOPICS)


def row(values: list[float]) -> Vectors:
    return np.array(values, np.float32)


@given(served=st.lists(ROWS, min_size=2, max_size=6), near=ROWS)
def test_without_an_agent_is_the_ballot_that_never_had_it(
    served: list[list[float]], near: list[float]
) -> None:
    rows, message = [row(one) for one in served], Nearness(row(near))

    _, without = Served(rows).elsewhere(message)

    for place in range(len(rows)):
        rest = rows[:place] + rows[place + 1 :]
        expected, _ = Served(rest).elsewhere(message)
        assert without[place] == pytest.approx(expected, abs=2e-3)


@given(served=ROWS, near=ROWS)
def test_alone_an_agent_leaves_everything_unserved(served: list[float], near: list[float]) -> None:
    message = Nearness(row(near))
    _, without = Served([row(served)]).elsewhere(message)
    nobody, _ = Served([np.zeros(TOPICS, np.float32)]).elsewhere(message)
    assert without[0] == pytest.approx(nobody, abs=2e-3)


def test_a_topic_that_somebody_serves_counts_less() -> None:
    near = np.zeros(TOPICS, np.float32)
    near[3] = 0.8
    serves, does_not = np.zeros(TOPICS, np.float32), np.zeros(TOPICS, np.float32)
    serves[3] = 0.7
    message = Nearness(near)
    assert Served([serves]).elsewhere(message)[0] < Served([does_not]).elsewhere(message)[0] - 0.5


@given(
    near=ROWS.filter(lambda values: np.std(values) > 0.1),
    scale=st.floats(0.5, 2),
    shift=st.floats(-0.3, 0.3),
)
def test_what_all_cosines_of_a_message_share_is_taken_out(
    near: list[float], scale: float, shift: float
) -> None:
    plain, moved = row(near), row(near) * np.float32(scale) + np.float32(shift)
    first = Nearness(plain).standing_out(plain)
    second = Nearness(moved).standing_out(moved)
    assert second == pytest.approx(first, abs=1e-3)


def test_a_message_that_is_equally_near_to_everything_does_not_overflow() -> None:
    flat = Nearness(np.full(TOPICS, 0.4, np.float32))
    assert np.isfinite(flat.standing_out(np.array([0.4, 0.9], np.float32))).all()


def test_what_all_topics_share_is_no_service() -> None:
    draw = np.random.default_rng(3)
    shared, own = np.zeros(8, np.float32), draw.normal(size=(TOPICS, 8)).astype(np.float32)
    shared[0] = 9
    topics = Everyday(unit(own + shared))
    wordy = topics.served(unit(shared[None]))
    about = topics.served(unit((own + shared)[4:5]))
    assert about.argmax() == 4
    assert about[4] > 0.9
    assert wordy.max() < about[4]
