"""What the doctor finds: each thing that can be wrong, with its verdict and its mend."""

import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from clawmarshal.api.cli import main
from clawmarshal.api.opening import opened_ledger
from tests.support.fake_openclaw import FakeOpenClaw, write_fake
from tests.support.live_fleet import (
    ENTRIES,
    SECRET,
    agents_document,
    calls,
    config_document,
    known_calls,
)
from tests.support.service import configure, settings_of

BEFORE_ALEMBIC = Path(__file__).parents[1] / "support" / "ledger_before_alembic.sql"
Examined = Callable[..., tuple[int, dict[str, tuple[str, str, str | None]]]]
DENIED = {i: {**entry, "tools": {"deny": ["*"]}} for i, entry in ENTRIES.items()}
STATUS = {"status": "print(json.dumps({'runtimeVersion': '2026.9.6'}))"}
HEALTHY = {**calls(agents_document(*DENIED), config_document(DENIED)), **STATUS}


@pytest.fixture
def examined(capfd: pytest.CaptureFixture[str]) -> Examined:
    """Run the doctor; return its exit code and the worst finding of each name."""

    def call(*arguments: str) -> tuple[int, dict[str, tuple[str, str, str | None]]]:
        code = main(["doctor", "--json", *arguments])
        captured = capfd.readouterr()
        assert SECRET not in captured.out + captured.err
        told = json.loads(captured.out)
        assert told["exit_code"] == code
        found: dict[str, tuple[str, str, str | None]] = {}
        for finding in told["findings"]:
            one = finding["verdict"], finding["detail"], finding["mend"]
            if finding["name"] not in found or one[0] != "ok":
                found[finding["name"]] = one
        return code, found

    return call


def prepared(
    folder: Path, answers: Mapping[str, str] = HEALTHY, *, more: str = "", **fake: Any
) -> tuple[Path, FakeOpenClaw]:
    """Write a configuration with a scripted CLI that knows its fleet."""
    made = write_fake(folder, fake.pop("body", "say(document())"), calls=answers, **fake)
    return configure(folder, command=made.command, more=more), made


def test_all_is_well(examined: Examined, tmp_path: Path) -> None:
    config, fake = prepared(tmp_path)
    code, found = examined("-c", str(config))
    assert {name: one for name, one in found.items() if one[0] != "ok"} == {}
    assert code == 0
    assert set(found) == {
        "configuration", "roster", "clock", "temp", "ledger-space", "ledger", "node",
        "client-config", "cli", "gateway", "agents", "drift", "model",
    }  # fmt: skip
    assert fake.launches() == []
    assert not (tmp_path / "ledger.db").exists()


def test_nothing_configured_is_a_warning(
    examined: Examined, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    for name in ("CLAWMARSHAL_OPENCLAW_COMMAND", "CLAWMARSHAL_OPENCLAW_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    code, found = examined()
    assert code == 1
    assert found["cli"][0] == "warn"
    assert "install OpenClaw" in str(found["cli"][2])


def test_stand_in_is_a_warning(examined: Examined, tmp_path: Path) -> None:
    code, found = examined("-c", str(configure(tmp_path)))
    assert code == 1
    assert found["cli"][0] == "warn"
    assert "gateway" not in found


def test_turn_is_launched_on_request_alone(examined: Examined, tmp_path: Path) -> None:
    config, fake = prepared(tmp_path)
    code, found = examined("-c", str(config), "--turn", "finance")
    assert (code, found["turn"][0]) == (0, "ok")
    (launch,) = fake.launches()
    assert "--agent=finance" in launch["argv"]
    assert launch["message"].splitlines()[1].startswith("This is clawmarshal's doctor")


@pytest.mark.parametrize(
    ("body", "agent", "words"),
    [
        pytest.param("sys.exit(1)", "finance", "unknown no-document", id="unknown"),
        pytest.param("say(document(status='timeout'))", "finance", "turn-timeout", id="failed"),
        pytest.param("say(document())", "--deliver", "id", id="no-agent-id"),
    ],
)
def test_turn_that_does_not_answer_fails(
    examined: Examined, tmp_path: Path, body: str, agent: str, words: str
) -> None:
    config, _ = prepared(tmp_path, body=body)
    code, found = examined("-c", str(config), f"--turn={agent}")
    assert (code, found["turn"][0]) == (2, "fail")
    assert words in found["turn"][1]


def test_turn_that_sent_something_by_itself_warns(examined: Examined, tmp_path: Path) -> None:
    sent = "[{'provider': 'telegram', 'to': '5', 'text': 'x'}]"
    body = f"d = document(); d['result']['messagingToolSentTargets'] = {sent}; say(d)"
    config, _ = prepared(tmp_path, body=body)
    code, found = examined("-c", str(config), "--turn", "finance")
    assert (code, found["turn"][0]) == (1, "warn")


GATEWAY = {
    "down": ("fail('Gateway not reachable at ws://127.0.0.1:9 (ECONNREFUSED).')", "Start"),
    "token": ("fail('unauthorized: gateway token mismatch (…)')", "token"),
    "secret-in-it": (f"fail('cannot reach wss://me:{SECRET}@host; token={SECRET}')", "log"),
    "control": ("fail('bad \\x1b[2J\\u202e thing')", "log"),
    "nothing": ("", "log"),
    "half": ("print('{\"runtimeVersion\": ')", "log"),
    "html": ("print('<html>')", "log"),
    "list": ("print('[]')", "log"),
    "deep": ("print('[' * 100000)", "log"),
    "20-mb": ("[os.write(1, b'x' * 65536) for _ in range(320)]", "log"),
    "no-version": ("print('{}')", "log"),
    "exit-1": ("print(json.dumps({'runtimeVersion': '2026.9.6'})); sys.exit(1)", "log"),
    "dies": ("os.kill(os.getpid(), 9)", "log"),
}


@pytest.mark.parametrize(("answer", "mend"), GATEWAY.values(), ids=GATEWAY)
def test_gateway_that_does_not_say_its_version_fails(
    examined: Examined, tmp_path: Path, answer: str, mend: str
) -> None:
    config, _ = prepared(tmp_path, {**HEALTHY, "status": answer})
    code, found = examined("-c", str(config))
    assert (code, found["gateway"][0]) == (2, "fail")
    assert mend in str(found["gateway"][2])
    assert not set(found["gateway"][1]) & {"\x1b", "\u202e"}
    assert "agents" not in found


def test_other_versions_than_the_tested_one_warn(examined: Examined, tmp_path: Path) -> None:
    config, _ = prepared(tmp_path, version="OpenClaw 2026.10.1 (abc)")
    code, found = examined("-c", str(config))
    assert code == 1
    assert (found["cli"][0], found["gateway"][0]) == ("warn", "warn")


@pytest.mark.parametrize(
    ("fake", "words"),
    [
        pytest.param({"version": "OpenClaw 2026.1.1"}, "older", id="old"),
        pytest.param({"version": "hello"}, "version", id="none"),
        pytest.param({"flags": ("--agent <id>",)}, "--session-key", id="flags"),
    ],
)
def test_cli_that_cannot_be_launched_fails(
    examined: Examined, tmp_path: Path, fake: dict[str, Any], words: str
) -> None:
    config, _ = prepared(tmp_path, **fake)
    code, found = examined("-c", str(config))
    assert (code, found["cli"][0]) == (2, "fail")
    assert words in found["cli"][1]


def test_node_that_is_too_old_says_so(examined: Examined, tmp_path: Path) -> None:
    config, fake = prepared(tmp_path)
    fake.path.write_text(
        "#!/bin/sh\necho 'openclaw: Node 20.20.2: node:sqlite is unavailable; use 24.16+' >&2\n"
        "exit 1\n"
    )
    code, found = examined("-c", str(config))
    assert (code, found["cli"][0]) == (2, "fail")
    assert "Node 20.20.2" in found["cli"][1]


def test_command_that_others_may_write_fails(examined: Examined, tmp_path: Path) -> None:
    config, fake = prepared(tmp_path)
    fake.path.chmod(0o777)
    code, found = examined("-c", str(config))
    assert (code, found["node"][0], found["cli"][0]) == (2, "fail", "fail")


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda file: file.chmod(0o644), id="open-to-others"),
        pytest.param(lambda file: file.unlink(), id="missing"),
        pytest.param(lambda file: (file.unlink(), file.mkdir()), id="a-folder"),
    ],
)
def test_client_config_that_cannot_be_used_fails(
    examined: Examined, tmp_path: Path, spoil: Callable[[Path], object]
) -> None:
    config, _ = prepared(tmp_path)
    client = tmp_path / "client.json5"
    client.write_text(f'{{gateway: {{remote: {{token: "{SECRET}"}}}}}}')
    spoil(client)
    code, found = examined("-c", str(config))
    assert (code, found["client-config"][0]) == (2, "fail")


def test_unknown_fleet_warns_and_missing_agent_fails(examined: Examined, tmp_path: Path) -> None:
    config, _ = prepared(tmp_path, {**HEALTHY, "agents.list": "print('<html>')"})
    code, found = examined("-c", str(config))
    assert (code, found["agents"][0]) == (1, "warn")

    config, _ = prepared(tmp_path, {**HEALTHY, **calls(agents_document("finance"), {})})
    code, found = examined("-c", str(config))
    assert (code, found["drift"][0], found["agents"][0]) == (2, "fail", "warn")
    assert "security" in found["drift"][1]


def test_powers_and_ways_around_are_told(examined: Examined, tmp_path: Path) -> None:
    told = config_document(
        ENTRIES,
        bindings=[{"agentId": "finance", "match": {"channel": "telegram"}}],
        hooks={"enabled": True, "token": SECRET},
        cron={"enabled": True},
    )
    config, _ = prepared(tmp_path, {**calls(agents_document(*ENTRIES), told), **STATUS})
    code, found = examined("-c", str(config))
    assert code == 1
    assert "agents.entries.security.tools.deny" in str(found["unasked"][2])
    assert found["ways-around"][0] == "warn"


@pytest.mark.parametrize("text", ["server: [", "roster: x\n"], ids=["not-yaml", "not-whole"])
def test_configuration_that_cannot_be_used_ends_it(
    examined: Examined, tmp_path: Path, text: str
) -> None:
    config, _ = prepared(tmp_path)
    config.write_text(text)
    code, found = examined("-c", str(config))
    assert (code, set(found)) == (2, {"configuration"})


def test_roster_and_model_that_cannot_be_used_fail(examined: Examined, tmp_path: Path) -> None:
    config, _ = prepared(tmp_path)
    (tmp_path / "fleet.yaml").write_text("agents: []")
    config.write_text(config.read_text().replace("model: lexical", "model: 'no.such:thing'"))
    code, found = examined("-c", str(config))
    assert (code, found["roster"][0], found["model"][0]) == (2, "fail", "fail")


def test_ledger_that_is_there_is_looked_at_and_not_touched(
    examined: Examined, tmp_path: Path
) -> None:
    config, _ = prepared(tmp_path)
    with opened_ledger(settings_of(config)) as ledger:
        ledger.create_key("k", "ann", ["route"])
    file = tmp_path / "ledger.db"
    before = file.read_bytes()
    code, found = examined("-c", str(config))
    assert code == 0
    assert "0 routes" in found["ledger"][1]
    assert found["ledger-clock"][0] == "ok"
    assert file.read_bytes() == before


def test_ledger_from_before_is_told_and_left_as_it_is(examined: Examined, tmp_path: Path) -> None:
    config, _ = prepared(tmp_path)
    file = tmp_path / "ledger.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(BEFORE_ALEMBIC.read_text())
    file.chmod(0o600)
    before = file.read_bytes()
    code, found = examined("-c", str(config))
    assert (code, found["ledger"][0]) == (0, "ok")
    assert "16 routes" in found["ledger"][1]
    assert file.read_bytes() == before


def test_ledger_of_an_older_schema_is_brought_up_to_date_later(
    examined: Examined, tmp_path: Path
) -> None:
    config, _ = prepared(tmp_path)
    with opened_ledger(settings_of(config)) as ledger:
        ledger.create_key("k", "ann", ["route"])
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0000'")
        connection.commit()
    code, found = examined("-c", str(config))
    assert (code, found["ledger"][0]) == (0, "ok")
    assert "schema 0000, brought up to date at the next start" in found["ledger"][1]


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        pytest.param("UPDATE events SET at = at + 3600000000", "ledger-clock", id="clock-back"),
        pytest.param("UPDATE alembic_version SET version_num = '0099'", "ledger",
                     id="newer-schema"),
        pytest.param("DROP TABLE events", "ledger", id="no-ledger"),
    ],
)  # fmt: skip
def test_ledger_that_cannot_be_used_fails(
    examined: Examined, tmp_path: Path, sql: str, name: str
) -> None:
    config, _ = prepared(tmp_path)
    with opened_ledger(settings_of(config)) as ledger:
        ledger.create_key("k", "ann", ["route"])
    connection = sqlite3.connect(tmp_path / "ledger.db")
    connection.execute("DROP TRIGGER events_no_update")
    connection.execute(sql)
    connection.commit()
    connection.close()
    code, found = examined("-c", str(config))
    assert (code, found[name][0]) == (2, "fail")


def test_ledger_that_is_no_database_or_open_to_others_is_told(
    examined: Examined, tmp_path: Path
) -> None:
    config, _ = prepared(tmp_path)
    file = tmp_path / "ledger.db"
    file.write_text("hello, this is no database at all" * 99)
    file.chmod(0o644)
    code, found = examined("-c", str(config))
    assert (code, found["ledger"][0], found["ledger-mode"][0]) == (2, "fail", "warn")


def test_ledger_without_a_folder_fails(examined: Examined, tmp_path: Path) -> None:
    config, _ = prepared(tmp_path)
    config.write_text(config.read_text().replace("ledger.db", "no/ledger.db"))
    code, found = examined("-c", str(config))
    assert (code, found["ledger"][0]) == (2, "fail")


def test_findings_are_for_people_without_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, _ = prepared(tmp_path, {**known_calls(), "status": GATEWAY["down"][0]})
    assert main(["doctor", "-c", str(config)]) == 2
    out = capsys.readouterr().out
    assert "fail  gateway: Gateway not reachable" in out
    assert "mend: Start the Gateway." in out


@pytest.mark.parametrize(
    ("mode", "verdict"), [(0o600, "ok"), (0o644, "fail")], ids=["private", "open-to-others"]
)
def test_token_of_a_configured_gateway_is_looked_at(
    examined: Examined, tmp_path: Path, mode: int, verdict: str
) -> None:
    config, _ = prepared(tmp_path)
    token = tmp_path / "token"
    token.write_text(SECRET)
    token.chmod(mode)
    gateway = "gateway: {url: 'ws://127.0.0.1:1', token_file: token}"
    config.write_text(config.read_text().replace("openclaw_config: client.json5", gateway))
    code, found = examined("-c", str(config))
    assert (code, found["client-config"][0]) == (0 if mode == 0o600 else 2, verdict)
