"""Erasure over HTTP, on the command line and on the pages, and what is explained afterwards."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clawmarshal.api.cli import main
from tests.support.review import ReviewRoom, review_room
from tests.support.service import SAFE, configure

MARK = "xyzzy"


@pytest.fixture
def room(tmp_path: Path) -> Iterator[ReviewRoom]:
    with review_room(tmp_path, config=configure(tmp_path)) as room:
        yield room


def erase(room: ReviewRoom, route_id: str, key: str | None = None, **body: str) -> Any:
    return room.client.request(
        "POST", f"/routes/{route_id}/erase", key=key or room.admin_key, json=body
    )


def sent(room: ReviewRoom, **more: str) -> str:
    route = room.send(f"{SAFE} {MARK}", sender=f"{MARK}@example.org", channel="mail", **more)
    assert route["state"] == "done"
    return str(route["id"])


def test_an_admin_erases_and_the_route_says_so(room: ReviewRoom) -> None:
    route_id = sent(room)
    answer = erase(room, route_id, reason="2026-17")
    assert answer.status_code == 200
    assert answer.json()["erased"] is True
    for path in (f"/routes/{route_id}", f"/routes/{route_id}/events", "/routes"):
        assert MARK not in room.client.request("GET", path, key=room.review_key).text
    page = room.browser().open(f"/review/routes/{route_id}")
    assert "was erased on request" in page.text
    assert MARK not in page.text


def test_others_may_not(room: ReviewRoom) -> None:
    route_id = sent(room)
    for key in (room.review_key, room.route_key):
        assert erase(room, route_id, key).json()["code"] == "scope-missing"
    assert erase(room, "rt_none").json()["code"] == "not-found"
    assert MARK in room.service.ledger.route(route_id).message.text


def test_a_hold_must_be_answered_first(room: ReviewRoom) -> None:
    hold = room.held()
    route_id = room.service.ledger.hold(hold).route_id
    answer = erase(room, route_id)
    assert (answer.status_code, answer.json()["code"]) == (409, "not-erasable")


def test_a_repeat_of_what_was_erased_names_the_route_and_says_nothing(room: ReviewRoom) -> None:
    key = {"Idempotency-Key": "k-1"}
    body = {"text": f"{SAFE} {MARK}", "wait_s": 20}

    def send() -> Any:
        return room.client.request(
            "POST", "/route", key=room.route_key, json=body, headers=key
        ).json()

    route_id = send()["id"]
    assert erase(room, route_id).status_code == 200
    again = send()
    assert again["id"] == route_id
    assert MARK not in json.dumps(again)


def test_the_command_line_counts_first_and_names_what_is_left(
    room: ReviewRoom, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = sent(room)
    room.held(sender=f"{MARK}@example.org", channel="mail")
    other = room.send(SAFE, sender="else@example.org", channel="mail")["id"]
    config = str(tmp_path / "clawmarshal.yaml")
    asked = ["routes", "erase", "--sender", f"{MARK}@example.org", "--channel", "mail"]

    assert main([*asked, "--config", config]) == 0
    assert "2 routes would be erased" in capsys.readouterr().out
    assert room.service.ledger.route(ended).message.text
    assert main([*asked, "--yes", "--config", config]) == 1
    told = capsys.readouterr()
    assert "1 routes erased, 1 left" in told.out
    assert "needs its text" in told.err
    assert room.service.ledger.route(ended).is_erased
    assert not room.service.ledger.route(other).is_erased
    assert main(["routes", "erase", "--config", config]) == 2


def test_it_is_still_explained(
    room: ReviewRoom, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    route_id = sent(room)
    assert erase(room, route_id).status_code == 200
    config = str(tmp_path / "clawmarshal.yaml")
    (tmp_path / "fleet.yaml").write_text(
        "agents:\n  - id: other\n    description: Something else entirely.\n"
    )
    assert main(["explain", route_id, "--config", config]) == 0
    told = capsys.readouterr().out
    assert "finance" in told
    assert "erased" in told
    assert MARK not in told
    assert main(["verify", "--config", config]) == 0


def test_routes_are_listed_resolved_and_cancelled_on_the_command_line(
    room: ReviewRoom, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = str(tmp_path / "clawmarshal.yaml")
    route_id = sent(room)
    assert main(["routes", "list", "--state", "done", "--config", config]) == 0
    assert route_id in capsys.readouterr().out
    assert main(["routes", "list", "--search", MARK, "--json", "--config", config]) == 0
    assert json.loads(capsys.readouterr().out)["routes"][0]["id"] == route_id
    assert main(["routes", "list", "--state", "nowhere", "--config", config]) == 2
    held = room.service.ledger.hold(room.held()).route_id
    assert main(["routes", "cancel", held, "--person", "rita", "--config", config]) == 0
    assert "is cancelled" in capsys.readouterr().out
    assert main(["routes", "resolve", held, "--answer", "ran", "--config", config]) == 1
