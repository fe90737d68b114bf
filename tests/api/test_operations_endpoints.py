"""Health, figures, the fleet, the interface document, and what surrounds every request."""

import json
from collections.abc import Iterator, Mapping

import jsonschema
import pytest

from clawmarshal.api.app import create_app
from clawmarshal.api.logs import JsonLines
from clawmarshal.api.ports import Readiness
from clawmarshal.api.problems import PROBLEMS
from tests.support.asgi import AppClient, served
from tests.support.fake_desk import FakeDesk, FakeHealth, fake_parts


def figures() -> Mapping[str, float]:
    return {"routes.done": 3, "routes.held": 1, "holds.open": 1, "challenger.failed": 2}


@pytest.fixture
def health() -> FakeHealth:
    return FakeHealth()


@pytest.fixture
def client(health: FakeHealth) -> Iterator[AppClient]:
    app = create_app(fake_parts(FakeDesk(), health=health), figures=figures)
    with served(app) as client:
        yield client


def test_readyz_without_a_key_says_the_status_and_who_launches(client: AppClient) -> None:
    answer = client.request("GET", "/readyz")
    assert (answer.status_code, answer.json()) == (
        200,
        {"status": "ready", "transport": "stand-in"},
    )


def test_readyz_with_a_key_says_which_transport(client: AppClient) -> None:
    answer = client.request("GET", "/readyz", key="sender-key").json()
    assert answer == {"status": "ready", "reasons": [], "transport": "stand-in"}


def test_readyz_is_503_with_reasons_when_the_work_cannot_be_done(
    client: AppClient, health: FakeHealth
) -> None:
    health.state = Readiness(False, ("ledger-unavailable",))
    answer = client.request("GET", "/readyz", key="sender-key")
    assert answer.status_code == 503
    said = {"status": "not ready", "transport": "unknown"}
    assert answer.json() == {**said, "reasons": ["ledger-unavailable"]}
    assert client.request("GET", "/readyz").json() == said


def test_metrics_count_requests_routes_and_what_the_ledger_holds(client: AppClient) -> None:
    client.request("POST", "/route", key="sender-key", json={"text": "risky"})
    client.request("GET", "/routes/rt_secret", key="sender-key")
    client.request("GET", "/sesame", key="sender-key")
    text = client.request("GET", "/metrics", key="review-key").text
    for line in (
        'clawmarshal_requests_total{method="POST",path="/route",status="202"} 1.0',
        'clawmarshal_requests_total{method="GET",path="/routes/{route_id}",status="404"} 1.0',
        'clawmarshal_requests_total{method="other",path="unmatched",status="404"} 1.0',
        'clawmarshal_routes_accepted_total{outcome="hold",reason="risk"} 1.0',
        'clawmarshal_routes_in_state{state="done"} 3.0',
        "clawmarshal_holds_open 1.0",
        'clawmarshal_challenger_answers_total{said="failed"} 2.0',
    ):
        assert line in text
    assert "secret" not in text
    assert "sesame" not in text


def test_agents_say_whether_the_live_fleet_knows_them(
    client: AppClient, health: FakeHealth
) -> None:
    unknown = client.request("GET", "/agents", key="sender-key").json()
    assert (unknown["fleet"], unknown["agents"][0]["live"]) == ("unknown", None)
    health.live = frozenset({"finance"})
    known = client.request("GET", "/agents", key="sender-key").json()
    assert known["fleet"] == "known"
    assert [(agent["id"], agent["live"]) for agent in known["agents"]] == [
        ("finance", True),
        ("security", False),
    ]


@pytest.mark.parametrize(
    ("raw", "ok", "agents", "faults"),
    [
        (b"agents:\n  - {id: a, description: Bills.}\n", True, 1, 0),
        (b"agents:\n  - {id: A B, description: ''}\n", False, None, 2),
        (b"agents: [", False, None, 1),
        (b"", False, None, 1),
        (b"\xff", False, None, 1),
    ],
    ids=["good", "two faults", "cut off", "empty", "not UTF-8"],
)
def test_roster_check_lists_every_fault(
    client: AppClient, raw: bytes, ok: bool, agents: int | None, faults: int
) -> None:
    answer = client.request("POST", "/roster/check", key="review-key", content=raw)
    assert answer.status_code == 200
    found = answer.json()
    assert (found["ok"], found["agents"], len(found["faults"])) == (ok, agents, faults)


def test_openapi_names_every_path_body_and_problem(client: AppClient) -> None:
    document = client.request("GET", "/openapi.json", key="sender-key").json()
    again = client.request("GET", "/openapi.json", key="sender-key").json()
    assert document == again
    assert set(document["paths"]) == {
        "/agents",
        "/holds",
        "/holds/events",
        "/holds/{hold_id}",
        "/holds/answers",
        "/holds/queue",
        "/holds/{hold_id}/claim",
        "/holds/{hold_id}/release",
        "/holds/{hold_id}/approve",
        "/holds/{hold_id}/reject",
        "/livez",
        "/metrics",
        "/readyz",
        "/roster/check",
        "/roster/reload",
        "/route",
        "/routes",
        "/routes/{route_id}",
        "/routes/{route_id}/cancel",
        "/routes/{route_id}/erase",
        "/routes/{route_id}/events",
        "/routes/{route_id}/resolve",
        "/v1/models",
        "/v1/systemone",
    }
    schemas = document["components"]["schemas"]
    assert schemas["RouteBody"]["additionalProperties"] is False
    assert schemas["RouteBody"]["required"] == ["text"]
    assert set(schemas["Problem"]["properties"]["code"]["enum"]) == set(PROBLEMS)
    used = set(_references(document))
    assert used <= {f"#/components/schemas/{name}" for name in schemas}
    assert document["paths"]["/livez"]["get"]["security"] == [{}]


def test_every_example_of_the_interface_is_valid(client: AppClient) -> None:
    document = client.request("GET", "/openapi.json", key="sender-key").json()
    schemas = document["components"]["schemas"]
    seen = 0
    for name, schema in schemas.items():
        for example in schema.get("examples", ()):
            jsonschema.validate(example, {"$ref": f"#/components/schemas/{name}", **document})
            seen += 1
    for operations in document["paths"].values():
        for operation in operations.values():
            for told in operation.get("parameters", ()):
                if "example" in told:
                    jsonschema.validate(told["example"], told["schema"])
                    seen += 1
            for content in operation.get("requestBody", {}).get("content", {}).values():
                if "example" in content:
                    jsonschema.validate(content["example"], {**content["schema"], **document})
                    seen += 1
    assert seen >= 16


def _references(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for below in value.values():
            yield from _references(below)
    elif isinstance(value, list):
        for below in value:
            yield from _references(below)


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_other_methods_are_405_with_what_is_allowed(client: AppClient, method: str) -> None:
    answer = client.request(method, "/route", key="sender-key")
    assert (answer.status_code, answer.json()["code"]) == (405, "method-not-allowed")
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize("path", ["/docs", "/route/", "/redoc", "//livez"])
def test_what_is_not_there_is_a_problem_too(client: AppClient, path: str) -> None:
    answer = client.request("GET", path)
    assert (answer.status_code, answer.json()["code"]) == (404, "path-unknown")


@pytest.mark.parametrize(
    ("sent", "kept"), [("abc-1.2_3", True), ("a b", False), ("x" * 65, False), ("a\x1bb", False)]
)
def test_a_request_id_goes_in_and_out_if_it_is_harmless(
    client: AppClient, sent: str, kept: bool
) -> None:
    answer = client.request("GET", "/livez", headers={"X-Request-Id": sent})
    assert (answer.headers["x-request-id"] == sent) is kept
    assert 8 <= len(answer.headers["x-request-id"]) <= 64


def test_the_access_log_holds_no_query_text_or_key(
    client: AppClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="clawmarshal.access")
    client.request("GET", "/routes/sesame?cursor=sesame", key="sender-key")
    client.request("POST", "/route?sesame", key="sender-key", json={"text": "sesame"})
    lines = [json.loads(JsonLines().format(record)) for record in caplog.records]
    assert [(line["path"], line["status"]) for line in lines] == [
        ("/routes/{route_id}", 404),
        ("/route", 200),
    ]
    assert lines[0]["key"] == "ck_sender-key"
    assert "sesame" not in json.dumps(lines)


def test_answers_are_not_kept_or_guessed_by_browsers(client: AppClient) -> None:
    headers = client.request("GET", "/routes", key="sender-key").headers
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
