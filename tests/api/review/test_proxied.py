"""The review pages behind a proxy that knows who is asking."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.asgi import BASE_URL
from tests.support.review import Browser, ReviewRoom, review_room
from tests.support.service import configure

NAMED = {"X-Forwarded-User": "rita@example.org"}
PROXY = "{port: 0, trusted_proxy: {addresses: [127.0.0.1]}}"


@pytest.fixture
def room(tmp_path: Path) -> Iterator[ReviewRoom]:
    config = configure(tmp_path)
    config.write_text(config.read_text().replace("{port: 0}", PROXY))
    with review_room(tmp_path, config=config) as room:
        yield room


def signed_in(room: ReviewRoom) -> Browser:
    """Go on as whom the proxy names, from the page of a hold."""
    browser = Browser(room.client)
    browser.open("/review/sign-in", **NAMED)
    browser.post("/review/sign-in", {"proxied": "yes", "there": "/review"}, **NAMED)
    return browser


def test_whom_the_proxy_names_goes_on_with_one_click_and_answers(room: ReviewRoom) -> None:
    hold = room.held()
    asked = Browser(room.client).open(f"/review/holds/{hold}", **NAMED)
    assert asked.status == 401
    assert "Go on as rita@example.org" in asked.text
    browser = signed_in(room)
    page = browser.open(f"/review/holds/{hold}", **NAMED)
    assert page.status == 200
    form = page.form("/reject")
    browser.post(form.action, {**dict(form.fields), "reason": "not ours"}, **NAMED)
    path = f"/holds/{hold}"
    found = room.client.request("GET", path, key=room.review_key).json()
    assert (found["decision"], found["person"]) == ("reject", "rita@example.org")


def test_the_sign_in_ends_when_the_proxy_names_nobody_or_somebody_else(room: ReviewRoom) -> None:
    browser = signed_in(room)
    assert browser.open("/review", **NAMED).status == 200
    assert browser.open("/review").status == 401
    assert browser.open("/review", **{"X-Forwarded-User": "eve"}).status == 401
    assert browser.open("/review", **NAMED).status == 200


def test_a_person_who_is_barred_is_out_at_once(room: ReviewRoom) -> None:
    browser = signed_in(room)
    ledger = room.service.ledger
    (key_id,) = [key.id for key in ledger.list_keys() if key.is_proxied]
    ledger.revoke_key(key_id)
    assert browser.open("/review", **NAMED).status == 401
    assert signed_in(room).open("/review", **NAMED).status == 401


def test_nobody_is_signed_in_from_another_site_or_without_the_proxys_word(
    room: ReviewRoom,
) -> None:
    fields = {"proxied": "yes", "there": "/review"}
    for origin, headers in (("https://evil.example", NAMED), (BASE_URL, {})):
        browser = Browser(room.client)
        page = browser.post("/review/sign-in", fields, origin=origin, **headers)
        assert page.status == 403
        assert browser.cookies == {}


def test_a_key_still_opens_the_pages(room: ReviewRoom) -> None:
    assert room.browser().open("/review").status == 200
