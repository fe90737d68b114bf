"""Every endpoint for every kind of key, and the host names that are served."""

from collections.abc import Iterator

import pytest

from clawmarshal.api.app import create_app
from clawmarshal.api.auth import is_allowed_host
from tests.support.asgi import AppClient, served
from tests.support.fake_desk import FakeDesk, fake_parts

ROUTE = f"rt_{1:032x}"
HOLD = f"hd_{1:032x}"
KEYS = ("sender-key", "other-key", "pin-key", "review-key", "admin-key")

# endpoint -> what each key gets; the first route is ann's (sender-key, pin-key) and is held.
ACCESS: list[tuple[str, str, object, tuple[int, int, int, int, int]]] = [
    ("POST", "/route", {"text": "hello"}, (200, 200, 200, 403, 200)),
    ("POST", "/route", {"text": "hello", "agent": "finance"}, (403, 403, 200, 403, 200)),
    ("POST", "/route", {"text": "hello", "mode": "dry_run"}, (200, 200, 200, 403, 200)),
    ("GET", "/routes", None, (200, 200, 200, 200, 200)),
    ("GET", f"/routes/{ROUTE}", None, (200, 404, 200, 200, 200)),
    ("GET", f"/routes/{ROUTE}?wait_s=1", None, (200, 404, 200, 200, 200)),
    ("GET", f"/routes/{ROUTE}/events", None, (200, 404, 200, 200, 200)),
    ("POST", f"/routes/{ROUTE}/cancel", None, (200, 404, 200, 200, 200)),
    ("POST", f"/routes/{ROUTE}/resolve", {"answer": "leave"}, (403, 403, 403, 200, 200)),
    ("GET", "/holds", None, (200, 200, 200, 200, 200)),
    ("GET", f"/holds/{HOLD}", None, (200, 404, 200, 200, 200)),
    ("POST", f"/holds/{HOLD}/approve", {}, (403, 403, 403, 200, 200)),
    ("POST", f"/holds/{HOLD}/reject", {"reason": "no"}, (403, 403, 403, 200, 200)),
    ("GET", "/agents", None, (200, 200, 200, 200, 200)),
    ("POST", "/roster/check", None, (403, 403, 403, 200, 200)),
    ("GET", "/readyz", None, (200, 200, 200, 200, 200)),
    ("GET", "/metrics", None, (403, 403, 403, 200, 200)),
    ("GET", "/openapi.json", None, (200, 200, 200, 200, 200)),
]
CASES = [
    pytest.param(method, path, body, key, status, id=f"{method} {path} {body} {key}")
    for method, path, body, statuses in ACCESS
    for key, status in zip(KEYS, statuses, strict=True)
]


@pytest.fixture
def client() -> Iterator[AppClient]:
    with served(create_app(fake_parts(FakeDesk()))) as client:
        assert client.request("POST", "/route", key="sender-key", json={"text": "risky"})
        yield client


@pytest.mark.parametrize(("method", "path", "body", "key", "status"), CASES)
def test_endpoint_answers_each_kind_of_key(
    client: AppClient, method: str, path: str, body: object, key: str, status: int
) -> None:
    answer = client.request(method, path, key=key, json=body)
    assert answer.status_code == status, answer.text
    if status >= 400:
        assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(("method", "path", "body"), [case[:3] for case in ACCESS])
@pytest.mark.parametrize("key", [None, "nobody-s-key"])
def test_missing_and_unknown_keys_are_401_with_a_challenge(
    client: AppClient, method: str, path: str, body: object, key: str | None
) -> None:
    if path == "/readyz" and key is None:
        return
    answer = client.request(method, path, key=key, json=body)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer ")
    assert answer.json()["code"] == ("key-missing" if key is None else "key-unknown")


@pytest.mark.parametrize(
    "header",
    [
        "Basic abc",
        "Bearer",
        "Bearer ",
        "Bearer \tsender-key x",
        "sender-key",
        "Bearer " + "x" * 999,
    ],
)
def test_a_header_that_is_no_bearer_key_is_401(client: AppClient, header: str) -> None:
    answer = client.request("GET", "/agents", headers={"Authorization": header})
    assert answer.status_code == 401


def test_two_keys_in_one_request_are_refused(client: AppClient) -> None:
    headers = [("Authorization", "Bearer review-key"), ("Authorization", "Bearer sender-key")]
    answer = client.run(client.http.get("/agents", headers=headers))
    assert answer.status_code == 401


def test_lists_hold_only_what_a_route_key_owns(client: AppClient) -> None:
    assert len(client.request("GET", "/holds", key="sender-key").json()["holds"]) == 1
    assert client.request("GET", "/holds", key="other-key").json()["holds"] == []
    assert client.request("GET", "/routes", key="other-key").json()["routes"] == []
    assert len(client.request("GET", "/routes", key="review-key").json()["routes"]) == 1


def test_livez_is_open_to_any_name(client: AppClient) -> None:
    answer = client.request("GET", "/livez", headers={"Host": "pod-7.cluster"})
    assert (answer.status_code, answer.json()) == (200, {"status": "alive"})


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "10.0.0.7", ""])
def test_other_host_names_are_refused(client: AppClient, host: str) -> None:
    answer = client.request("GET", "/agents", key="review-key", headers={"Host": host})
    assert (answer.status_code, answer.json()["code"]) == (421, "host-not-allowed")


def test_two_host_names_in_one_request_are_refused(client: AppClient) -> None:
    headers = [("Host", "localhost"), ("Host", "evil.example")]
    answer = client.run(client.http.get("/agents", headers=headers))
    assert answer.status_code == 421


@pytest.mark.parametrize(
    ("host", "allowed", "expected"),
    [
        ("localhost:8484", {"localhost"}, True),
        ("LOCALHOST", {"localhost"}, True),
        ("[::1]:8484", {"::1"}, True),
        ("10.0.0.7:80", {"localhost"}, False),
        ("10.0.0.7:80", {"ip"}, True),
        ("[fd00::7]", {"ip"}, True),
        ("name.example", {"ip"}, False),
        ("name.example", {"*"}, True),
        ("name.example:x", {"name.example"}, False),
        (None, {"*"}, False),
    ],
)
def test_host_header_is_matched_without_its_port(
    host: str | None, allowed: set[str], expected: bool
) -> None:
    assert is_allowed_host(host, frozenset(allowed)) is expected
