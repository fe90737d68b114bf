"""A service beside its live fleet: what gate 9 and ``/readyz`` make of each thing it may hear."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clawmarshal.api.wiring import Service
from tests.support.asgi import AppClient
from tests.support.fake_openclaw import write_fake
from tests.support.live_fleet import ENTRIES, SECRET, agents_document, calls, config_document
from tests.support.service import SAFE, configure, wired

Hears = Callable[[dict[str, str]], None]
POWERS = {"finance": ENTRIES["security"], "security": ENTRIES["security"]}
"""Both may send and run whatever they like."""


@pytest.fixture
def scene(tmp_path: Path) -> tuple[Path, Hears]:
    """Make a configuration, and a way to change what its Gateway answers."""
    fake = write_fake(
        tmp_path,
        calls={
            method: f"exec(json.load(open(HERE + '/answers'))[{method!r}])"
            for method in ("agents.list", "config.get")
        },
    )

    def hears(answers: dict[str, str]) -> None:
        (tmp_path / "answers").write_text(json.dumps(answers))

    hears(calls(agents_document(*ENTRIES), config_document()))
    return configure(tmp_path, command=fake.command, more="fleet: {refresh_s: 86400}\n"), hears


def knows(entries: dict[str, Any]) -> dict[str, str]:
    return calls(agents_document(*entries), config_document(entries))


def route(client: AppClient, service: Service) -> dict[str, Any]:
    """Refresh the fleet, send a message for finance and return what became of it."""
    client.run(service.fleet.refresh())
    key = service.ledger.create_key("k", "ann", ["route"])
    sent = client.request("POST", "/route", key=key, json={"text": SAFE, "wait_s": 30})
    document: dict[str, Any] = sent.json()
    return document


def ready(client: AppClient, service: Service) -> dict[str, Any]:
    key = service.ledger.create_key("r", "bob", ["review"])
    answer = client.request("GET", "/readyz", key=key)
    assert answer.status_code == 200
    assert SECRET not in answer.text
    document: dict[str, Any] = answer.json()
    return document


def test_agent_that_the_gateway_knows_is_launched(scene: tuple[Path, Hears]) -> None:
    with wired(scene[0]) as (client, service):
        assert route(client, service)["state"] == "done"
        told = ready(client, service)
    assert (told["fleet"], told["missing_agents"], told["drift"]) == ("known", [], [])
    assert told["unasked_agents"] == ["security"]


def test_agent_that_the_gateway_does_not_know_is_held_with_its_reason(
    scene: tuple[Path, Hears],
) -> None:
    config, hears = scene
    hears(knows({"security": ENTRIES["security"]}))
    with wired(config) as (client, service):
        held = route(client, service)
        told = ready(client, service)
        hears(knows(ENTRIES))
        again = route(client, service)
    assert (held["state"], held["reason"]) == ("held", "agent_unavailable")
    assert held["reasons"] == ["agent_unavailable"]
    assert told["missing_agents"] == ["finance"]
    assert {"code": "missing", "agent": "finance"} in told["drift"]
    assert again["state"] == "done"


@pytest.mark.parametrize(
    "answer", ["", "print('<html>')", "sys.exit(1)"], ids=["empty", "html", "exit-1"]
)
def test_fleet_that_becomes_unknown_is_said_and_stops_nothing(
    scene: tuple[Path, Hears], answer: str
) -> None:
    config, hears = scene
    with wired(config) as (client, service):
        assert route(client, service)["state"] == "done"
        hears({**knows(ENTRIES), "agents.list": answer})
        assert route(client, service)["state"] == "done"
        told = ready(client, service)
    assert (told["fleet"], told["drift"], told["missing_agents"]) == ("unknown", None, [])
    assert told["fleet_age_s"] is not None


def test_floor_for_agents_that_act_unasked_holds_where_it_is_configured(
    scene: tuple[Path, Hears],
) -> None:
    config, hears = scene
    hears(knows(POWERS))
    with wired(config) as (client, service):
        assert route(client, service)["state"] == "done"
    with config.open("a") as file:
        file.write("policy: {unasked_floor: high}\n")
    with wired(config) as (client, service):
        held = route(client, service)
        hears({**knows(POWERS), "config.get": "print('<html>')"})
        still = route(client, service)
    assert (held["state"], held["reason"]) == ("held", "risk")
    assert "acts-unasked" in held["risk"]["codes"]
    assert (still["state"], still["reason"]) == ("held", "risk"), "not knowing is no permission"


def test_slow_gateway_delays_no_decision(scene: tuple[Path, Hears], tmp_path: Path) -> None:
    config, hears = scene
    slow = "note('asked', 1)\nwhile not os.path.exists(HERE + '/go'): time.sleep(0.01)\n"
    hears({**knows(ENTRIES), "agents.list": slow})
    with wired(config) as (client, service):
        key = service.ledger.create_key("k", "ann", ["route"])
        sent = client.request("POST", "/route", key=key, json={"text": SAFE, "wait_s": 30})
        assert sent.json()["state"] == "done"
        assert service.fleet.agents is None
        (tmp_path / "go").touch()


def test_agents_of_other_hosts_are_no_drift_here(scene: tuple[Path, Hears]) -> None:
    config, hears = scene
    hears(knows({"finance": ENTRIES["finance"]}))
    with wired(config) as (client, service):
        client.run(service.fleet.refresh())
        told = ready(client, service)
    assert {"code": "missing", "agent": "security"} in told["drift"]
    text = config.read_text().replace("transport: {", "transport: {agents: [finance], ")
    config.write_text(text)
    with wired(config) as (client, service):
        client.run(service.fleet.refresh())
        told = ready(client, service)
    assert [one for one in told["drift"] if one["agent"] == "security"] == []
    assert told["unreached_agents"] == ["security"]
