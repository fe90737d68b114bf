"""Everything that a message, a reply, a note or a name may hold, on every page."""

import json
import sqlite3
from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest

from tests.support.hostile import EVERYTHING, FIELDS
from tests.support.review import Browser, Page, ReviewRoom, review_room

TAGS = frozenset(
    "html head meta title link body a header div svg path circle rect line form input span button"
    " nav main h1 h2 h3 p b em i br code ul ol li label select option details summary fieldset"
    " legend section time dl dt dd pre footer figure table thead tbody tr th td".split()
)
"""What our templates are made of; anything else came out of a text."""
REFERENCES = ("href", "src", "action", "formaction", "data", "poster", "srcdoc", "srcset", "ping")
OURS = ("/review", "#")


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReviewRoom]:
    folder = tmp_path_factory.mktemp("room")
    with review_room(folder) as room:
        yield room


@pytest.fixture(scope="module")
def pages(room: ReviewRoom) -> list[tuple[str, Page]]:
    """Every page, with each text in every field that takes it."""
    browser = room.browser(room.admin_key)
    paths = ["/review?state=all", "/review/routes", "/review/fleet", "/review/overview"]
    paths += ["/review/keys", "/review/unknowns"]
    for number, text in enumerate(EVERYTHING):
        paths += plant(room, browser, number, text)
    paths += follow(browser, "/review?state=all") + follow(browser, "/review/routes")
    for text in EVERYTHING:
        paths += [f"/review?q={quote(text)}", f"/review/routes?q={quote(text)}"]
        paths += [f"/review?agent={quote(text[:64])}", f"/review/{quote(text, safe='')}"]
    return [(path, browser.open(path)) for path in paths]


def plant(room: ReviewRoom, browser: Browser, number: int, text: str) -> list[str]:
    """Put a text wherever it may stand, and return the pages of its route."""
    field = FIELDS[number % len(FIELDS)][:500]
    names = {"sender": field, "channel": field, "account": field, "conversation": f"{field[:90]}"}
    attachment = [{"kind": "image", "name": field}]
    hold = room.held(f"risky {text}", **names, attachments=attachment)
    page = browser.open(f"/review/holds/{hold}")
    if page.has_form("/approve") and number % 2:
        browser.submit(page.form("/approve"), note=field)
    else:
        browser.submit(page.form("/reject"), reason=field)
    found = room.service.ledger.hold(hold)
    room.service.ledger.create_key(field[:200], field[:200], ["route"])
    scribble(room, found.route_id, text)
    return [
        f"/review/holds/{hold}",
        f"/review/routes/{found.route_id}",
        f"/review/holds/{hold}?agent={quote(field[:64])}",
    ]


def scribble(room: ReviewRoom, route_id: str, text: str) -> None:
    """Write into the ledger what an agent, a CLI or another version could have said."""
    with sqlite3.connect(room.ledger_file) as db:
        db.execute("PRAGMA busy_timeout = 10000")
        sends = json.dumps([{"tool": text, "to": text}])
        db.execute(
            "UPDATE routes SET reply_text = ?, tool_sends = ?, reason = ? WHERE id = ?",
            (text, sends, text, route_id),
        )
        db.execute(
            "UPDATE attempts SET detail = ?, code = ?, run_id = ?, late_evidence = ?"
            " WHERE route_id = ?",
            (text, text, text, json.dumps({text: text}), route_id),
        )
        db.execute("DROP TRIGGER IF EXISTS events_no_update")
        db.execute(
            "UPDATE events SET facts = ?, actor = ? WHERE chain = ?",
            (json.dumps({text: [text]}), text, route_id),
        )
        db.execute(
            "UPDATE routes SET state = 'unknown' WHERE id = ? AND state = 'done'", (route_id,)
        )


def follow(browser: Browser, path: str) -> list[str]:
    """Return the addresses of the pages after a first one."""
    found: list[str] = []
    while path:
        links = browser.open(path).links
        path = next((link for link in links if "cursor=" in link), "")
        found += [path] if path else []
    return found


def test_every_page_was_rendered(pages: list[tuple[str, Page]]) -> None:
    assert len(pages) > 300
    assert {page.status for _, page in pages} <= {200, 404, 422}
    assert sum(page.status == 200 for _, page in pages) > 200


def test_no_element_comes_out_of_a_text(pages: list[tuple[str, Page]]) -> None:
    for path, page in pages:
        odd = {tag for tag, _ in page.tags} - TAGS
        assert not odd, (path, odd)


def test_no_attribute_acts_or_leads_away(pages: list[tuple[str, Page]]) -> None:
    for path, page in pages:
        for tag, told in page.tags:
            assert not [name for name in told if name.startswith("on") or name == "style"], path
            for name in REFERENCES:
                value = told.get(name)
                assert value is None or value.startswith(OURS), (path, tag, name, value)


def test_the_only_things_that_are_loaded_are_our_own(pages: list[tuple[str, Page]]) -> None:
    for path, page in pages:
        loaded = [told.get("href") for tag, told in page.tags if tag == "link"]
        assert loaded == ["/review/static/sign.svg", "/review/static/review.css"], path
        assert not [told for _, told in page.tags if told.get("http-equiv")], path


def test_every_page_forbids_scripts_frames_and_foreign_forms(
    pages: list[tuple[str, Page]],
) -> None:
    for path, page in pages:
        policy = page.answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy, path
        assert "script-src" not in policy and "unsafe" not in policy
        assert "form-action 'self'" in policy and "frame-ancestors 'none'" in policy
        assert "base-uri 'none'" in policy
        assert page.answer.headers["x-content-type-options"] == "nosniff"
        assert page.answer.headers["cache-control"] == "no-store"
        assert page.answer.headers["content-type"] == "text/html; charset=utf-8"


def test_templates_in_a_text_are_text(pages: list[tuple[str, Page]]) -> None:
    for path, page in pages:
        assert "49{%" not in page.html and "ownedowned" not in page.html, path


HIDING = [chr(code) for code in (0x202E, 0x202C, 0x2066, 0x2069, 0x200B, 0xFEFF, 0x1B, 0x07, 0x85,
                                 0x2028, 0xE0061, 0x3164, 0xE000)]  # fmt: skip


def test_nothing_that_hides_or_turns_reaches_a_page(pages: list[tuple[str, Page]]) -> None:
    for path, page in pages:
        found = [f"U+{ord(character):04X}" for character in HIDING if character in page.html]
        assert not found, (path, found)


def test_the_texts_are_there_to_be_read(room: ReviewRoom) -> None:
    hold = room.held("risky <b>bold</b> & \u202eturned\u202c")
    page = room.browser().open(f"/review/holds/{hold}")
    assert "risky <b>bold</b> & [RLO]turned[PDF]" in page.text
    assert "1 × right-to-left override" in page.text


def test_the_corpus_holds_what_it_says() -> None:
    assert len(EVERYTHING) > 50
    assert sum("owned" in text for text in EVERYTHING) >= 25
    assert set(HIDING) <= set("".join(EVERYTHING))


def test_a_page_that_let_a_text_through_would_be_found() -> None:
    page = Page(httpx.Response(200, text="<p onclick=x><script>1</script><a href=javascript:1>"))
    assert {tag for tag, _ in page.tags} - TAGS == {"script"}
    assert any(name.startswith("on") for _, told in page.tags for name in told)
    assert "javascript:1" in page.links
