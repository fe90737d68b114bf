"""Planted secrets appear in no child, log, error, metric, problem document, event or file.

One service, started as a process with its logs at debug level, goes through every way a route can
end; then everything that can be read of it is searched.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from clawmarshal.api.opening import opened_ledger
from clawmarshal.api.wiring import wire
from clawmarshal.errors import ClawmarshalError
from tests.support.behaviours import ANSWER, DOWN, STAYS
from tests.support.fake_openclaw import FakeOpenClaw, write_fake
from tests.support.real_desk import descendants, ended, until
from tests.support.service import LOUD_PROGRAM, caller, run, serving, settings_of

pytestmark = pytest.mark.timeout(300)

SERVICE = "planted-service-2f6a"
TOKEN = "planted-gateway-b81c"
FINANCE = "planted-finance-93d4"
SECURITY = "planted-security-0c7e"
MESSAGE = "planted-message-5e0d"
SECRETS = (SERVICE, TOKEN, FINANCE, SECURITY)

ENVIRON = {"A_SECRET": SERVICE, "SECURITY_SECRET": SECURITY, "OPENCLAW_GATEWAY_TOKEN": TOKEN}

ROSTER = """\
agents:
  - {id: finance, description: "Invoices, bookkeeping and tax deadlines."}
  - {id: security, description: "Breach alerts and suspicious access."}
  - {id: slow, description: "Long work that nobody waits for.", timeout_s: 1}
"""
FLEET = {"agents": [{"id": name} for name in ("finance", "security", "slow")]}
CONFIG = """\
server: {{port: 0}}
roster: fleet.yaml
ledger: sqlite:///ledger.db
decision: {{model: "tests.support.service:model"}}
policy: {{on_no_match: decline}}
transport:
  command: [{command}]
  gateway: {{url: "ws://127.0.0.1:1", token_file: token}}
  secrets:
    finance: {{BANK_KEY: {{file: bank}}}}
    security: {{SIEM_KEY: {{env: SECURITY_SECRET}}}}
  directory: turns
  timeout_s: 30
  margin_s: 0.3
  grace_s: 0.3
"""
SHOUT = """
everything = json.dumps(dict(os.environ)) + open(os.environ["OPENCLAW_CONFIG_PATH"]).read()
print("log", everything, message.decode(), flush=True)
print("failed with", everything, message.decode(), file=sys.stderr, flush=True)
"""
DEEDS = {
    "answers": ANSWER,
    "hangs": STAYS,
    "crashes": "os.kill(os.getpid(), signal.SIGSEGV)",
    "refuses": f"say(failure({DOWN})); sys.exit(1)",
    "shouts": SHOUT + ANSWER,
    "shouts-and-fails": SHOUT + "say(failure(everything, runId='r-1')); sys.exit(1)",
    "shouts-and-stays": SHOUT + STAYS,
}


@dataclass
class Evidence:
    """All that could be read of a service."""

    calls: list[Mapping[str, Any]] = field(default_factory=list)
    """What each child of the scripted CLI says it was started with."""
    processes: list[tuple[str, str]] = field(default_factory=list)
    """argv and environment of every descendant, as the kernel tells them."""
    log: str = ""
    answers: dict[str, str] = field(default_factory=dict)
    """By request: problem documents, metrics, states, events."""
    routes: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By deed, as they ended."""
    files: dict[str, bytes] = field(default_factory=dict)
    """What lay in the private folders in mid-turn, by the end of its path."""
    left: list[Path] = field(default_factory=list)
    events: str = ""
    ledger: bytes = b""
    config_errors: str = ""


def configure(folder: Path) -> FakeOpenClaw:
    """Write everything that a service needs, with secrets in their places."""
    for name in ("cli", "turns"):
        (folder / name).mkdir(mode=0o700)
    body = f"DEEDS = {DEEDS!r}\nexec(DEEDS[message.decode().splitlines()[1].split()[0]])"
    fake = write_fake(folder / "cli", body, fleet=json.dumps(FLEET))
    (folder / "fleet.yaml").write_text(ROSTER)
    (folder / "clawmarshal.yaml").write_text(CONFIG.format(command=fake.path))
    for name, secret in (("token", TOKEN), ("bank", FINANCE)):
        (folder / name).touch(mode=0o600)
        (folder / name).write_text(secret)
    return fake


def look_at_processes(pid: int, evidence: Evidence) -> None:
    """Read what the kernel says every descendant was started with."""
    for child in descendants(pid):
        with suppress(OSError):
            argv, environ = (
                Path(f"/proc/{child}/{name}").read_bytes().replace(b"\0", b"\n").decode()
                for name in ("cmdline", "environ")
            )
            evidence.processes.append((argv, environ))


def go_through_everything(http: httpx.Client, pid: int, evidence: Evidence, turns: Path) -> None:
    """Bring routes to every end, and look on the way."""

    def post(deed: str, **more: Any) -> dict[str, Any]:
        text = f"{deed} {MESSAGE}"
        answer = http.post("/route", json={"text": text, **more})
        assert answer.status_code in (200, 202), answer.text
        route: dict[str, Any] = answer.json()
        return route

    for deed in DEEDS:
        agent = "slow" if deed in ("hangs", "shouts-and-stays") else "finance"
        sent = post(deed, agent=agent)
        if agent == "slow":
            until(http, sent["id"], lambda route: route["state"] != "ready")
            look_at_processes(pid, evidence)
            files = [path for path in turns.rglob("*") if path.is_file()]
            evidence.files |= {"/".join(p.parts[-2:]): p.read_bytes() for p in files if p.exists()}
        evidence.routes[deed] = ended(http, sent["id"])
    for deed in ("answers", "shouts"):
        evidence.routes[f"{deed}, security"] = ended(http, post(deed, agent="security")["id"])
    evidence.routes["declined"] = ended(http, post("answers nobody")["id"])
    held = post("answers risky", wait_s=20)
    evidence.routes["held"] = held
    approved = http.post(f"/holds/{held['hold_id']}/approve", json={"note": "fine"})
    evidence.routes["approved"] = ended(http, held["id"])
    evidence.answers["approve"] = approved.text


BAD_REQUESTS: dict[str, dict[str, Any]] = {
    "not json": {"content": b'{"text": "' + MESSAGE.encode()},
    "not utf-8": {"content": b'{"text": "' + MESSAGE.encode() + b'\xff"}'},
    "unknown field": {"json": {"text": MESSAGE, MESSAGE: MESSAGE}},
    "wrong type": {"json": {"text": [MESSAGE]}},
    "unknown agent": {"json": {"text": MESSAGE, "agent": "nobody-here"}},
    "nul": {"json": {"text": MESSAGE + "\0"}},
    "too large": {"json": {"text": MESSAGE * 40_000}},
    "bad label": {"json": {"text": MESSAGE, "labels": [MESSAGE + "!"]}},
}


def ask_everything(http: httpx.Client, evidence: Evidence) -> None:
    """Read every page of a machine's, and provoke every kind of problem."""
    for name, request in BAD_REQUESTS.items():
        answer = http.post("/route", headers={"Content-Type": "application/json"}, **request)
        assert answer.is_client_error, (name, answer.text)
        evidence.answers[name] = answer.text
    for path in ("/metrics", "/readyz", "/agents", "/openapi.json", "/holds", "/nosuch"):
        evidence.answers[path] = http.get(path).text
    for key in (SERVICE, TOKEN):
        wrong = http.get("/routes", headers={"Authorization": f"Bearer {key}"})
        assert wrong.status_code in (401, 403)
        evidence.answers[f"key {key[8:11]}"] = wrong.text
    again = {"Idempotency-Key": "one"}
    http.post("/route", json={"text": f"answers {MESSAGE}"}, headers=again)
    other = http.post("/route", json={"text": f"answers other {MESSAGE}"}, headers=again)
    assert other.status_code == 422
    evidence.answers["mismatch"] = other.text
    for deed, route in evidence.routes.items():
        evidence.answers[f"events {deed}"] = http.get(f"/routes/{route['id']}/events").text


BAD_CONFIGS = {
    "token in the address": ("ws://127.0.0.1:1", f"ws://x:{TOKEN}@127.0.0.1:1"),
    "token in the clear": ("token_file: token", f"token: {TOKEN}"),
    "value for a place": ("{file: bank}", FINANCE),
    "refused name": ("BANK_KEY", "NODE_OPTIONS"),
    "agent that there is not": ("finance: {", "nobody: {"),
    "variable that is not set": ("SECURITY_SECRET", "UNSET"),
    "token as an argument": ("command: [", f"command: [/bin/sh, --token={TOKEN}, "),
}


def mistake_the_configuration(folder: Path) -> str:
    """Start with one fault after the other; return all that was said."""
    text = (folder / "clawmarshal.yaml").read_text()
    bad = folder / "bad.yaml"
    said = ""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRON.items():
            patch.setenv(name, value)
        for name, (old, new) in BAD_CONFIGS.items():
            assert old in text, name
            bad.write_text(text.replace(old, new).replace("ledger.db", "bad.db"))
            with pytest.raises(ClawmarshalError) as caught:
                wire(settings_of(bad))
            said += str(caught.value)
    (folder / "bank").chmod(0o644)
    code, out, err = run("serve", "--config", str(bad), environ=ENVIRON)
    assert code != 0
    return said + out + err


def ledger_files(folder: Path) -> bytes:
    """Read everything the ledger keeps, its journal included."""
    files = [path for path in folder.rglob("*") if "ledger.db" in str(path) and path.is_file()]
    return b"".join(path.read_bytes() for path in files)


def events_in(ledger: Path) -> str:
    with sqlite3.connect(ledger) as connection:
        rows = connection.execute("SELECT * FROM events").fetchall()
    connection.close()
    assert len(rows) > 50
    return json.dumps(rows)


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evidence]:
    folder = tmp_path_factory.mktemp("planted")
    folder.chmod(0o700)
    fake, found = configure(folder), Evidence()
    config = folder / "clawmarshal.yaml"
    with opened_ledger(settings_of(config)) as ledger:
        key = ledger.create_key("test", "ann", ["route", "pin", "review", "admin"])
    with (
        serving("--config", str(config), environ=ENVIRON, program=LOUD_PROGRAM) as process,
        caller(process.address(), key) as http,
    ):
        go_through_everything(http, process.pid, found, folder / "turns")
        ask_everything(http, found)
        found.left = list((folder / "turns").glob("*/at-*"))
        found.ledger = ledger_files(folder)
        process.stop()
        found.log = "\n".join(process.output + process.errors)
    found.left += list((folder / "turns").iterdir())
    found.ledger += ledger_files(folder)
    found.events = events_in(folder / "ledger.db")
    found.calls = fake.notes("starts")
    found.config_errors = mistake_the_configuration(folder)
    yield found


def test_every_end_was_reached(evidence: Evidence) -> None:
    ends = {deed: (route["state"], route["ran"]) for deed, route in evidence.routes.items()}

    assert ends == {
        "answers": ("done", True),
        "hangs": ("unknown", None),
        "crashes": ("unknown", None),
        "refuses": ("failed", False),
        "shouts": ("done", True),
        "shouts-and-fails": ("unknown", None),
        "shouts-and-stays": ("unknown", None),
        "answers, security": ("done", True),
        "shouts, security": ("done", True),
        "declined": ("declined", None),
        "held": ("held", None),
        "approved": ("done", True),
    }


def test_a_child_knows_its_own_agents_secret_and_no_other(evidence: Evidence) -> None:
    turns = [call for call in evidence.calls if "--json" in call["argv"][-1:]]
    own = {"finance": FINANCE, "security": SECURITY}

    asked = set()
    for call in evidence.calls:
        agents = [a.removeprefix("--agent=") for a in call["argv"] if a.startswith("--agent=")]
        asked |= set(agents)
        may_know = {own[a] for a in agents if a in own}
        environment = json.dumps(call["environment"])
        assert {secret for secret in SECRETS if secret in environment} == may_know, call["argv"]
        assert MESSAGE not in environment
    assert asked == {"finance", "security", "slow"}
    assert len(turns) >= len(evidence.routes) - 2


def test_no_argv_holds_any(evidence: Evidence) -> None:
    argvs = json.dumps([call["argv"] for call in evidence.calls]) + str(
        [argv for argv, _ in evidence.processes]
    )

    assert not [planted for planted in (*SECRETS, MESSAGE) if planted in argvs]


def test_no_process_of_ours_inherits_any(evidence: Evidence) -> None:
    commands = " ".join(argv for argv, _ in evidence.processes)
    assert "spawner.py" in commands and "--agent=slow" in commands

    for argv, environ in evidence.processes:
        assert not [planted for planted in (*SECRETS, MESSAGE) if planted in environ], argv


def test_no_log_line_holds_any(evidence: Evidence) -> None:
    assert '"level":"debug"' in evidence.log and "INSERT INTO routes" in evidence.log

    assert not [planted for planted in (*SECRETS, MESSAGE) if planted in evidence.log]


def test_no_answer_to_a_machine_holds_any(evidence: Evidence) -> None:
    assert "clawmarshal_routes_in_state" in evidence.answers["/metrics"]

    for name, text in evidence.answers.items():
        assert not [planted for planted in SECRETS if planted in text], name
        if name != "/holds":  # a reviewer sees the message
            assert MESSAGE not in text, name


def test_no_route_shows_a_secret_that_its_cli_shouted(evidence: Evidence) -> None:
    for deed, route in evidence.routes.items():
        shown = json.dumps(route)
        assert not [secret for secret in SECRETS if secret in shown], deed


def test_no_event_and_no_page_of_the_ledger_holds_any(evidence: Evidence) -> None:
    assert MESSAGE.encode() in evidence.ledger, "the message itself belongs there"

    assert MESSAGE not in evidence.events
    assert not [secret for secret in SECRETS if secret.encode() in evidence.ledger]


def test_files_hold_what_belongs_there_and_are_gone(evidence: Evidence) -> None:
    names = {name.rpartition("/")[2] for name in evidence.files}
    assert {"message.txt", "client.json"} <= names

    for name, content in evidence.files.items():
        found = {planted for planted in (*SECRETS, MESSAGE) if planted.encode() in content}
        file = name.rpartition("/")[2]
        assert found == {"message.txt": {MESSAGE}, "client.json": {TOKEN}}.get(file, set()), name
    assert evidence.left == []


def test_no_error_of_a_configuration_holds_any(evidence: Evidence) -> None:
    said = evidence.config_errors
    for words in ("user name", "is refused", "open to others", "UNSET is not set", "nobody"):
        assert words in said

    assert not [secret for secret in SECRETS if secret in said]


@pytest.mark.parametrize("secret", SECRETS)
def test_what_was_planted_is_where_it_belongs(evidence: Evidence, secret: str) -> None:
    """Else the search would find nothing because nothing was there."""
    places = {
        SERVICE: True,
        TOKEN: any(TOKEN.encode() in content for content in evidence.files.values()),
        FINANCE: FINANCE in json.dumps(evidence.calls),
        SECURITY: SECURITY in json.dumps(evidence.calls),
    }

    assert places[secret]
