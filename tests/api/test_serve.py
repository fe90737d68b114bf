"""``clawmarshal serve`` as a process: its port, its signals, its first minute."""

import json
import os
import signal
import socket
import stat
import time
from pathlib import Path

import httpx
import pytest

from clawmarshal.api.opening import opened_ledger
from tests.support.fake_openclaw import write_fake
from tests.support.service import RISKY, SAFE, caller, configure, run, serving, settings_of
from tests.support.turns import is_alive, wait_until

ROOT = Path(__file__).resolve().parents[2]
KEY = r"cmk_\S+"


def key_for(config: Path) -> str:
    with opened_ledger(settings_of(config)) as ledger:
        return ledger.create_key("test", "test", ["route", "review"])


def test_port_0_prints_the_chosen_port_and_answers(tmp_path: Path) -> None:
    config = configure(tmp_path)
    key = key_for(config)
    with serving("--config", str(config)) as process:
        address = process.address()
        assert httpx.get(f"{address}/livez", trust_env=False).status_code == 200
        with caller(address, key) as http:
            ready = http.get("/readyz")
            assert ready.status_code == 200
            assert ready.json()["transport"].startswith("stand-in")
            assert "server" not in ready.headers
            route = http.post("/route", json={"text": SAFE, "wait_s": 30}).json()
            assert route["state"] == "done"
            assert route["reply"]["text"].startswith("[stand-in]")
        assert process.stop() == 0
    log = "\n".join(process.errors)
    assert SAFE not in log
    assert key not in log
    lines = [json.loads(line) for line in process.errors]
    assert "/route" in {line.get("path") for line in lines}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["TERM", "INT"])
def test_a_stop_answers_who_waits_and_is_a_success(tmp_path: Path, number: int) -> None:
    cli = write_fake(tmp_path, "time.sleep(3); say(document('late'))")
    config = configure(tmp_path, command=cli.command)
    key = key_for(config)
    with serving("--config", str(config)) as process:
        address = process.address()
        with caller(address, key) as http:
            sent = http.post("/route", json={"text": SAFE, "wait_s": 0}).json()
            deadline = time.monotonic() + 30
            while not cli.launches() and time.monotonic() < deadline:
                http.get(f"/routes/{sent['id']}")
            os.kill(process.pid, number)
            waited = http.get(f"/routes/{sent['id']}?wait_s=600")
            assert waited.status_code == 200
            assert waited.json()["state"] in ("launching", "running")
        assert process.wait() == 0
    assert not any("Traceback" in line for line in process.errors)
    with serving("--config", str(config)) as process, caller(process.address(), key) as http:
        assert http.get(f"/routes/{sent['id']}").json()["state"] == "done"
    assert len(cli.launches()) == 1


def test_a_killed_service_shows_unknown_and_launches_nothing_again(tmp_path: Path) -> None:
    cli = write_fake(tmp_path, "time.sleep(30)")
    config = configure(tmp_path, command=cli.command)
    key = key_for(config)
    with serving("--config", str(config)) as process, caller(process.address(), key) as http:
        sent = http.post("/route", json={"text": SAFE}).json()
        deadline = time.monotonic() + 30
        while not cli.launches() and time.monotonic() < deadline:
            http.get(f"/routes/{sent['id']}")
        process.stop(signal.SIGKILL)
    assert wait_until(lambda: not is_alive(cli.launches()[0]["pid"]))
    with serving("--config", str(config)) as process, caller(process.address(), key) as http:
        route = http.get(f"/routes/{sent['id']}?wait_s=30").json()
        assert (route["state"], route["ran"]) == ("unknown", None)
        answer = {"answer": "ran", "note": "seen in the transcript"}
        resolved = http.post(f"/routes/{sent['id']}/resolve", json=answer).json()
        assert (resolved["state"], resolved["ran"]) == ("done", True)
    assert len(cli.launches()) == 1


def test_a_port_in_use_is_one_line_with_the_mend(tmp_path: Path) -> None:
    config = configure(tmp_path)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        code, out, err = run("serve", "--config", str(config), "--port", str(port))
    assert (code, out) == (1, "")
    assert "in use" in err
    assert "--port" in err
    assert err.count("\n") == 1


def test_a_cli_that_cannot_be_launched_refuses_the_start(tmp_path: Path) -> None:
    cli = write_fake(tmp_path, version="OpenClaw 2026.5.1")
    config = configure(tmp_path, command=cli.command)
    code, out, err = run("serve", "--config", str(config))
    assert (code, out) == (1, "")
    assert "transport.command" in err
    assert "Traceback" not in err


def test_a_body_that_is_too_large_is_told_so_over_a_real_socket(tmp_path: Path) -> None:
    config = configure(tmp_path)
    key = key_for(config)
    with serving("--config", str(config)) as process, caller(process.address(), key) as http:
        body = json.dumps({"text": "x" * (5 * 1024 * 1024)})
        headers = {"Content-Type": "application/json"}
        answer = http.post("/route", content=body, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (413, "body-too-large")
        # Chunked, so that no length is announced.
        answer = http.post("/route", content=iter([b"x" * 65536] * 80), headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (413, "body-too-large")
        assert http.get("/holds").status_code == 200


def test_a_body_that_never_arrives_is_given_up(tmp_path: Path) -> None:
    config = configure(tmp_path, more="limits: {body_timeout_s: 0.3}\n")
    key = key_for(config)
    with serving("--config", str(config)) as process:
        url = httpx.URL(process.address())
        head = (
            f"POST /route HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
            "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
        )
        with socket.create_connection((url.host, url.port or 80), timeout=30) as raw:
            raw.sendall(head.encode())
            assert raw.recv(4096).startswith(b"HTTP/1.1 408 ")


def test_the_quick_start_prints_address_and_keys_one_per_line(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    example = str(ROOT / "examples" / "clawmarshal.yaml")
    arguments = ("--quickstart", str(folder), "--config", example, "--port", "0")
    with serving(*arguments) as process:
        address = process.address()
        route_key = process.line(f"route key: ({KEY})")[1]
        review_key = process.line(f"review key: ({KEY})")[1]
        page = process.line(r"review page: (http://\S+)")[1]
        signed_in = httpx.post(
            f"{page}/sign-in",
            data={"key": review_key},
            headers={"Origin": address},
            trust_env=False,
        )
        assert (page, signed_in.status_code) == (f"{address}/review", 303)
        with caller(address, route_key) as http:
            ready = http.get("/readyz").json()
            assert ready["transport"].startswith("stand-in")
            assert ready["agents"] == 18
            held = http.post("/route", json={"text": RISKY, "wait_s": 30}).json()
            assert held["state"] == "held"
            assert http.post(f"/holds/{held['hold_id']}/reject", json={"reason": "no"}).is_error
        with caller(address, review_key) as http:
            assert http.post("/route", json={"text": SAFE}).status_code == 403
            answer = http.post(f"/holds/{held['hold_id']}/reject", json={"reason": "a test"})
            assert answer.status_code == 200
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    # A second start keeps the folder, its edits and its rows; the old keys are over.
    config = folder / "clawmarshal.yaml"
    config.write_text(config.read_text().replace("min_margin: 0.05", "min_margin: 0.06"))
    with serving(*arguments) as process:
        address = process.address()
        fresh = process.line(f"route key: ({KEY})")[1]
        with caller(address, route_key) as http:
            assert http.get("/routes").status_code == 401
        with caller(address, fresh) as http:
            assert len(http.get("/routes").json()["routes"]) == 1
    assert "0.06" in config.read_text()


def test_the_quick_start_launches_a_real_openclaw_that_the_environment_names(
    tmp_path: Path,
) -> None:
    cli = write_fake(tmp_path)
    client = tmp_path / "client.json5"
    client.write_text("{}", encoding="utf-8")
    client.chmod(0o600)
    environ = {
        "CLAWMARSHAL_OPENCLAW_COMMAND": str(cli.path),
        "CLAWMARSHAL_OPENCLAW_CONFIG": str(client),
    }
    example = str(ROOT / "examples" / "clawmarshal.yaml")
    arguments = ("--quickstart", str(tmp_path / "run"), "--config", example, "--port", "0")
    with serving(*arguments, environ=environ) as process:
        address = process.address()
        key = process.line(f"route key: ({KEY})")[1]
        with caller(address, key) as http:
            assert http.get("/readyz").json()["transport"] == "openclaw 2026.9.6"


def test_a_quick_start_without_its_example_says_the_mend(tmp_path: Path) -> None:
    code, out, err = run("serve", "--quickstart", str(tmp_path / "run"), cwd=tmp_path)
    assert (code, out) == (1, "")
    assert "--config" in err
