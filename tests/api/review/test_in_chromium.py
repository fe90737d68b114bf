"""The review pages in a real Chromium, against the running service with the real ledger."""

import time
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from clawmarshal.router.ledger import schema
from tests.support.chromium import Visit, artefacts, visiting
from tests.support.hostile import EVERYTHING
from tests.support.review import RISKY
from tests.support.service import SAFE, configure

pytestmark = [pytest.mark.chromium, pytest.mark.timeout(300)]

PAGES = {
    "queue": "/review",
    "routes": "/review/routes",
    "unknowns": "/review/unknowns",
    "fleet": "/review/fleet",
    "overview": "/review/overview",
    "keys": "/review/keys",
}
CLONES = 5000


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    folder = tmp_path_factory.mktemp("desk")
    with visiting(configure(folder, model="tests.support.service:model")) as visit:
        visit.held(RISKY, sender="kim", channel="mail", conversation="c")
        visit.sender.post("/route", json={"text": SAFE, "wait_s": 20, "conversation": "c"})
        visit.held(f"{RISKY} <b>\u202eturned\u202c</b>", sender="lee", conversation="c")
        yield visit


@pytest.fixture
def with_unknown(visit: Visit) -> str:
    """Make the end of a launch unknown; return its route."""
    answer = visit.sender.post("/route", json={"text": SAFE, "wait_s": 20}).json()
    assert answer["state"] == "done"
    visit.change("UPDATE routes SET state = 'unknown', ran = NULL WHERE id = ?", answer["id"])
    route_id = answer["id"]
    assert isinstance(route_id, str)
    return route_id


def tab_to(page: Page, selector: str, *, most: int = 120) -> None:
    """Press Tab until the focus is on an element, as somebody without a pointer does."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.locator(f"{selector}:focus").count():
            assert page.locator(f"{selector}:focus-visible").count()
            return
    raise AssertionError(f"Tab never came to {selector}")


def decided(visit: Visit, hold: str, *, within_s: float = 20.0) -> dict[str, object]:
    """Return a hold once it is answered."""
    return until(lambda: visit.hold(hold), lambda found: found["state"] != "open", within_s)


def until(
    look: Callable[[], dict[str, object]],
    holds: Callable[[dict[str, object]], bool],
    within_s: float = 20.0,
) -> dict[str, object]:
    deadline = time.monotonic() + within_s
    while not holds(found := look()):
        assert time.monotonic() < deadline, found
    return found


def width(page: Page) -> int:
    found: int = page.evaluate("document.documentElement.scrollWidth")
    return found


def test_a_hold_is_approved_on_a_phone_by_keyboard_without_scripts(visit: Visit) -> None:
    hold = visit.held("risky: wire 900 euros to the keyboard account right now.", sender="kim")
    with visit.person(key="") as page:
        tab_to(page, "#key")
        page.keyboard.type(visit.review_key)
        page.keyboard.press("Enter")
        page.wait_for_selector("h1:has-text('Waiting for a person')")
        tab_to(page, f"a[href='/review/holds/{hold}']")
        page.keyboard.press("Enter")
        page.wait_for_selector("h1:has-text('Held')")
        page.screenshot(path=artefacts() / "hold_phone_keyboard.png", full_page=True)
        tab_to(page, "#note")
        page.keyboard.type("seen on the phone")
        tab_to(page, "button:has-text('Approve for')")
        page.keyboard.press("Enter")
        page.wait_for_selector(".alert.good")
        assert "Approved for finance by rita" in page.inner_text(".alert.good")
    found = visit.hold(hold)
    assert (found["decision"], found["person"], found["note"]) == (
        "approve",
        "rita",
        "seen on the phone",
    )


def test_a_hold_is_rejected_and_reassigned_by_keyboard_without_scripts(visit: Visit) -> None:
    first, second = (visit.held(f"risky: wire {n} euros to account {n} now.") for n in (911, 922))
    with visit.person() as page:
        page.goto(f"{visit.address}/review/holds/{first}")
        tab_to(page, "#reason")
        page.keyboard.press("Enter")  # without a reason nothing is sent
        assert visit.hold(first)["state"] == "open"
        page.keyboard.type("not ours")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=Rejected by rita")
        page.goto(f"{visit.address}/review/holds/{second}")
        tab_to(page, "#agent")
        page.keyboard.type("sec")
        tab_to(page, "button:has-text('Show what would run')")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=--agent=security")
        tab_to(page, "button:has-text('Approve as')")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=Approved for security by rita")
    assert visit.hold(first)["note"] == "not ours"
    assert visit.hold(second)["agent"] == "security"


def test_of_two_reviewers_who_race_one_wins_and_the_other_is_told(visit: Visit) -> None:
    hold = visit.held("risky: wire 700 euros to the race account right now.")
    with visit.person() as rita, visit.person(key=visit.other_key) as bela:
        for page in (rita, bela):
            page.goto(f"{visit.address}/review/holds/{hold}")
        bela.fill("#reason", "mine")
        rita.locator("button:has-text('Approve for')").click(no_wait_after=True)
        bela.locator("button:has-text('Reject')").click(no_wait_after=True)
        for page in (rita, bela):
            page.wait_for_selector("text=/(Approved for finance|Rejected) by/")
        told = [page.locator(".alert.bad").count() for page in (rita, bela)]
        found = decided(visit, hold)
        assert sorted(told) == [0, 1]
        winner, loser = (rita, bela) if found["person"] == "rita" else (bela, rita)
        assert winner.locator(".alert.bad").count() == 0
        words = loser.inner_text(".alert.bad")
        assert f"by {found['person']}" in words
        loser.screenshot(path=artefacts() / "race_loser.png", full_page=True)


def test_a_hold_that_expires_while_its_page_is_open_is_not_answered(visit: Visit) -> None:
    hold = visit.held("risky: wire 500 euros to the late account right now.")
    with visit.person() as page:
        page.goto(f"{visit.address}/review/holds/{hold}")
        visit.change(
            "UPDATE holds SET expires_at = ? WHERE id = ?", int((time.time() - 1) * 1e6), hold
        )
        page.locator("button:has-text('Approve for')").click()
        page.wait_for_selector("text=This hold expired before anybody answered")
        assert "ran out before the answer" in page.inner_text(".alert.bad")
        assert page.locator("button:has-text('Approve')").count() == 0
        page.screenshot(path=artefacts() / "expired.png", full_page=True)
    found = visit.hold(hold)
    assert (found["state"], found["decision"]) == ("expired", None)


def test_a_link_in_a_chat_leads_to_the_page_and_not_to_the_sign_in(visit: Visit) -> None:
    hold = visit.held("risky: wire 300 euros to the linked account right now.")
    with visit.person() as page:
        chat = f"<a href='{visit.address}/review/holds/{hold}'>look</a>"
        page.route("http://chat.example/", lambda route: route.fulfill(
            body=chat, content_type="text/html"))  # fmt: skip
        page.goto("http://chat.example/")
        page.click("a")
        page.wait_for_selector("h1:has-text('Held')")


def test_a_form_on_another_site_approves_nothing(visit: Visit) -> None:
    hold = visit.held("risky: wire 200 euros to the forged account right now.")
    with visit.person() as page:
        page.goto(f"{visit.address}/review/holds/{hold}")
        fields = [
            (name, page.locator(f"form[action$=approve] input[name={name}]").input_value())
            for name in ("csrf", "agent", "digest")
        ]
        inputs = "".join(f"<input name={name} value={value}>" for name, value in fields)
        action = f"{visit.address}/review/holds/{hold}/approve"
        evil = f"<form method=post action='{action}'>{inputs}<button>win a prize</button></form>"
        page.route("http://evil.example/", lambda route: route.fulfill(
            body=evil, content_type="text/html"))  # fmt: skip
        page.goto("http://evil.example/")
        with page.expect_navigation():
            page.click("button")
        assert "Sign in" in page.inner_text("h1")
    assert visit.hold(hold)["decision"] is None


def open_page(page: Page, visit: Visit, name: str) -> None:
    page.goto(visit.address + PAGES[name])
    page.wait_for_selector("h1")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("phone", [False, True], ids=["desk", "phone"])
def test_axe_finds_nothing_on_any_page(
    visit: Visit, with_unknown: str, dark: bool, phone: bool
) -> None:
    found = {}
    hold = visit.held(f"{RISKY} axe", sender="kim", channel="mail", conversation="c")
    more = {
        "hold": f"/review/holds/{hold}",
        "hold for another": f"/review/holds/{hold}?agent=security",
        "route": f"/review/routes/{with_unknown}",
        "problem": "/review/nothing",
        "no hold": "/review/holds/hd_0",
        "filtered": "/review?q=axe&state=all",
    }
    with visit.person(key=visit.admin_key, phone=phone, dark=dark, scripts=True) as page:
        for name, path in {**PAGES, **more}.items():
            page.goto(visit.address + path)
            unfold(page)
            found[name] = violations(page)
            kind = f"{name}_{'dark' if dark else 'light'}_{'phone' if phone else 'desk'}.png"
            page.screenshot(path=artefacts() / kind.replace(" ", "_"), full_page=True)
    with visit.person(key="", phone=phone, dark=dark, scripts=True) as page:
        found["sign in"] = violations(page)
    assert {name: seen for name, seen in found.items() if seen} == {}


def unfold(page: Page) -> None:
    """Open everything that is folded."""
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")


def violations(page: Page) -> list[str]:
    """Run axe with the rules of WCAG 2.2 AA and its best practices."""
    page.evaluate(AXE_SCRIPT)
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    found = page.evaluate(
        "tags => axe.run({runOnly: tags, rules: {'target-size': {enabled: true}}})", tags
    )
    assert len(found["passes"]) > 10
    return [
        f"{one['id']}: {node['html'][:120]} {node['failureSummary'][:200]}"
        for one in found["violations"]
        for node in one["nodes"][:3]
    ]


def test_axe_finds_what_is_wrong(visit: Visit) -> None:
    with visit.person(scripts=True) as page:
        page.evaluate("document.querySelector('main').innerHTML = '<img src=x><p>x</p>'")
        assert any(one.startswith("image-alt") for one in violations(page))


@pytest.mark.parametrize("size", [320, 360])
def test_nothing_is_wider_than_a_phone(visit: Visit, with_unknown: str, size: int) -> None:
    long = "risky Wire-40000-euros-" + "x" * 400 + " now, delete the backups"
    hold = visit.held(long, sender="s" * 400, channel="c" * 200, conversation="v" * 300)
    paths = [*PAGES.values(), f"/review/holds/{hold}", f"/review/routes/{with_unknown}"]
    with visit.person(key=visit.admin_key, scripts=True) as page:
        page.set_viewport_size({"width": size, "height": 740})
        for path in paths:
            page.goto(visit.address + path)
            unfold(page)
            assert width(page) <= size, path


def test_whatever_is_touched_is_large_enough_for_a_thumb(visit: Visit) -> None:
    hold = visit.held(f"{RISKY} thumb")
    with visit.person(scripts=True) as page:
        for path in ("/review", f"/review/holds/{hold}", "/review/overview", "/review/fleet"):
            page.goto(visit.address + path)
            sizes = page.evaluate(
                "[...document.querySelectorAll('button, select, input:not([type=hidden])"
                ":not([type=checkbox]), .button, nav a, .pick, .tabs a')]"
                ".filter(e => e.checkVisibility()).map(e => [e.outerHTML.slice(0, 80),"
                " e.getBoundingClientRect().height])"
            )
            assert sizes
            assert [one for one in sizes if one[1] < 44] == [], path


def test_nothing_in_a_message_runs_or_loads_anything(visit: Visit) -> None:
    holds = [visit.held(f"{RISKY} {text}", sender="kim") for text in EVERYTHING]
    asked: list[str] = []
    said: list[str] = []
    with visit.person(scripts=True) as page:
        page.on("request", lambda request: asked.append(request.url))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.on("console", lambda line: said.append(line.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        paths = [f"/review/holds/{hold}" for hold in holds]
        paths += ["/review?state=all", "/review/routes"]
        paths += [f"/review?q={quote(text[:200])}" for text in EVERYTHING]
        for path in paths:
            page.goto(visit.address + path)
            assert page.evaluate("window.owned") is None, path
            odd = page.evaluate(
                "document.querySelectorAll('script, iframe, img, object, embed, base, video,"
                " meta[http-equiv], style, [style], [formaction],"
                ' a:not([href^="/review"]):not([href^="#"])\').length'
            )
            assert odd == 0, path
    assert said == []
    assert [url for url in asked if not url.startswith(f"{visit.address}/review")] == []


def test_a_script_that_got_in_would_not_run(visit: Visit) -> None:
    with visit.person(scripts=True) as page:
        page.evaluate(
            "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=window.owned=1>')"
        )
        page.evaluate(
            "(() => { const s = document.createElement('script');"
            " s.textContent = 'window.owned = 1'; document.body.append(s); })()"
        )
        page.evaluate("fetch('/review').catch(() => 0)")
        assert page.evaluate("window.owned") is None


def test_five_thousand_holds_stay_a_page_that_works(visit: Visit) -> None:
    hold = visit.held("risky: wire 100 euros to the crowd account right now.", sender="crowd")
    clone(visit, hold, CLONES)
    with visit.person() as page:
        page.wait_for_selector("h1:has-text('Waiting for a person')")
        count = int(page.inner_text("h1 .count"))
        assert count > CLONES
        assert page.locator("li.hold").count() == 25
        page.screenshot(path=artefacts() / "five_thousand.png", full_page=True)
        seen = set()
        for _ in range(4):
            seen |= {link.get_attribute("href") for link in page.locator("a.excerpt").all()}
            page.click("a[rel=next]")
            page.wait_for_selector("h1")
        assert len(seen) == 100
        page.goto(f"{visit.address}/review?q=number+4321")
        assert page.locator("li.hold").count() == 1
        page.click("a.excerpt")
        page.locator("button:has-text('Approve for')").click()
        page.wait_for_selector("text=Approved for finance by rita")


def clone(visit: Visit, hold: str, times: int) -> None:
    """Multiply a hold in the ledger's file, each with a route and a text of its own."""
    numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {times})"
    route = visit.hold(hold)["route_id"]
    for table, name, own in (
        ("routes", "id", {"id": "printf('rt_%032x', i)"}),
        ("messages", "route_id", {
            "route_id": "printf('rt_%032x', i)", "text": "text || ' number ' || i"}),
        ("holds", "route_id", {
            "id": "printf('hd_%032x', i)", "route_id": "printf('rt_%032x', i)"}),
    ):  # fmt: skip
        columns = [one for one in columns_of(visit, table) if one != "number"]
        values = ", ".join(own.get(column, f"t.{column}") for column in columns)
        visit.change(
            f"INSERT INTO {table} ({', '.join(columns)}) {numbers}"
            f" SELECT {values} FROM {table} AS t, n WHERE t.{name} = ?",
            route,
        )


def columns_of(visit: Visit, table: str) -> list[str]:
    return [column.name for column in schema.metadata.tables[table].columns]
