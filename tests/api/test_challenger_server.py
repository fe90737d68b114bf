"""A System One server as the challenger of a running service: asked, recorded, never obeyed."""

import gc
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from clawmarshal.api.configured import configured_challenger
from clawmarshal.api.decision_settings import DecisionSettings, SystemOneServer
from clawmarshal.api.settings import load_settings
from clawmarshal.api.wiring import Service, wire
from clawmarshal.errors import SettingsError
from tests.support.asgi import AppClient, served
from tests.support.loopback_server import LoopbackServer
from tests.support.service import configure, settings_of
from tests.support.system_one_server import MODEL, preferring
from tests.support.turns import wait_until

KEY = "sk-challenger-hidden"
MAIL = "ann@corp.example"
TEXT = f"What is the filing deadline for the quarterly sales tax return? Tell {MAIL}"
SERVER = "base_url: 'https://beside.example', name: jev-1.13.0"


def written(folder: Path, decision: str) -> Path:
    config = configure(folder)
    text = config.read_text(encoding="utf-8")
    config.write_text(
        text.replace("decision: {model: lexical}", f"decision: {{{decision}}}"), encoding="utf-8"
    )
    return config


@pytest.mark.parametrize(
    ("decision", "told"),
    [
        ("challenger: system_one", "decision.challenger_server is missing"),
        (f"challenger_server: {{{SERVER}}}", "challenger_server needs challenger: system_one"),
        (
            "challenger: system_one, challenger_server: {base_url: 'https://x'}",
            "decision.challenger_server.name is missing",
        ),
        (
            f"challenger: system_one, challenger_server: {{{SERVER}, key_env: A, key_file: b}}",
            "decision.challenger_server: give key_env or key_file, not both",
        ),
        (
            f"challenger: system_one, challenger_server: {{{SERVER}, nane: x}}",
            "decision.challenger_server.nane is no setting; did you mean name?",
        ),
        (
            f"challenger: system_one, challenger_server: {{{SERVER}, key: sk-secret}}",
            "decision.challenger_server.key is no setting",
        ),
        (f"challenger: system_one, {SERVER}", "decision.base_url needs model: system_one"),
        ("redact: [email]", "decision.redact needs model: system_one or challenger: system_one"),
        ("challenger: oracle", "decision.challenger: write offline, lexical, system_one"),
        ("challenger: lexical, challenger_deadline_s: 0", "decision.challenger_deadline_s"),
    ],
)
def test_what_does_not_fit_is_a_fault_with_its_mend(
    tmp_path: Path, decision: str, told: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(written(tmp_path, f"model: lexical, {decision}"), environ={})
    assert told in str(caught.value)
    assert "sk-secret" not in str(caught.value)


def test_its_key_file_starts_at_the_configurations_folder(tmp_path: Path) -> None:
    server = f"challenger: system_one, challenger_server: {{{SERVER}, key_file: key}}"
    found = load_settings(written(tmp_path, f"model: lexical, {server}"), environ={}).decision
    assert found.challenger_server is not None
    assert found.challenger_server.key_file == tmp_path / "key"


def test_it_can_be_named_in_the_environment(tmp_path: Path) -> None:
    environ = {
        "CLAWMARSHAL_DECISION__CHALLENGER": "system_one",
        "CLAWMARSHAL_DECISION__CHALLENGER_SERVER": json.dumps(
            {"base_url": "https://x", "name": "m"}
        ),
    }
    found = load_settings(written(tmp_path, "model: lexical"), environ=environ).decision
    assert found.challenger_server == SystemOneServer(base_url="https://x", name="m")


@pytest.mark.parametrize(
    ("server", "told"),
    [
        ({"base_url": "http://beside.example"}, r"decision\.challenger_server\.base_url: http is"),
        ({"path": "v1"}, r"decision\.challenger_server\.path"),
        ({"key_env": "NOT_SET_ANYWHERE"}, r"decision\.challenger_server\.key_env: NOT_SET_ANY"),
        ({"name": None}, r"needs decision\.challenger_server\.base_url and"),
    ],
    ids=repr,
)
def test_one_that_cannot_be_used_stops_the_start(server: dict[str, Any], told: str) -> None:
    given = SystemOneServer(**{"base_url": "https://beside.example", "name": "m", **server})
    decision = DecisionSettings(model="lexical", challenger="system_one", challenger_server=given)
    with pytest.raises(SettingsError, match=told):
        configured_challenger(decision)


def service_beside(folder: Path, url: str, *, model: str = "model: lexical") -> Service:
    """Wire a service whose challenger is the server at an address, with a key."""
    key = folder / "key"
    key.write_text(KEY, encoding="ascii")
    key.chmod(0o600)
    server = f"{{base_url: '{url}', name: {MODEL}, key_file: key}}"
    decision = f"{model}, challenger: system_one, challenger_server: {server}, redact: [email]"
    return wire(settings_of(written(folder, decision)))


def routed(client: AppClient, service: Service) -> dict[str, Any]:
    """Send the message, and return the route once the challenger's answer is beside it."""
    key = service.ledger.create_key("test", "ann", ["route", "review"])
    answer = client.request("POST", "/route", key=key, json={"text": TEXT, "wait_s": 20})
    found: dict[str, Any] = answer.json()
    known = service.ledger.route
    assert wait_until(lambda: "challenger" in known(found["id"]).explanation)
    found["figures"] = client.request("GET", "/metrics", key=key).text
    found["events"] = [dict(one.facts) for one in service.ledger.events(found["id"])]
    found["challenger"] = dict(known(found["id"]).explanation)["challenger"]
    return found


def test_it_is_asked_with_its_key_and_redacted_and_recorded(tmp_path: Path) -> None:
    with LoopbackServer(preferring("security")) as server:
        service = service_beside(tmp_path, server.url)
        with served(service.app()) as client:
            route = routed(client, service)
        # Closed with the service: nothing is left for the server to see.
        assert wait_until(lambda: server.open == 0)
    gc.collect()
    assert (route["agent"], route["state"]) == ("finance", "done")
    assert route["model"].startswith("clawmarshal-local")
    assert route["challenger"]["agent"]["option"] == "security"
    assert route["challenger"]["notes"] == ["redacted:1"]
    assert 'clawmarshal_challenger_answers_total{said="differs"} 1.0' in route["figures"]
    (request,) = server.requests
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert MAIL.encode() not in server.sent
    assert KEY not in json.dumps(route)


def test_it_stands_beside_an_acting_server_with_a_key_of_its_own(tmp_path: Path) -> None:
    with LoopbackServer(preferring("finance")) as acting, LoopbackServer() as beside:
        model = f"model: system_one, base_url: '{acting.url}', name: {MODEL}"
        service = service_beside(tmp_path, beside.url, model=model)
        with served(service.app()) as client:
            route = routed(client, service)
        assert wait_until(lambda: acting.open == 0 and beside.open == 0)
    assert route["challenger"]["agent"]["option"] == "finance"
    # What was cut out is cut out for both, and the message is held for it.
    assert (route["state"], route["reason"]) == ("held", "truncated")
    assert "authorization" not in acting.requests[0].headers
    for sent in (acting.sent, beside.sent):
        assert sent
        assert MAIL.encode() not in sent


REFUSALS: dict[str, tuple[httpx.Response | bytes, str]] = {
    "wrong key": (httpx.Response(401, json={"detail": f"no {KEY} {TEXT}"}), "auth"),
    "page": (httpx.Response(200, text=f"<html>{TEXT}</html>"), "body-not-json"),
    "nothing": (b"", "unreachable"),
}


@pytest.mark.parametrize("refusal", REFUSALS)
def test_its_failure_is_recorded_and_counted_and_changes_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, refusal: str
) -> None:
    scene, code = REFUSALS[refusal]
    with LoopbackServer(lambda _: scene) as server:
        service = service_beside(tmp_path, server.url)
        with served(service.app()) as client:
            route = routed(client, service)
        assert wait_until(lambda: server.open == 0)
    assert (route["agent"], route["state"], route["notes"]) == ("finance", "done", ["lexical-only"])
    assert route["challenger"]["error"] == code
    assert 'clawmarshal_challenger_answers_total{said="failed"} 1.0' in route["figures"]
    assert KEY not in json.dumps(route) + caplog.text
    assert MAIL not in json.dumps(route["events"]) + caplog.text
