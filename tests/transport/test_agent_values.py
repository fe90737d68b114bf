"""Values meant for one agent reach its child, and no other one's."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmarshal.errors import SettingsError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.transport.agent_values import AgentValues
from clawmarshal.transport.environment import PUBLISHED
from clawmarshal.transport.openclaw import OpenClawTransport
from clawmarshal.transport.outcome import TurnState
from tests.support.behaviours import ANSWER
from tests.support.fake_openclaw import FakeOpenClaw, write_fake
from tests.support.turns import Watcher, make_turn

FINANCE = AgentSpec("finance", "Invoices.", env=("SHARED_NAME",))
SECURITY = AgentSpec("security", "Alerts.")
OWN = {
    "finance": {"BANK_KEY": "finance-s3cr3t", "API_KEY": "finance-api-key"},
    "security": {"SIEM_KEY": "security-s3cr3t", "API_KEY": "security-api-key"},
}
OURS = {row.name for row in PUBLISHED}
UNTIL_TOLD = "while not os.path.exists(HERE + '/go'): time.sleep(0.01)\n"


@pytest.fixture
def fake(tmp_path: Path) -> FakeOpenClaw:
    (tmp_path / "cli").mkdir(mode=0o700)
    return write_fake(tmp_path / "cli", UNTIL_TOLD + ANSWER)


@pytest.fixture
def transport(tmp_path: Path, fake: FakeOpenClaw) -> Iterator[OpenClawTransport]:
    made = OpenClawTransport(
        fake.command,
        directory=tmp_path,
        agent_env={"SHARED_NAME": "listed-by-finance", "NOT_LISTED": "of-nobody"},
        agent_secrets=OWN,
    )
    yield made
    asyncio.run(made.close())


def environ_of(pid: int) -> dict[str, str]:
    """Read what the kernel says a process was started with."""
    raw = Path(f"/proc/{pid}/environ").read_bytes().decode()
    return dict(line.split("=", 1) for line in raw.split("\0") if line)


def test_two_children_at_once_have_each_their_own(
    transport: OpenClawTransport, fake: FakeOpenClaw
) -> None:
    agents = (FINANCE, SECURITY)
    transport.check_agents(agents)

    async def run() -> list[dict[str, str]]:
        watchers = [Watcher(), Watcher()]
        turns = [
            make_turn(agent=agent, key=f"cm-{n:032x}", attempt_id=f"at_{n}")
            for n, agent in enumerate(agents)
        ]
        launches = [
            asyncio.create_task(transport.launch(turn, watcher))
            for turn, watcher in zip(turns, watchers, strict=True)
        ]
        for watcher in watchers:
            await asyncio.wait_for(watcher.heard.wait(), 20)
        seen = [environ_of(watcher.pids[0]) for watcher in watchers]
        (fake.path.parent / "go").touch()
        results = await asyncio.gather(*launches)
        assert [result.state for result in results] == [TurnState.DONE] * 2
        return seen

    finance, security = asyncio.run(run())

    assert finance["BANK_KEY"] == "finance-s3cr3t" and finance["API_KEY"] == "finance-api-key"
    assert security["SIEM_KEY"] == "security-s3cr3t" and security["API_KEY"] == "security-api-key"
    assert set(finance) <= OURS | {"BANK_KEY", "API_KEY", "SHARED_NAME"}
    assert set(security) <= OURS | {"SIEM_KEY", "API_KEY"}
    assert not any("finance" in value for value in security.values())
    assert not any("security" in value for value in finance.values())


def test_read_only_calls_have_nobodys(tmp_path: Path) -> None:
    (tmp_path / "cli").mkdir(mode=0o700)
    fake = write_fake(tmp_path / "cli")
    text = fake.path.read_text()
    dump = "import json, os\nopen('%s', 'a').write(json.dumps(dict(os.environ)) + '\\n')\n"
    first, rest = text.split("\n", 1)
    fake.path.write_text(first + "\n" + dump % (tmp_path / "environments") + rest)

    async def run() -> None:
        made = OpenClawTransport(fake.command, directory=tmp_path, agent_secrets=OWN)
        await made.probe()
        await made.fleet()
        await made.close()

    asyncio.run(run())
    seen = (tmp_path / "environments").read_text()
    assert len(seen.splitlines()) == 3
    assert "s3cr3t" not in seen and "api-key" not in seen


def test_template_names_them_and_shows_no_value(transport: OpenClawTransport) -> None:
    template = transport.template(FINANCE)

    names = template["environment"]
    assert isinstance(names, list) and {"BANK_KEY", "API_KEY", "SHARED_NAME"} <= set(names)
    assert "SIEM_KEY" not in names
    assert "s3cr3t" not in repr(template)


def test_own_value_wins_over_a_listed_one() -> None:
    values = AgentValues({"SHARED_NAME": "listed"}, {"finance": {"SHARED_NAME": "own"}})

    assert values.values(FINANCE) == {"SHARED_NAME": "own"}
    assert values.values(AgentSpec("b", "B.", env=("SHARED_NAME",))) == {"SHARED_NAME": "listed"}


def test_every_fault_is_named_and_no_value() -> None:
    values = AgentValues(
        {},
        {
            "finance": {"NODE_OPTIONS": "--require s3cr3t", "SHARED_NAME": "x\ns3cr3t"},
            "nobody": {"A": "s3cr3t"},
        },
    )

    with pytest.raises(SettingsError) as caught:
        values.check([FINANCE, SECURITY])

    said = [fault.message for fault in caught.value.faults]
    assert said == [
        "agent finance: NODE_OPTIONS is refused: loads code or trust into Node",
        "agent finance: SHARED_NAME holds a control character",
        "transport.secrets: the roster has no agent 'nobody'",
    ]
    assert "s3cr3t" not in str(caught.value) and "s3cr3t" not in repr(values)


_NAMES = st.sampled_from(["A", "B", "C_KEY", "D"])
_VALUES = st.dictionaries(_NAMES, st.text(max_size=5), max_size=4)


@given(
    listed=_VALUES,
    own=st.dictionaries(st.sampled_from(["a", "b"]), _VALUES),
    env=st.lists(_NAMES, unique=True),
)
def test_an_agent_gets_what_it_lists_and_its_own_and_no_more(
    listed: dict[str, str], own: dict[str, dict[str, str]], env: list[str]
) -> None:
    agent = AgentSpec("a", "A.", env=tuple(env))
    values = AgentValues(listed, own)

    mine = own.get("a", {})
    assert values.values(agent) == {n: listed[n] for n in env if n in listed} | mine
    assert values.names(agent) == sorted({*env, *mine})
