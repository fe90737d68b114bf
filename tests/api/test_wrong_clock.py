"""A clock that is wrong: the machine's, a caller's, and one that jumps."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from clawmarshal.api.rates import RateLimit
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import KeyRecord
from tests.support.clock import FakeClock
from tests.support.keys import key_for
from tests.support.service import configure, wired

YEAR_S = 365 * 86_400.0


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def ledger(tmp_path: Path, clock: FakeClock) -> Iterator[Ledger]:
    ledger = Ledger(f"sqlite:///{tmp_path}/ledger.db", clock=clock)
    yield ledger
    ledger.close()


def only(ledger: Ledger) -> KeyRecord:
    (record,) = ledger.list_keys()
    return record


def test_a_clock_set_back_revives_no_revoked_key(ledger: Ledger, clock: FakeClock) -> None:
    key = ledger.create_key("laptop", "anna", ["review"])
    ledger.revoke_key(only(ledger).id)
    clock.jump(-YEAR_S)
    assert ledger.authenticate(key) is None
    assert not ledger.key_is_alive(only(ledger).id)


def test_a_clock_set_forth_ends_what_has_an_end_and_nothing_else(
    ledger: Ledger, clock: FakeClock
) -> None:
    ends = ledger.create_key("visitor", "bela", ["review"], lifetime_s=3600)
    _, token = ledger.sign_in(ends, scope="review", lifetime_s=YEAR_S)
    stays = ledger.create_key("laptop", "anna", ["review"])
    clock.jump(YEAR_S)
    assert ledger.authenticate(ends) is None
    assert token is not None and ledger.signed_in(token) is None
    assert ledger.authenticate(stays) is not None


def test_limits_go_by_the_time_that_passes_and_not_by_the_clock_on_the_wall() -> None:
    seconds = [0.0]
    rate = RateLimit(1, clock=lambda: seconds[0])
    assert rate.wait_s("anna") == 0
    assert rate.wait_s("anna") == 60
    seconds[0] += 60
    assert rate.wait_s("anna") == 0


@pytest.mark.parametrize("received", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_what_a_caller_says_of_the_time_decides_nothing(tmp_path: Path, received: str) -> None:
    config = configure(tmp_path)
    key = key_for(config, "route")
    with wired(config) as (client, _):
        body = {"text": "hello", "received_at": received, "wait_s": 20}
        answer = client.request("POST", "/route", key=key, json=body)
        assert (answer.status_code, answer.json()["state"]) == (200, "done")
        assert received[:4] not in answer.json()["accepted_at"]
        listed = client.request("GET", "/routes?since=2020-01-01T00:00:00Z", key=key)
        assert len(listed.json()["routes"]) == 1
