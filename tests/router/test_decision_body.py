import json
from collections.abc import Callable
from typing import Any

import pytest

from clawmarshal.errors import DecisionInvalidError
from clawmarshal.router.body import parse_body
from tests.support.deciding import (
    example,
)


@pytest.mark.parametrize(
    "name", ["nan", "guard_prefix", "html", "array", "empty", "truncated", "answers_missing"]
)
def test_documented_bad_bodies_are_refused(name: str) -> None:
    file: Any = example("31")
    (raw,) = (case["raw_body"] for case in file["cases"] if case["name"] == name)
    with pytest.raises(DecisionInvalidError) as caught:
        parse_body(raw.encode())
    assert caught.value.code in {"body-not-json", "body-not-object", "answers-malformed"}
    assert raw == "" or raw not in str(caught.value)


BAD_BODIES: dict[str, tuple[bytes, str]] = {
    "infinity": (b'{"answers":{},"x":-Infinity}', "body-not-json"),
    "overflow": (b'{"answers":{},"x":1e999}', "body-not-json"),
    "long-integer": (b'{"answers":{},"x":' + b"9" * 5000 + b"}", "body-not-json"),
    "duplicate": (b'{"answers":{},"answers":{}}', "body-not-json"),
    "duplicate-within": (b'{"answers":{"a":1,"a":2}}', "body-not-json"),
    "utf-16": ('{"answers":{}}'.encode("utf-16"), "body-not-json"),
    "latin-1": (b'{"answers":{"\xe9":1}}', "body-not-json"),
    "bom": (b'\xef\xbb\xbf{"answers":{}}', "body-not-json"),
    "lone-surrogate": (b'{"answers":{},"model":"\\ud800"}', "body-not-json"),
    "two-documents": (b'{"answers":{}}{}', "body-not-json"),
    "deep": (b'{"answers":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "body-not-json"),
    "string": (b'"answers"', "body-not-object"),
    "null-answers": (b'{"answers":null}', "answers-malformed"),
    "list-answers": (b'{"answers":[]}', "answers-malformed"),
    "too-large": (b'{"answers":{}}' + b" " * 1024 * 1024, "body-too-large"),
}


@pytest.mark.parametrize(("raw", "code"), BAD_BODIES.values(), ids=BAD_BODIES)
def test_a_body_that_is_not_a_strict_object_is_refused(raw: bytes, code: str) -> None:
    with pytest.raises(DecisionInvalidError) as caught:
        parse_body(raw)
    assert caught.value.code == code


def test_a_good_body_is_parsed_with_its_extras() -> None:
    body = parse_body(b'{"answers":{"a":{"n":0.5}},"model":"\\u00e9","id":7}')
    assert body == {"answers": {"a": {"n": 0.5}}, "model": "é", "id": 7}
    exact = b'{"answers":{}}' + b" " * (1024 * 1024 - 14)
    assert parse_body(exact) == {"answers": {}}


def envelope(**changes: object) -> Callable[[], bytes]:
    file: Any = example("20")
    return lambda: json.dumps({**file["body"], **changes}).encode()


def test_an_envelope_is_unwrapped_only_where_it_is_expected() -> None:
    raw = envelope()()
    assert parse_body(raw, envelope=True)["model"] == "clef-flash"
    with pytest.raises(DecisionInvalidError) as caught:
        parse_body(raw)
    assert caught.value.code == "answers-malformed"


@pytest.mark.parametrize(
    "changes", [{"success": False}, {"success": 1}, {"success": None}, {"result": []}], ids=repr
)
def test_an_envelope_without_success_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(DecisionInvalidError) as caught:
        parse_body(envelope(**changes)(), envelope=True)
    assert caught.value.code == "envelope-failed"
