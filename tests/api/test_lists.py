"""Filters, cursors and ETags over the real ledger."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.support.asgi import AppClient
from tests.support.keys import key_for
from tests.support.service import configure, wired


@dataclass
class Room:
    client: AppClient
    keys: dict[str, str]

    def get(self, path: str, *, key: str = "rita", **more: Any) -> httpx.Response:
        return self.client.request("GET", path, key=self.keys[key], **more)

    def post(self, path: str, body: object, *, key: str = "rita", **more: Any) -> httpx.Response:
        return self.client.request("POST", path, key=self.keys[key], json=body, **more)

    def send(self, text: str, *, key: str = "ann", **more: Any) -> dict[str, Any]:
        answer = self.post("/route", {"text": text, "wait_s": 20, **more}, key=key)
        assert answer.status_code in (200, 202), answer.text
        found: dict[str, Any] = answer.json()
        return found


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    config = configure(tmp_path_factory.mktemp("room"))
    scopes = {"ann": "route", "bob": "route", "rita": "review"}
    keys = {name: key_for(config, scope, person=name) for name, scope in scopes.items()}
    with wired(config) as (client, _):
        room = Room(client, keys)
        room.send("hello one", channel="mail", sender="s-1", conversation="c-1", account="a-1")
        room.send("hello two", channel="chat", mode="decide")
        room.send("risky three", channel="chat", conversation="c-3")
        room.send("risky four", channel="chat", key="bob")
        room.send("nobody five", channel="chat")
        yield room


def texts(room: Room, query: str, *, key: str = "rita") -> set[str]:
    page = room.get(f"/routes?{query}", key=key)
    assert page.status_code == 200, page.text
    ids = [route["id"] for route in page.json()["routes"]]
    found = [room.get(f"/routes/{one}").json()["message"]["text"] for one in ids]
    return {text.split()[1] for text in found}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", {"one", "two", "three", "four", "five"}),
        ("state=held", {"three", "four", "five"}),
        ("state=done", {"one"}),
        ("outcome=hold", {"three", "four", "five"}),
        ("outcome=dispatch", {"one", "two"}),
        ("mode=decide", {"two"}),
        ("reason=risk", {"three", "four"}),
        ("agent=finance&state=held", {"three", "four", "five"}),
        ("agent=security", set()),
        ("channel=mail", {"one"}),
        ("account=a-1", {"one"}),
        ("sender=s-1", {"one"}),
        ("conversation=c-3", {"three"}),
        ("channel=chat&reason=no_match", {"five"}),
        ("q=thr", {"three"}),
        ("q=%25", set()),
        ("since=2000-01-01T00:00:00Z&channel=mail", {"one"}),
        ("until=2000-01-01T00:00:00Z", set()),
        ("since=9000-01-01T00:00:00Z", set()),
    ],
)
def test_each_filter_of_routes_narrows(room: Room, query: str, expected: set[str]) -> None:
    assert texts(room, query) == expected


def test_no_filter_shows_what_another_person_owns(room: Room) -> None:
    assert texts(room, "state=held", key="bob") == {"four"}
    assert texts(room, "q=three", key="bob") == set()


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 3),
        ("risk=high", 2),
        ("risk=low", 1),
        ("reason=no_match", 1),
        ("agent=finance", 3),
        ("agent=security", 0),
        ("person=rita&state=all", 0),
        ("since=9000-01-01T00:00:00Z", 0),
        ("until=9000-01-01T00:00:00Z", 3),
    ],
)
def test_each_filter_of_holds_narrows(room: Room, query: str, count: int) -> None:
    assert len(room.get(f"/holds?{query}").json()["holds"]) == count


def test_the_trail_is_narrowed_to_a_kind(room: Room) -> None:
    (route,) = room.get("/routes?channel=mail").json()["routes"]
    events = room.get(f"/routes/{route['id']}/events?kind=done").json()["events"]
    assert [event["kind"] for event in events] == ["done"]


def test_pages_follow_each_other_without_gap_or_repeat(room: Room) -> None:
    for path in ("/routes", "/holds"):
        name = path.removeprefix("/")
        seen: list[str] = []
        cursor, pages = "", 0
        while True:
            page = room.get(f"{path}?limit=2{cursor}").json()
            seen += [one["id"] for one in page[name]]
            pages += 1
            if page["next"] is None:
                break
            cursor = f"&cursor={page['next']}"
        whole = [one["id"] for one in room.get(path).json()[name]]
        assert (seen, pages) == (whole, len(whole) // 2 + len(whole) % 2)


def test_a_cursor_belongs_to_its_list_its_filters_and_its_reader(room: Room) -> None:
    cursor = room.get("/routes?limit=1&channel=chat").json()["next"]
    assert room.get(f"/routes?limit=1&channel=chat&cursor={cursor}").status_code == 200
    for path, key in (
        ("/routes?channel=mail", "rita"),
        ("/routes?limit=1", "rita"),
        ("/holds?limit=1", "rita"),
        ("/routes?channel=chat", "ann"),
    ):
        answer = room.get(f"{path}&cursor={cursor}", key=key)
        assert (answer.status_code, answer.json()["code"]) == (422, "cursor-invalid"), path


@pytest.mark.parametrize(
    "cursor", ["1", "x", "0" * 16 + ".1", "\u0661", "%00", "x" * 201, "' OR 1=1"]
)
def test_an_unknown_cursor_is_422(room: Room, cursor: str) -> None:
    for path in ("/routes", "/holds"):
        answer = room.get(f"{path}?cursor={cursor}")
        assert answer.status_code == 422
        assert answer.json()["code"] in ("cursor-invalid", "query-invalid")


@pytest.mark.parametrize(
    "query",
    [
        "stat=held",
        "state=open",
        "since=yesterday",
        "since=2026-01-01T00:00:00",
        "q=",
        "q=a%00b",
        "channel=%1b",
        "mode=dry_run",
        "limit=1&limit=x",
    ],
)
def test_what_is_no_filter_is_refused_and_never_ignored(room: Room, query: str) -> None:
    answer = room.get(f"/routes?{query}")
    assert (answer.status_code, answer.json()["code"]) == (422, "query-invalid"), answer.text


@pytest.mark.parametrize("name", ["rt_%00", "rt_" + "0" * 99, "%F0%9F%A6%9E", "..%2Fkeys"])
def test_an_id_that_is_none_is_404(room: Room, name: str) -> None:
    for path in (f"/routes/{name}", f"/routes/{name}/events", f"/holds/{name}"):
        assert room.get(path).status_code == 404


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    """One of its own, since these add holds."""
    config = configure(tmp_path_factory.mktemp("busy"))
    scopes = {"ann": "route", "rita": "review"}
    keys = {name: key_for(config, scope, person=name) for name, scope in scopes.items()}
    with wired(config) as (client, _):
        yield Room(client, keys)


def held(room: Room) -> str:
    hold: str = room.send("risky etag")["hold_id"]
    return hold


def test_a_hold_that_did_not_change_is_304(busy: Room) -> None:
    hold = held(busy)
    etag = busy.get(f"/holds/{hold}").headers["etag"]
    for sent in (etag, f'"x", {etag}', f"W/{etag}", "*"):
        same = busy.get(f"/holds/{hold}", headers={"If-None-Match": sent})
        assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", etag)
    busy.post(f"/holds/{hold}/reject", {"reason": "no"})
    other = busy.get(f"/holds/{hold}", headers={"If-None-Match": etag})
    assert other.status_code == 200 and other.headers["etag"] != etag


def test_an_answer_to_what_no_longer_stands_is_412_and_changes_nothing(busy: Room) -> None:
    hold = held(busy)
    for path, body in (("approve", {}), ("reject", {"reason": "no"})):
        refused = busy.post(f"/holds/{hold}/{path}", body, headers={"If-Match": '"old"'})
        assert (refused.status_code, refused.json()["code"]) == (412, "hold-changed")
        assert refused.headers["etag"] == refused.json()["etag"]
    assert busy.get(f"/holds/{hold}").json()["state"] == "open"
    weak = {"If-Match": "W/" + busy.get(f"/holds/{hold}").headers["etag"]}
    assert busy.post(f"/holds/{hold}/approve", {}, headers=weak).status_code == 412


def test_an_answer_to_what_stands_passes_and_so_does_its_retry(busy: Room) -> None:
    hold = held(busy)
    match = {"If-Match": busy.get(f"/holds/{hold}").headers["etag"]}
    first = busy.post(f"/holds/{hold}/reject", {"reason": "no"}, headers=match)
    again = busy.post(f"/holds/{hold}/reject", {"reason": "no"}, headers=match)
    other = busy.post(f"/holds/{hold}/approve", {}, headers=match)
    assert first.status_code == again.status_code == 200
    assert first.json() == again.json()
    assert (other.status_code, other.json()["code"]) == (412, "hold-changed")


@pytest.mark.parametrize("sent", ["abc", '"a', '"a" "b"', "", '"' + "a" * 3000 + '"', '"\x7f"'])
def test_an_if_match_that_is_none_is_400(busy: Room, sent: str) -> None:
    hold = held(busy)
    answer = busy.post(f"/holds/{hold}/approve", {}, headers={"If-Match": sent})
    assert (answer.status_code, answer.json()["code"]) == (400, "if-match-invalid")
    assert busy.get(f"/holds/{hold}").json()["state"] == "open"
