"""A System One server by configuration: settings, key, and the service around it."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from clawmarshal.api.configured import configured_model
from clawmarshal.api.decision_settings import DecisionSettings
from clawmarshal.api.settings import decision_key, load_settings
from clawmarshal.api.wiring import wire
from clawmarshal.errors import SettingsError
from clawmarshal.router.models.system_one import SystemOneModel
from tests.support.asgi import AppClient, served
from tests.support.loopback_server import LoopbackServer
from tests.support.peers import free_port, peer
from tests.support.service import SAFE, configure, settings_of
from tests.support.system_one_server import MODEL, preferring
from tests.support.turns import wait_until

SERVER = "model: system_one, base_url: 'http://127.0.0.1:9', name: jev-1.13.0"


def written(folder: Path, decision: str) -> Path:
    config = configure(folder)
    text = config.read_text(encoding="utf-8")
    config.write_text(
        text.replace("decision: {model: lexical}", f"decision: {{{decision}}}"), encoding="utf-8"
    )
    return config


def faults(folder: Path, decision: str) -> str:
    with pytest.raises(SettingsError) as caught:
        load_settings(written(folder, decision), environ={})
    return str(caught.value)


def test_a_server_needs_an_address_and_a_name(tmp_path: Path) -> None:
    found = load_settings(written(tmp_path, SERVER), environ={}).decision
    assert (found.path, found.option_cap, found.envelope, found.strict) == (
        "/v1/systemone",
        24,
        False,
        False,
    )
    told = faults(tmp_path, "model: system_one")
    assert "decision.base_url is missing" in told
    assert "decision.name is missing" in told


@pytest.mark.parametrize(
    ("decision", "told"),
    [
        ("model: lexical, base_url: 'https://x'", "decision.base_url needs model: system_one"),
        ("model: lexical, redact: [email]", "decision.redact needs model: system_one"),
        (f"{SERVER}, key_env: A, key_file: b", "key_env or key_file, not both"),
        (f"{SERVER}, option_cap: 3", "decision.option_cap"),
        (f"{SERVER}, option_cap: 256", "decision.option_cap"),
        (f"{SERVER}, key: sk-secret", "decision.key is no setting"),
        ("model: systemone", "system_one"),
    ],
)
def test_what_does_not_fit_is_a_fault_with_its_mend(
    tmp_path: Path, decision: str, told: str
) -> None:
    said = faults(tmp_path, decision)
    assert told in said
    assert "sk-secret" not in said


def test_the_key_comes_from_the_environment_or_a_private_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("sk-from-file\n", encoding="utf-8")
    file.chmod(0o600)
    config = written(tmp_path, f"{SERVER}, key_file: key")
    decision = load_settings(config, environ={}).decision
    assert decision.key_file == file
    assert decision_key(decision) == "sk-from-file"
    by_name = DecisionSettings(model="system_one", key_env="DESK_KEY")
    assert decision_key(by_name, environ={"DESK_KEY": " sk-from-env "}) == "sk-from-env"
    assert decision_key(DecisionSettings()) is None
    assert "sk-" not in repr(decision) + repr(by_name)


def _file(folder: Path, content: bytes, mode: int = 0o600) -> DecisionSettings:
    file = folder / "key"
    file.write_bytes(content)
    file.chmod(mode)
    return DecisionSettings(key_file=file)


@pytest.mark.parametrize(
    ("content", "mode", "told"),
    [
        (b"sk-secret", 0o640, "open to others"),
        (b"sk-secret", 0o604, "open to others"),
        (b"", 0o600, "holds no key"),
        (b" \n", 0o600, "holds no key"),
        (b"sk-\xff", 0o600, "holds no key"),
        (b"k" * 9000, 0o600, "holds no key"),
    ],
)
def test_a_key_file_that_is_no_good_says_why_and_not_what(
    tmp_path: Path, content: bytes, mode: int, told: str
) -> None:
    with pytest.raises(SettingsError, match=told) as caught:
        decision_key(_file(tmp_path, content, mode))
    assert "sk-" not in str(caught.value)


def test_a_key_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        decision_key(DecisionSettings(key_file=tmp_path / "none"))
    for environ in ({}, {"DESK_KEY": "  "}):
        with pytest.raises(SettingsError, match="DESK_KEY is not set"):
            decision_key(DecisionSettings(key_env="DESK_KEY"), environ=environ)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"base_url": "http://decisions.example"}, "http is for loopback"),
        ({"path": "v1"}, "decision.path"),
        ({"name": "two\nlines"}, "decision.name"),
        ({"redact": ["email", ".*"]}, r"decision\.redact: pattern 2: repeats need"),
        ({"base_url": None}, "needs decision.base_url"),
    ],
    ids=repr,
)
def test_a_server_that_cannot_be_used_stops_the_start(more: Mapping[str, Any], told: str) -> None:
    given = {"base_url": "https://decisions.example", "name": "m", **more}
    with pytest.raises(SettingsError, match=told):
        configured_model(DecisionSettings(model="system_one", **given))


def test_the_configured_model_is_a_client_or_what_the_name_says() -> None:
    decision = DecisionSettings(model="system_one", base_url="https://x.example", name="m")
    assert isinstance(configured_model(decision), SystemOneModel)
    assert configured_model(DecisionSettings(model="lexical")).name.startswith("clawmarshal")


def post(client: AppClient, service: Any, text: str) -> dict[str, Any]:
    key = service.ledger.create_key("test", "ann", ("route",))
    answer = client.request("POST", "/route", key=key, json={"text": text, "wait_s": 20})
    found: dict[str, Any] = answer.json()
    assert answer.status_code in (200, 202), found
    return found


def test_a_service_decides_by_a_server(tmp_path: Path) -> None:
    with peer("microllm", environ={"MICROLLM_API_KEY": "rk-hidden"}) as url:
        key = tmp_path / "key"
        key.write_text("rk-hidden", encoding="ascii")
        os.chmod(key, 0o600)
        decision = f"model: system_one, base_url: '{url}', name: jev-latest, key_file: key"
        service = wire(settings_of(written(tmp_path, decision)))
        with served(service.app()) as client:
            route = post(client, service, SAFE)
    assert route["model"] == "jev-latest"
    assert route["via"] == "model"
    assert "rk-hidden" not in json.dumps(route)


def test_a_server_that_is_away_holds(tmp_path: Path) -> None:
    decision = f"model: system_one, base_url: 'http://127.0.0.1:{free_port()}', name: m"
    service = wire(settings_of(written(tmp_path, decision)))
    with served(service.app()) as client:
        route = post(client, service, SAFE)
    assert (route["state"], route["reason"]) == ("held", "decision_unavailable")


def test_the_offline_model_answers_for_a_server_that_is_away(tmp_path: Path) -> None:
    away = f"base_url: 'http://127.0.0.1:{free_port()}', name: m, fallback: lexical"
    service = wire(settings_of(written(tmp_path, f"model: system_one, {away}")))
    with served(service.app()) as client:
        route = post(client, service, SAFE)
    assert route["via"] == "offline"
    assert "fallback-after:unreachable" in route["notes"]
    assert route["model"].startswith("clawmarshal-local")


def test_model_usage_latency_and_request_id_are_recorded_with_the_route(tmp_path: Path) -> None:
    with LoopbackServer() as server:
        decision = f"model: system_one, base_url: '{server.url}', name: {MODEL}"
        service = wire(settings_of(written(tmp_path, decision)))
        with served(service.app()) as client:
            route = post(client, service, SAFE)
            kept: Any = service.ledger.route(route["id"]).explanation["decision"]
        assert wait_until(lambda: server.open == 0)
    assert (kept["model"], kept["request_id"]) == (MODEL, "req_1")
    assert kept["usage"] == {"input_tokens": 100, "output_tokens": 10}
    assert kept["latency_ms"] > 0
    assert kept["orders_agree"] is True


@pytest.mark.parametrize("fallback", ["", ", fallback: lexical"], ids=["alone", "fallback"])
def test_an_envelope_is_unwrapped_or_refused_through_the_service(
    tmp_path: Path, fallback: str
) -> None:
    def wrapped(body: Any) -> httpx.Response:
        inner = preferring("finance")(body).json()
        return httpx.Response(200, json={"result": inner, "success": True, "errors": []})

    with LoopbackServer(wrapped) as server:
        found = []
        for envelope in ("true", "false"):
            folder = tmp_path / envelope
            folder.mkdir()
            told = f"base_url: '{server.url}', name: {MODEL}, envelope: {envelope}{fallback}"
            service = wire(settings_of(written(folder, f"model: system_one, {told}")))
            with served(service.app()) as client:
                found.append(post(client, service, SAFE))
    assert (found[0]["model"], found[0]["via"]) == (MODEL, "model")
    if fallback:
        assert "fallback-after:answers-malformed" in found[1]["notes"]
    else:
        assert found[1]["reason"] == "decision_invalid"


def test_the_fallback_is_judged_by_thresholds_of_its_own(tmp_path: Path) -> None:
    reasons = {}
    for own in ("", ", fallback_policy: {min_probability: 1.0}"):
        folder = tmp_path / str(len(own))
        folder.mkdir()
        away = f"base_url: 'http://127.0.0.1:{free_port()}', name: m, fallback: lexical{own}"
        service = wire(settings_of(written(folder, f"model: system_one, {away}")))
        with served(service.app()) as client:
            route = post(client, service, SAFE)
            record = service.ledger.route(route["id"])
        kept: Any = record.explanation["policy"]
        reasons[own] = (route["via"], route["reason"], kept["min_probability"])
    assert list(reasons.values()) == [("offline", "matched", 0.5), ("offline", "uncertain", 1.0)]


def test_thresholds_of_a_fallback_need_one(tmp_path: Path) -> None:
    said = faults(tmp_path, "model: lexical, fallback_policy: {min_probability: 0.5}")
    assert "decision.fallback_policy needs decision.fallback" in said
    said = faults(tmp_path, "model: lexical, fallback: lexical, fallback_policy: {min_margin: 2}")
    assert "decision.fallback_policy.min_margin" in said
