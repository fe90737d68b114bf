"""Bad input on the real surfaces: a running service and the command line, each as a process.

Every code of a bad body is in ``tests/api/test_route_endpoint.py``, every fault of a roster in
``tests/roster``, a port in use in ``tests/api/test_serve.py``, a Gateway that is down and a wrong
token in ``tests/test_main_job.py``. Here it is shown that they hold where people meet them, and
that nothing is recorded or lost.
"""

import resource
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from clawmarshal.api.opening import opened_ledger
from tests.support.fake_openclaw import write_fake
from tests.support.real_desk import ended
from tests.support.service import (
    ROSTER,
    SAFE,
    ServeProcess,
    caller,
    configure,
    run,
    serving,
    settings_of,
)

JSON = {"Content-Type": "application/json"}
CAP = 256 * 1024


def key_for(config: Path) -> str:
    with opened_ledger(settings_of(config)) as ledger:
        return ledger.create_key("test", "test", ["route", "pin", "review"])


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    config = configure(tmp_path_factory.mktemp("service"))
    key = key_for(config)
    with serving("--config", str(config)) as process, caller(process.address(), key) as http:
        yield http


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        pytest.param(b'{"text": ""}', 422, "text-empty", id="empty"),
        pytest.param(b'{"text": " \\n\\u00a0\\t"}', 422, "text-empty", id="blank"),
        pytest.param(b'{"text": "' + b"x" * (CAP + 1) + b'"}', 413, "text-too-large", id="cap"),
        pytest.param(b"x" * (4 * 1024 * 1024 + 1), 413, "body-too-large", id="over 4 MiB"),
        pytest.param(b'{"text": "caf\xe9"}', 400, "body-not-utf8", id="not UTF-8"),
        pytest.param(b'{"text": "a\\u0000b"}', 422, "text-nul", id="NUL"),
        pytest.param(b'{"text": "a\\ud83d b"}', 422, "text-surrogate", id="lone surrogate"),
        pytest.param(b'{"text": "\xed\xa0\xbd"}', 400, "body-not-utf8", id="surrogate bytes"),
        pytest.param(b'\xef\xbb\xbf{"text": "x"}', 400, "body-not-json", id="BOM"),
        pytest.param(b'{"text": "\\ufeffx"}', 422, "text-bom", id="BOM in the text"),
        pytest.param(b"text=hello", 400, "body-not-json", id="not JSON"),
        pytest.param(b'{"text": "x", "txet": 1}', 422, "body-invalid", id="unknown field"),
        pytest.param(b'{"text": "x", "agent": "finanse"}', 422, "unknown-agent", id="agent"),
    ],
)
def test_a_bad_message_is_a_problem_and_leaves_no_row(
    http: httpx.Client, body: bytes, status: int, code: str
) -> None:
    answer = http.post("/route", content=body, headers=JSON)

    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (status, code)
    assert problem["detail"]
    assert http.get("/routes").json()["routes"] == []


def test_a_problem_names_what_would_have_been_right(http: httpx.Client) -> None:
    agent = http.post("/route", json={"text": SAFE, "agent": "finanse"}).json()
    field = http.post("/route", json={"text": SAFE, "converstation": "c"}).json()

    assert agent["near"] == ["finance"]
    assert "did you mean conversation" in field["faults"][0]["message"]


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        pytest.param(b"", "empty", id="empty"),
        pytest.param(b" \n\t", "empty", id="blank"),
        pytest.param(b"x" * (CAP + 1), "bytes", id="cap"),
        pytest.param(b"x" * (4 * 1024 * 1024 + 1), "bytes", id="over 4 MiB"),
        pytest.param(b"caf\xe9", "UTF-8", id="not UTF-8"),
        pytest.param(b"a\0b", "NUL", id="NUL"),
        pytest.param(b"\xed\xa0\xbd", "UTF-8", id="surrogate bytes"),
    ],
)
def test_the_command_line_says_what_is_wrong_with_a_text(
    tmp_path: Path, raw: bytes, words: str
) -> None:
    (tmp_path / "fleet.yaml").write_text(ROSTER, encoding="utf-8")
    (tmp_path / "message.txt").write_bytes(raw)

    code, out, err = run(
        *("route", "--roster", "fleet.yaml", "--model", "lexical"),
        *("--json", "--text-file", "message.txt"),
        cwd=tmp_path,
    )

    assert (code, out) == (1, "")
    assert words in err
    assert err.count("\n") == 1


def test_an_argument_that_is_not_utf8_is_said(tmp_path: Path) -> None:
    (tmp_path / "fleet.yaml").write_text(ROSTER, encoding="utf-8")

    # What Python makes of the byte FF in an argument.
    code, out, err = run("route", "--roster", "fleet.yaml", "a\udcffb", cwd=tmp_path)

    assert (code, out) == (1, "")
    assert "surrogate" in err or "UTF-8" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("roster", "words"),
    [
        pytest.param(None, "fleet.yaml", id="missing"),
        pytest.param("", "empty", id="empty"),
        pytest.param("agents:\n", "agents", id="no agents"),
        pytest.param(ROSTER[: ROSTER.index("    description: Breach")], "description", id="half"),
        pytest.param(ROSTER + "  - id: 'cut", "line", id="cut off"),
    ],
)
def test_a_roster_that_cannot_be_used_stops_everything(
    tmp_path: Path, roster: str | None, words: str
) -> None:
    config = configure(tmp_path)
    file = tmp_path / "fleet.yaml"
    file.unlink()
    if roster is not None:
        file.write_text(roster, encoding="utf-8")

    for arguments in (
        ("serve", "--config", str(config)),
        ("route", "--roster", "fleet.yaml", "--model", "lexical", SAFE),
    ):
        code, out, err = run(*arguments, cwd=tmp_path)
        assert (code, out) == (1, ""), arguments
        assert words in err
        assert "Traceback" not in err
    assert not (tmp_path / "ledger.db").exists()
    code, out, err = run("roster", "check", "fleet.yaml", cwd=tmp_path)
    assert code == 1
    assert words in out + err


@pytest.mark.parametrize(
    ("name", "mode", "words"),
    [
        pytest.param("openclaw", None, "No such file", id="missing"),
        pytest.param("openclaw", 0o644, "not executable", id="not executable"),
        pytest.param("openclaw.cmd", 0o755, "batch file", id="cmd"),
    ],
)
def test_a_cli_that_cannot_be_started_refuses_the_service(
    tmp_path: Path, name: str, mode: int | None, words: str
) -> None:
    program = tmp_path / name
    if mode is not None:
        program.write_text("#!/bin/sh\n", encoding="utf-8")
        program.chmod(mode)
    config = configure(tmp_path, command=[str(program)])

    code, out, err = run("serve", "--config", str(config))

    assert (code, out) == (1, "")
    assert "transport.command" in err
    assert words in err
    assert err.count("\n") == 1


def files_may_grow_to(process: ServeProcess, size: int) -> None:
    """Let a running service write no file beyond this size, as a full disk would."""
    _, hard = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size, hard))


def test_a_full_disk_is_503_and_the_service_goes_on_once_there_is_room(tmp_path: Path) -> None:
    cli = write_fake(tmp_path)
    config = configure(tmp_path, command=cli.command)
    key = key_for(config)
    log = tmp_path / "ledger.db-wal"
    accepted: dict[str, str] = {}
    with serving("--config", str(config)) as process, caller(process.address(), key) as http:
        first = http.post("/route", json={"text": SAFE, "wait_s": 30}).json()
        accepted["before"] = first["id"]
        assert first["state"] == "done"
        refused = []
        # The room ends at another page of the transaction each time, from none at all on.
        for pages in (None, *range(12)):
            room = 0 if pages is None else log.stat().st_size + pages * 4120
            files_may_grow_to(process, room)
            name = f"room-{pages}"
            answer = http.post("/route", json={"text": SAFE, "message_id": name})
            told = answer.json()
            if answer.is_success:
                accepted[name] = told["id"]
                continue
            assert int(answer.headers["retry-after"]) > 0
            if told["code"] == "accepted-unread":
                accepted[name] = told["route_id"]
                continue
            refused.append(name)
            assert (answer.status_code, told["code"]) == (503, "ledger-unavailable")
            assert http.get("/livez").status_code == 200
        assert refused

        files_may_grow_to(process, resource.RLIM_INFINITY)
        listed = {route["id"] for route in http.get("/routes?limit=100").json()["routes"]}
        assert listed == set(accepted.values())
        for name in refused:
            answer = http.post("/route", json={"text": SAFE, "message_id": name})
            assert answer.json()["deduplicated_by"] is None
            accepted[name] = answer.json()["id"]
        states = {ended(http, route_id)["state"] for route_id in accepted.values()}
        assert process.stop() == 0

    # Nothing accepted is lost; a turn whose end could never be written would be unknown.
    assert states <= {"done", "unknown"}, states
    assert not any("Traceback" in line for line in process.errors)
    with opened_ledger(settings_of(config)) as ledger:
        assert all(ledger.verify_chain(route_id).is_intact for route_id in accepted.values())
    sessions = [launch["argv"][2] for launch in cli.launches()]
    assert len(sessions) == len(set(sessions)) == len(accepted)
