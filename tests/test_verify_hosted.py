"""The script that verifies a hosted server, run against servers of loopback and no other."""

import os
import subprocess  # noqa: TID251 -- the script is a program of its own
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.loopback_server import LoopbackServer, Scene
from tests.support.peers import peer
from tests.support.system_one_server import MODEL, choice, good, preferring

SCRIPT = Path(__file__).resolve().parents[1] / "bench" / "verify_hosted.py"
KEY = "sk-verified-and-not-shown"
OWNERS = {"VAT": "finance", "logged in": "security", "flight": "travel"}


def knowing(body: Mapping[str, Any]) -> httpx.Response:
    """Answer the script's questions as a good server would."""
    text = body["state"]["message"]
    agent = next((name for mark, name in OWNERS.items() if mark in text), "none_of_these")
    answers = {}
    for name, question in body["questions"].items():
        options = list(question["criteria"])
        wanted = "low" if name == "risk" else agent if agent in options else "none_of_these"
        rest = 0.1 / (len(options) - 1)
        answers[name] = choice(dict.fromkeys(options, rest) | {wanted: 0.9})
    return good(answers)


def verify(*arguments: str, key: str | None = KEY) -> tuple[int, str, str]:
    """Run the script with a key in its variable, and nothing else of this environment."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}
    environ = kept if key is None else {**kept, "CLAWMARSHAL_VERIFY_KEY": key}
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env=environ,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_a_good_server_is_verified_with_the_key_and_the_key_is_not_shown() -> None:
    with LoopbackServer(knowing) as server:
        code, out, err = verify(server.url, MODEL)
    assert (code, err) == (0, "")
    assert out.count("ok  ") == 5
    assert f"model={MODEL}" in out
    assert "orders_agree=True" in out
    assert "moved=0.000" in out
    assert "63 agents: rounds:" in out
    assert "latency: median" in out
    assert {one.headers["authorization"] for one in server.requests} == {f"Bearer {KEY}"}
    assert len(server.requests) < 20
    assert KEY not in out


@pytest.mark.parametrize(
    ("scene", "code", "told"),
    [
        pytest.param(preferring("travel"), 1, "FAIL", id="wrong answers"),
        pytest.param(lambda _: httpx.Response(401, text=f"{KEY} no"), 2, "auth: ", id="a bad key"),
        pytest.param(
            lambda body: httpx.Response(200, json={**knowing(body).json(), "model": "jev-9"}),
            1,
            "model-mismatch",
            id="another model",
        ),
        pytest.param(lambda _: httpx.Response(200, text="<p>"), 2, "body-not-json", id="a page"),
    ],
)
def test_what_is_wrong_is_said_and_is_the_exit_code(scene: Scene, code: int, told: str) -> None:
    with LoopbackServer(scene) as server:
        found, out, err = verify(server.url, MODEL)
    assert found == code
    assert told in out + err
    assert KEY not in out + err
    assert "Traceback" not in err


def test_it_asks_independent_servers() -> None:
    with peer("microllm", environ={"MICROLLM_API_KEY": KEY}) as url:
        code, out, err = verify(url, "jev-latest")
        assert (code in (0, 1), err) == (True, "")
        assert out.count("model=jev-latest") == 4
        code, _, err = verify(url, "jev-latest", key="expired")
        assert (code, err.startswith("auth: ")) == (2, True)
        code, _, err = verify(url, "jev-latest", key=None)
        assert (code, err.startswith("auth: ")) == (2, True)


def test_it_has_no_server_of_its_own_and_takes_no_key() -> None:
    assert verify()[0] == 2
    assert verify("http://127.0.0.1:9", MODEL, "--key", "sk-x")[0] == 2
    code, _, err = verify("http://decisions.example", MODEL)
    assert (code, "http is for loopback" in err) == (2, True)
