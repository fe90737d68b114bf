"""Turns that were lost on the real OpenClaw: what of them can still be found, and what cannot."""

import json
import os
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clawmarshal.api.cli import main
from tests.support.openclaw_lab import Lab, running_lab
from tests.support.real_desk import RealDesk, is_running, make_desk, send, until
from tests.support.turns import wait_until

pytestmark = [pytest.mark.openclaw, pytest.mark.timeout(400)]

SAFE = "What is the filing deadline for the quarterly sales tax return?"


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    """Run a Gateway that these tests may ill-treat."""
    with running_lab() as made:
        yield made


@pytest.fixture
def desk(lab: Lab, tmp_path: Path) -> RealDesk:
    return make_desk(tmp_path, lab)


def lose(desk: RealDesk, mark: str, *, seconds: int) -> str:
    """Kill the CLI of a turn that the model works on; return the route's id, which is unknown."""
    with desk.serve() as (_, http):
        route_id = send(http, f"{SAFE} {mark} [[slow={seconds}]]")["id"]
        running = until(http, route_id, is_running)
        assert wait_until(lambda: desk.launches(mark) == 1, timeout_s=60)
        os.kill(running["attempts"][-1]["pid"], signal.SIGKILL)
        lost = until(http, route_id, lambda route: route["state"] == "unknown")
    assert lost["attempts"][-1]["code"] == "killed"
    return str(route_id)


def reconciled(
    desk: RealDesk, route_id: str, capfd: pytest.CaptureFixture[str]
) -> tuple[int, dict[str, Any]]:
    """Run the command; return its exit code and what it found."""
    capfd.readouterr()
    code = main(["reconcile", route_id, "-c", str(desk.config), "--json"])
    (one,) = json.loads(capfd.readouterr().out)["routes"]
    assert one["state"] == "unknown"
    return code, one["evidence"]


def found_in_the_end(
    desk: RealDesk, route_id: str, codes: set[str], capfd: pytest.CaptureFixture[str]
) -> dict[str, Any]:
    """Look again until it is one of those."""
    for _ in range(20):
        _, found = reconciled(desk, route_id, capfd)
        if found["code"] in codes:
            return found
    raise AssertionError(found)


def test_run_that_went_on_without_its_cli_is_found(
    desk: RealDesk, lab: Lab, capfd: pytest.CaptureFixture[str]
) -> None:
    route_id = lose(desk, "turquoise", seconds=30)
    code, found = reconciled(desk, route_id, capfd)
    assert (code, found["code"], found["found_by"]) == (0, "running", "text"), found

    assert wait_until(lambda: lab.outcomes("turquoise") == ["begun", "done"], timeout_s=90)
    found = found_in_the_end(desk, route_id, {"answered"}, capfd)
    assert found["run_id"]
    assert found["reply_chars"] > 20

    with desk.serve() as (_, http):
        route = http.get(f"/routes/{route_id}").json()
    assert (route["state"], route["ran"], route["reply"]) == ("unknown", None, None)
    assert "echo:" in route["attempts"][-1]["late_evidence"]["reply_text"]
    assert desk.launches("turquoise") == 1, "nothing launched it again"


def test_service_finds_it_by_itself(desk: RealDesk) -> None:
    with desk.serve() as (_, http):
        route_id = send(http, f"{SAFE} cobalt [[slow=3]]")["id"]
        running = until(http, route_id, is_running)
        assert wait_until(lambda: desk.launches("cobalt") == 1, timeout_s=60)
        os.kill(running["attempts"][-1]["pid"], signal.SIGKILL)
        route = until(http, route_id, lambda route: bool(route.get("evidence")))

    (found, *_) = route["evidence"]
    assert route["state"] == "unknown"
    assert (found["actor"], found["code"] in ("answered", "running")) == ("service", True), found


def test_session_that_nobody_has_is_nothing_found_and_no_verdict(
    desk: RealDesk, lab: Lab, capfd: pytest.CaptureFixture[str]
) -> None:
    """A Gateway that forgot the session says the same as one that never had it."""
    route_id = lose(desk, "amber", seconds=2)
    assert wait_until(lambda: lab.outcomes("amber") == ["begun", "done"], timeout_s=90)
    _rename_session(desk, route_id)
    code, found = reconciled(desk, route_id, capfd)
    assert (code, found["code"], found["run_id"]) == (0, "nothing-found", None), found


def test_gateway_that_is_down_is_not_reachable_and_it_stays_unknown(
    desk: RealDesk, lab: Lab, capfd: pytest.CaptureFixture[str]
) -> None:
    route_id = lose(desk, "crimson", seconds=60)
    lab.kill_gateway()
    try:
        code, found = reconciled(desk, route_id, capfd)
    finally:
        lab.start_gateway()
    assert (code, found["code"]) == (1, "not-reachable"), found

    traces = {"arrived", "running", "answered", "ended"}
    assert found_in_the_end(desk, route_id, traces, capfd)["found_by"] == "text"


def test_run_that_its_cli_named_is_found_by_its_id_after_a_restart(
    desk: RealDesk, lab: Lab, capfd: pytest.CaptureFixture[str]
) -> None:
    with desk.serve() as (_, http):
        route_id = send(http, f"{SAFE} indigo [[slow=60]]")["id"]
        until(http, route_id, is_running)
        assert wait_until(lambda: desk.launches("indigo") == 1, timeout_s=60)
        lab.kill_gateway()
        lost = until(http, route_id, lambda route: route["state"] == "unknown")
    lab.start_gateway()
    run_id = lost["attempts"][-1]["run_id"]
    assert run_id

    found = found_in_the_end(desk, route_id, {"arrived", "running", "answered", "ended"}, capfd)
    assert (found["found_by"], found["run_id"]) == ("run-id", run_id), found


def _rename_session(desk: RealDesk, route_id: str) -> None:
    """Let the ledger name a session that the Gateway never had."""
    with sqlite3.connect(desk.folder / "ledger.db") as connection:
        connection.execute(
            "UPDATE attempts SET session_key = ? WHERE route_id = ?", ("cm-" + "9" * 64, route_id)
        )
