"""The queue by risk, claims, several answers at once, and the rules for reviewers, over HTTP."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from clawmarshal.api.cli import main
from clawmarshal.api.wiring import Service
from tests.support.asgi import AppClient
from tests.support.service import SAFE, configure, wired

Call = Callable[..., tuple[int, Any]]
TWO = "holds: {two_reviewers: [high]}\n"


class Desk:
    """A service and its people."""

    def __init__(self, client: AppClient, service: Service) -> None:
        self.client, self.service = client, service
        self.keys: dict[str, str] = {}

    def __call__(self, who: str, method: str, path: str, **more: Any) -> tuple[int, Any]:
        scopes = ["route", "review"]
        if who not in self.keys:
            self.keys[who] = self.service.ledger.create_key(who, who, scopes)
        answer = self.client.request(method, path, key=self.keys[who], **more)
        return answer.status_code, answer.json() if answer.content else None

    def hold(self, text: str = "risky", who: str = "sam", **more: Any) -> str:
        """Send something risky; return the hold's id."""
        status, route = self(who, "POST", "/route", json={"text": f"{text} {SAFE}", **more})
        assert (status, route["state"]) == (202, "held")
        return str(route["hold_id"])

    def approve(self, who: str, hold_id: str, **more: Any) -> tuple[int, Any]:
        return self(who, "POST", f"/holds/{hold_id}/approve", json=more)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with wired(configure(tmp_path)) as running:
        yield Desk(*running)


@pytest.fixture
def ruled(tmp_path: Path) -> Iterator[Callable[[str], Desk]]:
    opened = []

    def open_with(rules: str) -> Desk:
        manager = wired(configure(tmp_path, more=rules))
        opened.append(manager)
        return Desk(*manager.__enter__())

    yield open_with
    for manager in opened:
        manager.__exit__(None, None, None)


def test_the_riskiest_come_first_and_are_counted(desk: Desk) -> None:
    unsure = desk("sam", "POST", "/route", json={"text": f"nobody {SAFE}"})[1]["hold_id"]
    risky = desk.hold(sender="Zoë", channel="chat")

    status, page = desk("rita", "GET", "/holds/queue")

    assert status == 200
    assert [row["hold"]["id"] for row in page["rows"]] == [risky, unsure]
    first = page["rows"][0]
    assert (first["sender"], first["excerpt"], first["is_cut"]) == ("Zoë", f"risky {SAFE}", False)
    assert first["candidates"][0]["agent"] == "finance"
    assert page["by_risk"] == {"high": 1, "low": 1}
    assert sum(page["reasons"].values()) == 2


def test_the_queue_is_searched_and_paged_under_its_filters(desk: Desk) -> None:
    ids = {desk.hold(f"risky number-{n}") for n in range(5)}
    assert len(desk("rita", "GET", "/holds/queue?q=number-3")[1]["rows"]) == 1
    seen, cursor = [], ""
    for _ in range(3):
        page = desk("rita", "GET", f"/holds/queue?risk=high&limit=2{cursor}")[1]
        seen += [row["hold"]["id"] for row in page["rows"]]
        cursor = f"&cursor={page['next']}"
    assert (sorted(seen), page["next"]) == (sorted(ids), None)
    other = desk("rita", "GET", "/holds/queue?risk=high&limit=2")[1]["next"]
    refused = desk("rita", "GET", f"/holds/queue?risk=low&cursor={other}")
    assert refused[1]["code"] == "cursor-invalid"
    assert desk("rita", "GET", "/holds/queue?rsik=low")[1]["code"] == "query-invalid"


def test_a_claim_is_shown_and_given_back(desk: Desk) -> None:
    hold = desk.hold()
    status, claim = desk("rita", "POST", f"/holds/{hold}/claim")
    assert (status, claim["person"], claim["hold_id"]) == (200, "rita", hold)
    assert desk("rita", "GET", "/holds/queue")[1]["rows"][0]["claim"]["person"] == "rita"
    assert desk("bela", "POST", f"/holds/{hold}/claim")[1]["code"] == "hold-claimed"
    assert desk("bela", "POST", f"/holds/{hold}/release")[1]["code"] == "hold-claimed"
    assert desk("rita", "POST", f"/holds/{hold}/release")[0] == 204
    assert desk("bela", "POST", f"/holds/{hold}/claim")[0] == 200


def test_several_answers_are_each_carried_out_by_itself(desk: Desk) -> None:
    first, second, third = (desk.hold(f"risky {n}") for n in range(3))
    assert desk.approve("bela", third)[0] == 200
    answers = [
        {"hold_id": first, "answer": "approve", "agent": "security", "note": "seen"},
        {"hold_id": second, "answer": "reject", "reason": "no"},
        {"hold_id": third, "answer": "reject", "reason": "no"},
        {"hold_id": "hd_none", "answer": "approve"},
        {"hold_id": first, "answer": "approve", "agent": "security"},
    ]

    status, told = desk("rita", "POST", "/holds/answers", json={"answers": answers})

    assert status == 200
    holds = [one["hold"] and one["hold"]["state"] for one in told["results"]]
    codes = [one["problem"] and one["problem"]["code"] for one in told["results"]]
    assert holds == ["approved", "rejected", None, None, "approved"]
    assert codes == [None, None, "hold-decided", "not-found", None]
    assert told["results"][0]["hold"]["agent"] == "security"


@pytest.mark.parametrize(
    "answers",
    [
        [],
        [{"hold_id": "hd_1", "answer": "reject"}],
        [{"hold_id": "hd_1", "answer": "reject", "reason": "x", "agent": "finance"}],
        [{"hold_id": "hd_1", "answer": "approve", "reason": "x"}],
        [{"hold_id": "hd_1", "answer": "maybe"}],
        [{"hold_id": "hd_1", "answer": "approve"}] * 101,
    ],
    ids=["none", "no-reason", "agent-of-a-reject", "reason-of-an-approval", "other", "too-many"],
)
def test_answers_that_cannot_be_meant_are_refused_whole(desk: Desk, answers: list[Any]) -> None:
    status, problem = desk("rita", "POST", "/holds/answers", json={"answers": answers})
    assert (status, problem["code"]) == (422, "body-invalid")


def test_two_people_are_needed_where_that_is_configured(ruled: Callable[[str], Desk]) -> None:
    desk = ruled(TWO)
    hold = desk.hold()
    status, told = desk.approve("rita", hold)
    assert (status, told["state"], told["approvals"]) == (200, "open", ["rita"])
    assert desk.approve("rita", hold)[1]["state"] == "open"
    assert desk("rita", "GET", f"/holds/{hold}")[1]["approvals"] == ["rita"]
    status, told = desk.approve("bela", hold)
    assert (status, told["state"], told["approvals"]) == (200, "approved", ["rita", "bela"])
    assert desk("sam", "GET", f"/routes/{told['route_id']}?wait_s=20")[1]["state"] == "done"


def test_nobody_approves_their_own_where_that_is_configured(ruled: Callable[[str], Desk]) -> None:
    desk = ruled("holds: {no_self_review: true}\n")
    hold = desk.hold(who="rita")
    status, problem = desk.approve("rita", hold)
    assert (status, problem["code"]) == (403, "self-review")
    assert desk.approve("bela", hold)[0] == 200


def test_an_approval_is_called_back_in_its_grace(ruled: Callable[[str], Desk]) -> None:
    desk = ruled("holds: {grace_s: 3600}\n")
    hold = desk.hold()
    route_id = desk.approve("rita", hold)[1]["route_id"]
    route = desk("sam", "GET", f"/routes/{route_id}")[1]
    assert (route["state"], route["attempts"]) == ("approved", [])
    assert route["grace_until"] is not None
    assert desk("rita", "POST", f"/routes/{route_id}/cancel")[1]["state"] == "cancelled"


def test_a_short_grace_ends_in_the_launch(ruled: Callable[[str], Desk]) -> None:
    desk = ruled("holds: {grace_s: 0.01}\n")
    route_id = desk.approve("rita", desk.hold())[1]["route_id"]
    assert desk("sam", "GET", f"/routes/{route_id}?wait_s=30")[1]["state"] == "done"


def test_the_command_line_claims_shows_and_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = configure(tmp_path, more=TWO)
    with wired(config) as running:
        hold = Desk(*running).hold()

    def told(*arguments: str) -> str:
        assert main(["holds", *arguments, "--config", str(config)]) == 0
        return capsys.readouterr().out

    assert hold in told("queue", "--risk", "high", "--search", "risky")
    assert "open: 1 high" in told("queue")
    assert "claimed by rita" in told("claim", hold, "--person", "rita")
    assert "rita" in told("queue")
    assert "nobody's" in told("release", hold, "--person", "rita")
    assert "waits for a second yes" in told("approve", hold, "--person", "rita")
    assert "approved for finance by bela" in told("approve", hold, "--person", "bela")


@pytest.mark.parametrize("path", ["/holds/queue", "/holds", "/routes"])
def test_a_query_that_names_something_twice_is_refused(desk: Desk, path: str) -> None:
    status, problem = desk("rita", "GET", f"{path}?state=open&limit=1&limit=2")
    assert (status, problem["code"]) == (422, "query-invalid")
    assert "limit" in problem["detail"]
