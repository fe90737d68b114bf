"""POST /route: what is answered, and every way a body can be wrong."""

import json
from collections.abc import Iterator

import pytest

from clawmarshal.api.app import create_app
from clawmarshal.errors import AcceptedUnreadError, ConflictError, LedgerUnavailableError
from tests.support.asgi import AppClient, served
from tests.support.fake_desk import FakeDesk, fake_parts

JSON = {"Content-Type": "application/json"}


@pytest.fixture
def desk() -> FakeDesk:
    return FakeDesk()


@pytest.fixture
def client(desk: FakeDesk) -> Iterator[AppClient]:
    with served(create_app(fake_parts(desk))) as client:
        yield client


def post(client: AppClient, **body: object) -> tuple[int, dict[str, object]]:
    answer = client.request("POST", "/route", key="pin-key", json=body)
    return answer.status_code, answer.json()


def post_raw(client: AppClient, raw: bytes, **headers: str) -> tuple[int, str]:
    answer = client.request("POST", "/route", key="sender-key", content=raw, headers=JSON | headers)
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == "/problems/" + answer.json()["code"]
    return answer.status_code, answer.json()["code"]


def test_a_finished_route_is_200_with_the_whole_answer(client: AppClient) -> None:
    status, answer = post(client, text="hello")
    assert status == 200
    assert answer["reply"] == {"text": "answer"}
    assert (answer["state"], answer["outcome"], answer["ran"]) == ("done", "dispatch", True)
    assert answer["candidates"] == [
        {"agent": "finance", "probability": 0.8},
        {"agent": "none_of_these", "probability": 0.2},
    ]
    assert answer["deduplicable"] is False
    assert answer["links"] == {
        "self": f"/routes/{answer['id']}",
        "events": f"/routes/{answer['id']}/events",
        "hold": None,
    }


def test_a_held_route_is_202_with_its_hold(client: AppClient) -> None:
    status, answer = post(client, text="risky", message_id="m1")
    assert status == 202
    assert (answer["state"], answer["reason"], answer["reasons"]) == ("held", "risk", ["risk"])
    assert answer["hold_id"] == f"hd_{1:032x}"
    assert answer["deduplicable"] is True


def test_mode_decide_is_200_and_ends_decided(client: AppClient) -> None:
    status, answer = post(client, text="risky", mode="decide")
    assert (status, answer["state"]) == (200, "decided")


def test_dry_run_leaves_no_row(client: AppClient, desk: FakeDesk) -> None:
    status, answer = post(client, text="hello", mode="dry_run")
    assert (status, answer["id"], answer["agent"]) == (200, None, "finance")
    assert not desk.routes


def test_every_field_reaches_the_desk(client: AppClient, desk: FakeDesk) -> None:
    fields = {
        "text": "hello",
        "channel": "mail",
        "account": "a",
        "sender": "s",
        "conversation": "c",
        "message_id": "m",
        "revision": 2,
        "received_at": "2026-01-31T09:30:00+01:00",
        "labels": ["tag:eu"],
        "attachments": [{"kind": "image", "name": "x.png"}],
        "agent": "finance",
        "mode": "dispatch",
        "wait_s": 0,
        "on_uncertain": "clarify",
        "clarifies": "rt_0",
        "cancel_on_disconnect": False,
        "reply_target": "desk",
    }
    status, answer = post(client, **fields)
    assert status == 200
    detail = client.request("GET", f"/routes/{answer['id']}", key="review-key").json()
    message = detail["message"]
    for name in ("text", "channel", "account", "sender", "conversation", "message_id", "revision"):
        assert message[name] == fields[name]
    assert message["labels"] == fields["labels"]
    assert message["attachments"] == fields["attachments"]
    assert message["received_at"] == "2026-01-31T09:30:00+01:00"
    for name in ("on_uncertain", "clarifies", "reply_target"):
        assert detail[name] == fields[name]
    assert (detail["pin"], detail["owner"], detail["via"]) == ("finance", "ann", "pin")


def test_a_retry_with_its_key_names_the_same_route(client: AppClient) -> None:
    headers = {"Idempotency-Key": "once"}
    answers = [
        client.request("POST", "/route", key="sender-key", json={"text": "hello"}, headers=headers)
        for _ in range(2)
    ]
    first, second = answers
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.content == second.content and first.json()["deduplicable"] is True
    assert "idempotency-replayed" not in first.headers
    assert second.headers["idempotency-replayed"] == "key"
    assert second.headers["location"] == first.headers["location"]
    assert second.headers["content-type"] == first.headers["content-type"]


def test_a_retry_of_what_is_not_over_is_answered_anew(client: AppClient) -> None:
    headers = {"Idempotency-Key": "once"}
    answers = [
        client.request("POST", "/route", key="sender-key", json={"text": "risky"}, headers=headers)
        for _ in range(2)
    ]
    first, second = (answer.json() for answer in answers)
    assert first["id"] == second["id"] and answers[1].status_code == 202
    assert (first["deduplicated_by"], second["deduplicated_by"]) == (None, "key")


@pytest.mark.parametrize("key", ["", " ", "a b", "\x7f", "x" * 256])
def test_an_odd_idempotency_key_is_refused(client: AppClient, key: str) -> None:
    assert post_raw(client, b'{"text": "x"}', **{"Idempotency-Key": key}) == (
        400,
        "idempotency-key-invalid",
    )


def test_two_idempotency_keys_are_refused(client: AppClient) -> None:
    headers = [("Idempotency-Key", "a"), ("Idempotency-Key", "b")]
    headers += [("Authorization", "Bearer sender-key"), ("Content-Type", "application/json")]
    answer = client.run(client.http.post("/route", headers=headers, content=b'{"text": "x"}'))
    assert answer.json()["code"] == "idempotency-key-invalid"


DEEP = b'{"text": "x", "labels": ' + b"[" * 50 + b"]" * 50 + b"}"
VERY_DEEP = b'{"text": "x", "labels": ' + b"[" * 4000


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param(b"", (422, "body-invalid"), id="nothing"),
        pytest.param(b"not json", (400, "body-not-json"), id="not JSON"),
        pytest.param(b'{"text": "x"', (400, "body-not-json"), id="cut off"),
        pytest.param(b'{"text": "x"} {}', (400, "body-not-json"), id="two documents"),
        pytest.param(b"[]", (422, "body-invalid"), id="a list"),
        pytest.param(b'"x"', (422, "body-invalid"), id="a text"),
        pytest.param(b"{}", (422, "body-invalid"), id="no text"),
        pytest.param(b'{"text": "x", "txet": 1}', (422, "body-invalid"), id="unknown field"),
        pytest.param(b'{"text": 7}', (422, "body-invalid"), id="text is a number"),
        pytest.param(b'{"text": null}', (422, "body-invalid"), id="text is null"),
        pytest.param(b'{"text": "x", "text": "y"}', (400, "body-duplicate-key"), id="twice"),
        pytest.param(b'{"text": "x", "wait_s": NaN}', (400, "body-not-json"), id="NaN"),
        pytest.param(b'{"text": "x", "wait_s": 1e999}', (422, "body-invalid"), id="infinite"),
        pytest.param(b'{"text": "x", "wait_s": 601}', (422, "body-invalid"), id="long wait"),
        pytest.param(b'{"text": "x", "wait_s": -1}', (422, "body-invalid"), id="negative wait"),
        pytest.param(b'{"text": "x", "wait_s": "1"}', (422, "body-invalid"), id="wait as text"),
        pytest.param(
            b'{"text": "x", "revision": ' + b"9" * 5000 + b"}", (400, "body-not-json"), id="huge"
        ),
        pytest.param(b'{"text": "x", "revision": 3000000000}', (422, "field-invalid"), id="big"),
        pytest.param(b'{"text": "x", "mode": "send"}', (422, "body-invalid"), id="mode"),
        pytest.param(b'{"text": "x", "received_at": 12}', (422, "body-invalid"), id="time"),
        pytest.param(
            b'{"text": "x", "received_at": "2026-01-31T09:30:00"}', (422, "body-invalid"), id="zone"
        ),
        pytest.param(DEEP, (400, "body-too-deep"), id="deep"),
        pytest.param(VERY_DEEP, (400, "body-too-deep"), id="very deep"),
        pytest.param(b'{"text": "\xff"}', (400, "body-not-utf8"), id="not UTF-8"),
        pytest.param(b'\xef\xbb\xbf{"text": "x"}', (400, "body-not-json"), id="BOM before"),
        pytest.param('{"text": "x"}'.encode("utf-16"), (400, "body-not-utf8"), id="UTF-16"),
        pytest.param(b'{"text": ""}', (422, "text-empty"), id="empty text"),
        pytest.param(b'{"text": " \\n\\t"}', (422, "text-empty"), id="blank text"),
        pytest.param(b'{"text": "a\\u0000b"}', (422, "text-nul"), id="NUL"),
        pytest.param(b'{"text": "a\\ud800b"}', (422, "text-surrogate"), id="lone surrogate"),
        pytest.param(b'{"text": "x", "sender": "\\udfff"}', (422, "text-surrogate"), id="sender"),
        pytest.param(b'{"text": "\\ufeffhello"}', (422, "text-bom"), id="BOM in text"),
        pytest.param(b'{"text": "x", "sender": ""}', (422, "field-invalid"), id="empty sender"),
        pytest.param(b'{"text": "x", "sender": "a\\nb"}', (422, "field-invalid"), id="control"),
        pytest.param(b'{"text": "x", "labels": ["A B"]}', (422, "field-invalid"), id="label"),
    ],
)
def test_a_bad_body_is_a_problem_and_leaves_no_row(
    client: AppClient, desk: FakeDesk, raw: bytes, expected: tuple[int, str]
) -> None:
    assert post_raw(client, raw) == expected
    assert not desk.routes


def test_a_text_over_the_cap_is_413(client: AppClient, desk: FakeDesk) -> None:
    raw = json.dumps({"text": "é" * 501}).encode()
    assert post_raw(client, raw) == (413, "text-too-large")
    assert not desk.routes


@pytest.mark.parametrize("size", [100_000, 5 * 1024 * 1024])
def test_a_body_over_its_cap_is_413_before_it_is_parsed(client: AppClient, size: int) -> None:
    assert post_raw(client, b"x" * size) == (413, "body-too-large")


def test_a_text_at_the_cap_is_accepted_however_it_is_escaped(client: AppClient) -> None:
    raw = b'{"text": "' + b"\\u0041" * 1000 + b'"}'
    answer = client.request("POST", "/route", key="sender-key", content=raw, headers=JSON)
    assert answer.status_code == 200


def test_a_large_text_is_checked_like_a_small_one(desk: FakeDesk) -> None:
    with served(create_app(fake_parts(desk, max_text_bytes=100_000))) as client:
        assert post(client, text="x" * 100_000)[0] == 200
        status, answer = post(client, text="x" * 100_001)
        assert (status, answer["code"]) == (413, "text-too-large")
        assert post(client, text="x" * 50_000 + "\0")[1]["code"] == "text-nul"


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "application/json; charset=latin-1"},
        {"Content-Encoding": "gzip"},
    ],
    ids=str,
)
def test_other_content_types_are_415(client: AppClient, headers: dict[str, str]) -> None:
    assert post_raw(client, b'{"text": "x"}', **headers) == (415, "media-type")


def test_an_unknown_agent_is_422_with_near_matches(client: AppClient, desk: FakeDesk) -> None:
    status, answer = post(client, text="x", agent="finanse")
    assert (status, answer["code"], answer["near"]) == (422, "unknown-agent", ["finance"])
    assert not desk.routes


def test_unknown_fields_are_named_with_near_matches(client: AppClient) -> None:
    _, answer = post(client, text="x", senderr="y")
    assert answer["faults"] == [
        {"field": "senderr", "message": "unknown field; did you mean sender?"}
    ]


def test_problems_never_repeat_the_text(client: AppClient) -> None:
    for body in ({"text": "sesame", "labels": "sesame"}, {"text": ["sesame"]}):
        answer = client.request("POST", "/route", key="sender-key", json=body)
        assert answer.status_code == 422
        assert "sesame" not in answer.text


def test_a_key_used_for_another_message_is_422(client: AppClient, desk: FakeDesk) -> None:
    desk.failure = ConflictError("used before", code="idempotency-mismatch")
    status, answer = post(client, text="x")
    assert (status, answer["code"]) == (422, "idempotency-mismatch")


def test_a_ledger_that_is_away_is_503_with_retry_after(client: AppClient, desk: FakeDesk) -> None:
    desk.failure = LedgerUnavailableError("the ledger is away")
    answer = client.request("POST", "/route", key="sender-key", json={"text": "x"})
    assert (answer.status_code, answer.json()["code"]) == (503, "ledger-unavailable")
    assert int(answer.headers["retry-after"]) > 0


def test_a_crash_is_a_problem_without_internals(
    client: AppClient, desk: FakeDesk, caplog: pytest.LogCaptureFixture
) -> None:
    desk.failure = ValueError("sesame")
    answer = client.request("POST", "/route", key="sender-key", json={"text": "x"})
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert "sesame" not in answer.text + caplog.text
    assert answer.headers["x-request-id"] in answer.json()["detail"]
    assert "ValueError" in caplog.text


def test_a_wait_that_breaks_never_says_that_nothing_was_accepted(
    client: AppClient, desk: FakeDesk
) -> None:
    desk.lost = LedgerUnavailableError("away")
    status, answer = post(client, text="slow", wait_s=5)
    assert (status, answer["code"]) == (503, "accepted-unread")
    assert answer["route_id"] in desk.routes


def test_what_was_accepted_and_cannot_be_read_is_named(client: AppClient, desk: FakeDesk) -> None:
    desk.failure = AcceptedUnreadError("rt_1")
    status, answer = post(client, text="hello")
    assert (status, answer["code"], answer["route_id"]) == (503, "accepted-unread", "rt_1")


@pytest.mark.parametrize("target", ["a\x00b", "a\r\nb", "\x1b[31m"])
def test_a_reply_target_holds_no_control_character(client: AppClient, target: str) -> None:
    status, answer = post(client, text="hello", reply_target=target)
    assert (status, answer["code"]) == (422, "body-invalid")
