"""Routes, unknowns, fleet, overview and keys: what each shows, and to whom."""

import sqlite3
from collections.abc import Iterator

import pytest

from clawmarshal.api.app import create_app
from tests.support.asgi import served
from tests.support.fake_desk import FakeDesk, fake_parts
from tests.support.review import Browser, ReviewRoom, review_room

SAFE = "when is the invoice due"


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReviewRoom]:
    with review_room(tmp_path_factory.mktemp("room")) as room:
        yield room


@pytest.fixture
def browser(room: ReviewRoom) -> Browser:
    return room.browser()


def unknown(room: ReviewRoom, text: str) -> str:
    """Make a launch whose end nobody saw."""
    route = room.send(text)
    with sqlite3.connect(room.ledger_file, timeout=20) as db:
        db.execute("UPDATE routes SET state = 'unknown', ran = NULL WHERE id = ?", (route["id"],))
        db.execute(
            "UPDATE attempts SET state = 'unknown', code = 'lease-lost', detail = 'the worker died'"
            " WHERE route_id = ?",
            (route["id"],),
        )
    found = route["id"]
    assert isinstance(found, str)
    return found


def test_routes_are_listed_newest_first_and_filtered(room: ReviewRoom, browser: Browser) -> None:
    done = room.send(f"{SAFE} alpha", sender="kim")["id"]
    held = room.service.ledger.hold(room.held("risky beta")).route_id
    page = browser.open("/review/routes")
    routes = [link for link in page.links if link.startswith("/review/routes/")]
    assert routes[:2] == [f"/review/routes/{held}", f"/review/routes/{done}"]
    for query, found in (("q=alpha", done), ("state=held&q=beta", held), (f"q={done}", done)):
        page = browser.open(f"/review/routes?{query}")
        assert [x for x in page.links if "/routes/" in x] == [f"/review/routes/{found}"], query
    assert "No route fits" in browser.open("/review/routes?q=nothing-like-it").text
    assert browser.open("/review/routes?agent=security&q=alpha").links.count(done) == 0
    for query in ("state=odd", "cursor=x"):
        assert browser.open(f"/review/routes?{query}").status == 422


def test_routes_come_in_pages(room: ReviewRoom, browser: Browser) -> None:
    for number in range(60):
        room.held(f"nobody paged {number}")
    page = browser.open("/review/routes?q=paged")
    (following,) = [link for link in page.links if "cursor=" in link]
    more = browser.open(following)
    shown = [x for x in (*page.links, *more.links) if "/routes/" in x]
    assert len(shown) == len(set(shown)) == 60


def test_one_route_tells_its_whole_story(room: ReviewRoom, browser: Browser) -> None:
    route = room.send(f"{SAFE} gamma", sender="kim", conversation="c-9")
    page = browser.open(f"/review/routes/{route['id']}")
    for words in ("gamma", "kim", "c-9", "Dispatch to finance", "Attempt 1 for finance", "done"):
        assert words in page.text, words
    assert "[stand-in]" in page.text
    assert "accepted" in page.text and "launch committed" in page.text
    assert not page.has_form("/cancel")
    assert browser.open("/review/routes/rt_0").status == 404


def test_what_waits_is_cancelled_from_its_route(room: ReviewRoom, browser: Browser) -> None:
    route = room.service.ledger.hold(room.held("risky delta")).route_id
    form = browser.open(f"/review/routes/{route}").form("/cancel")
    page = browser.submit(form)
    assert "cancelled" in page.text
    assert room.service.ledger.route(route).state == "cancelled"
    assert browser.submit(form).status == 200  # the same wish again
    done = room.send(f"{SAFE} epsilon")["id"]
    refused = browser.submit(form.__class__("post", f"/review/routes/{done}/cancel", form.fields))
    assert refused.status == 409
    assert "cannot be cancelled" in refused.text


@pytest.mark.parametrize(
    ("answer", "state"), [("ran", "done"), ("not_run", "failed"), ("leave", "unknown")]
)
def test_an_unknown_is_settled_by_a_person(
    room: ReviewRoom, browser: Browser, answer: str, state: str
) -> None:
    route = unknown(room, f"{SAFE} {answer}")
    page = browser.open("/review/unknowns")
    assert "the worker died" in page.text
    form = page.form(f"/{route}/resolve")
    assert form.buttons == ["ran", "not_run", "rerun", "leave"]
    browser.submit(form, answer=answer, note="asked the agent")
    assert room.service.ledger.route(route).state == state
    told = browser.open(f"/review/routes/{route}").text
    assert "asked the agent" in told
    assert "person:rita" in told


def test_running_an_unknown_again_waits_until_the_first_is_over(
    room: ReviewRoom, browser: Browser
) -> None:
    route = unknown(room, f"{SAFE} again")
    with sqlite3.connect(room.ledger_file, timeout=20) as db:
        db.execute("UPDATE attempts SET acknowledged_at = NULL WHERE route_id = ?", (route,))
    form = browser.open(f"/review/routes/{route}").form("/resolve")
    page = browser.submit(form, answer="rerun")
    assert page.status == 409
    assert "may still be running" in page.text
    assert "It opens at" in page.text
    assert browser.submit(form, answer="odd").status == 422


def test_a_launch_that_certainly_did_not_run_may_be_run_again(
    room: ReviewRoom, browser: Browser
) -> None:
    route = unknown(room, f"{SAFE} not run")
    form = browser.open("/review/unknowns").form(f"/{route}/resolve")
    page = browser.submit(form, answer="not_run")
    assert "It certainly did not run" in page.text
    again = page.form("/resolve")
    assert again.buttons == ["rerun"]
    browser.submit(again, answer="rerun")
    room.client.request("GET", f"/routes/{route}?wait_s=20", key=room.review_key)
    assert "Attempt 2" in browser.open(f"/review/routes/{route}").text


def test_the_fleet_tells_who_works_and_who_is_silent(room: ReviewRoom, browser: Browser) -> None:
    room.send(f"{SAFE} fleet")
    text = browser.open("/review/fleet").text
    assert "Fleet 2 agents" in text
    assert "Launched by stand-in" in text
    finance, security = text.split("security", 1)
    assert "● idle" in finance
    assert "○ silent" in security
    assert "no launch" in security


def test_an_agent_that_left_the_roster_is_still_told_of(room: ReviewRoom, browser: Browser) -> None:
    route = room.send(f"{SAFE} left")["id"]
    with sqlite3.connect(room.ledger_file, timeout=20) as db:
        db.execute("UPDATE attempts SET agent = 'former' WHERE route_id = ?", (route,))
    text = browser.open("/review/fleet").text
    assert "former" in text
    assert "not in the roster" in text


@pytest.mark.parametrize("window", ["day", "week", "month"])
def test_the_overview_draws_what_it_counts(room: ReviewRoom, browser: Browser, window: str) -> None:
    room.held("risky overview")
    page = browser.open(f"/review/overview?window={window}")
    total = len(room.service.ledger.routes(limit=500)[0])
    assert f"Messages {total}" in page.text
    bars = [told for tag, told in page.tags if tag == "rect"]
    assert {"dispatch", "hold", "high"} <= {told["class"] for told in bars}
    assert page.text.count("As a table") == 3
    assert browser.open("/review/overview?window=year").status == 422


def test_keys_are_listed_and_ended_by_admins_alone(room: ReviewRoom, browser: Browser) -> None:
    room.service.ledger.create_key("old laptop", "lee", ["route"])
    assert browser.open("/review/keys").status == 403
    assert "/review/keys" not in browser.open("/review").links
    admin = room.browser(room.admin_key)
    page = admin.open("/review/keys")
    for words in ("old laptop", "lee", "phone", "rita", "review"):
        assert words in page.text
    assert "cmk_" not in page.html
    (record,) = [one for one in room.service.ledger.list_keys() if one.name == "old laptop"]
    form = page.form(f"/{record.id}/revoke")
    fields = dict(browser.open("/review").form("/sign-out").fields)
    assert browser.post(form.action, fields).status == 403
    assert admin.post(form.action, {}).status == 403
    admin.submit(form)
    (record,) = [one for one in room.service.ledger.list_keys() if one.name == "old laptop"]
    assert record.revoked_at is not None
    assert admin.post("/review/keys/ck_0/revoke", dict(form.fields)).status == 404


def test_a_ledger_that_is_away_is_said_on_a_page(room: ReviewRoom, browser: Browser) -> None:
    ledger = room.ledger_file
    away = ledger.with_name("away.db")
    ledger.rename(away)
    try:
        page = browser.open("/review")
    finally:
        away.rename(ledger)
    assert page.status == 503
    assert "ledger is away" in page.text
    assert page.answer.headers["retry-after"]


def test_an_application_without_review_pages_serves_none() -> None:
    with served(create_app(fake_parts(FakeDesk()))) as client:
        for path in ("/review", "/review/sign-in", "/review/overview"):
            assert client.request("GET", path).status_code == 404
