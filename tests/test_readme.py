"""README.md, run as a newcomer runs it: on a fresh copy, every block, in order."""

import json
import re
import shlex
import stat
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer
import yaml

from clawmarshal.api.cli import app
from clawmarshal.api.settings import load_settings
from clawmarshal.roster.loader import load_roster
from tests.support.fake_openclaw import write_fake
from tests.support.fenced import ROOT, Block, blocks_of, documents, headings_of, links_of
from tests.support.newcomer import Running, Shell, copy_tree, free_port, running, shell

README = ROOT / "README.md"
READY_S = 90.0
INSTALL_S = 300.0
"""What a slow index may take here; that it is under READY_S is a test of its own."""
BLOCKS = blocks_of(README, "sh", "python", "yaml", "json5")
ORDER = ("Install", "Five minutes", "The roster file", "Policy", "Holds and review", "HTTP API",
         "Command line", "Settings", "Operations", "Decisions")  # fmt: skip
NOT_RUN = {"make test", "make check"}
"""They run this file; CI runs them."""

pytestmark = pytest.mark.timeout(2 * INSTALL_S)


@dataclass(frozen=True, slots=True)
class Desk:
    """A running `make run`, and the shell beside it."""

    folder: Path
    address: str
    keys: dict[str, str]
    ready_s: float
    said: list[str]
    process: Running
    shell: Shell

    def get(self, path: str) -> Any:
        headers = {"Authorization": f"Bearer {self.keys['REVIEW_KEY']}"}
        answer = httpx.get(self.address + path, headers=headers, timeout=30, trust_env=False)
        return answer.raise_for_status().json()


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = copy_tree(tmp_path_factory.mktemp("clone"))
    started = time.monotonic()
    with running("make", "run", f"PORT={free_port()}", folder=folder) as process:
        said = [process.line(INSTALL_S) for _ in range(4)]
        address, route, review, _ = (line.partition(": ")[2] for line in said)
        ready = httpx.get(f"{address}/readyz", trust_env=False)
        ready_s = time.monotonic() - started
        assert ready.status_code == 200
        for block in BLOCKS:
            if block.file is not None:
                (folder / block.file).write_text(block.text, encoding="utf-8")
        keys = {"ROUTE_KEY": route, "REVIEW_KEY": review}
        with shell(folder) as beside:
            yield Desk(folder, address, keys, ready_s, said, process, beside)


def sh(word: str) -> Block:
    """Return the one block of commands that holds a word."""
    (found,) = [block for block in BLOCKS if block.language == "sh" and word in block.text]
    return found


def test_its_parts_stand_in_their_order() -> None:
    headings = [heading for heading in headings_of(README) if heading in ORDER]
    assert tuple(headings) == ORDER


def test_make_run_prints_four_lines_and_says_that_a_stand_in_answers(desk: Desk) -> None:
    patterns = (
        r"address: http://127\.0\.0\.1:\d+",
        r"route key: cmk_\S+",
        r"review key: cmk_\S+",
        rf"review page: {desk.address}/review",
    )
    for pattern, line in zip(patterns, desk.said, strict=True):
        assert re.fullmatch(pattern, line)
    assert desk.ready_s < READY_S
    assert any("a stand-in answers" in line for line in desk.process.errors)
    assert "Traceback" not in "\n".join(desk.process.errors)


# The blocks of the five minutes need each other, so they are one test, each part with its meaning.
def test_the_five_minutes_do_what_they_say(desk: Desk) -> None:
    assignments = sh("ROUTE_KEY=cmk_")
    values = {"ADDRESS": desk.address, **desk.keys}
    assert assignments.text == (
        "ADDRESS=http://127.0.0.1:8484\nROUTE_KEY=cmk_…\nREVIEW_KEY=cmk_…\n"
    )
    desk.shell.run("\n".join(f"{name}={shlex.quote(value)}" for name, value in values.items()))

    ready = json.loads(desk.shell.run(sh("/readyz").text))
    assert ready["status"] == "ready"
    assert ready["transport"].startswith("stand-in")

    first = json.loads(desk.shell.run(sh("Which invoices").text))
    assert (first["state"], first["outcome"], first["agent"]) == ("done", "dispatch", "billing")
    assert first["reply"]["text"].startswith("[stand-in]")

    second = json.loads(desk.shell.run(sh("Refund the").text))
    assert (second["state"], second["reason"], second["agent"]) == ("held", "risk", "billing")
    assert (second["ran"], second["attempts"]) == (None, [])

    shown = desk.shell.run(sh("holds show").text)
    assert second["hold_id"] in shown
    assert re.search(r"^suggestion +billing$", shown, re.MULTILINE)
    assert re.search(r"^ +gate 3: The rules say high", shown, re.MULTILINE)

    approve = sh("/approve").text
    approved = json.loads(desk.shell.run(approve))
    assert (approved["state"], approved["agent"]) == ("approved", "billing")
    after = json.loads(desk.shell.run(sh("/routes/$ROUTE").text))
    assert (after["id"], after["state"], after["ran"]) == (second["id"], "done", True)
    assert json.loads(desk.shell.run(approve)) == approved
    again = desk.get(f"/routes/{second['id']}?wait_s=5")
    assert [attempt["number"] for attempt in again["attempts"]] == [1]

    walked = desk.shell.run(sh("http_client.py").text)
    assert "approved for billing" in walked
    assert "no OpenClaw runs, a stand-in answers" in walked
    listed = desk.shell.run(sh("holds list").text)
    assert second["hold_id"] in listed
    assert listed.count("approved") == 2


def test_the_package_installs_with_its_extra(desk: Desk) -> None:
    said = desk.shell.run(sh("pip install").text, timeout_s=INSTALL_S)
    assert re.fullmatch(r"clawmarshal \d+\.\d+\.\d+\S*", said.splitlines()[-1])
    assert "numpy" in desk.shell.run("venv/bin/pip list --format=freeze")


def test_the_example_program_decides(desk: Desk) -> None:
    said = desk.shell.run(sh("examples/embed.py").text)
    assert "Dispatch to finance" in said
    assert "Hold: risk" in said


def test_the_roster_block_is_a_good_roster(desk: Desk) -> None:
    said = desk.shell.run(sh("roster check").text)
    assert said.startswith("roster.yaml: 2 agents")
    assert "warning" not in said


def test_a_decision_is_shown_with_its_gate(desk: Desk) -> None:
    said = desk.shell.run(sh("clawmarshal route").text)
    assert re.search(r"^agent +home$", said, re.MULTILINE)
    assert re.search(r"^ +gate 3: ", said, re.MULTILINE)


def test_sixty_messages_are_evaluated(desk: Desk) -> None:
    desk.shell.run(sh("clawmarshal evaluate").text)
    lines = (desk.folder / ".run" / "predictions.jsonl").read_text().splitlines()
    assert len(lines) == 60
    assert {"id", "agent", "confidence"} <= json.loads(lines[0]).keys()


def test_the_service_of_your_own_openclaw_serves(desk: Desk, tmp_path: Path) -> None:
    settings = load_settings(desk.folder / "clawmarshal.yaml", environ={})
    assert settings.roster == desk.folder / "roster.yaml"
    assert settings.transport.openclaw_config == desk.folder / "client.json5"
    # The paths of Node and OpenClaw are the reader's own; here a scripted CLI stands there.
    cli = write_fake(tmp_path)
    environ = {
        "CLAWMARSHAL_TRANSPORT__COMMAND": json.dumps(list(cli.command)),
        "CLAWMARSHAL_SERVER__PORT": "0",
    }
    commands = ("bash", "-e", "-c", sh("clawmarshal serve").text)
    with running(*commands, folder=desk.folder, environ=environ) as process:
        key = process.line(60)
        address = process.line(60).removeprefix("address: ")
        with httpx.Client(
            base_url=address, headers={"Authorization": f"Bearer {key}"}, trust_env=False
        ) as http:
            assert http.get("/readyz").json()["transport"] == "openclaw 2026.9.6"
            body = {"text": "When is the sales tax return due?", "wait_s": 30}
            route = http.post("/route", json=body, timeout=40).json()
            assert (route["state"], route["agent"]) == ("done", "bookkeeping")
        code, left = process.interrupt()
    assert (code, left) == (0, [])
    assert "Traceback" not in "\n".join(process.errors)
    assert [launch["argv"][1] for launch in cli.launches()] == ["--agent=bookkeeping"]
    assert stat.S_IMODE((desk.folder / "client.json5").stat().st_mode) == 0o600


def test_blocks_of_commands_in_the_other_pages_run(desk: Desk) -> None:
    desk.shell.run(f"PATH=$PWD/.venv/bin:$PATH\nKEY={shlex.quote(desk.keys['ROUTE_KEY'])}")
    ran = []
    for path in documents():
        for block in blocks_of(path, "sh") if path != README else ():
            lines = {line.split("#")[0].strip() for line in block.text.splitlines()}
            if lines <= NOT_RUN:
                continue
            where = desk.address.removeprefix("http://")
            said = desk.shell.run(block.text.replace("localhost:8484", where))
            assert said, f"{path.name}:{block.line} printed nothing"
            if said.startswith("{"):
                assert not {"detail", "code", "error"} & json.loads(said).keys(), said
            ran.append(f"{path.name}:{block.line}")
    assert len(ran) >= 2, ran


def test_the_python_block_holds_and_says_why(tmp_path: Path) -> None:
    (block,) = [block for block in BLOCKS if block.language == "python"]
    file = tmp_path / "block.py"
    file.write_text(block.text, encoding="utf-8")
    with running(sys.executable, str(file), folder=tmp_path) as process:
        assert process.line(60) == "Hold: no_match"
        assert process.ended(60)[0] == 0
    assert process.errors == []
    mended = block.text.replace("access.", "access, logins from abroad.").rpartition("print(")[0]
    file.write_text(mended + "print(route.outcome, route.agent)\n", encoding="utf-8")
    with running(sys.executable, str(file), folder=tmp_path) as process:
        assert process.line(60) == "dispatch security"


def test_every_block_of_commands_is_run_by_a_test_above() -> None:
    words = ("make run", "ROUTE_KEY=cmk_", "/readyz", "Which invoices", "Refund the", "holds show",
             "/approve", "/routes/$ROUTE", "http_client.py", "holds list", "pip install",
             "examples/embed.py", "roster check", "clawmarshal route", "clawmarshal evaluate",
             "clawmarshal serve")  # fmt: skip
    covered = {sh(word).line for word in words}
    assert covered == {block.line for block in BLOCKS if block.language == "sh"}
    files = {block.file for block in BLOCKS if block.language in ("yaml", "json5")}
    assert files == {"roster.yaml", "clawmarshal.yaml", "client.json5"}


# Last: it ends what the others use.
def test_ctrl_c_ends_cleanly_and_a_second_run_keeps_the_ledger(desk: Desk) -> None:
    before = {route["id"] for route in desk.get("/routes")["routes"]}
    code, left = desk.process.interrupt()
    assert left == []
    # The service's own exit is 0 (tests/api/test_serve.py); make itself dies of the signal.
    assert code in (0, -2, 130)
    assert not [line for line in desk.process.errors if "Traceback" in line or "Error" in line]
    port = free_port()
    started = time.monotonic()
    with running("make", "run", f"PORT={port}", folder=desk.folder) as process:
        said = [process.line(60) for _ in range(4)]
        assert said[0] == f"address: http://127.0.0.1:{port}"
        assert time.monotonic() - started < 30
        key = said[2].removeprefix("review key: ")
        assert key != desk.keys["REVIEW_KEY"]
        headers = {"Authorization": f"Bearer {key}"}
        kept = httpx.get(f"{said[0][9:]}/routes", headers=headers, trust_env=False).json()
        assert {route["id"] for route in kept["routes"]} == before != set()
        with running("make", "run", f"PORT={port}", folder=desk.folder) as other:
            code, printed = other.ended(60)
        assert (code, printed) == (2, [])
        (line,) = [line for line in other.errors if not line.startswith("make:")]
        assert "in use" in line
        assert "make run: PORT=" in line


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    assert [link for link in links_of(path) if not (path.parent / link).exists()] == []


DATA_BLOCKS = [
    pytest.param(path, block, id=f"{path.name}:{block.line}")
    for path in documents()
    for block in blocks_of(path, "yaml", "json")
]


@pytest.mark.parametrize(("path", "block"), DATA_BLOCKS)
def test_blocks_of_data_are_what_they_claim(path: Path, block: Block, tmp_path: Path) -> None:
    if block.language == "json":
        assert json.loads(block.text)
        return
    file = tmp_path / "block.yaml"
    file.write_text(block.text, encoding="utf-8")
    keys = yaml.safe_load(block.text).keys()
    if "agents" in keys:
        assert len(load_roster(file)) > 0
        return
    # A fragment of a configuration stands on the least there is.
    least = "server: {}\nroster: r.yaml\nledger: sqlite:///l.db\ntransport: {stand_in: true}\n"
    missing = [line for line in least.splitlines() if line.split(":")[0] not in keys]
    file.write_text("\n".join([block.text, *missing]), encoding="utf-8")
    load_settings(file, environ={})


def root_command() -> Any:
    """Return the whole command line; typer brings its own click, without types of its own."""
    return typer.main.get_command(app)


def named_commands() -> list[Any]:
    """Return each command line of ours that a page names, in a block or in its text."""
    found = []
    for path in documents():
        text = path.read_text(encoding="utf-8").replace("\\\n", " ").replace("\\|", "|")
        for match in re.finditer(r"(?:^|`|bin/)clawmarshal ([a-z][^`\n]*)", text, re.MULTILINE):
            words = match[1].split("#")[0].split()
            found.append(pytest.param(words, id=f"{path.name}: {match[1][:40]}"))
    return found


@pytest.mark.parametrize("words", named_commands())
def test_commands_that_pages_name_exist(words: list[str]) -> None:
    commands, rest = [root_command()], list(words)
    while any(hasattr(command, "commands") for command in commands):
        names, rest = rest[0].split("|"), rest[1:]
        commands = [command.commands[name] for command in commands for name in names]
    options = {word for word in rest if word.startswith("--")}
    for command in commands:
        assert options <= {option for known in command.params for option in known.opts}


def test_every_command_has_its_row() -> None:
    rows = re.findall(r"^\| `clawmarshal (\w+)", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(set(rows)) == sorted(root_command().commands)
