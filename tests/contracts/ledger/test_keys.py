"""Keys that end by themselves, are replaced, and tell when they were used; people of a proxy."""

import pytest

from clawmarshal.errors import ConflictError, NotFoundError
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import KeyRecord, Principal
from tests.contracts.ledger.conftest import OpenLedger
from tests.support.clock import FakeClock

HOUR_S = 3600.0


def only(ledger: Ledger) -> KeyRecord:
    (record,) = ledger.list_keys()
    return record


def test_a_key_ends_when_its_time_is_over(ledger: Ledger, clock: FakeClock) -> None:
    key = ledger.create_key("laptop", "anna", ["route"], lifetime_s=HOUR_S)
    key_id = only(ledger).id
    clock.advance(HOUR_S - 1)
    assert ledger.authenticate(key) is not None
    assert ledger.key_is_alive(key_id)
    clock.advance(1)
    assert ledger.authenticate(key) is None
    assert not ledger.key_is_alive(key_id)


def test_a_sign_in_ends_with_its_keys_time(ledger: Ledger, clock: FakeClock) -> None:
    key = ledger.create_key("laptop", "anna", ["review"], lifetime_s=HOUR_S)
    _, token = ledger.sign_in(key, scope="review", lifetime_s=10 * HOUR_S)
    assert token is not None and ledger.signed_in(token) is not None
    clock.advance(HOUR_S)
    assert ledger.signed_in(token) is None


def test_both_keys_of_a_rotation_are_valid_for_the_overlap_and_no_longer(
    ledger: Ledger, clock: FakeClock
) -> None:
    old = ledger.create_key("laptop", "anna", ["route", "pin"])
    new, record, replaced = ledger.rotate_key(only(ledger).id, overlap_s=HOUR_S)
    assert (record.name, record.person, record.scopes) == (
        "laptop",
        "anna",
        frozenset({"route", "pin"}),
    )
    assert (replaced.replaced_by, record.replaced_by) == (record.id, None)
    for key in (old, new):
        principal = ledger.authenticate(key)
        assert principal is not None and principal.person == "anna"
    clock.advance(HOUR_S)
    assert ledger.authenticate(old) is None
    assert ledger.authenticate(new) is not None


def test_a_rotation_without_overlap_ends_the_old_key_at_once(ledger: Ledger) -> None:
    old = ledger.create_key("laptop", "anna", ["route"])
    ledger.rotate_key(only(ledger).id, overlap_s=0)
    assert ledger.authenticate(old) is None


def test_a_rotation_never_puts_off_an_end(ledger: Ledger, clock: FakeClock) -> None:
    old = ledger.create_key("laptop", "anna", ["route"], lifetime_s=60)
    _, record, _ = ledger.rotate_key(only(ledger).id, overlap_s=HOUR_S, lifetime_s=2 * HOUR_S)
    assert record.expires_at is not None
    clock.advance(60)
    assert ledger.authenticate(old) is None


def test_what_has_ended_or_was_replaced_is_not_rotated(ledger: Ledger, clock: FakeClock) -> None:
    ledger.create_key("laptop", "anna", ["route"])
    first = only(ledger).id
    _, second, _ = ledger.rotate_key(first, overlap_s=HOUR_S)
    with pytest.raises(ConflictError) as caught:
        ledger.rotate_key(first, overlap_s=HOUR_S)
    assert caught.value.code == "key-ended"
    ledger.revoke_key(second.id)
    with pytest.raises(ConflictError):
        ledger.rotate_key(second.id, overlap_s=HOUR_S)
    with pytest.raises(NotFoundError):
        ledger.rotate_key("ck_" + "0" * 32, overlap_s=HOUR_S)
    assert len(ledger.list_keys()) == 2


def test_the_last_use_is_kept(ledger: Ledger, clock: FakeClock) -> None:
    ledger.create_key("laptop", "anna", ["route"])
    record = only(ledger)
    assert (record.last_used_at, record.last_address) == (None, None)
    clock.advance(5)
    ledger.key_used(record.id, "192.0.2.7")
    again = ledger.key(record.id)
    assert (again.last_used_at, again.last_address) == (clock.now(), "192.0.2.7")


def test_what_happens_to_a_key_stands_in_its_trail(ledger: Ledger) -> None:
    ledger.create_key("laptop", "anna", ["route"])
    first = only(ledger).id
    _, second, _ = ledger.rotate_key(first, overlap_s=HOUR_S)
    ledger.revoke_key(first)
    assert ledger.verify_chain(first).events == 3
    assert ledger.verify_chain(second.id).is_intact


def met(ledger: Ledger, person: str = "anna") -> Principal:
    assert ledger.proxied(person, ["review"]) is None
    ledger.meet_proxied(person, ["review"])
    principal = ledger.proxied(person, ["review"], "192.0.2.7")
    assert principal is not None
    return principal


def test_a_person_of_a_proxy_is_one_person_for_good(open_ledger: OpenLedger) -> None:
    first = met(open_ledger())
    ledger = open_ledger()
    ledger.meet_proxied("anna", ["review"])
    assert ledger.proxied("anna", ["review"], "192.0.2.7") == first
    assert (first.person, first.address) == ("anna", "192.0.2.7")
    assert only(ledger).is_proxied


def test_a_person_of_a_proxy_may_what_is_configured_now(ledger: Ledger) -> None:
    met(ledger)
    principal = ledger.proxied("anna", ["route"])
    assert principal is not None and not principal.may("review")


def test_a_revoked_person_of_a_proxy_stays_outside(ledger: Ledger) -> None:
    principal = met(ledger)
    token = ledger.sign_in_as(principal, lifetime_s=HOUR_S)
    assert ledger.signed_in(token) is not None
    ledger.revoke_key(principal.key_id)
    ledger.meet_proxied("anna", ["review"])
    assert ledger.proxied("anna", ["review"]) is None
    assert ledger.signed_in(token) is None
    assert not ledger.key_is_alive(principal.key_id)


def test_no_key_passes_for_a_person_of_a_proxy(ledger: Ledger) -> None:
    met(ledger)
    for guess in ("proxy:", "proxy:anna", "anna", ""):
        assert ledger.authenticate(guess) is None
    with pytest.raises(ConflictError):
        ledger.rotate_key(only(ledger).id, overlap_s=1)
