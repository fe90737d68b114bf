"""The queue: its order, its filters, its pages, and answers for many at once."""

from collections.abc import Iterator

import pytest

from tests.support.review import Browser, Page, ReviewRoom, review_room

TEXTS = (
    ("risky: alpha", "mail", "kim"),
    ("nobody: beta", "chat", "lee"),
    ("risky: gamma 50% of_all", "chat", "kim"),
    ("nobody: delta", "mail", "lee"),
)


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReviewRoom]:
    with review_room(tmp_path_factory.mktemp("room")) as room:
        for text, channel, sender in TEXTS:
            room.held(text, channel=channel, sender=sender)
        yield room


@pytest.fixture
def browser(room: ReviewRoom) -> Browser:
    return room.browser()


def listed(page: Page) -> list[str]:
    """The Greek letters on a page, in order."""
    assert page.status == 200, page.text
    words = page.text.replace(":", " ").split()
    return [word for word in words if word in ("alpha", "beta", "gamma", "delta")]


def test_the_riskiest_come_first_and_of_these_the_oldest(browser: Browser) -> None:
    page = browser.open("/review")
    assert listed(page) == ["alpha", "gamma", "beta", "delta"]
    assert "Waiting for a person 4" in page.text
    assert "high risk 2" in page.text
    assert "low risk 2" in page.text


@pytest.mark.parametrize(
    ("query", "letters"),
    [
        ("risk=high", ["alpha", "gamma"]),
        ("risk=low", ["beta", "delta"]),
        ("reason=no_match", ["beta", "delta"]),
        ("agent=finance&reason=risk", ["alpha", "gamma"]),
        ("q=ALPHA", ["alpha"]),
        ("q=lee", ["beta", "delta"]),
        ("q=chat", ["gamma", "beta"]),
        ("q=50%25", ["gamma"]),
        ("q=of_all", ["gamma"]),
        ("q=ofxall", []),
        ("q=%25", ["gamma"]),
        ("q=kim&risk=low", []),
        ("state=rejected", []),
        ("state=all", ["alpha", "gamma", "beta", "delta"]),
        ("mine=1", []),
    ],
)
def test_filters_and_words_narrow_it(browser: Browser, query: str, letters: list[str]) -> None:
    assert listed(browser.open(f"/review?{query}")) == letters


def test_a_hold_is_found_by_its_id_and_by_its_route(room: ReviewRoom, browser: Browser) -> None:
    (first, *_), _ = room.service.ledger.holds()
    for word in (first.id, first.route_id):
        assert listed(browser.open(f"/review?q={word}")) == ["alpha"]


def test_mine_are_those_that_i_claimed(room: ReviewRoom, browser: Browser) -> None:
    holds, _ = room.service.ledger.holds()
    path = f"/review/holds/{holds[1].id}"
    browser.submit(browser.open(path).form("/claim"))
    page = browser.open("/review?mine=1")
    assert listed(page) == ["beta"]
    assert "claimed by you" in page.text
    other = room.browser(room.admin_key)
    assert listed(other.open("/review?mine=1")) == []
    assert "claimed by rita" in other.open("/review").text
    browser.submit(browser.open(path).form("/release"))


@pytest.mark.parametrize(
    "query", ["risk=odd", "state=odd", "cursor=x", "cursor=high.-1", "reason=odd"]
)
def test_odd_queries_are_said_on_a_page(browser: Browser, query: str) -> None:
    page = browser.open(f"/review?{query}")
    assert page.status == 422
    assert page.answer.headers["content-type"].startswith("text/html")


def test_pages_follow_each_other_without_a_gap(room: ReviewRoom, browser: Browser) -> None:
    for number in range(60):
        room.held(f"{'risky' if number % 3 == 0 else 'nobody'} page {number}")
    seen: list[str] = []
    path = "/review?q=page"
    while path:
        page = browser.open(path)
        seen += [link for link in page.links if link.startswith("/review/holds/")]
        path = next((link for link in page.links if "cursor=" in link), "")
    assert len(seen) == len(set(seen)) == 60


def chosen(page: Page) -> list[str]:
    return [value for name, value in page.form("/bulk").fields if name == "hold"]


def test_many_are_rejected_each_with_its_result(room: ReviewRoom, browser: Browser) -> None:
    for number in range(3):
        room.held(f"nobody bulk-a {number}")
    page = browser.open("/review?q=bulk-a")
    holds = chosen(page)
    taken, _, _ = holds[1].partition(":")
    other = room.browser(room.admin_key)
    other.submit(other.open(f"/review/holds/{taken}").form("/reject"), reason="mine first")
    result = browser.submit(page.form("/bulk"), hold=holds, answer="reject", reason="not ours")
    assert "3 of 3 rejected" in result.text  # the same answer again is no conflict
    assert room.service.ledger.hold(taken).person == "adam"


def test_many_are_approved_but_never_high_risk(room: ReviewRoom, browser: Browser) -> None:
    low = room.held("nobody bulk-b low")
    high = room.held("risky bulk-b high")
    page = browser.open("/review?q=bulk-b")
    result = browser.submit(page.form("/bulk"), hold=chosen(page), answer="approve", reason="")
    assert room.service.ledger.hold(low).decision == "approve"
    assert room.service.ledger.hold(high).decision is None
    assert "1 of 2 approved" in result.text
    assert "high risk is approved on its own page only" in result.text


def test_a_hold_that_came_later_is_not_answered_with_the_others(
    room: ReviewRoom, browser: Browser
) -> None:
    page = browser.open("/review?q=bulk-c")
    room.held("nobody bulk-c first")
    form = browser.open("/review?q=bulk-c").form("/bulk")
    later = room.held("nobody bulk-c later")
    browser.submit(
        form, hold=[v for n, v in form.fields if n == "hold"], answer="reject", reason="r"
    )
    assert listed(page) == []
    assert room.service.ledger.hold(later).decision is None


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"hold": []}, 422),
        ({"hold": ["hd_0:x"], "answer": "odd"}, 422),
        ({"hold": [f"hd_{number}:x" for number in range(201)]}, 422),
        ({"hold": ["hd_0:x"] * 1300}, 422),
        ({"hold": ["hd_0:x"], "reason": "r" * 300_000}, 413),
    ],
    ids=["none", "no answer", "too many", "too many fields", "too long"],
)
def test_a_bulk_form_that_cannot_be_right_is_refused(
    browser: Browser, fields: dict[str, object], status: int
) -> None:
    form = browser.open("/review").form("/bulk")
    assert browser.submit(form, **{"answer": "reject", "reason": "r", **fields}).status == status


@pytest.mark.parametrize("digest", ["", "0" * 64])
def test_a_bulk_approval_is_bound_to_what_was_shown(
    room: ReviewRoom, browser: Browser, digest: str
) -> None:
    hold = room.held(f"nobody bulk-d {digest[:1]}")
    form = browser.open("/review").form("/bulk")
    result = browser.submit(form, hold=[f"{hold}:{digest}"], answer="approve")
    assert room.service.ledger.hold(hold).decision is None
    assert "digest-changed" in result.text


def test_a_bulk_reject_needs_a_reason(room: ReviewRoom, browser: Browser) -> None:
    hold = room.held("nobody bulk-e")
    form = browser.open("/review").form("/bulk")
    page = browser.submit(form, hold=[f"{hold}:x"], answer="reject", reason=" ")
    assert (page.status, room.service.ledger.hold(hold).decision) == (422, None)


def test_a_hold_that_is_not_there_is_one_result_among_others(
    room: ReviewRoom, browser: Browser
) -> None:
    hold = room.held("nobody bulk-f")
    form = browser.open("/review").form("/bulk")
    result = browser.submit(form, hold=["hd_0:x", f"{hold}:x"], answer="reject", reason="r")
    assert "1 of 2 rejected" in result.text
    assert "not-found" in result.text
