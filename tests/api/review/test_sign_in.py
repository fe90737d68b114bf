"""Signing in and out: who gets in, what the cookie is, and what a stolen one is worth."""

from collections.abc import Iterator

import pytest

from tests.support.review import Browser, ReviewRoom, review_room

PAGES = ("/review", "/review/holds/hd_0", "/review/routes")


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReviewRoom]:
    with review_room(tmp_path_factory.mktemp("room")) as room:
        yield room


def cookie_line(room: ReviewRoom, origin: str) -> str:
    answer = room.client.request(
        "POST",
        "/review/sign-in",
        headers={"Origin": origin, "Sec-Fetch-Site": "same-origin"},
        data={"key": room.review_key},
    )
    assert answer.status_code == 303
    return str(answer.headers["set-cookie"])


@pytest.mark.parametrize("path", PAGES)
def test_without_a_sign_in_every_page_asks_for_a_key(room: ReviewRoom, path: str) -> None:
    page = Browser(room.client).open(path)
    assert page.status == 401
    assert ("there", path) in page.form("/sign-in").fields


def test_a_review_key_gets_in_and_lands_where_it_wanted_to(room: ReviewRoom) -> None:
    hold = room.held()
    page = Browser(room.client).sign_in(room.review_key, there=f"/review/holds/{hold}")
    assert page.status == 200
    assert page.has_form(f"/review/holds/{hold}/approve")


@pytest.mark.parametrize(
    "there",
    [
        "https://evil.example/",
        "//evil.example",
        "/reviewer",
        "/review\\@evil",
        "/routes",
        "/review\n",
    ],
)
def test_signing_in_never_leads_elsewhere(room: ReviewRoom, there: str) -> None:
    answer = room.client.request(
        "POST",
        "/review/sign-in",
        headers={"Origin": "http://127.0.0.1"},
        data={"key": room.review_key, "there": there},
    )
    assert answer.headers["location"] == "/review"


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(room: ReviewRoom) -> None:
    line = cookie_line(room, "http://127.0.0.1")
    assert line.startswith("clawmarshal_review=")
    assert {"HttpOnly", "SameSite=strict", "Path=/review"} <= set(line.split("; "))
    assert "Domain" not in line


def test_behind_https_the_cookie_is_secure_and_bound_to_the_host(room: ReviewRoom) -> None:
    line = cookie_line(room, "https://desk.example")
    assert line.startswith("__Host-clawmarshal_review=")
    assert {"Secure", "HttpOnly", "SameSite=strict", "Path=/"} <= set(line.split("; "))


def test_the_ledger_keeps_no_token(room: ReviewRoom) -> None:
    browser = room.browser()
    (token,) = browser.cookies.values()
    files = [file for file in room.ledger_file.parent.glob("ledger.db*") if file.is_file()]
    assert not any(token.encode() in file.read_bytes() for file in files)


@pytest.mark.parametrize("key", ["cmk_wrong", "", "\u00e9", "x" * 256], ids=repr)
def test_an_unknown_key_does_not_get_in(room: ReviewRoom, key: str) -> None:
    browser = Browser(room.client)
    page = browser.sign_in(key)
    assert page.status in (401, 429)
    assert browser.cookies == {}
    assert key == "" or key not in page.html


def test_a_key_without_the_scope_is_told_which(room: ReviewRoom) -> None:
    browser = Browser(room.client)
    page = browser.sign_in(room.route_key)
    assert page.status == 403
    assert "scope review" in page.text
    assert browser.cookies == {}


def test_guessers_wait_and_a_right_key_never_does(room: ReviewRoom) -> None:
    browser = Browser(room.client)
    statuses = [browser.sign_in(f"cmk_guess{number}").status for number in range(12)]
    assert statuses[-1] == 429
    assert int(browser.sign_in("cmk_guess").answer.headers["retry-after"]) > 0
    assert browser.sign_in(room.review_key).status == 200


def test_a_stolen_cookie_is_worth_nothing_after_signing_out(room: ReviewRoom) -> None:
    browser = room.browser()
    stolen = dict(browser.cookies)
    browser.submit(browser.open("/review").form("/sign-out"))
    assert browser.cookies == {}
    thief = Browser(room.client)
    thief.cookies = stolen
    assert thief.open("/review").status == 401


def test_revoking_a_key_ends_its_sign_ins_at_once(room: ReviewRoom) -> None:
    key = room.service.ledger.create_key("lost phone", "rita", ["review"])
    browser = room.browser(key)
    assert browser.open("/review").status == 200
    (record,) = [one for one in room.service.ledger.list_keys() if one.name == "lost phone"]
    room.service.ledger.revoke_key(record.id)
    assert browser.open("/review").status == 401


def test_a_made_up_cookie_is_nobody(room: ReviewRoom) -> None:
    browser = Browser(room.client)
    for value in ("", "x", "x" * 43, "x" * 5000, '"', "a=b", "%00"):
        browser.cookies = {"clawmarshal_review": value}
        assert browser.open("/review").status == 401


def test_a_link_from_elsewhere_is_followed_once_more_from_here(room: ReviewRoom) -> None:
    # Browsers leave a strict cookie out of a navigation that another site began.
    page = Browser(room.client).open(
        "/review/holds/hd_1?agent=a", **{"Sec-Fetch-Site": "cross-site"}
    )
    assert page.status == 200
    refresh = [told for _, told in page.tags if told.get("http-equiv")]
    assert refresh == [{"http-equiv": "refresh", "content": "0; url=/review/holds/hd_1?agent=a"}]
    again = Browser(room.client).open("/review", **{"Sec-Fetch-Site": "same-origin"})
    assert again.status == 401


def test_a_bearer_key_opens_no_page(room: ReviewRoom) -> None:
    answer = room.client.request("GET", "/review", key=room.review_key)
    assert answer.status_code == 401


def test_an_approval_link_opened_without_a_key_changes_nothing(room: ReviewRoom) -> None:
    hold = room.held()
    path = f"/review/holds/{hold}/approve"
    assert Browser(room.client).open(path).status == 401
    # With one it changes nothing either: a link preview, a prefetch and a crawler only read.
    assert room.browser().open(path).status == 404
    assert room.service.ledger.hold(hold).decision is None


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": None},
        {"origin": "http://127.0.0.1:9999"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
def test_a_form_of_another_site_signs_nobody_in(
    room: ReviewRoom, headers: dict[str, str | None]
) -> None:
    browser = Browser(room.client)
    page = browser.post("/review/sign-in", {"key": room.review_key}, **headers)  # type: ignore[arg-type]  # origin may be None
    assert (page.status, browser.cookies) == (403, {})


def test_the_static_files_are_open_and_nothing_else_is(room: ReviewRoom) -> None:
    browser = Browser(room.client)
    css = browser.open("/review/static/review.css").answer
    assert (css.status_code, css.headers["content-type"]) == (200, "text/css; charset=utf-8")
    again = browser.open("/review/static/review.css", **{"If-None-Match": css.headers["etag"]})
    assert again.status == 304
    for name in ("base.html", "..%2Fdoor.py", "review.cs", "%00"):
        assert browser.open(f"/review/static/{name}").status in (401, 404)


def test_a_path_that_is_no_page_is_said_on_a_page(room: ReviewRoom) -> None:
    page = room.browser().open("/review/nothing/here")
    assert page.status == 404
    assert page.answer.headers["content-type"].startswith("text/html")
