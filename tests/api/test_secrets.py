"""Secrets that the settings name reach the transport, and no message of ours."""

import os
from pathlib import Path

import pytest

from clawmarshal.api.settings import Settings, gateway_of, load_settings, secrets_of
from clawmarshal.api.transports import make_transport
from clawmarshal.errors import SettingsError
from clawmarshal.roster.loader import load_roster
from tests.support.fake_openclaw import write_fake
from tests.support.service import ROSTER

SECRET = "planted-4c1e9b"
URL = "ws://127.0.0.1:18789"


def written(folder: Path, transport: str) -> Path:
    (folder / "fleet.yaml").write_text(ROSTER)
    config = folder / "clawmarshal.yaml"
    config.write_text(
        "server: {port: 0}\nroster: fleet.yaml\nledger: sqlite:///l.db\n"
        f"decision: {{model: lexical}}\ntransport:\n  {transport}\n"
    )
    return config


def settings(folder: Path, transport: str) -> Settings:
    return load_settings(written(folder, transport), environ={})


def secret_file(folder: Path, content: bytes = b"planted-4c1e9b\n", mode: int = 0o600) -> Path:
    path = folder / "secret"
    path.write_bytes(content)
    path.chmod(mode)
    return path


def test_token_comes_from_a_file_beside_the_configuration(tmp_path: Path) -> None:
    secret_file(tmp_path)
    told = settings(
        tmp_path, f"command: [/x]\n  gateway: {{url: '{URL}', token_file: secret}}"
    ).transport

    gateway = gateway_of(told, environ={})

    assert gateway is not None and (gateway.url, gateway.token) == (URL, SECRET)
    assert SECRET not in repr(told)


def test_token_comes_from_a_variable(tmp_path: Path) -> None:
    told = settings(
        tmp_path, f"command: [/x]\n  gateway: {{url: '{URL}', token_env: GW}}"
    ).transport

    gateway = gateway_of(told, environ={"GW": f" {SECRET}\n"})

    assert gateway is not None and gateway.token == SECRET
    with pytest.raises(SettingsError, match=r"gateway\.token_env: GW is not set"):
        gateway_of(told, environ={})


def test_no_gateway_is_none(tmp_path: Path) -> None:
    assert gateway_of(settings(tmp_path, "stand_in: true").transport) is None


def test_secrets_come_from_both_places(tmp_path: Path) -> None:
    secret_file(tmp_path)
    told = settings(
        tmp_path,
        "stand_in: true\n  secrets:\n    finance: {BANK: {file: secret}, API: {env: FIN_API}}\n"
        "    security: {API: {env: SEC_API}}",
    ).transport

    assert secrets_of(told, environ={"FIN_API": "f", "SEC_API": "s", "OTHER": "o"}) == {
        "finance": {"BANK": SECRET, "API": "f"},
        "security": {"API": "s"},
    }


@pytest.mark.parametrize(
    ("content", "mode", "words"),
    [
        (b"planted-4c1e9b", 0o640, "is open to others"),
        (b"planted-4c1e9b", 0o604, "is open to others"),
        (b" \n", 0o600, "holds no key"),
        (b"planted-4c1e9b\xff", 0o600, "holds no key"),
        (b"planted-4c1e9b" * 1000, 0o600, "holds no key"),
    ],
)
def test_bad_file_says_which_and_not_what(
    tmp_path: Path, content: bytes, mode: int, words: str
) -> None:
    secret_file(tmp_path, content, mode)
    told = settings(
        tmp_path, "stand_in: true\n  secrets: {finance: {BANK: {file: secret}, API: {env: UNSET}}}"
    ).transport

    with pytest.raises(SettingsError) as caught:
        secrets_of(told, environ={})

    said = str(caught.value)
    assert f"transport.secrets.finance.BANK.file {words}" in said
    assert "transport.secrets.finance.API.env: UNSET is not set" in said
    assert SECRET not in said


def test_pipe_for_a_file_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "secret", 0o600)
    told = settings(
        tmp_path, "stand_in: true\n  secrets: {finance: {BANK: {file: secret}}}"
    ).transport

    with pytest.raises(SettingsError, match="holds no key"):
        secrets_of(told, environ={})


BAD = {
    f"command: [/x]\n  gateway: {{url: '{URL}'}}": "give one of token_env and token_file",
    f"command: [/x]\n  gateway: {{url: '{URL}', token_env: A, token_file: b}}": "give one of",
    "command: [/x]\n  gateway: {token_env: A}": "transport.gateway.url",
    "command: [/x]\n  gateway: {url: 'http://x', token_env: A}": "transport.gateway.url is not",
    f"command: [/x]\n  gateway: {{url: '{URL}', token: planted-4c1e9b}}": "there are url, ",
    f"command: [/x]\n  openclaw_config: c\n  gateway: {{url: '{URL}', token_env: A}}": "not both",
    "command: [/x]": "or give both as transport.gateway",
    "stand_in: true\n  secrets: {finance: {BANK: planted-4c1e9b}}": "transport.secrets.finance",
    "stand_in: true\n  secrets: {finance: {BANK: {}}}": "BANK: give one of env and file",
    "stand_in: true\n  secrets: {finance: {BANK: {value: planted-4c1e9b}}}": "is no setting",
    "stand_in: true\n  secrets: {finance: planted-4c1e9b}": "transport.secrets.finance",
}


@pytest.mark.parametrize(("transport", "words"), BAD.items())
def test_each_fault_is_said_and_the_secret_is_not(
    tmp_path: Path, transport: str, words: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        settings(tmp_path, transport)

    assert words in str(caught.value)
    assert SECRET not in str(caught.value)


def test_they_reach_the_transport(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o700)
    fake = write_fake(tmp_path)
    secret_file(tmp_path)
    monkeypatch.setenv("FIN_API", "x")
    told = settings(
        tmp_path,
        f"command: [{fake.path}]\n  directory: .\n"
        f"  gateway: {{url: '{URL}', token_file: secret}}\n"
        "  secrets: {finance: {API: {env: FIN_API}}}",
    )
    roster = load_roster(told.roster)

    transport = make_transport(told, roster)

    transport.check_agents(roster)
    assert "API" in str(transport.template(roster["finance"])["environment"])
    assert "API" not in str(transport.template(roster["security"])["environment"])
    (config,) = tmp_path.glob("clawmarshal-turns-*/client.json")
    assert SECRET in config.read_text()
