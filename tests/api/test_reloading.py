"""A reload swaps fleet and thresholds whole, or leaves the last good ones in force."""

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from clawmarshal.api.opening import opened_ledger
from clawmarshal.api.wiring import Service
from clawmarshal.errors import SettingsError
from clawmarshal.router.ledger.states import RouteState
from tests.support.asgi import AppClient
from tests.support.fake_openclaw import write_fake
from tests.support.service import (
    ROSTER,
    SAFE,
    caller,
    configure,
    serving,
    settings_of,
    wired,
)

THIRD = "  - id: travel\n    description: Flights, trains, hotels and visas.\n"
NO_FINANCE = ROSTER.replace("finance", "ledgers")
PATIENCE_S = 20
ANSWER = "say(document('hello'))"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    cli = tmp_path / "cli"
    cli.mkdir(mode=0o755)
    fake = write_fake(cli, ANSWER)
    return configure(tmp_path, command=fake.command)


@pytest.fixture
def desk(config: Path) -> Iterator[tuple[AppClient, Service]]:
    with wired(config) as running:
        yield running


def roster_file(config: Path) -> Path:
    return config.with_name("fleet.yaml")


def ask(
    desk: tuple[AppClient, Service], method: str, path: str, *scopes: str, **more: Any
) -> tuple[int, dict[str, Any]]:
    client, service = desk
    key = service.ledger.create_key("k", "ann", list(scopes or ("admin",)))
    answer = client.request(method, path, key=key, **more)
    document: dict[str, Any] = answer.json()
    return answer.status_code, document


def reload(desk: tuple[AppClient, Service]) -> tuple[int, dict[str, Any]]:
    return ask(desk, "POST", "/roster/reload")


def test_new_agent_is_on_the_ballot_and_shown_everywhere(
    desk: tuple[AppClient, Service], config: Path
) -> None:
    before = ask(desk, "GET", "/readyz")[1]["revision"]
    roster_file(config).write_text(ROSTER + THIRD)

    status, told = reload(desk)

    assert (status, told["changed"], told["needs_restart"]) == (200, True, [])
    assert told["revision"] != before
    ready = ask(desk, "GET", "/readyz")[1]
    assert (ready["revision"], ready["agents"]) == (told["revision"], 3)
    agents = ask(desk, "GET", "/agents")[1]["agents"]
    assert "travel" in [agent["id"] for agent in agents]
    status, route = ask(desk, "POST", "/route", json={"text": SAFE, "agent": "travel", "wait_s": 9})
    assert (status, route["agent"], route["state"]) == (200, "travel", "done")


def test_thresholds_are_swapped_with_the_fleet(
    desk: tuple[AppClient, Service], config: Path
) -> None:
    assert ask(desk, "POST", "/route", json={"text": SAFE, "wait_s": 9})[1]["state"] == "done"
    config.write_text(config.read_text() + "policy: {min_probability: 0.99}\n")
    assert reload(desk)[0] == 200

    held = ask(desk, "POST", "/route", json={"text": SAFE, "wait_s": 9})[1]

    assert (held["state"], held["reason"]) == ("held", "uncertain")


@pytest.mark.parametrize(
    ("roster", "settings", "says"),
    [
        ("agents: [", "", "roster"),
        ("agents: []\n", "", "agent"),
        ("", "", "roster"),
        (ROSTER, "polcy: {}\n", "polcy"),
        (ROSTER, "policy: {min_probability: 7}\n", "min_probability"),
        (ROSTER, "policy: {fallback: nobody}\n", "fallback"),
        (ROSTER.replace("finance\n", "finance\n    env: [NO_SUCH_NAME]\n"), "", "NO_SUCH_NAME"),
    ],
    ids=["half", "empty-list", "empty-file", "unknown-key", "range", "fallback", "no-value"],
)
def test_what_cannot_be_used_is_refused_and_the_last_good_one_stays(
    desk: tuple[AppClient, Service], config: Path, roster: str, settings: str, says: str
) -> None:
    before = ask(desk, "GET", "/readyz")[1]["revision"]
    good = config.read_text()
    roster_file(config).write_text(roster)
    config.write_text(good + settings)

    status, problem = reload(desk)

    assert (status, problem["code"]) == (422, "reload-refused")
    assert says in str(problem)
    ready = ask(desk, "GET", "/readyz")[1]
    assert (ready["status"], ready["revision"]) == ("ready", before)
    assert ready["reload_fault"]
    assert ask(desk, "POST", "/route", json={"text": SAFE, "wait_s": 9})[1]["state"] == "done"
    roster_file(config).write_text(ROSTER)
    config.write_text(good)
    assert reload(desk)[1]["changed"] is False
    assert ask(desk, "GET", "/readyz")[1]["reload_fault"] is None


def test_what_a_reload_cannot_swap_is_named(desk: tuple[AppClient, Service], config: Path) -> None:
    text = config.read_text().replace("server: {port: 0}", "server: {port: 0, stop_s: 7}")
    config.write_text(text + "mode: shadow\n")

    told = reload(desk)[1]

    assert told["needs_restart"] == ["mode", "server.stop_s"]
    assert told["changed"] is False
    assert ask(desk, "GET", "/readyz")[1]["needs_restart"] == ["mode", "server.stop_s"]
    assert ask(desk, "POST", "/route", json={"text": SAFE, "wait_s": 9})[1]["state"] == "done"


def test_only_an_admin_reloads(desk: tuple[AppClient, Service]) -> None:
    assert ask(desk, "POST", "/roster/reload", "review")[1]["code"] == "scope-missing"


def test_running_turn_is_left_alone_although_its_agent_left(tmp_path: Path) -> None:
    cli = tmp_path / "cli"
    cli.mkdir(mode=0o755)
    fake = write_fake(cli, f"while not os.path.exists(HERE + '/go'): time.sleep(0.01)\n{ANSWER}")
    config = configure(tmp_path, command=fake.command)
    with wired(config) as desk:
        route = ask(desk, "POST", "/route", json={"text": SAFE})[1]
        until(lambda: desk[1].ledger.route(route["id"]).state is RouteState.RUNNING)
        roster_file(config).write_text(NO_FINANCE)
        assert reload(desk)[0] == 200
        (cli / "go").touch()
        until(lambda: desk[1].ledger.route(route["id"]).is_resting)
        ended = desk[1].ledger.route(route["id"])
        assert (ended.state, ended.reply_text) == (RouteState.DONE, "hello")
    assert len(fake.launches()) == 1


def test_hold_for_an_agent_that_left_waits_for_another_answer(
    desk: tuple[AppClient, Service], config: Path
) -> None:
    hold = ask(desk, "POST", "/route", json={"text": "risky " + SAFE})[1]
    roster_file(config).write_text(NO_FINANCE)
    assert reload(desk)[0] == 200

    path = f"/holds/{hold['hold_id']}"
    refused = ask(desk, "POST", f"{path}/approve", "review", json={})
    assert refused[1]["code"] == "unknown-agent"
    answered = ask(desk, "POST", f"{path}/approve", "review", json={"agent": "ledgers"})
    assert answered[0] == 200, answered[1]


def test_a_hundred_touches_leave_everything_working(
    desk: tuple[AppClient, Service], config: Path
) -> None:
    client, service = desk
    assert service.reloader is not None
    before = service.arrangement.revision
    for place in range(100):
        os.utime(roster_file(config), ns=(place, place))
        client.run(service.reloader.look())
        client.run(service.reloader.look())
        if place % 25 == 0:
            route = ask(desk, "POST", "/route", json={"text": f"{SAFE} {place}", "wait_s": 9})[1]
            assert route["state"] == "done"
    assert service.arrangement.revision == before


def test_file_that_is_still_written_is_not_read(
    desk: tuple[AppClient, Service], config: Path
) -> None:
    client, service = desk
    assert service.reloader is not None
    roster_file(config).write_text(ROSTER + THIRD[:20])
    client.run(service.reloader.look())
    roster_file(config).write_text(ROSTER + THIRD)
    client.run(service.reloader.look())
    assert service.health.reload_fault is None
    assert "travel" not in service.arrangement.roster
    client.run(service.reloader.look())
    assert "travel" in service.arrangement.roster


def test_file_that_cannot_be_used_is_said_once_and_read_again_when_it_differs(
    desk: tuple[AppClient, Service], config: Path
) -> None:
    client, service = desk
    assert service.reloader is not None
    roster_file(config).unlink()
    for _ in range(4):
        client.run(service.reloader.look())
    assert service.health.reload_fault is not None
    roster_file(config).write_text(ROSTER + THIRD)
    for _ in range(2):
        client.run(service.reloader.look())
    assert "travel" in service.arrangement.roster
    assert not service.health.reload_fault


def test_decisions_beside_reloads_are_each_of_one_arrangement(
    desk: tuple[AppClient, Service], config: Path
) -> None:
    client, service = desk
    assert service.reloader is not None
    reloader, digests = service.reloader, set()

    async def swap() -> None:
        for turn in range(10):
            text = ROSTER + THIRD if turn % 2 else ROSTER
            await asyncio.to_thread(roster_file(config).write_text, text)
            await reloader.reload(by="test")
            digests.add(service.arrangement.roster.digest)

    key = service.ledger.create_key("k", "ann", ["route"])
    swapping = client.start(swap())
    routes = [
        client.request("POST", "/route", key=key, json={"text": f"{SAFE} {n}"}).json()["id"]
        for n in range(40)
    ]
    swapping.result(PATIENCE_S)
    for route_id in routes:
        record = service.ledger.route(route_id)
        assert record.route is not None
        assert record.route.roster_digest in digests


class Broken:
    """Decides nothing, whatever the rules."""

    model = None

    def with_rules(self, *_: object, **__: object) -> "Broken":
        return self

    async def decide(self, *_: object, **__: object) -> None:
        raise RuntimeError("a fault of ours")


def test_arrangement_under_which_nothing_is_decided_is_refused(
    desk: tuple[AppClient, Service], config: Path
) -> None:
    client, service = desk
    assert service.reloader is not None
    whole, before = service.desk.decider, service.arrangement
    roster_file(config).write_text(ROSTER + THIRD)
    service.desk.use(Broken())  # type: ignore[arg-type]  # stands for a fault under new rules
    with pytest.raises(SettingsError, match="trial decision"):
        client.run(service.reloader.reload(by="test"))
    assert service.arrangement is before
    service.desk.use(whole)


def test_hang_up_and_the_watch_reload_a_real_service(tmp_path: Path) -> None:
    config = configure(tmp_path)
    config.write_text(config.read_text().replace("{port: 0}", "{port: 0, watch_s: 0}"))
    with opened_ledger(settings_of(config)) as ledger:
        key = ledger.create_key("test", "ann", ["admin"])
    with (
        serving("--config", str(config)) as process,
        caller(process.address(), key) as http,
    ):
        roster_file(config).write_text(ROSTER + THIRD)
        os.kill(process.pid, signal.SIGHUP)
        until(lambda: http.get("/readyz").json()["agents"] == 3)
        roster_file(config).write_text("agents: [")
        os.kill(process.pid, signal.SIGHUP)
        until(lambda: http.get("/readyz").json()["reload_fault"])
        assert http.get("/readyz").json()["agents"] == 3


def until(is_so: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline, "it never came to be"
        time.sleep(0.01)
