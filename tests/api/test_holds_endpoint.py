"""The hold queue over HTTP: lists, one hold, and the answers."""

from collections.abc import Iterator
from typing import Any

import pytest

from clawmarshal.api.app import create_app
from clawmarshal.errors import ConflictError, ExpiredError
from tests.support.asgi import AppClient, served
from tests.support.fake_desk import FakeDesk, fake_parts

HOLD = f"hd_{1:032x}"
Answer = tuple[int, dict[str, Any]]


@pytest.fixture
def desk() -> FakeDesk:
    return FakeDesk()


@pytest.fixture
def client(desk: FakeDesk) -> Iterator[AppClient]:
    with served(create_app(fake_parts(desk))) as client:
        client.request("POST", "/route", key="sender-key", json={"text": "risky"})
        yield client


def answer(client: AppClient, what: str, body: object = None, *, key: str = "review-key") -> Answer:
    got = client.request("POST", f"/holds/{HOLD}/{what}", key=key, json=body)
    return got.status_code, got.json()


def test_the_queue_names_hold_and_route(client: AppClient) -> None:
    page = client.request("GET", "/holds", key="review-key").json()
    assert page["next"] is None
    (hold,) = page["holds"]
    assert (hold["id"], hold["route_id"], hold["state"]) == (HOLD, f"rt_{1:032x}", "open")
    assert (hold["suggestion"], hold["risk"], hold["reason"]) == ("finance", "high", "risk")
    assert hold["gates"] == [{"number": 3, "reason": "risk", "detail": "the rules say high"}]
    assert "text" not in hold


def test_one_hold_shows_the_text_and_the_digest_to_approve(client: AppClient) -> None:
    hold = client.request("GET", f"/holds/{HOLD}", key="review-key").json()
    assert hold["route"]["message"]["text"] == "risky"
    assert hold["digest"] == "d" * 64


def test_an_empty_body_approves_for_the_suggestion(client: AppClient) -> None:
    got = client.request("POST", f"/holds/{HOLD}/approve", key="review-key")
    assert got.status_code == 200
    assert (got.json()["decision"], got.json()["agent"]) == ("approve", "finance")
    assert got.json()["person"] == "rita"


def test_the_person_comes_from_the_key_never_from_the_body(client: AppClient) -> None:
    status, problem = answer(client, "approve", {"person": "ann"})
    assert (status, problem["code"]) == (422, "body-invalid")


def test_the_first_answer_wins(client: AppClient) -> None:
    first = answer(client, "reject", {"reason": "no"})
    again = answer(client, "reject", {"reason": "no"}, key="admin-key")
    other = answer(client, "approve", {})
    assert first[0] == again[0] == 200
    assert first[1] == again[1]
    assert (other[0], other[1]["code"]) == (409, "hold-decided")
    assert other[1]["winner"]["decision"] == "reject"
    assert other[1]["winner"]["person"] == "rita"


def test_answered_holds_leave_the_open_queue(client: AppClient) -> None:
    answer(client, "approve", {"note": "ok"})
    listed = {
        state: len(client.request("GET", f"/holds?state={state}", key="review-key").json()["holds"])
        for state in ("open", "approved", "all")
    }
    assert listed == {"open": 0, "approved": 1, "all": 1}


@pytest.mark.parametrize(
    "body", [None, {}, {"reason": ""}, {"reason": " \t"}, {"reason": 1}, {"reason": "x" * 2001}]
)
def test_a_reject_needs_a_reason(client: AppClient, desk: FakeDesk, body: object) -> None:
    status, problem = answer(client, "reject", body)
    assert (status, problem["code"]) == (422, "body-invalid")
    assert desk.holds[HOLD].decision is None


def test_approving_for_an_unknown_agent_is_422(client: AppClient) -> None:
    status, problem = answer(client, "approve", {"agent": "securty"})
    assert (status, problem["code"], problem["near"]) == (422, "unknown-agent", ["security"])


@pytest.mark.parametrize(
    ("error", "status", "member"),
    [
        (ConflictError("x", code="agent-required"), 422, None),
        (ConflictError("x", code="gates-changed", detail={"digest": "e"}), 409, "digest"),
        (ConflictError("x", code="digest-changed", detail={"digest": "e"}), 409, "digest"),
        (ExpiredError("x"), 409, None),
        (ConflictError("x", code="something-new"), 409, None),
    ],
    ids=["agent required", "gates changed", "digest changed", "expired", "a code without a row"],
)
def test_each_refusal_is_its_own_problem(
    client: AppClient, desk: FakeDesk, error: Exception, status: int, member: str | None
) -> None:
    desk.failure = error
    got, problem = answer(client, "approve", {})
    assert got == status
    known = getattr(error, "code", "")
    assert problem["code"] == (known if known != "something-new" else "conflict")
    if member:
        assert problem[member] == "e"


def test_an_unknown_hold_is_404_for_every_answer(client: AppClient) -> None:
    for what, body in (("approve", {}), ("reject", {"reason": "no"})):
        got = client.request("POST", f"/holds/hd_0/{what}", key="review-key", json=body)
        assert (got.status_code, got.json()["code"]) == (404, "not-found")


@pytest.mark.parametrize("query", ["state=odd", "limit=0", "limit=501", "cursor=", "limit=x"])
def test_odd_queries_are_422(client: AppClient, query: str) -> None:
    got = client.request("GET", f"/holds?{query}", key="review-key")
    assert (got.status_code, got.json()["code"]) == (422, "query-invalid")
