"""No roster, message, conversation, configuration or environment adds a flag or a variable."""

import asyncio
import json
import os
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as effort
from hypothesis import strategies as st

from clawmarshal.api.settings import Settings, gateway_of, load_settings, secrets_of, values_of
from clawmarshal.api.transports import make_transport
from clawmarshal.errors import ClawmarshalError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.roster.loader import load_roster
from clawmarshal.roster.roster import Roster
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.session import session_key
from clawmarshal.transport.command import turn_argv
from clawmarshal.transport.environment import PUBLISHED
from clawmarshal.transport.executable import resolve
from clawmarshal.transport.outcome import Turn
from clawmarshal.transport.spawner import boot_s
from clawmarshal.transport.surroundings import Surroundings, Told
from tests.support.fake_openclaw import FakeOpenClaw, write_fake

CLOSED = re.compile(
    r"agent\0--agent=[a-z0-9][a-z0-9_-]{0,63}\0--session-key=cm-[0-9a-f]{64}"
    r"\0--message-file=(/[A-Za-z0-9._+@ -]+)+\0--timeout=[1-9][0-9]{0,3}\0--json"
)
STEERING = re.compile(
    r"(NODE|LD_|DYLD|OPENCLAW|PATH|HOME|TZ|BASH|PYTHON)|.*[^A-Z_a-z]", re.ASCII | re.IGNORECASE
)
OURS = {row.name for row in PUBLISHED}
HOSTILE = ("--deliver", "--agent=admin", "-x", "--local", "--dev", "a\n--deliver", "a\0--deliver")
NASTY = st.sampled_from(HOSTILE) | st.text(max_size=12)
LINE = st.sampled_from(HOSTILE[:5]) | st.text(st.characters(codec="ascii", min_codepoint=32))
BAD_NAMES = st.sampled_from(
    ["NODE_OPTIONS", "ld_preload", "OpenClaw_Gateway_Url", "PATH", "HOME", "TZ", "bash_env", "A=B",
     "A\n", "LD_PRELOAD=x", "DYLD_Y", "PYTHONPATH", "--deliver", "UNSET"]
)  # fmt: skip
GOOD_NAMES = st.sampled_from(["BANK_KEY", "API_KEY", "X"])
SET = {
    "BANK_KEY": "planted-1", "API_KEY": "planted-2", "X": "--deliver",
    "NODE_OPTIONS": "--require x", "ld_preload": "/x.so", "OpenClaw_Gateway_Url": "ws://x",
    "bash_env": "/x", "PYTHONPATH": "/x", "DYLD_Y": "/x",
}  # fmt: skip
"""What the environment of every case holds unless something else is drawn for it."""


def seldom(bad: st.SearchStrategy[Any], good: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw what is fine most of the time, so that a case of many parts goes through at times."""
    return st.integers(0, 19).flatmap(lambda number: bad if number == 13 else good)


NAMES = seldom(BAD_NAMES, GOOD_NAMES)
PLACES = seldom(
    st.fixed_dictionaries({}, optional={"env": BAD_NAMES, "value": NASTY}),
    st.fixed_dictionaries({"env": GOOD_NAMES}),
)
AGENTS = st.fixed_dictionaries(
    {
        "id": seldom(NASTY, st.sampled_from(["finance", "security", "ops-2", "n_1"])),
        "description": seldom(st.text(), LINE.map("Invoices. {}".format)),
    },
    optional={
        "name": seldom(NASTY, LINE.map("Ann {}".format)),
        "env": st.lists(NAMES, max_size=2, unique=True),
        "timeout_s": seldom(st.integers(-1, 4000), st.integers(1, 3600)),
        "examples": seldom(st.lists(NASTY, max_size=2), st.just(["--deliver please"])),
        "x-flag": seldom(NASTY, LINE),
    },
)
GATEWAYS = st.fixed_dictionaries(
    {"url": seldom(NASTY, st.just("ws://127.0.0.1:1")), "token_env": NAMES}
)
TRANSPORT = st.fixed_dictionaries(
    {},
    optional={
        "timeout_s": seldom(NASTY, st.integers(1, 3600)),
        "tz": seldom(NASTY, st.sampled_from(["UTC", "Europe/Berlin"])),
        "secrets": st.dictionaries(
            seldom(st.just("nobody"), st.just("finance")),
            st.dictionaries(NAMES, PLACES, max_size=2),
            max_size=2,
        ),
        "gateway": GATEWAYS,
    },
)
EXTRAS = st.fixed_dictionaries(
    {}, optional={"extra": st.lists(NASTY, min_size=1, max_size=2), "--deliver": st.just(True)}
)
ENVIRON = st.dictionaries(
    seldom(BAD_NAMES, GOOD_NAMES)
    | st.sampled_from(["CLAWMARSHAL_TRANSPORT__TZ", "CLAWMARSHAL_TRANSPORT__TIMEOUT_S"]),
    seldom(NASTY | st.just("() { :; }"), st.sampled_from(["planted", "7"])),
    max_size=3,
)
ORIGINS = st.fixed_dictionaries(
    {}, optional={"channel": seldom(NASTY, LINE.map("c{}".format)), "conversation": NASTY}
)
CASE: dict[str, Any] = {
    "agents": st.lists(AGENTS, min_size=1, max_size=2, unique_by=lambda agent: agent["id"]),
    "transport": seldom(EXTRAS, TRANSPORT),
    "environ": ENVIRON.map(lambda drawn: SET | drawn),
    "text": seldom(st.text(min_size=1, max_size=40), st.sampled_from(HOSTILE[:6])),
    "origin": ORIGINS,
}
PLAIN: dict[str, Any] = {
    "agents": [
        {"id": "finance", "description": "Invoices.", "env": ["BANK_KEY"]},
        {"id": "security", "description": "Alerts.", "env": ["X"]},
    ],
    "transport": {"secrets": {"finance": {"API_KEY": {"env": "X"}}}, "tz": "UTC"},
    "environ": {"BANK_KEY": "planted", "X": "planted-2", "NODE_OPTIONS": "--require x"},
    "text": "--deliver",
    "origin": {"conversation": "--session-key=main"},
}
"""One that goes through, whatever else is drawn."""
STEERED: dict[str, Any] = PLAIN | {
    "agents": [{"id": "finance", "description": "Invoices.", "env": ["ld_preload"]}],
    "environ": SET,
}
"""One whose agent lists a name that steers, and which would have a value."""


@pytest.fixture(scope="module")
def fake(tmp_path_factory: pytest.TempPathFactory) -> FakeOpenClaw:
    folder = tmp_path_factory.mktemp("cli")
    folder.chmod(0o700)
    return write_fake(folder)


def configured(
    folder: Path, fake: FakeOpenClaw, case: Mapping[str, Any]
) -> tuple[Settings, Roster, Mapping[str, str]]:
    """Write what was drawn as the files of an operator, and read them as the service does."""
    (folder / "fleet.yaml").write_bytes(json.dumps({"agents": case["agents"]}).encode())
    transport = dict(case["transport"])
    command = [*fake.command, *transport.pop("extra", [])]
    config = folder / "clawmarshal.yaml"
    told = {
        "server": {"port": 0},
        "roster": "fleet.yaml",
        "ledger": "sqlite:///ledger.db",
        "transport": {"command": command, "directory": ".", **transport},
    }
    if "gateway" not in transport:
        client = folder / "client.json5"
        client.touch(0o600)
        told["transport"]["openclaw_config"] = "client.json5"  # type: ignore[index]  # a dict
    config.write_text(json.dumps(told))
    settings = load_settings(config, environ=case["environ"])
    return settings, load_roster(settings.roster), case["environ"]


def check(
    argv: list[str], environment: Mapping[str, str], agent: AgentSpec, case: Mapping[str, Any]
) -> None:
    """See that argv and environment hold what they may, and nothing else."""
    assert CLOSED.fullmatch("\0".join(argv)), argv
    own = case["transport"].get("secrets", {}).get(agent.id, {})
    added = set(environment) - OURS
    assert added <= {*agent.env, *own}
    assert not [name for name in added if STEERING.match(name)], added
    assert environment["OPENCLAW_NO_RESPAWN"] == "1"
    assert all(environment[n].startswith("/") for n in OURS - {"OPENCLAW_NO_RESPAWN", "LANG", "TZ"})
    assert environment["LANG"] == "C.UTF-8"


def turn_of(agent: AgentSpec, case: Mapping[str, Any], timeout_s: int) -> Turn:
    message = InboundMessage(case["text"], **case["origin"])
    key = session_key(
        owner="ann",
        channel=message.channel,
        account=None,
        conversation=message.conversation,
        agent=agent.id,
        generation=1,
    )
    seconds = agent.timeout_s or timeout_s
    return Turn(agent, key, message.text, seconds, "at_1", boot_s() + 30)


def test_nothing_that_is_drawn_adds_anything(tmp_path: Path, fake: FakeOpenClaw) -> None:
    """From the files to argv and environment, everything but the start of a process."""
    ends: Counter[str] = Counter()

    @example(case=PLAIN)
    @example(case=STEERED)
    @given(case=st.fixed_dictionaries(CASE))
    @effort(deadline=None, suppress_health_check=list(HealthCheck))
    def run(case: Mapping[str, Any]) -> None:
        try:
            ends[_built(tmp_path, fake, case)] += 1
        except ClawmarshalError as error:
            ends[error.code] += 1

    run()

    assert ends["built"] >= 10, ends
    assert not list(tmp_path.glob("clawmarshal-*"))


def _built(folder: Path, fake: FakeOpenClaw, case: Mapping[str, Any]) -> str:
    settings, roster, environ = configured(folder, fake, case)
    told = settings.transport
    around = Surroundings(
        Told(
            openclaw_config=told.openclaw_config,
            gateway=gateway_of(told, environ=environ),
            directory=told.directory,
            tz=told.tz,
            agent_env=values_of({n for agent in roster for n in agent.env}, environ=environ),
            agent_secrets=secrets_of(told, environ=environ),
        )
    )
    try:
        around.values.check(roster)
        parts = resolve(told.command).parts
        for agent in roster:
            turn = turn_of(agent, case, told.timeout_s)
            argv = turn_argv(
                parts,
                agent_id=agent.id,
                session_key=turn.session_key,
                message_file=str(around.workspace.path / "at-x" / "message.txt"),
                timeout_s=turn.timeout_s,
            )
            assert argv[: len(parts)] == tuple(fake.command)
            check(list(argv[len(parts) :]), around.environment(agent), agent, case)
    finally:
        around.workspace.close()
    return "built"


def test_scripted_cli_sees_nothing_that_was_drawn(
    tmp_path: Path, fake: FakeOpenClaw, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As above, with real processes: what the child says it was started with."""
    ends: Counter[str] = Counter()
    for name in ("NODE_OPTIONS", "LD_LIBRARY_PATH", "OPENCLAW_GATEWAY_URL", "A_SECRET"):
        monkeypatch.setenv(name, "of-the-service")

    @example(case=PLAIN)
    @example(case=STEERED)
    @given(case=st.fixed_dictionaries(CASE))
    @effort(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    def run(case: Mapping[str, Any]) -> None:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in case["environ"].items():
                if re.fullmatch(r"[A-Za-z_]+", name) and "\0" not in value and value.isprintable():
                    patch.setenv(name, value)
            try:
                ends[_launched(tmp_path, fake, {**case, "environ": dict(os.environ)})] += 1
            except ClawmarshalError as error:
                ends[error.code] += 1

    run()

    assert ends["done"] >= 2, ends
    assert not list(tmp_path.glob("clawmarshal-*"))


def _launched(folder: Path, fake: FakeOpenClaw, case: Mapping[str, Any]) -> str:
    settings, roster, _ = configured(folder, fake, case)
    transport = make_transport(settings, roster)

    async def run() -> str:
        try:
            transport.check_agents(roster)
            agent = next(iter(roster))
            turn = turn_of(agent, case, settings.transport.timeout_s)
            before = len(fake.launches())
            result = await transport.launch(turn)
            for seen in fake.launches()[before:]:
                environment = dict(seen["environment"])
                environment.pop("LC_CTYPE", None)  # Python itself sets it in the C locale
                check(seen["argv"], environment, agent, case)
                assert "of-the-service" not in environment.values()
                assert "__" not in json.dumps(sorted(environment))
            return str(result.state)
        finally:
            await transport.close()

    return asyncio.run(run())
