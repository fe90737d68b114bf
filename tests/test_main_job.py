"""The main job, end to end: a real service, the real OpenClaw CLI, a real Gateway, a mock model."""

import asyncio
import json
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from clawmarshal import AgentSpec, LocalDecisionModel, OpenClawRouter
from clawmarshal.transport.openclaw import OpenClawTransport
from tests.support.gateway_door import GatewayDoor
from tests.support.openclaw_lab import Lab
from tests.support.real_desk import (
    RISKY,
    SAFE,
    RealDesk,
    descendants,
    ended,
    is_running,
    make_desk,
    send,
    until,
)
from tests.support.service import LOUD_PROGRAM
from tests.support.turns import is_alive, processes_naming, wait_until

pytestmark = pytest.mark.openclaw

HOSTILE = {
    "OPENCLAW_GATEWAY_URL": "ws://127.0.0.1:1",
    "OPENCLAW_GATEWAY_TOKEN": "stolen",
    "OPENCLAW_SHELL": "exec",
    "NODE_OPTIONS": "--require /nonexistent/evil.js",
    "A_SECRET": "of the service",
}
"""What the service inherits and no child may see; most of it would break or redirect the turn."""


@pytest.fixture(scope="module")
def desk(openclaw_lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> RealDesk:
    """Return what the tests that need no ledger of their own share."""
    return make_desk(tmp_path_factory.mktemp("desk"), openclaw_lab)


@pytest.fixture(scope="module")
def http(desk: RealDesk) -> Iterator[httpx.Client]:
    """Return a caller of one running service."""
    with desk.serve() as (_, http):
        yield http


def seen_from_outside(pid: int) -> dict[str, Any] | None:
    """Look at a process as anybody on the machine could; None when it is no turn.

    Node soon writes its title over its argv, so it must be seen early.
    """
    proc = Path("/proc", str(pid))
    argv = [os.fsdecode(part) for part in (proc / "cmdline").read_bytes().split(b"\0")[:-1]]
    named = next((part for part in argv if part.startswith("--message-file=")), None)
    if named is None:
        return None
    file = Path(named.partition("=")[2])
    lines = [os.fsdecode(line) for line in (proc / "environ").read_bytes().split(b"\0") if line]
    cwd = Path(os.readlink(proc / "cwd"))
    return {
        "argv": argv,
        "environment": dict(line.partition("=")[::2] for line in lines),
        "cwd": (cwd, list(cwd.iterdir()), stat.S_IMODE(cwd.stat().st_mode)),
        "file": file,
        "modes": (stat.S_IMODE(file.stat().st_mode), stat.S_IMODE(file.parent.stat().st_mode)),
        "message": file.read_text(encoding="utf-8"),
    }


def turn_under(pid: int) -> dict[str, Any]:
    """Wait for the turn of a service and look at it."""
    seen: list[dict[str, Any]] = []

    def look() -> bool:
        for child in descendants(pid):
            with suppress(OSError):
                seen.extend(filter(None, [seen_from_outside(child)]))
        return bool(seen)

    assert wait_until(look, timeout_s=60)
    return seen[0]


def test_a_finance_message_comes_back_with_the_reply_of_the_real_finance_agent(
    openclaw_lab: Lab, tmp_path: Path
) -> None:
    desk = make_desk(tmp_path, openclaw_lab)
    text = f"{SAFE} turquoise [[slow=3]]"
    with desk.serve(environ=HOSTILE, program=LOUD_PROGRAM) as (process, http):
        assert http.get("/readyz").json()["transport"] == "openclaw 2026.9.6"
        sent = send(http, text, channel="mail", conversation="c-1", message_id="m-1")
        child = turn_under(process.pid)
        naming = processes_naming("turquoise")
        again = send(http, text, channel="mail", conversation="c-1", message_id="m-1", wait_s=60)
        events = http.get(f"/routes/{sent['id']}/events").text
        left = list(desk.turns.glob("clawmarshal-turns-*/at-*"))
        assert process.stop() == 0

    assert (again["id"], again["deduplicated_by"]) == (sent["id"], "message_id")
    assert (again["state"], again["outcome"], again["agent"]) == ("done", "dispatch", "finance")
    assert (again["ran"], again["reason"], again["via"]) == (True, "matched", "model")
    assert again["reply"]["text"].startswith("[echo-finance] echo: ")
    assert "turquoise" in again["reply"]["text"]
    assert desk.launches("turquoise") == 1

    _check_child(child, desk)
    assert child["message"].endswith(text)
    assert naming == []
    assert left == []
    assert list(desk.turns.iterdir()) == []
    log = "\n".join(process.output + process.errors)
    assert "INSERT INTO routes" in log
    assert {json.loads(line)["level"] for line in process.errors} >= {"debug", "info"}
    for told in (log, events):
        assert "turquoise" not in told
        assert SAFE[:20] not in told
        assert desk.key not in told


def _check_child(child: dict[str, Any], desk: RealDesk) -> None:
    """Check argv, environment, folder and file of a turn that runs."""
    argv, file = child["argv"], child["file"]
    assert argv[:3] == [*desk.lab.command, "agent"]
    assert argv[3] == "--agent=finance"
    assert argv[4].startswith("--session-key=cm-")
    assert argv[5:] == [f"--message-file={file}", "--timeout=60", "--json"]
    own = file.parent.parent
    assert own.parent == desk.turns.resolve()
    assert child["environment"] == {
        "OPENCLAW_CONFIG_PATH": str(desk.client_config),
        "OPENCLAW_STATE_DIR": str(own / "state"),
        "HOME": str(own / "home"),
        "OPENCLAW_NO_RESPAWN": "1",
        "LANG": "C.UTF-8",
        "TMPDIR": str(desk.lab.folder),
    }
    assert child["cwd"] == (file.parent / "cwd", [], 0o700)
    assert child["modes"] == (0o600, 0o700)
    assert not file.exists()


def router_on(lab: Lab, folder: Path) -> OpenClawRouter:
    """Return what a program of a user's own would make."""
    transport = OpenClawTransport(
        lab.command, openclaw_config=lab.client_config, directory=folder, tmpdir=lab.folder
    )
    agents = [
        AgentSpec("finance", "Invoices, bookkeeping, tax deadlines, portfolio questions."),
        AgentSpec("security", "Breach alerts, credential hygiene, suspicious access."),
    ]
    return OpenClawRouter(LocalDecisionModel(), agents, transport=transport)


def test_a_program_gets_the_real_reply_and_the_same_one_again(
    openclaw_lab: Lab, tmp_path: Path
) -> None:
    text = f"{SAFE} magenta"
    with router_on(openclaw_lab, tmp_path) as router:
        route = router.route(text)
        first = router.dispatch(route, text)
        second = router.dispatch(route, text)

    assert (str(route.outcome), route.agent) == ("dispatch", "finance")
    assert first.text.startswith("[echo-finance] echo: ")
    assert "magenta" in first.text
    assert second == first
    assert openclaw_lab.outcomes("magenta") == ["begun", "done"]
    assert list(tmp_path.iterdir()) == []


def test_an_async_program_gets_them_too(openclaw_lab: Lab, tmp_path: Path) -> None:
    text = f"{SAFE} maroon"

    async def run() -> tuple[str, ...]:
        router = router_on(openclaw_lab, tmp_path)
        try:
            route = await router.aroute(text)
            # Together: the second call finds the first under way.
            both = await asyncio.gather(*(router.adispatch(route, text) for _ in range(2)))
            return tuple(reply.text for reply in (*both, await router.adispatch(route, text)))
        finally:
            await router.aclose()

    replies = asyncio.run(run())

    assert len(set(replies)) == 1
    assert replies[0].startswith("[echo-finance] echo: ")
    assert openclaw_lab.outcomes("maroon") == ["begun", "done"]
    assert list(tmp_path.iterdir()) == []


def test_a_risky_message_is_held_and_an_approval_launches_it_once(
    desk: RealDesk, http: httpx.Client
) -> None:
    held = send(http, f"{RISKY} ochre", wait_s=30)
    assert (held["state"], held["outcome"], held["ran"]) == ("held", "hold", None)
    assert held["reason"] == "risk"
    assert desk.launches("ochre") == 0

    (hold,) = (h for h in http.get("/holds").json()["holds"] if h["route_id"] == held["id"])
    assert (hold["id"], hold["suggestion"]) == (held["hold_id"], "finance")
    approval = {"digest": hold["digest"]}
    first = http.post(f"/holds/{hold['id']}/approve", json=approval)
    assert first.status_code == 200, first.text
    again = http.post(f"/holds/{hold['id']}/approve", json=approval)
    route = ended(http, held["id"])
    late = http.post(f"/holds/{hold['id']}/approve", json=approval)
    other = http.post(f"/holds/{hold['id']}/reject", json={"reason": "too late"})

    assert (route["state"], route["ran"], route["agent"]) == ("done", True, "finance")
    assert route["reply"]["text"].startswith("[echo-finance] echo: ")
    assert again.json() == late.json() == first.json()
    assert (other.status_code, other.json()["winner"]["decision"]) == (409, "approve")
    assert desk.launches("ochre") == 1
    assert len(route["attempts"]) == 1


def test_a_rejected_message_is_never_launched(desk: RealDesk, http: httpx.Client) -> None:
    held = send(http, f"{RISKY} vermilion", wait_s=30)
    rejected = http.post(f"/holds/{held['hold_id']}/reject", json={"reason": "no"})
    assert rejected.status_code == 200, rejected.text
    # A turn accepted after it goes all the way: what waited before it had its chance.
    assert send(http, f"{SAFE} saffron", wait_s=60)["state"] == "done"

    route = ended(http, held["id"])
    assert (route["state"], route["attempts"]) == ("rejected", [])
    assert desk.launches("vermilion") == 0


def test_conversations_have_a_session_each_and_keep_their_order(
    desk: RealDesk, http: httpx.Client
) -> None:
    asked = [("first [[slow=2]]", "a"), ("second", "a"), ("third", "b")]
    sent = [
        send(http, f"{SAFE} indigo-{words}", channel="chat", conversation=conversation)
        for words, conversation in asked
    ]
    routes = [ended(http, route["id"]) for route in sent]

    assert [(r["state"], r["agent"]) for r in routes] == [("done", "finance")] * 3
    first, second, third = (r["attempts"][0]["session_key"] for r in routes)
    assert first == second != third
    begun = [
        (line["outcome"], mark)
        for line in map(json.loads, desk.lab.requests_log.read_text().splitlines())
        for mark in ("indigo-first", "indigo-second")
        # The session's later turn is told of the earlier one; its own text comes last.
        if mark in line["last_user"].splitlines()[-1]
    ]
    assert begun == [
        ("begun", "indigo-first"),
        ("done", "indigo-first"),
        ("begun", "indigo-second"),
        ("done", "indigo-second"),
    ]


def test_a_service_killed_in_mid_turn_shows_unknown_and_launches_nothing_again(
    openclaw_lab: Lab, tmp_path: Path
) -> None:
    desk = make_desk(tmp_path, openclaw_lab)
    with desk.serve() as (process, http):
        sent = send(http, f"{SAFE} cobalt [[slow=30]]")
        assert wait_until(lambda: desk.launches("cobalt") == 1, timeout_s=60)
        child = until(http, sent["id"], is_running)["attempts"][0]["pid"]
        family = [process.pid, *descendants(process.pid)]
        assert child in family
        process.stop(9)
        assert wait_until(lambda: not any(map(is_alive, family)), timeout_s=20)
        assert processes_naming(desk.turns) == []

    with desk.serve() as (process, http):
        route = ended(http, sent["id"])
        # Another message goes through, so the dispatcher had its look at what was left.
        assert send(http, f"{SAFE} cerulean", wait_s=60)["state"] == "done"
        after = http.get(f"/routes/{sent['id']}").json()
        assert process.stop() == 0

    assert (route["state"], route["ran"], route["reason"]) == ("unknown", None, "worker_gone")
    assert (after["state"], len(after["attempts"])) == ("unknown", 1)
    assert desk.launches("cobalt") == 1
    assert list(desk.turns.iterdir()) == []


def test_a_gateway_that_is_down_is_failed_and_a_person_runs_it_again_once_it_is_up(
    openclaw_lab: Lab, tmp_path: Path
) -> None:
    door = GatewayDoor(openclaw_lab.gateway_port)
    text = openclaw_lab.client_config.read_text(encoding="utf-8")
    text = text.replace(f":{openclaw_lab.gateway_port}", f":{door.port}")
    desk = make_desk(tmp_path, openclaw_lab, client_config=text)
    try:
        with desk.serve() as (_, http):
            failed = send(http, f"{SAFE} sepia", wait_s=60)
            listed = http.get("/routes", params={"state": "failed"}).json()["routes"]
            door.open()
            resolved = http.post(f"/routes/{failed['id']}/resolve", json={"answer": "rerun"})
            assert resolved.status_code == 200, resolved.text
            done = ended(http, failed["id"])
    finally:
        door.close()

    assert (failed["state"], failed["ran"], failed["reason"]) == ("failed", False, "gateway-down")
    assert [route["id"] for route in listed] == [failed["id"]]
    assert (done["state"], done["ran"]) == ("done", True)
    assert [a["code"] for a in done["attempts"]] == ["gateway-down", "ok"]
    assert desk.launches("sepia") == 1


def test_a_wrong_token_is_failed_and_certainly_did_not_run(
    openclaw_lab: Lab, tmp_path: Path
) -> None:
    text = openclaw_lab.client_config.read_text(encoding="utf-8")
    wrong = text.replace("lab-token-not-a-secret", "another-token")
    desk = make_desk(tmp_path, openclaw_lab, client_config=wrong)
    with desk.serve() as (process, http):
        failed = send(http, f"{SAFE} umber", wait_s=60)
        details = http.get(f"/routes/{failed['id']}").text
        process.stop()

    state = (failed["state"], failed["ran"], failed["reason"])
    assert state == ("failed", False, "gateway-unauthorized")
    assert "another-token" not in details + "".join(process.errors)
    assert desk.launches("umber") == 0
