"""The page of a hold: what it shows, its answers, and every refusal."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.asgi import AppClient
from tests.support.review import Browser, Page, ReviewRoom, review_room
from tests.support.service import ROSTER, configure, wired

MORE_MONEY = ROSTER.replace(
    "portfolio questions.", "portfolio questions.\n    capabilities: [money]"
)


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReviewRoom]:
    with review_room(tmp_path_factory.mktemp("room")) as room:
        yield room


def decision(room: ReviewRoom, hold: str) -> tuple[str | None, str | None, str | None]:
    found = room.service.ledger.hold(hold)
    return found.decision, found.agent, found.person


def test_it_shows_what_waits_and_why(room: ReviewRoom) -> None:
    room.send("is there news of the invoice", conversation="c-7", channel="mail", sender="kim")
    hold = room.held("risky: pay it", conversation="c-7", channel="mail", sender="kim")
    page = room.browser().open(f"/review/holds/{hold}")
    for words in (
        "risky: pay it",
        "kim in mail",
        "is there news of the invoice",
        "[stand-in]",  # the answer to the first message
        "P(high)",  # the gate's own sentence
        "--agent=finance",
        "--json",
        "generation 1",
        "OPENCLAW_NO_RESPAWN",
        "accepted",
        "decided",
    ):
        assert words in page.text, words


def test_approving_launches_it_once_and_the_page_tells(room: ReviewRoom) -> None:
    hold = room.held()
    browser = room.browser()
    form = browser.open(f"/review/holds/{hold}").form("/approve")
    page = browser.submit(form, note="called the sender")
    assert page.status == 200
    assert decision(room, hold) == ("approve", "finance", "rita")
    assert "Approved for finance by rita" in page.text
    assert "called the sender" in page.text
    assert not page.has_form("/approve")
    route = room.service.ledger.hold(hold).route_id
    room.client.request("GET", f"/routes/{route}?wait_s=20", key=room.review_key)
    browser.submit(form, note="again")
    after = browser.open(f"/review/holds/{hold}")
    assert after.text.count("Attempt 1 for finance") == 1
    assert "Attempt 2" not in after.text
    assert "[stand-in]" in after.text


def test_approving_as_another_agent_shows_it_first(room: ReviewRoom) -> None:
    hold = room.held()
    browser = room.browser()
    page = browser.open(f"/review/holds/{hold}?agent=security")
    assert "--agent=security" in page.text
    assert "--agent=finance" not in page.text
    page = browser.submit(page.form("/approve"))
    assert decision(room, hold) == ("approve", "security", "rita")
    assert "Approved for security" in page.text


def test_a_digest_of_one_agent_approves_no_other(room: ReviewRoom) -> None:
    hold = room.held()
    browser = room.browser()
    form = browser.open(f"/review/holds/{hold}").form("/approve")
    page = browser.submit(form, agent="security")
    assert page.status == 409
    assert "Nothing was approved" in page.text
    assert decision(room, hold)[0] is None


@pytest.mark.parametrize("digest", ["", "0" * 64, "none"])
def test_an_approval_without_what_was_shown_is_refused(room: ReviewRoom, digest: str) -> None:
    hold = room.held()
    browser = room.browser()
    form = browser.open(f"/review/holds/{hold}").form("/approve")
    page = browser.submit(form, digest=digest)
    assert page.status == 409
    assert decision(room, hold)[0] is None
    assert ("digest", page_digest(page)) in page.form("/approve").fields


def page_digest(page: Page) -> str:
    return dict(page.form("/approve").fields)["digest"]


def test_rejecting_needs_a_reason_and_keeps_it(room: ReviewRoom) -> None:
    hold = room.held()
    browser = room.browser()
    form = browser.open(f"/review/holds/{hold}").form("/reject")
    refused = browser.submit(form, reason="  ")
    assert (refused.status, decision(room, hold)[0]) == (422, None)
    page = browser.submit(form, reason="not ours <b>")
    assert decision(room, hold) == ("reject", None, "rita")
    assert "Rejected by rita" in page.text
    assert "not ours <b>" in page.text


def test_a_second_answer_is_told_who_won(room: ReviewRoom) -> None:
    hold = room.held()
    rita, adam = room.browser(), room.browser(room.admin_key)
    late = adam.open(f"/review/holds/{hold}").form("/reject")
    rita.submit(rita.open(f"/review/holds/{hold}").form("/approve"))
    page = adam.submit(late, reason="no")
    assert page.status == 409
    assert "approve for finance by rita" in page.text
    assert decision(room, hold) == ("approve", "finance", "rita")


def test_a_hold_that_was_cancelled_says_so(room: ReviewRoom) -> None:
    hold = room.held()
    browser = room.browser()
    form = browser.open(f"/review/holds/{hold}").form("/approve")
    route = room.service.ledger.hold(hold).route_id
    room.client.request("POST", f"/routes/{route}/cancel", key=room.route_key)
    page = browser.submit(form)
    assert page.status == 409
    assert "cancelled before anybody answered" in page.text


@pytest.mark.parametrize("verb", ["approve", "reject", "claim", "release"])
@pytest.mark.parametrize("csrf", [None, "", "0" * 64, "of another"], ids=str)
def test_a_form_without_its_token_changes_nothing(
    room: ReviewRoom, verb: str, csrf: str | None
) -> None:
    hold = room.held()
    browser = room.browser()
    form = browser.open(f"/review/holds/{hold}").form("/approve")
    fields = {name: value for name, value in form.fields if name != "csrf"} | {"reason": "r"}
    if csrf == "of another":
        csrf = dict(room.browser(room.admin_key).open("/review").form("/sign-out").fields)["csrf"]
    if csrf is not None:
        fields["csrf"] = csrf
    page = browser.post(f"/review/holds/{hold}/{verb}", fields)
    assert page.status == 403
    assert decision(room, hold)[0] is None
    assert room.service.ledger.claims([hold]) == {}


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:9", None])
def test_a_form_from_elsewhere_changes_nothing(room: ReviewRoom, origin: str | None) -> None:
    hold = room.held()
    browser = room.browser()
    form = browser.open(f"/review/holds/{hold}").form("/approve")
    page = browser.post(form.action, dict(form.fields), origin=origin)
    assert (page.status, decision(room, hold)[0]) == (403, None)


def test_an_answer_without_a_sign_in_changes_nothing_and_leads_back(room: ReviewRoom) -> None:
    hold = room.held()
    form = room.browser().open(f"/review/holds/{hold}").form("/approve")
    page = Browser(room.client).post(form.action, dict(form.fields))
    assert (page.status, decision(room, hold)[0]) == (401, None)
    assert ("there", f"/review/holds/{hold}") in page.form("/sign-in").fields
    assert "nothing was changed" in page.text


def test_a_claim_is_seen_by_others_and_given_back(room: ReviewRoom) -> None:
    hold = room.held()
    rita, adam = room.browser(), room.browser(room.admin_key)
    path = f"/review/holds/{hold}"
    late = adam.open(path).form("/claim")
    page = rita.submit(rita.open(path).form("/claim"))
    assert "You look at this one" in page.text
    assert "rita looks at this one" in adam.open(path).text
    refused = adam.submit(late)
    assert refused.status == 409
    assert "by rita" in refused.text
    page = rita.submit(rita.open(path).form("/release"))
    assert page.has_form("/claim")
    assert "claimed" in page.text
    assert "released" in page.text
    assert adam.submit(late).status == 200


def test_what_cannot_be_shown_cannot_be_approved(room: ReviewRoom) -> None:
    hold = room.held("risky \u202e evil")
    page = room.browser().open(f"/review/holds/{hold}")
    assert not page.has_form("/approve")
    assert "It cannot be approved for finance" in page.text
    assert page.has_form("/reject")


def test_an_agent_that_is_not_in_the_roster_is_said_with_near_ones(room: ReviewRoom) -> None:
    hold = room.held()
    page = room.browser().open(f"/review/holds/{hold}?agent=securty")
    assert page.status == 422


def test_a_hold_that_is_not_there_is_404(room: ReviewRoom) -> None:
    page = room.browser().open("/review/holds/hd_0")
    assert (page.status, page.answer.headers["content-type"]) == (404, "text/html; charset=utf-8")


def again(config: Path, browser: Browser) -> Iterator[AppClient]:
    """Run the service again on the same ledger; whoever is signed in still is."""
    with wired(config) as (client, _):
        browser._client = client
        yield client


@pytest.mark.parametrize(
    ("roster", "told"),
    [
        (ROSTER.replace("tax deadlines", "taxes"), "digest-changed"),
        (MORE_MONEY, "gates-changed"),
    ],
    ids=["another remit", "a gate that fires now"],
)
def test_what_changed_since_it_was_shown_is_shown_before_it_is_approved(
    tmp_path: Path, roster: str, told: str
) -> None:
    config = configure(tmp_path, more="policy: {max_high_probability: 0.99, min_margin: 0.9}\n")
    with review_room(tmp_path, config=config) as room:
        # Low risk and a margin that is too small: gate 8 alone.
        hold = room.held("uncertain words")
        browser = room.browser()
        form = browser.open(f"/review/holds/{hold}").form("/approve")
    (tmp_path / "fleet.yaml").write_text(roster, encoding="utf-8")
    for _ in again(config, browser):
        page = browser.submit(form)
        assert page.status == 409
        assert "Nothing was approved" in page.text
        assert page_digest(page) != dict(form.fields)["digest"]
        assert ("new for finance" in page.text) is (told == "gates-changed")
        assert "Approved for finance" in browser.submit(page.form("/approve")).text


def test_one_yes_of_two_is_shown_and_the_second_person_answers(tmp_path: Path) -> None:
    with review_room(
        tmp_path, config=configure(tmp_path, more="holds: {two_reviewers: [high]}\n")
    ) as room:
        hold = room.held()
        browser = room.browser()
        page = browser.submit(browser.open(f"/review/holds/{hold}").form("/approve"))
        assert "Approved by rita; it takes two people" in page.text
        assert page.has_form("/approve")
        assert room.service.ledger.hold(hold).decision is None
        other = room.browser(room.admin_key)
        page = other.submit(other.open(f"/review/holds/{hold}").form("/approve"))
        assert "Approved for finance by adam" in page.text


def test_an_approval_is_called_back_on_its_page(tmp_path: Path) -> None:
    with review_room(tmp_path, config=configure(tmp_path, more="holds: {grace_s: 3600}\n")) as room:
        hold = room.held()
        browser = room.browser()
        page = browser.submit(browser.open(f"/review/holds/{hold}").form("/approve"))
        assert "Nothing has been launched yet" in page.text
        browser.submit(page.form("/cancel"))
        route = room.service.ledger.route(room.service.ledger.hold(hold).route_id)
        assert str(route.state) == "cancelled"
        assert "can be called back" not in browser.open(f"/review/holds/{hold}").text
