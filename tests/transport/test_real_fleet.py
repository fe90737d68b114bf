"""The fleet as the real Gateway tells it: imported, compared, and what its tools really are."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clawmarshal.api.cli import main
from clawmarshal.roster.agent import AgentSpec, Binding
from clawmarshal.roster.loader import load_roster
from clawmarshal.roster.openclaw import LiveFleet
from clawmarshal.roster.tool_policy import RUNNING, SENDING
from clawmarshal.transport.openclaw import OpenClawTransport
from tests.support.openclaw_lab import Lab, running_lab
from tests.support.real_desk import ended, make_desk, send
from tests.support.turns import make_turn, wait_until

pytestmark = [pytest.mark.openclaw, pytest.mark.timeout(400)]

CHANGED = {
    "  agents: {\n": "  tools: { deny: ['nodes', 'cron'] },\n"
    "  bindings: [\n"
    "    { agentId: 'finance', match: { channel: 'telegram', accountId: '*',\n"
    "      peer: { kind: 'direct', id: '555' } } },\n"
    "    { agentId: 'personal', match: { channel: 'telegram', accountId: '*' } },\n"
    "  ],\n"
    "  agents: {\n",
    'description: "Calendar, travel, errands.",\n': "tools: { profile: 'messaging', "
    "alsoAllow: ['exec'] },\n",
}
"""Bindings, a shared policy, and an agent without a description that has a profile."""


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    """Run a Gateway with bindings and tool policies."""
    with running_lab(CHANGED) as made:
        yield made


@pytest.fixture(scope="module")
def config(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a configuration of ours that asks that Gateway."""
    folder = tmp_path_factory.mktemp("live")
    path = folder / "clawmarshal.yaml"
    transport = {"command": list(lab.command), "openclaw_config": str(lab.client_config)}
    path.write_text(
        "server: {port: 0}\nroster: fleet.yaml\nledger: sqlite:///ledger.db\n"
        f"transport: {json.dumps(transport)}\n"
    )
    return path


@pytest.fixture(scope="module")
def fleet(lab: Lab) -> LiveFleet:
    """Ask the Gateway once."""

    async def ask() -> LiveFleet | None:
        transport = OpenClawTransport(lab.command, openclaw_config=lab.client_config)
        try:
            return await transport.live_fleet()
        finally:
            await transport.close()

    found = asyncio.run(ask())
    assert found is not None
    return found


def test_import_check_and_diff_agree(
    config: Path, lab: Lab, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["roster", "import", "-c", str(config)]) == 0
    assert main(["roster", "check", str(config.parent / "fleet.yaml")]) == 0
    assert main(["roster", "diff", "-c", str(config)]) == 0
    said = capfd.readouterr()
    text = (config.parent / "fleet.yaml").read_text()
    for secret in ("lab-token-not-a-secret", "mock-key", str(lab.gateway_port)):
        assert secret not in text + said.out + said.err

    roster = load_roster(config.parent / "fleet.yaml")
    assert roster["finance"].description == "Invoices, budgets, taxes, expenses."
    assert roster["finance"].bindings == (Binding("telegram", None, "555"),)
    assert roster["security"].enabled
    assert not roster["personal"].enabled, "it has no description"


def test_changed_roster_differs(config: Path, tmp_path: Path) -> None:
    roster = tmp_path / "mine.yaml"
    roster.write_text("agents:\n  - id: finance\n    description: Something else.\n")
    assert main(["roster", "diff", str(roster), "-c", str(config)]) == 1


def test_gateway_that_is_down_is_unknown(config: Path, lab: Lab, tmp_path: Path) -> None:
    client = tmp_path / "client.json5"
    client.write_text(lab.client_config.read_text().replace(str(lab.gateway_port), "9"))
    client.chmod(0o600)
    down = tmp_path / "clawmarshal.yaml"
    down.write_text(config.read_text().replace(str(lab.client_config), str(client)))
    roster = tmp_path / "fleet.yaml"
    roster.write_text("agents:\n  - id: finance\n    description: Something else.\n")

    assert main(["roster", "diff", "-c", str(down)]) == 2
    assert main(["roster", "import", "-c", str(down)]) == 1
    assert "Something else" in roster.read_text()


@pytest.mark.parametrize("agent_id", ["finance", "personal", "security"])
def test_no_tool_that_sends_or_runs_is_left_unsaid(
    lab: Lab, fleet: LiveFleet, agent_id: str
) -> None:
    """Compare with what the Gateway itself says a session of the agent may call."""
    agent = fleet.get(agent_id)
    assert agent is not None
    session = "cm-" + "5" * 16

    async def run() -> None:
        transport = OpenClawTransport(lab.command, openclaw_config=lab.client_config)
        try:
            await transport.launch(
                make_turn("hello", agent=AgentSpec(agent_id, "Anything."), key=session)
            )
        finally:
            await transport.close()

    asyncio.run(run())
    told = lab.call(
        "tools.effective", {"agentId": agent_id, "sessionKey": f"agent:{agent_id}:{session}"}
    )
    effective = {tool["id"] for group in told["groups"] for tool in group["tools"]}
    watched = {*SENDING, *RUNNING}

    assert effective & watched <= set(agent.unasked)
    # What is listed and not there is a tool that this machine does not have.
    assert set(agent.unasked) - effective <= {"code_execution", "mobile_ui", "process"}


def doctored(config: Path, capfd: pytest.CaptureFixture[str], *more: str) -> dict[str, str]:
    """Run the doctor and return the worst verdict of each name."""
    code = main(["doctor", "--json", "-c", str(config), *more])
    told = json.loads(capfd.readouterr().out)
    assert told["exit_code"] == code
    worst = ("ok", "warn", "fail")
    return {
        finding["name"]: max(
            (f["verdict"] for f in told["findings"] if f["name"] == finding["name"]),
            key=worst.index,
        )
        for finding in told["findings"]
    }


def test_doctor_finds_the_real_thing_well(config: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (config.parent / "fleet.yaml").unlink(missing_ok=True)
    assert main(["roster", "import", "-c", str(config)]) == 0
    capfd.readouterr()
    found = doctored(config, capfd, "--turn", "finance")

    for name in ("configuration", "cli", "client-config", "gateway", "agents", "drift", "turn"):
        assert found[name] == "ok", name
    assert (found["unasked"], found["ways-around"]) == ("warn", "warn")
    assert found["separation"] != "ok", "the lab's Gateway is ours"


@pytest.mark.parametrize(
    ("old", "new"),
    [("lab-token-not-a-secret", "another-token"), (None, "9")],
    ids=["wrong-token", "gateway-down"],
)
def test_doctor_says_why_the_gateway_cannot_be_asked(
    config: Path,
    lab: Lab,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    old: str | None,
    new: str,
) -> None:
    client = tmp_path / "client.json5"
    client.write_text(lab.client_config.read_text().replace(old or str(lab.gateway_port), new))
    client.chmod(0o600)
    broken = tmp_path / "clawmarshal.yaml"
    broken.write_text(config.read_text().replace(str(lab.client_config), str(client)))
    (tmp_path / "fleet.yaml").write_text("agents:\n  - id: finance\n    description: Money.\n")

    found = doctored(broken, capfd)
    assert (found["cli"], found["gateway"]) == ("ok", "fail")
    assert "agents" not in found


GARDEN = """\
  - id: garden
    description: Waters tomatoes, prunes roses, plans flower beds and the vegetable patch.
    examples:
      - When should I prune the roses?
      - Water the tomatoes twice a day this week.
      - Which flowers go into the shady bed?
      - Plan the vegetable patch for spring.
"""


def test_service_holds_what_is_for_an_agent_that_the_gateway_does_not_have(
    lab: Lab, tmp_path: Path
) -> None:
    desk = make_desk(tmp_path, lab)
    (tmp_path / "roster.yaml").write_text((tmp_path / "roster.yaml").read_text() + GARDEN)
    with desk.serve() as (_, http):

        def told() -> dict[str, Any]:
            document: dict[str, Any] = http.get("/readyz").json()
            return document

        assert wait_until(lambda: told()["fleet"] == "known", timeout_s=90)
        state = told()
        held = ended(http, send(http, "When should I prune the roses in the flower bed?")["id"])

    assert state["missing_agents"] == ["garden"]
    assert {"code": "missing", "agent": "garden"} in state["drift"]
    assert {"code": "bindings", "agent": "finance"} in state["drift"]
    assert "security" in state["unasked_agents"]
    assert (held["state"], held["agent"]) == ("held", "garden")
    assert "garden is not in the live OpenClaw." in [gate["detail"] for gate in held["gates"]]
