"""Ids sort by time and never meet."""

import re

import pytest

from clawmarshal.router.ledger.ids import new_id


@pytest.mark.parametrize("now_ms", [0, 1, 1_800_000_000_000, 2**48 - 1, 2**48 + 5])
def test_id_has_its_shape_at_any_time(now_ms: int) -> None:
    assert re.fullmatch(r"rt_[0-9a-f]{32}", new_id("rt", now_ms=now_ms))


def test_later_ids_sort_later() -> None:
    ids = [new_id("rt", now_ms=ms) for ms in range(1_800_000_000_000, 1_800_000_000_300, 7)]
    assert ids == sorted(ids)


def test_ids_of_one_millisecond_differ() -> None:
    assert len({new_id("rt", now_ms=5) for _ in range(1000)}) == 1000
