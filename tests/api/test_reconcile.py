"""``reconcile`` and what of it is shown: by the command, in the route, and by ``explain``."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from clawmarshal.api.cli import main
from clawmarshal.api.opening import opened_ledger
from tests.support.fake_openclaw import FakeOpenClaw, write_fake
from tests.support.service import SAFE, configure, settings_of, wired

Said = Callable[..., tuple[int, str, str]]
RUN = "0f1303cc-0000-4000-8000-f8099a37541b"
TRANSCRIPT = f"""
key = json.loads(argv[3].partition('=')[2])['sessionKey']
print(json.dumps({{"sessionKey": key, "messages": [
  {{"role": "user", "content": open(HERE + "/message").read(), "timestamp": time.time() * 1000,
    "idempotencyKey": "{RUN}:user"}},
  {{"role": "assistant", "content": [{{"type": "text", "text": "The deadline is the 20th."}}],
    "stopReason": "stop", "__openclaw": {{"runId": "{RUN}"}}}}]}}))
"""
NOTHING = "print(json.dumps({'messages': [], 'sessionInfo': {'updatedAt': None}}))"
DOWN = "fail('Gateway not reachable at ws://127.0.0.1:9 (ECONNREFUSED).')"
LOSES = "open(HERE + '/message', 'w').write(message.decode()); sys.exit(1)"
"""A turn whose outcome nobody knows."""


@pytest.fixture
def said(capfd: pytest.CaptureFixture[str]) -> Said:
    """Run a command in this process; return exit code and both outputs."""

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        captured = capfd.readouterr()
        return code, captured.out, captured.err

    return call


def lose(folder: Path, calls: Mapping[str, str]) -> tuple[Path, str, FakeOpenClaw]:
    """Serve one message whose turn is lost; return the configuration and the route's id."""
    fake = write_fake(folder, LOSES, calls=calls)
    config = configure(folder, command=fake.command)
    with wired(config) as (client, service):
        key = service.ledger.create_key("k", "ann", ["route"])
        sent = client.request("POST", "/route", key=key, json={"text": SAFE, "wait_s": 30})
    route = sent.json()
    assert route["state"] == "unknown", route
    return config, route["id"], fake


def shown(config: Path, route_id: str) -> dict[str, Any]:
    """Return the route as a reviewer sees it."""
    with wired(config) as (client, service):
        key = service.ledger.create_key("r", "bob", ["review"])
        document: dict[str, Any] = client.request("GET", f"/routes/{route_id}", key=key).json()
    return document


def test_answer_is_found_shown_and_decides_nothing(said: Said, tmp_path: Path) -> None:
    answers = {"chat.history": TRANSCRIPT, "agent.wait": 'print(\'{"status": "timeout"}\')'}
    config, route_id, fake = lose(tmp_path, answers)

    code, out, _ = said("reconcile", route_id, "-c", str(config), "--person", "carla")

    assert code == 0
    assert "answered" in out
    assert RUN in out
    route = shown(config, route_id)
    assert (route["state"], route["ran"], route["reply"]) == ("unknown", None, None)
    (found,) = route["evidence"]
    assert (found["code"], found["actor"], found["run_id"]) == ("answered", "person:carla", RUN)
    assert found["found_by"] == "text"
    assert route["attempts"][-1]["late_evidence"]["reply_text"] == "The deadline is the 20th."
    methods = [call[0] for call in fake.notes("calls")]
    assert "chat.history" in methods
    assert len(fake.launches()) == 1

    code, out, _ = said("explain", route_id, "-c", str(config))
    assert (code, "evidence of what became of it" in out) == (0, True)
    assert "recognised by its words and time alone" in out
    code, out, _ = said("explain", route_id, "-c", str(config), "--json")
    assert json.loads(out)["evidence"][0]["code"] == "answered"
    assert "deadline is the 20th" not in out


@pytest.mark.parametrize(
    ("history", "found", "exit_code"),
    [
        pytest.param(NOTHING, "nothing-found", 0, id="nothing"),
        pytest.param(DOWN, "not-reachable", 1, id="gateway-down"),
        pytest.param("print('<html>')", "not-understood", 0, id="html"),
        pytest.param("", "not-understood", 0, id="empty"),
        pytest.param("print('{\"messages\": [')", "not-understood", 0, id="half"),
        pytest.param("print('{\"ok\": false, \"error\": {}}')", "not-understood", 0, id="error"),
        pytest.param("[os.write(1, b'x' * 65536) for _ in range(320)]", "not-reachable", 1,
                     id="20-mb"),
        pytest.param("os.kill(os.getpid(), 9)", "not-reachable", 1, id="dies"),
    ],
)  # fmt: skip
def test_whatever_else_is_found_it_stays_unknown(
    said: Said, tmp_path: Path, history: str, found: str, exit_code: int
) -> None:
    config, route_id, _ = lose(tmp_path, {"chat.history": history})
    code, out, _ = said("reconcile", "-c", str(config), "--json")
    (one,) = json.loads(out)["routes"]
    assert (code, one["evidence"]["code"], one["state"]) == (exit_code, found, "unknown")
    with opened_ledger(settings_of(config)) as ledger:
        route = ledger.route(route_id)
        assert (str(route.state), route.ran) == ("unknown", None)
        assert [event.facts["code"] for event in route.evidence] == [found]
        assert ledger.verify_chain(route_id).is_intact


def test_nothing_found_says_that_it_means_nothing(said: Said, tmp_path: Path) -> None:
    config, route_id, _ = lose(tmp_path, {"chat.history": NOTHING})
    assert "never means that it did not run" in said("reconcile", route_id, "-c", str(config))[1]


def test_route_that_is_not_unknown_is_not_looked_up(said: Said, tmp_path: Path) -> None:
    fake = write_fake(tmp_path)
    config = configure(tmp_path, command=fake.command)
    with wired(config) as (client, service):
        key = service.ledger.create_key("k", "ann", ["route"])
        answer = client.request("POST", "/route", key=key, json={"text": SAFE, "wait_s": 30})
    before = len(fake.notes("calls"))
    code, out, _ = said("reconcile", answer.json()["id"], "-c", str(config))
    assert (code, "done, so there is nothing to look for" in out) == (0, True)
    assert said("reconcile", "-c", str(config))[1].strip() == "no route is unknown"
    assert len(fake.notes("calls")) == before
    assert said("reconcile", "rt_" + "0" * 32, "-c", str(config))[0] == 1


def test_service_looks_by_itself(tmp_path: Path) -> None:
    config, route_id, _ = lose(tmp_path, {"chat.history": TRANSCRIPT})
    with wired(config) as (_, service):
        assert service.reconciler is not None
        assert service.reconciler.waiting == {route_id}


def test_stand_in_has_nothing_to_look_in(tmp_path: Path) -> None:
    with wired(configure(tmp_path)) as (_, service):
        assert service.reconciler is None
