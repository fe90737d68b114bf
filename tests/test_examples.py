"""The examples run as they stand: programs as processes, files through their loaders."""

import sys
from pathlib import Path

import pytest

from clawmarshal.api.settings import load_settings
from clawmarshal.roster.loader import load_roster
from tests.support.newcomer import running
from tests.support.service import serving

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
KEY = r"cmk_\S+"


def printed(name: str, *arguments: str, folder: Path) -> tuple[int, list[str], list[str]]:
    """Run an example in an empty folder; return exit code, lines and errors."""
    with running(sys.executable, str(EXAMPLES / name), *arguments, folder=folder) as process:
        code, lines = process.ended(90)
    return code, lines, process.errors


def test_embed_decides_and_launches_nothing(tmp_path: Path) -> None:
    code, lines, errors = printed("embed.py", folder=tmp_path)
    assert (code, errors) == (0, [])
    assert [line for line in lines if not line.startswith("  gate ")][::2] == [
        "When is the sales tax return due?",
        "Someone logged in to my account from abroad",
        "Wire 9,000 euros to this new supplier today and delete the old invoices",
        "What rhymes with orange?",
    ]
    first, *holds = [line for line in lines if line.startswith(("  Dispatch", "  Hold"))]
    assert first.startswith("  Dispatch to finance, which has 0.")
    assert holds[:2] == [
        "  Hold: no_match; a reviewer would be offered security",
        "  Hold: risk; a reviewer would be offered finance",
    ]
    assert holds[2].startswith("  Hold: no_match; ")
    assert any(line.startswith("  gate 3: The rules say high (money, ") for line in lines)
    assert list(tmp_path.iterdir()) == []


def test_embed_without_an_openclaw_says_what_is_missing(tmp_path: Path) -> None:
    environ = {"PATH": "/nowhere"}
    command = (sys.executable, str(EXAMPLES / "embed.py"), "--dispatch")
    with running(*command, folder=tmp_path, environ=environ) as process:
        code, _ = process.ended(90)
    assert code == 1
    assert "no `openclaw` on PATH" in process.errors[-1]


def test_the_http_client_walks_dispatch_hold_and_approval(tmp_path: Path) -> None:
    arguments = ("--quickstart", str(tmp_path / "run"), "--port", "0")
    with serving(*arguments, "--config", str(EXAMPLES / "clawmarshal.yaml")) as service:
        address = service.address()
        keys = [service.line(f"{name} key: ({KEY})")[1] for name in ("route", "review")]
        code, lines, errors = printed("http_client.py", address, *keys, folder=tmp_path)
        assert (code, errors) == (0, [])
        assert [line for line in lines if "gate" not in line and "[stand-in]" not in line] == [
            "Which invoices are still unpaid, and when is each of them due?",
            "  done: billing (matched)",
            "Refund the 4,000 euros that Kestrel GmbH paid twice.",
            "  held: billing (risk)",
            "  approved for billing",
            *(f"  {kind}" for kind in ("received", "decided", "held", "approved", "ready")),
            *(f"  {kind}" for kind in ("launching", "running", "done")),
            "  done: billing (risk)",
        ]
        assert sum("[stand-in] The message" in line for line in lines) == 2
        assert sum(line.startswith("  gate 3: The rules say high") for line in lines) == 1
        assert service.stop() == 0


@pytest.mark.parametrize("arguments", [(), ("http://127.0.0.1:1",)], ids=["none", "no keys"])
def test_the_http_client_says_what_it_needs(arguments: tuple[str, ...], tmp_path: Path) -> None:
    code, lines, errors = printed("http_client.py", *arguments, folder=tmp_path)
    assert (code, lines) == (1, [])
    assert errors == ["usage: http_client.py ADDRESS ROUTE_KEY REVIEW_KEY"]


def test_the_example_configuration_loads_and_names_the_example_fleet() -> None:
    settings = load_settings(EXAMPLES / "clawmarshal.yaml", environ={})
    assert settings.transport.stand_in
    assert settings.server.host == "127.0.0.1"
    assert settings.roster == EXAMPLES / "fleet18.yaml"
    assert len(load_roster(settings.roster)) == 18
