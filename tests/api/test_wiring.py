"""The service whole: desk, ledger, dispatcher and transport behind the ASGI application."""

import asyncio
import sqlite3
import stat
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from clawmarshal.api.wiring import Service
from clawmarshal.api.without_model import reviewing
from clawmarshal.errors import ConflictError
from clawmarshal.router.ledger.records import Principal
from clawmarshal.transport.removing import remove_tree
from tests.support.asgi import AppClient
from tests.support.behaviours import ANSWER
from tests.support.fake_openclaw import FakeOpenClaw, write_fake
from tests.support.service import RISKY, SAFE, configure, settings_of, wired
from tests.support.turns import wait_until

RESTING = ("done", "failed", "unknown", "held", "rejected", "cancelled")


class Caller:
    """Somebody with a key."""

    def __init__(self, client: AppClient, service: Service, person: str, *scopes: str) -> None:
        self._client = client
        self.key = service.ledger.create_key("test", person, scopes)

    def __call__(self, method: str, path: str, **more: Any) -> tuple[int, dict[str, Any]]:
        answer = self._client.request(method, path, key=self.key, **more)
        return answer.status_code, answer.json()

    def post(self, text: str, **more: Any) -> dict[str, Any]:
        status, route = self("POST", "/route", json={"text": text, "wait_s": 20, **more})
        assert status in (200, 202), route
        return route


@pytest.fixture
def cli(tmp_path: Path) -> FakeOpenClaw:
    folder = tmp_path / "cli"
    folder.mkdir(mode=0o755)
    return write_fake(folder, "say(document('hello\\x1b[31m\\u202e there'))")


@pytest.fixture
def running(tmp_path: Path, cli: FakeOpenClaw) -> Iterator[tuple[AppClient, Service]]:
    with wired(configure(tmp_path, command=cli.command)) as (client, service):
        yield client, service


@pytest.fixture
def ann(running: tuple[AppClient, Service]) -> Caller:
    return Caller(*running, "ann", "route")


@pytest.fixture
def rita(running: tuple[AppClient, Service]) -> Caller:
    return Caller(*running, "rita", "review")


def test_a_safe_message_comes_back_with_the_cleaned_reply(ann: Caller, cli: FakeOpenClaw) -> None:
    route = ann.post(SAFE)
    assert (route["state"], route["agent"], route["ran"]) == ("done", "finance", True)
    assert route["reply"] == {"text": "hello there"}
    (launch,) = cli.launches()
    assert SAFE in launch["message"]
    assert SAFE[:20] not in str(launch["argv"])


def test_a_risky_message_waits_and_approval_launches_it_once(
    ann: Caller, rita: Caller, cli: FakeOpenClaw
) -> None:
    held = ann.post("risky")
    assert (held["state"], held["reason"]) == ("held", "risk")
    assert not cli.launches()
    _, page = rita("GET", "/holds")
    assert [hold["route_id"] for hold in page["holds"]] == [held["id"]]
    answers = [rita("POST", f"/holds/{held['hold_id']}/approve", json={}) for _ in range(2)]
    assert [status for status, _ in answers] == [200, 200]
    assert answers[0] == answers[1]
    _, done = ann("GET", f"/routes/{held['id']}?wait_s=20")
    assert (done["state"], done["hold"]["person"]) == ("done", "rita")
    assert len(cli.launches()) == 1
    status, problem = rita("POST", f"/holds/{held['hold_id']}/reject", json={"reason": "no"})
    assert (status, problem["code"]) == (409, "hold-decided")
    assert problem["winner"]["decision"] == "approve"


def test_a_rejected_message_is_never_launched(ann: Caller, rita: Caller, cli: FakeOpenClaw) -> None:
    held = ann.post("risky")
    status, hold = rita("POST", f"/holds/{held['hold_id']}/reject", json={"reason": "not ours"})
    assert (status, hold["state"], hold["note"]) == (200, "rejected", "not ours")
    _, route = ann("GET", f"/routes/{held['id']}")
    assert route["state"] == "rejected"
    assert not cli.launches()


def test_a_hold_without_an_agent_needs_one(ann: Caller, rita: Caller) -> None:
    held = ann.post("nobody knows")
    assert held["reason"] == "no_match"
    _, hold = rita("GET", f"/holds/{held['hold_id']}")
    if hold["suggestion"] is None:
        status, problem = rita("POST", f"/holds/{held['hold_id']}/approve", json={})
        assert (status, problem["code"]) == (422, "agent-required")
    status, _ = rita("POST", f"/holds/{held['hold_id']}/approve", json={"agent": "finance"})
    assert status in (200, 409)


def test_rows_of_one_owner_are_404_for_another(
    running: tuple[AppClient, Service], ann: Caller
) -> None:
    bob = Caller(*running, "bob", "route")
    held = ann.post("risky")
    for path in (
        f"/routes/{held['id']}",
        f"/routes/{held['id']}/events",
        f"/routes/{held['id']}?wait_s=1",
        f"/holds/{held['hold_id']}",
    ):
        assert bob("GET", path)[0] == 404, path
        assert ann("GET", path)[0] == 200, path
    assert bob("POST", f"/routes/{held['id']}/cancel")[0] == 404
    assert bob("GET", "/holds")[1]["holds"] == []
    assert bob("GET", "/routes")[1]["routes"] == []


def test_the_audit_trail_holds_no_text(ann: Caller) -> None:
    route = ann.post("a sesame question")
    _, page = ann("GET", f"/routes/{route['id']}/events")
    assert len(page["events"]) >= 3
    assert "sesame" not in str(page)
    _, rest = ann("GET", f"/routes/{route['id']}/events?after={page['events'][0]['number']}")
    assert rest["events"] == page["events"][1:]


def test_a_key_names_one_message_only(ann: Caller) -> None:
    headers = {"Idempotency-Key": "k1"}
    first = ann("POST", "/route", json={"text": SAFE, "wait_s": 20}, headers=headers)[1]
    assert ann("POST", "/route", json={"text": SAFE}, headers=headers)[1] == first
    status, problem = ann("POST", "/route", json={"text": "another"}, headers=headers)
    assert (status, problem["code"]) == (422, "idempotency-mismatch")


def test_the_attempt_shows_which_program_was_launched(ann: Caller, cli: FakeOpenClaw) -> None:
    route = ann.post(SAFE)
    _, whole = ann("GET", f"/routes/{route['id']}")
    assert whole["attempts"][0]["cli_version"] == "2026.9.6"
    _, page = ann("GET", f"/routes/{route['id']}/events")
    (launch,) = [event for event in page["events"] if event["kind"] == "launching"]
    assert launch["facts"]["cli_version"] == "2026.9.6"
    assert launch["facts"]["cli_files"] == cli.command


def test_a_silent_turn_shows_since_when_it_runs(tmp_path: Path) -> None:
    (tmp_path / "cli").mkdir(mode=0o755)
    cli = write_fake(tmp_path / "cli", f"while not os.path.exists(HERE + '/go'): pass\n{ANSWER}")
    with wired(configure(tmp_path, command=cli.command)) as running:
        ann = Caller(*running, "ann", "route")
        route = ann.post(SAFE, wait_s=0)
        looks: list[dict[str, Any]] = []

        def is_running() -> bool:
            looks.append(ann("GET", f"/routes/{route['id']}")[1])
            return bool(looks[-1]["state"] == "running")

        assert wait_until(is_running)
        (attempt,) = looks[-1]["attempts"]
        assert attempt["started_at"] and attempt["pid"] and attempt["ended_at"] is None
        (tmp_path / "cli" / "go").touch()
        assert ann("GET", f"/routes/{route['id']}?wait_s=20")[1]["state"] == "done"


def test_a_channel_s_message_id_prevents_a_second_route(ann: Caller) -> None:
    origin = {"channel": "mail", "conversation": "c", "message_id": "m"}
    first, again = ann.post(SAFE, **origin), ann.post(SAFE, **origin)
    assert again == first


@pytest.mark.parametrize(
    ("body", "state"),
    [
        ("say(document('fine'))", "done"),
        ("sys.stderr.write('broken'); sys.exit(3)", "unknown"),
    ],
    ids=["done", "unknown"],
)
def test_what_a_message_came_to_is_answered_byte_for_byte_ever_after(
    tmp_path: Path, body: str, state: str
) -> None:
    cli = write_fake(tmp_path, body)
    with wired(configure(tmp_path, command=cli.command)) as (client, service):
        ann = Caller(client, service, "ann", "route", "review")
        headers = {"Idempotency-Key": "k1"}

        def post() -> Any:
            told = {"text": SAFE, "wait_s": 20}
            return client.request("POST", "/route", key=ann.key, json=told, headers=headers)

        first = post()
        assert (first.status_code, first.json()["state"]) == (200, state)
        if state == "unknown":
            resolve = f"/routes/{first.json()['id']}/resolve"
            assert ann("POST", resolve, json={"answer": "ran"})[0] == 200
        again = post()
        assert (again.status_code, again.content) == (200, first.content)
        assert len(cli.launches()) == 1


def test_first_answer_given_is_the_one_that_all_get(ann: Caller) -> None:
    with ThreadPoolExecutor(8) as pool:
        headers = {"Idempotency-Key": "k2"}
        told = {"text": SAFE, "wait_s": 20}
        asked = [pool.submit(ann, "POST", "/route", json=told, headers=headers) for _ in range(8)]
        answers = [job.result(30) for job in asked]
    assert {status for status, _ in answers} == {200}
    assert all(answer == answers[0] for answer in answers)


def test_a_key_makes_a_new_message_once_its_window_is_over(tmp_path: Path) -> None:
    config = configure(tmp_path, more="limits: {repeat_window_s: 60}\n")
    with wired(config) as (client, service):
        ann = Caller(client, service, "ann", "route")
        headers = {"Idempotency-Key": "k"}
        first = ann("POST", "/route", json={"text": SAFE}, headers=headers)[1]
        assert service.ledger.path is not None
        with sqlite3.connect(service.ledger.path) as db:
            db.execute("UPDATE identities SET created_at = created_at - 61000000")
        second = ann("POST", "/route", json={"text": "another"}, headers=headers)[1]
        assert second["id"] != first["id"]


def test_modes_decide_and_dry_run_launch_nothing(ann: Caller, cli: FakeOpenClaw) -> None:
    decided = ann.post(SAFE, mode="decide")
    dry = ann.post(SAFE, mode="dry_run")
    assert (decided["state"], decided["outcome"]) == ("decided", "dispatch")
    assert (dry["id"], dry["state"], dry["outcome"], dry["agent"]) == (
        None,
        None,
        "dispatch",
        "finance",
    )
    assert len(ann("GET", "/routes")[1]["routes"]) == 1
    assert not cli.launches()


def test_clarifying_something_that_is_not_there_is_422(ann: Caller) -> None:
    status, problem = ann("POST", "/route", json={"text": "x", "clarifies": "rt_" + "0" * 32})
    assert (status, problem["code"]) == (422, "clarifies-unknown")
    done = ann.post(SAFE)
    status, problem = ann("POST", "/route", json={"text": "x", "clarifies": done["id"]})
    assert (status, problem["code"]) == (422, "not-clarifying")


@pytest.mark.parametrize("path", ["/routes?cursor=sesame", "/holds?cursor=sesame"])
def test_a_cursor_that_is_not_ours_is_422(ann: Caller, path: str) -> None:
    status, problem = ann("GET", path)
    assert (status, problem["code"]) == (422, "cursor-invalid")
    assert "sesame" not in str(problem)


def test_what_has_ended_cannot_be_cancelled_or_resolved(ann: Caller, rita: Caller) -> None:
    done = ann.post(SAFE)
    status, problem = ann("POST", f"/routes/{done['id']}/cancel")
    assert (status, problem["code"]) == (409, "not-cancellable")
    status, problem = rita("POST", f"/routes/{done['id']}/resolve", json={"answer": "ran"})
    assert (status, problem["code"]) == (409, "not-resolvable")


def test_readyz_names_the_transport_and_the_fleet(ann: Caller) -> None:
    status, ready = ann("GET", "/readyz")
    assert status == 200
    assert ready["transport"] == "openclaw 2026.9.6"
    assert (ready["fleet"], ready["model"], ready["mode"]) == ("unknown", "scripted", "enforce")


def test_metrics_read_the_ledger(
    running: tuple[AppClient, Service], ann: Caller, rita: Caller
) -> None:
    ann.post("risky")
    text = running[0].request("GET", "/metrics", key=rita.key).text
    assert 'clawmarshal_routes_in_state{state="held"} 1.0' in text
    assert "clawmarshal_holds_open 1.0" in text


def test_what_waits_is_seen_in_its_route_in_readyz_and_in_the_metrics(tmp_path: Path) -> None:
    folder = tmp_path / "cli"
    folder.mkdir(mode=0o755)
    door = folder / "door"
    cli = write_fake(folder, f"while not os.path.exists({str(door)!r}): time.sleep(0.01)\n{ANSWER}")
    with wired(configure(tmp_path, command=cli.command)) as (client, service):
        ann = Caller(client, service, "ann", "route")
        rita = Caller(client, service, "rita", "review")
        first = ann("POST", "/route", json={"text": SAFE, "conversation": "c"})[1]
        second = ann("POST", "/route", json={"text": SAFE, "conversation": "c"})[1]
        assert wait_until(lambda: len(cli.launches()) == 1)
        waiting = ann("GET", f"/routes/{second['id']}")[1]["waiting"]
        assert (waiting["position"], waiting["in_session"]) == (1, 1)
        assert ann("GET", f"/routes/{first['id']}")[1]["waiting"] is None
        ready = ann("GET", "/readyz")[1]
        assert (ready["turns_running"], ready["turns_waiting"]) == (1, 1)
        assert ready["oldest_wait_s"] >= 0
        text = client.request("GET", "/metrics", key=rita.key).text
        assert 'clawmarshal_routes_in_state{state="ready"} 1.0' in text
        assert "clawmarshal_ready_oldest_seconds 0." in text
        door.touch()
        done = ann("GET", f"/routes/{second['id']}?wait_s=30")[1]
        assert (done["state"], done["waiting"]) == ("done", None)


def test_a_private_folder_taken_away_is_made_again_or_is_a_reason_in_readyz(
    tmp_path: Path, cli: FakeOpenClaw
) -> None:
    turns = tmp_path / "turns"
    turns.mkdir(mode=0o700)
    config = configure(tmp_path, command=cli.command)
    text = config.read_text().replace("{command:", f"{{directory: {turns}, command:")
    config.write_text(text)
    with wired(config, probe_again_s=0.02) as (client, service):
        ann = Caller(client, service, "ann", "route")

        def is_missed() -> bool:
            remove_tree(turns)  # again and again: the service may make its folder in between
            return "no-message-file" in str(ann("GET", "/readyz")[1])

        assert wait_until(is_missed)
        failed = ann.post(SAFE)
        assert (failed["state"], failed["ran"]) == ("failed", False)
        turns.mkdir(mode=0o700)
        assert wait_until(lambda: ann("GET", "/readyz")[0] == 200)
        assert ann.post(SAFE)["state"] == "done"


def test_a_revoked_key_is_401_at_once(running: tuple[AppClient, Service], ann: Caller) -> None:
    assert ann("GET", "/routes")[0] == 200
    (record,) = running[1].ledger.list_keys()
    running[1].ledger.revoke_key(record.id)
    assert ann("GET", "/routes")[0] == 401


def test_the_ledger_is_for_its_owner_alone(running: tuple[AppClient, Service]) -> None:
    path = running[1].ledger.path
    assert path is not None
    mode = path.stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


def test_the_stand_in_is_labelled_wherever_it_answers(tmp_path: Path) -> None:
    with wired(configure(tmp_path)) as (client, service):
        ann = Caller(client, service, "ann", "route")
        assert ann("GET", "/readyz")[1]["transport"].startswith("stand-in")
        assert ann.post(SAFE)["reply"]["text"].startswith("[stand-in]")


def test_shadow_decides_and_dispatches_nothing(tmp_path: Path, cli: FakeOpenClaw) -> None:
    config = configure(tmp_path, command=cli.command, more="mode: shadow\n")
    with wired(config) as (client, service):
        ann = Caller(client, service, "ann", "route")
        route = ann.post(SAFE)
        assert (route["state"], route["outcome"]) == ("decided", "dispatch")
        assert ann.post("risky")["state"] == "decided"
        assert ann("GET", "/holds")[1]["holds"] == []
    assert not cli.launches()


def test_shadow_launches_nothing_that_was_left_to_launch(tmp_path: Path, cli: FakeOpenClaw) -> None:
    config = configure(tmp_path, command=cli.command)
    with wired(config) as (client, service):
        held = Caller(client, service, "ann", "route").post("risky")
    config.write_text(config.read_text() + "mode: shadow\n")
    with wired(config) as (client, service):
        rita = Caller(client, service, "rita", "review")
        assert rita("POST", f"/holds/{held['hold_id']}/approve", json={})[0] == 200
        assert rita("GET", f"/routes/{held['id']}?wait_s=1.5")[1]["state"] == "ready"
    assert not cli.launches()


def test_a_ledger_that_is_busy_is_503_and_nothing_was_accepted(
    tmp_path: Path, cli: FakeOpenClaw
) -> None:
    config = configure(tmp_path, command=cli.command, more="limits: {ledger_busy_s: 0.2}\n")
    with wired(config) as (client, service):
        ann = Caller(client, service, "ann", "route")
        path = service.ledger.path
        assert path is not None
        with _LockedLedger(path):
            status, problem = ann("POST", "/route", json={"text": SAFE})
        assert (status, problem["code"]) == (503, "ledger-unavailable")
        assert ann("GET", "/routes")[1]["routes"] == []
        assert ann.post(SAFE)["state"] == "done"


class _LockedLedger:
    """Somebody else who writes into the file for a long time."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, *_: object) -> None:
        self._connection.execute("ROLLBACK")
        self._connection.close()


def test_a_stop_lets_the_running_turn_end_and_keeps_its_reply(tmp_path: Path) -> None:
    cli = write_fake(tmp_path, "time.sleep(0.5); say(document('late'))")
    config = configure(tmp_path, command=cli.command)
    with wired(config) as (client, service):
        ann = Caller(client, service, "ann", "route")
        route = ann.post(SAFE, wait_s=0)
        deadline = time.monotonic() + 20
        while not cli.launches() and time.monotonic() < deadline:
            client.run(asyncio.sleep(0.02))
    with wired(config) as (client, service):
        record = service.ledger.route(route["id"])
        assert (record.state, record.reply_text) == ("done", "late")


def test_what_waited_goes_on_after_a_restart(tmp_path: Path, cli: FakeOpenClaw) -> None:
    config = configure(tmp_path, command=cli.command)
    with wired(config) as (client, service):
        held = Caller(client, service, "ann", "route").post("risky")
    with wired(config) as (client, service):
        rita = Caller(client, service, "rita", "review", "route")
        assert rita("POST", f"/holds/{held['hold_id']}/approve", json={})[0] == 200
        assert rita("GET", f"/routes/{held['id']}?wait_s=20")[1]["state"] == "done"
    assert len(cli.launches()) == 1


def test_a_desk_beside_the_service_answers_holds(tmp_path: Path, cli: FakeOpenClaw) -> None:
    config = configure(tmp_path, command=cli.command)
    reviewer = Principal("rita", "command-line", frozenset({"review"}))

    async def approve(hold_id: str) -> str | None:
        async with reviewing(settings_of(config)) as desk:
            return (await desk.approve(hold_id, reviewer)).decision

    with wired(config) as (client, service):
        ann = Caller(client, service, "ann", "route")
        held = ann.post(RISKY + " risky")
        assert asyncio.run(approve(held["hold_id"])) == "approve"
        assert ann("GET", f"/routes/{held['id']}?wait_s=20")[1]["state"] == "done"
        with pytest.raises(ConflictError):
            service.ledger.reject(held["hold_id"], reviewer, reason="no")
    assert len(cli.launches()) == 1
