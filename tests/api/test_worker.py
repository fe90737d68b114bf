"""Workers as processes of their own: a fleet over two hosts, and a worker that is paused."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from clawmarshal.api.arranging import agents_reached
from clawmarshal.api.cli import main
from clawmarshal.api.opening import opened_ledger
from clawmarshal.api.settings import Settings
from clawmarshal.api.wiring import Service, wire
from clawmarshal.errors import SettingsError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import Principal
from clawmarshal.router.ledger.states import RouteState
from clawmarshal.router.models.scripted import ScriptedModel
from tests.support.asgi import served
from tests.support.fake_openclaw import FakeOpenClaw, write_fake
from tests.support.ledger_cases import decision, submission
from tests.support.service import ServeProcess, configure, play, serving, settings_of, wired

S = RouteState
PATIENCE_S = 40.0
LEASE_S = 1.5
STAYS = "time.sleep(300)"


@dataclass(frozen=True)
class Host:
    """One machine of the fleet, as far as a test can tell."""

    config: Path
    cli: FakeOpenClaw


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/ledger.db"
    url: str = request.getfixturevalue("postgresql_url")
    return url.replace("postgres:@", "postgres@")


def host(
    folder: Path, ledger_url: str, *, agents: str, body: str = "say(document())", more: str = ""
) -> Host:
    folder.mkdir()
    cli = write_fake(folder, body)
    config = configure(folder, command=cli.command, more=more)
    text = config.read_text().replace("sqlite:///ledger.db", ledger_url)
    config.write_text(text.replace("openclaw_config:", f"agents: [{agents}], openclaw_config:"))
    return Host(config, cli)


@pytest.fixture
def processes() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def worker_on(processes: ExitStack, host: Host, *more: str) -> tuple[ServeProcess, str]:
    """Start a worker and see that it looks for work."""
    arguments = ("--config", str(host.config), *more)
    process = processes.enter_context(serving(*arguments, command="worker"))
    return process, process.line(r"worker: (wk_\w+) reaches .+")[1]


def until(is_so: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline, "it never came to be"
        time.sleep(0.02)


def put(ledger: Ledger, service: Service, *, agent: str, text: str = "What is due?") -> str:
    """Bring a route for an agent to ``ready``."""
    route_id = ledger.accept(submission(text)).route_id
    terms = service.desk.terms()[agent]
    ledger.record(route_id, decision(agent=agent), explanation={}, terms=terms)
    return route_id


def test_fleet_over_two_hosts_launches_each_agent_where_it_is(
    tmp_path: Path, ledger_url: str, processes: ExitStack
) -> None:
    here = host(tmp_path / "here", ledger_url, agents="security")
    there = host(tmp_path / "there", ledger_url, agents="finance")
    worker_on(processes, there)
    with wired(here.config) as (client, service):
        key = service.ledger.create_key("test", "ann", ["route", "review"])
        done = client.request("POST", "/route", key=key, json={"text": "due?", "wait_s": 30}).json()
        assert (done["state"], done["agent"]) == ("done", "finance")
        assert "due?" in there.cli.launches()[0]["message"]
        # What was approved here is bound to what would run there.
        held = client.request("POST", "/route", key=key, json={"text": "risky", "wait_s": 9}).json()
        answer = client.request("POST", f"/holds/{held['hold_id']}/approve", key=key, json={})
        assert answer.status_code == 200
        ended = client.request("GET", f"/routes/{held['id']}?wait_s=30", key=key).json()
        assert ended["state"] == "done"
        assert len(there.cli.launches()) == 2 and here.cli.launches() == []


def test_what_nobody_reaches_waits_and_is_said(tmp_path: Path) -> None:
    here = host(tmp_path / "here", f"sqlite:///{tmp_path}/ledger.db", agents="security")
    with wired(here.config) as (client, service):
        key = service.ledger.create_key("test", "ann", ["route"])
        route = client.request("POST", "/route", key=key, json={"text": "due?"}).json()
        assert (route["state"], route["agent"]) == ("ready", "finance")
        details = client.request("GET", "/readyz", key=key).json()
        assert details["unreached_agents"] == ["finance"]


def test_worker_that_is_paused_beyond_its_lease_starts_nothing_and_ends_its_child(
    tmp_path: Path, ledger_url: str, processes: ExitStack
) -> None:
    lease = f"limits: {{lease_s: {LEASE_S}}}\n"
    paused_host = host(tmp_path / "a", ledger_url, agents="finance", body=STAYS, more=lease)
    other_host = host(tmp_path / "b", ledger_url, agents="security", more=lease)
    service = wire(settings_of(other_host.config), model=ScriptedModel(play))
    with served(service.app()), opened_ledger(settings_of(other_host.config)) as ledger:
        paused, _ = worker_on(processes, paused_host)
        first = put(ledger, service, agent="finance")
        until(lambda: ledger.route(first).state is S.RUNNING and paused_host.cli.launches())
        (child,) = paused_host.cli.launches()
        paused.send(signal.SIGSTOP)
        until(lambda: ledger.route(first).state is S.UNKNOWN)  # the other's sweep
        second = put(ledger, service, agent="finance", text="And this?")
        paused.send(signal.SIGCONT)
        until(lambda: ledger.route(first).attempts[0].late_evidence)
        until(lambda: not _lives(child["pid"]))
        record = ledger.route(first)
        assert (record.state, len(record.attempts)) == (S.UNKNOWN, 1)
        # It works on, with a lease of its own for what comes next.
        until(lambda: ledger.route(second).state is S.RUNNING)
        until(lambda: len(paused_host.cli.launches()) == 2)
        ledger.cancel(second, Principal("ann", "ck", frozenset({"route"})))
        until(lambda: ledger.route(second).is_resting)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_stop_lets_the_turn_end_and_the_worker_say_goodbye(
    tmp_path: Path, ledger_url: str, processes: ExitStack
) -> None:
    body = "while not os.path.exists(HERE + '/go'): time.sleep(0.01)\nsay(document('late'))"
    only = host(tmp_path / "a", ledger_url, agents="finance", body=body)
    other = host(tmp_path / "b", ledger_url, agents="security")
    service = wire(settings_of(other.config), model=ScriptedModel(play))
    with served(service.app()), opened_ledger(settings_of(other.config)) as ledger:
        process, worker_id = worker_on(processes, only)
        route_id = put(ledger, service, agent="finance")
        until(lambda: ledger.route(route_id).state is S.RUNNING)
        assert worker_id in [worker.id for worker in ledger.workers()]
        process.send(signal.SIGTERM)
        (tmp_path / "a" / "go").touch()
        assert process.wait() == 0
        assert ledger.route(route_id).reply_text == "late"
        assert worker_id not in [worker.id for worker in ledger.workers()]


def test_flags_name_what_a_worker_reaches(tmp_path: Path, processes: ExitStack) -> None:
    only = host(tmp_path / "a", f"sqlite:///{tmp_path}/ledger.db", agents="")
    arguments = ("--config", str(only.config), "--agents", "security")
    process = processes.enter_context(serving(*arguments, command="worker"))
    assert process.line(r"worker: wk_\w+ reaches (.+)")[1] == "security"


def test_worker_in_shadow_has_no_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = configure(tmp_path, more="mode: shadow\n")
    assert main(["worker", "--config", str(config)]) == 1
    assert "shadow launches nothing" in capsys.readouterr().err


ROSTER = Roster(
    [
        AgentSpec("finance", "Invoices and tax.", tags=("berlin", "money")),
        AgentSpec("security", "Breach alerts.", tags=("oslo",)),
        AgentSpec("personal", "Errands."),
    ]
)


@pytest.mark.parametrize(
    ("agents", "tags", "reached"),
    [
        ([], [], {"finance", "security", "personal"}),
        (["personal"], [], {"personal"}),
        ([], ["oslo", "money"], {"finance", "security"}),
        (["personal"], ["oslo"], {"personal", "security"}),
    ],
    ids=["all", "by name", "by tag", "by both"],
)
def test_agents_are_reached_by_name_or_by_tag(
    tmp_path: Path, agents: list[str], tags: list[str], reached: set[str]
) -> None:
    transport = told(tmp_path, agents, tags).transport
    assert agents_reached(transport, ROSTER) == reached


@pytest.mark.parametrize(
    ("agents", "tags", "words"),
    [
        (["finanze"], [], "transport.agents: the roster has no agent 'finanze'; did you mean fin"),
        ([], ["paris"], "transport.tags: no agent has any of paris"),
    ],
    ids=["agent", "tag"],
)
def test_reach_of_nobody_is_refused(
    tmp_path: Path, agents: list[str], tags: list[str], words: str
) -> None:
    with pytest.raises(SettingsError, match=words):
        agents_reached(told(tmp_path, agents, tags).transport, ROSTER)


def told(folder: Path, agents: list[str], tags: list[str]) -> Settings:
    settings = settings_of(configure(folder))
    more = {"agents": agents, "tags": tags}
    return settings.model_copy(update={"transport": settings.transport.model_copy(update=more)})
