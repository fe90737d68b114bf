"""Error responses: the documented ones, each in its class."""

import json
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from clawmarshal.errors import DecisionInvalidError, DecisionUnavailableError
from clawmarshal.router.models.refusals import ONCE, read_refusal, server_message, wait_asked
from tests.support.deciding import example

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
_FILES: list[Any] = [example("40"), example("41")]
CASES: dict[str, Any] = {case["name"]: case for file in _FILES for case in file["cases"]}


def body_of(case: dict[str, Any]) -> bytes:
    raw: str = case.get("raw_body") or json.dumps(case["body"])
    return raw.encode()


@pytest.mark.parametrize("name", CASES)
def test_documented_errors_fall_into_their_class(name: str) -> None:
    case = CASES[name]
    headers = httpx.Headers(case.get("headers", {}))
    refusal = read_refusal(case["status"], headers, body_of(case), now=NOW)
    expect = case["expect"]
    assert refusal.code == expect["class"].replace("_", "-")
    assert refusal.retry_after_s == (
        expect.get("wait_s") or (60 if headers.get("retry-after") == "60" else None)
    )
    if expect.get("why") is None and "retry" in expect:
        assert (refusal.code in ONCE) is expect["retry"]
    said = server_message(body_of(case))
    assert said == "" or said not in str(refusal.error)


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (100, "protocol"),
        (201, "protocol"),
        (204, "protocol"),
        (301, "protocol"),
        (308, "protocol"),
        (400, "bad-request"),
        (401, "auth"),
        (402, "quota"),
        (403, "auth"),
        (404, "config"),
        (405, "config"),
        (408, "timeout"),
        (409, "bad-request"),
        (413, "too-large"),
        (415, "bad-request"),
        (418, "bad-request"),
        (422, "bad-request"),
        (429, "rate-limited"),
        (500, "server"),
        (501, "config"),
        (502, "server"),
        (503, "server"),
        (504, "server"),
        (522, "server"),
        (529, "overloaded"),
    ],
)
def test_a_status_alone_names_the_class_and_the_error(status: int, code: str) -> None:
    refusal = read_refusal(status, {}, b"", now=NOW)
    assert refusal.code == code
    error = refusal.error
    assert error.code == code
    assert isinstance(error, DecisionInvalidError) is (code == "protocol")
    if isinstance(error, DecisionUnavailableError):
        assert error.retryable is (code in ONCE)
    assert f"status {status}" in str(error)


@pytest.mark.parametrize(
    ("status", "text", "code"),
    [
        (422, "state too large (60000 > 50000 chars)", "too-large"),
        (400, "the model gpt-9 does not exist", "config"),
        (400, "Model 'x' not found", "config"),
        (400, "model: Required", "bad-request"),
        (503, "Service Unavailable", "server"),
        (503, "engine busy", "overloaded"),
        (500, "unknown model", "server"),
    ],
)
def test_the_words_of_a_server_refine_its_status(status: int, text: str, code: str) -> None:
    assert read_refusal(status, {}, json.dumps({"error": text}).encode(), now=NOW).code == code


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "0"}, 0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "9", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "9", "retry-after-ms": "soon"}, 9),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:07 GMT"}, 7),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:07 -0000"}, 7),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}, 0),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "NaN"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e9"}, None),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after": "٣"}, None),
        ({"retry-after": "tomorrow"}, None),
        ({"retry-after": "Mon, 99 Foo 2026 99:99:99 GMT"}, None),
    ],
    ids=repr,
)
def test_the_wait_a_server_asks_for(headers: dict[str, str], seconds: float | None) -> None:
    assert wait_asked(headers, now=NOW) == seconds


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", ""),
        (b"<html>", ""),
        (b"[1]", ""),
        (b"[" * 100_000, ""),
        (b'{"error":"a","message":"b"}', "a"),
        (b'{"error":{"message":"m"},"message":"b"}', "m"),
        (b'{"error":{"code":1},"message":"b","detail":"d"}', "b"),
        (b'{"detail":"d"}', "d"),
        (b'{"detail":{"message":"dm"}}', "dm"),
        (b'{"detail":[{"msg":"x"},{"msg":7},3,{"msg":"y"}]}', "x; y"),
        (b'{"detail":[]}', ""),
        (b'{"result":null,"success":false,"errors":[{"code":7003,"message":"m1"},{}]}', "m1"),
        (b'{"error":7}', ""),
        (b'{"error":"' + b"x" * 900 + b'"}', "x" * 200),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_a_server_says_is_found_in_every_dialect(body: bytes, said: str) -> None:
    assert server_message(body) == said


def test_an_envelope_that_knows_no_such_model_is_config() -> None:
    body = b'{"success":false,"errors":[{"code":5007,"message":"No such model @cf/x/y"}]}'
    assert read_refusal(400, {}, body, now=NOW).code == "config"
