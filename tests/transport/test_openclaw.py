"""What the transport refuses when it is made, and what it says of itself."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from clawmarshal.errors import NotLaunchedError, SettingsError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.transport.openclaw import OpenClawTransport
from clawmarshal.transport.outcome import Transport
from tests.support.fake_openclaw import FakeOpenClaw, write_fake
from tests.support.turns import FINANCE, processes_naming


@pytest.fixture
def fake(tmp_path: Path) -> FakeOpenClaw:
    tmp_path.chmod(0o700)
    return write_fake(tmp_path)


def config_in(folder: Path, mode: int = 0o600) -> Path:
    path = folder / "client.json5"
    path.write_text("{}")
    path.chmod(mode)
    return path


def refusal(fake: FakeOpenClaw, **settings: Any) -> str:
    before = sorted(fake.path.parent.iterdir())
    with pytest.raises(SettingsError) as caught:
        OpenClawTransport(fake.command, **({"directory": fake.path.parent} | settings))
    assert sorted(fake.path.parent.iterdir()) == before
    return str(caught.value)


def test_numbers_out_of_range_are_listed_at_once(fake: FakeOpenClaw) -> None:
    said = refusal(fake, timeout_s=0, margin_s=-1, max_text_bytes=4 * 1024 * 1024)

    assert "timeout_s" in said and "margin_s" in said and "max_text_bytes" in said


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o622, 0o601], ids=oct)
def test_client_config_that_others_can_reach_is_refused(fake: FakeOpenClaw, mode: int) -> None:
    config = config_in(fake.path.parent, mode)

    said = refusal(fake, openclaw_config=config)

    assert "others may reach" in said and "chmod 600" in said


def test_missing_client_config_says_so(fake: FakeOpenClaw) -> None:
    assert "No such file" in refusal(fake, openclaw_config="/nosuch/client.json5")
    assert "not a file" in refusal(fake, openclaw_config=fake.path.parent)


def test_bad_time_zone_is_refused_before_anything_starts(fake: FakeOpenClaw) -> None:
    assert "TZ" in refusal(fake, tz="Europe\nX=1")
    assert not processes_naming(fake.path.parent)


def run_with(fake: FakeOpenClaw, **settings: Any) -> OpenClawTransport:
    return OpenClawTransport(fake.command, directory=fake.path.parent, **settings)


def test_template_says_exactly_what_would_run(fake: FakeOpenClaw) -> None:
    agent = AgentSpec("finance", "Invoices.", env=("BANK_KEY",), timeout_s=77)

    async def run() -> None:
        transport = run_with(fake, openclaw_config=config_in(fake.path.parent))
        assert transport.template(agent)["cli_version"] is None
        assert "not asked" in transport.label
        probe = await transport.probe()
        assert await transport.probe() is probe
        assert transport.label == "openclaw 2026.9.6"
        assert transport.template(agent) == transport.template(agent)
        assert transport.template(agent) == {
            "argv": [
                *fake.command,
                "agent",
                "--agent=finance",
                "--session-key=SESSION",
                "--message-file=FILE",
                "--timeout=77",
                "--json",
            ],
            "files": fake.command,
            "cli_version": "2026.9.6",
            "environment": [
                "BANK_KEY",
                "HOME",
                "LANG",
                "OPENCLAW_CONFIG_PATH",
                "OPENCLAW_NO_RESPAWN",
                "OPENCLAW_STATE_DIR",
                "TMPDIR",
            ],
            "first_line": "Message (untrusted, routed by clawmarshal):",
        }
        await transport.close()

    asyncio.run(run())


def test_every_agent_with_a_bad_variable_is_named(fake: FakeOpenClaw) -> None:
    transport = run_with(fake, agent_env={"GOOD": "1", "NODE_OPTIONS": "--require x"})
    agents = [
        AgentSpec("a", "A.", env=("GOOD",)),
        AgentSpec("b", "B.", env=("NODE_OPTIONS",)),
        AgentSpec("c", "C.", env=("MISSING",)),
    ]

    with pytest.raises(SettingsError) as caught:
        transport.check_agents(agents)

    assert [f.message.split(":")[0] for f in caught.value.faults] == ["agent b", "agent c"]
    assert "--require" not in str(caught.value)
    transport.check_agents(agents[:1])
    asyncio.run(transport.close())


def test_stopping_what_does_not_run_is_false(fake: FakeOpenClaw) -> None:
    transport = run_with(fake)

    assert transport.stop("at_none") is False
    asyncio.run(transport.close())


def test_silent_cli_is_not_launched(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    path = tmp_path / "cli"
    path.write_text("#!/bin/sh\nexit 3\n")
    path.chmod(0o700)

    async def run() -> None:
        transport = OpenClawTransport([str(path)], directory=tmp_path)
        with pytest.raises(NotLaunchedError, match="exit 3") as caught:
            await transport.probe()
        assert caught.value.code == "cli-silent"
        await transport.close()

    asyncio.run(run())


def test_installed_openclaw_is_discovered(fake: FakeOpenClaw) -> None:
    folder = fake.path.parent
    os.rename(fake.path, folder / "openclaw")
    (folder / ".openclaw").mkdir()
    config_in(folder).rename(folder / ".openclaw" / "openclaw.json")

    transport = OpenClawTransport.discover({"PATH": str(folder), "HOME": str(folder)})

    assert transport.template(FINANCE)["files"] == [str(folder / "openclaw")]
    asyncio.run(transport.close())


def test_nothing_to_discover_says_so() -> None:
    with pytest.raises(SettingsError, match="PATH"):
        OpenClawTransport.discover({"PATH": "/nosuch"})


def test_it_is_a_transport(fake: FakeOpenClaw) -> None:
    transport: Transport = run_with(fake)
    asyncio.run(transport.close())


def test_forgotten_transport_leaves_nothing(fake: FakeOpenClaw) -> None:
    transport = run_with(fake)
    del transport

    assert not list(fake.path.parent.glob("clawmarshal-*"))
