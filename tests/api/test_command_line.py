"""The command line: what it prints, its exit codes, and errors that say the mend."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clawmarshal.api.cli import main
from clawmarshal.api.opening import opened_ledger
from tests.support.fake_openclaw import write_fake
from tests.support.service import (
    ROSTER,
    SAFE,
    configure,
    run,
    run_python,
    settings_of,
    wired,
)

Said = Callable[..., tuple[int, str, str]]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    """Run a command in this process; return exit code and both outputs."""

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def roster(tmp_path: Path) -> Path:
    path = tmp_path / "fleet.yaml"
    path.write_text(ROSTER, encoding="utf-8")
    return path


ROUTE_FIELDS = {
    "outcome",
    "agent",
    "reason",
    "via",
    "confidence",
    "margin",
    "candidates",
    "risk",
    "reasons",
    "model",
    "roster_digest",
    "latency_ms",
}


def test_route_prints_one_object(said: Said, roster: Path) -> None:
    code, out, err = said("route", "--roster", str(roster), "--model", "lexical", "--json", SAFE)
    route = json.loads(out)
    assert (code, err) == (0, "")
    assert route.keys() >= ROUTE_FIELDS
    assert {c["agent"] for c in route["candidates"]} == {"finance", "security", "none_of_these"}
    assert set(route["risk"]) >= {"top", "probabilities"}
    assert route["notes"] == ["lexical-only"]


def test_route_reads_a_file_too(said: Said, roster: Path, tmp_path: Path) -> None:
    file = tmp_path / "message.txt"
    file.write_text(SAFE, encoding="utf-8")
    arguments = ("route", "--roster", str(roster), "--model", "lexical", "--json")
    by_file = json.loads(said(*arguments, "--text-file", str(file))[1])
    by_text = json.loads(said(*arguments, SAFE)[1])
    assert by_file["message_digest"] == by_text["message_digest"]


def test_route_without_json_is_for_people(said: Said, roster: Path) -> None:
    code, out, _ = said("route", "--roster", str(roster), "--model", "lexical", SAFE)
    assert code == 0
    assert "outcome" in out
    assert "finance" in out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty or blank"),
        (" \n", "empty or blank"),
        ("a\x00b", "NUL"),
        ("a\ud800b", "surrogate"),
        ("\ufeffhello", "byte order mark"),
    ],
    ids=["empty", "blank", "NUL", "lone surrogate", "BOM"],
)
def test_a_text_that_cannot_be_routed_is_one_line_and_exit_1(
    said: Said, roster: Path, text: str, words: str
) -> None:
    code, out, err = said("route", "--roster", str(roster), "--model", "lexical", "--json", text)
    assert (code, out) == (1, "")
    assert words in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("raw", "words"),
    [(b"\xff\xfe", "not UTF-8"), (b"x" * (256 * 1024 + 1), "the limit is"), (None, "No such file")],
    ids=["not UTF-8", "too large", "missing"],
)
def test_a_file_that_cannot_be_routed_is_exit_1(
    said: Said, roster: Path, tmp_path: Path, raw: bytes | None, words: str
) -> None:
    file = tmp_path / "message.txt"
    if raw is not None:
        file.write_bytes(raw)
    code, _, err = said("route", "--roster", str(roster), "--text-file", str(file))
    assert code == 1
    assert words in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("route", "--roster", "x"),
        ("route", "--roster", "x", "--text-file", "y", "text"),
        ("route", "text"),
        ("route", "--roster", "x", "--no-such-option", "text"),
        ("serve",),
        ("serve", "--port", "70000", "--config", "x"),
        ("keys", "create", "--name", "n", "--scopes", "rout", "--config", "x"),
        ("keys", "create", "--name", "n", "--scopes", ",", "--config", "x"),
        ("keys", "create", "--name", " ", "--scopes", "route", "--config", "x"),
        ("holds", "reject", "hd_0", "--config", "x"),
        ("holds", "reject", "hd_0", "--config", "x", "--reason", " "),
        ("holds", "list", "--config", "x", "--state", "odd"),
        ("no-such-command",),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_exit_2(said: Said, arguments: tuple[str, ...]) -> None:
    code, out, err = said(*arguments)
    assert (code, out) == (2, "")
    assert err


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_is_exit_0_for_every_command(said: Said, option: str) -> None:
    for command in ((), ("serve",), ("route",), ("holds", "approve"), ("keys",), ("demo",)):
        assert said(*command, option)[0] == 0


def test_version_is_one_line(said: Said) -> None:
    code, out, _ = said("--version")
    assert code == 0
    assert out.startswith("clawmarshal ")


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (None, "no roster file"),
        (b"", "is empty"),
        (ROSTER.encode()[:40], "fault"),
        (b"agents: [{id: a, description: 'x'", "cut off"),
    ],
    ids=["missing", "empty", "half written", "cut off"],
)
def test_a_roster_that_cannot_be_used_is_exit_1(
    said: Said, tmp_path: Path, raw: bytes | None, words: str
) -> None:
    file = tmp_path / "fleet.yaml"
    if raw is not None:
        file.write_bytes(raw)
    code, out, _ = said("roster", "check", str(file))
    assert code == 1
    assert words in out
    code, _, err = said("route", "--roster", str(file), "--model", "lexical", SAFE)
    assert code == 1
    assert "Traceback" not in err


def test_roster_check_says_what_is_in_a_good_file(said: Said, roster: Path) -> None:
    code, out, _ = said("roster", "check", str(roster), "--json")
    found = json.loads(out)
    assert (code, found["ok"], found["agents"], found["faults"]) == (0, True, 2, [])
    assert said("roster", "check", str(roster))[0] == 0


def test_roster_check_names_thin_remits_as_warnings(said: Said, tmp_path: Path) -> None:
    file = tmp_path / "thin.yaml"
    file.write_text("agents:\n  - {id: a, description: Things.}\n", encoding="utf-8")
    code, out, _ = said("roster", "check", str(file))
    assert code == 0
    assert "warning: a:" in out


def test_evaluate_writes_a_line_per_row(said: Said, roster: Path, tmp_path: Path) -> None:
    data, out_file = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    rows = [{"id": "r1", "text": SAFE, "intent": "x", "slice": 3}, {"id": 2, "text": "Who am I?"}]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    code, out, err = said(
        "evaluate",
        *("--roster", str(roster), "--data", str(data), "--predictions", str(out_file)),
        *("--model", "lexical"),
    )
    assert (code, out) == (0, "")
    assert "2 rows" in err
    lines = [json.loads(line) for line in out_file.read_text().splitlines()]
    assert [line["id"] for line in lines] == ["r1", 2]
    assert lines[0].keys() >= {
        "id", "agent", "confidence", "top", "p_none", "risk", "latency_ms",
    }  # fmt: skip
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize(
    ("raw", "words"),
    [(None, "cannot be read"), (b'{"id": 1}\n', "text"), (b"not json\n", "line 1")],
    ids=["missing", "no text", "no JSON"],
)
def test_evaluate_says_which_line_is_wrong(
    said: Said, roster: Path, tmp_path: Path, raw: bytes | None, words: str
) -> None:
    data, out_file = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    if raw is not None:
        data.write_bytes(raw)
    code, _, err = said(
        "evaluate",
        *("--roster", str(roster), "--data", str(data), "--predictions", str(out_file)),
    )
    assert code == 1
    assert words in err
    assert not out_file.exists()


def test_keys_are_printed_alone_listed_and_revoked(said: Said, tmp_path: Path) -> None:
    config = str(configure(tmp_path))
    code, key, _ = said(
        "keys", "create", "--name", "mail", "--scopes", "route,review", "--config", config
    )
    assert code == 0
    assert key.split() == [key.strip()]
    with opened_ledger(settings_of(tmp_path / "clawmarshal.yaml")) as ledger:
        principal = ledger.authenticate(key.strip())
    assert principal is not None
    assert (principal.person, sorted(principal.scopes)) == ("mail", ["review", "route"])
    (row,) = json.loads(said("keys", "list", "--config", config, "--json")[1])["keys"]
    assert (row["name"], row["scopes"], row["revoked_at"]) == ("mail", ["review", "route"], None)
    assert key.strip() not in said("keys", "list", "--config", config)[1]
    assert said("keys", "revoke", row["id"], "--config", config)[0] == 0
    with opened_ledger(settings_of(tmp_path / "clawmarshal.yaml")) as ledger:
        assert ledger.authenticate(key.strip()) is None
    code, _, err = said("keys", "revoke", "ck_0", "--config", config)
    assert (code, err) == (1, "clawmarshal: no such key\n")


def test_a_key_may_belong_to_another_person(said: Said, tmp_path: Path) -> None:
    config = str(configure(tmp_path))
    arguments = ("--name", "phone", "--person", "ann", "--scopes", "review", "--config", config)
    made = json.loads(said("keys", "create", *arguments, "--json")[1])
    assert (made["name"], made["person"], made["scopes"]) == ("phone", "ann", ["review"])


def test_a_ledger_without_its_folder_is_exit_1_with_the_mend(said: Said, tmp_path: Path) -> None:
    config = configure(tmp_path)
    config.write_text(config.read_text().replace("ledger.db", "missing/ledger.db"))
    code, out, err = said(
        "keys", "create", "--name", "n", "--scopes", "route", "--config", str(config)
    )
    assert (code, out) == (1, "")
    assert "make it" in err


def test_every_fault_of_a_configuration_is_on_the_error_stream(said: Said, tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text("servr: {}\nmode: dry\n", encoding="utf-8")
    code, _, err = said("serve", "--config", str(config))
    assert code == 1
    for words in ("did you mean server?", "mode:", "roster is missing", "ledger is missing"):
        assert words in err


HOSTILE = "risky \x1b[31m\u202e text"


def hold_one(folder: Path, text: str) -> dict[str, Any]:
    """Make a configuration whose ledger has one hold."""
    cli = write_fake(folder)
    config = configure(folder, command=cli.command)
    with wired(config) as (client, service):
        key = service.ledger.create_key("n", "ann", ["route"])
        body = {"text": text, "sender": "s", "channel": "mail"}
        route = client.request("POST", "/route", key=key, json=body).json()
    assert route["state"] == "held"
    return {"config": str(config), "hold": route["hold_id"], "route": route["id"], "cli": cli}


@pytest.fixture
def held(tmp_path: Path) -> dict[str, Any]:
    return hold_one(tmp_path, "risky")


@pytest.fixture
def hostile(tmp_path: Path) -> dict[str, Any]:
    return hold_one(tmp_path, HOSTILE)


def test_holds_are_listed_and_shown_without_driving_the_terminal(
    said: Said, hostile: dict[str, Any]
) -> None:
    code, out, _ = said("holds", "list", "--config", hostile["config"])
    assert code == 0
    assert hostile["hold"] in out
    code, out, _ = said("holds", "show", hostile["hold"], "--config", hostile["config"])
    assert code == 0
    assert "risky" in out
    assert "gate 3" in out
    assert "\x1b" not in out
    assert "\u202e" not in out
    shown = json.loads(
        said("holds", "show", hostile["hold"], "--config", hostile["config"], "--json")[1]
    )
    assert shown["route"]["message"]["text"] == HOSTILE


def test_json_never_carries_raw_control_characters(said: Said, hostile: dict[str, Any]) -> None:
    out = said("holds", "show", hostile["hold"], "--config", hostile["config"], "--json")[1]
    assert out.isascii()
    assert "\x1b" not in out


def test_a_hold_is_approved_under_a_person_s_name(said: Said, held: dict[str, Any]) -> None:
    options = ("--config", held["config"], "--person", "rita", "--note", "looked")
    code, out, err = said("holds", "approve", held["hold"], *options, "--json")
    assert (code, err) == (0, ""), err
    hold = json.loads(out)
    assert (hold["state"], hold["person"], hold["note"]) == ("approved", "rita", "looked")
    code, _, err = said("holds", "reject", held["hold"], *options[:4], "--reason", "no")
    assert code == 1
    assert "approve" in err
    # The running service launches it; here that is the next one to start.
    with wired(Path(held["config"])) as (client, service):
        record = client.run(service.desk.wait(held["route"], wait_s=20))
    assert record.state == "done"
    assert len(held["cli"].launches()) == 1


def test_a_hold_is_rejected_with_its_reason(said: Said, held: dict[str, Any]) -> None:
    options = ("--config", held["config"], "--person", "rita")
    code, out, _ = said("holds", "reject", held["hold"], *options, "--reason", "spam")
    assert code == 0
    assert "rejected by rita" in out
    listed = said("holds", "list", "--config", held["config"], "--state", "all", "--json")[1]
    (hold,) = json.loads(listed)["holds"]
    assert (hold["state"], hold["note"]) == ("rejected", "spam")
    assert json.loads(said("holds", "list", "--config", held["config"], "--json")[1])["holds"] == []


def test_an_unknown_hold_is_exit_1(said: Said, held: dict[str, Any]) -> None:
    for command in (("show",), ("approve",), ("reject", "--reason", "no")):
        name, *more = command
        code, _, err = said("holds", name, "hd_0", "--config", held["config"], *more)
        assert code == 1
        assert "Traceback" not in err


def test_the_demo_walks_both_ways_and_says_what_it_is(said: Said) -> None:
    code, out, _ = said("demo", "--json")
    told = json.loads(out)
    assert code == 0
    assert told["transport"] == "stand-in"
    assert [step["state"] for step in told["steps"]] == ["done", "held", "done"]
    held_step = " ".join(told["steps"][1]["lines"])
    assert "gate 3" in held_step
    assert "[stand-in]" in " ".join(told["steps"][2]["lines"])


def test_help_loads_no_model_no_server_and_no_database() -> None:
    code, out, _ = run_python(
        "import sys; from clawmarshal.api.cli import main; main(['--help']); "
        "heavy = {'fastapi', 'numpy', 'pydantic', 'sqlalchemy'}; "
        "print('loaded:', *sorted(heavy & set(sys.modules)))"
    )
    assert code == 0
    assert out.splitlines()[-1] == "loaded:"


def test_a_crash_is_one_line_without_a_traceback(
    said: Said, roster: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_model.py").write_text("def make():\n    return 1 / 0\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    code, _, err = said("route", "--roster", str(roster), "--model", "broken_model:make", SAFE)
    assert code == 1
    assert err.startswith("clawmarshal: internal error, ZeroDivisionError in make")
    assert err.count("\n") == 1


def test_the_demo_tells_people_why(said: Said) -> None:
    code, out, _ = said("demo")
    assert code == 0
    for words in ("no OpenClaw runs", "gate 3", "[stand-in]", "approve for"):
        assert words in out


def test_route_reads_standard_input(roster: Path) -> None:
    code, out, _ = run(
        *("route", "--roster", str(roster), "--model", "lexical", "--text-file", "-", "--json"),
        stdin=SAFE,
    )
    assert code == 0
    assert json.loads(out)["outcome"]


def test_evaluate_can_say_it_in_json(said: Said, roster: Path, tmp_path: Path) -> None:
    data, out_file = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    data.write_text(json.dumps({"id": 1, "text": SAFE}) + "\n", encoding="utf-8")
    arguments = ("--roster", str(roster), "--data", str(data), "--model", "lexical", "--json")
    code, out, _ = said("evaluate", *arguments, "--predictions", str(out_file))
    assert (code, json.loads(out)["rows"]) == (0, 1)
    code, _, err = said("evaluate", *arguments, "--predictions", str(tmp_path / "no" / "out"))
    assert code == 1
    assert "cannot be written" in err


def test_a_long_queue_says_that_there_is_more(said: Said, hostile: dict[str, Any]) -> None:
    with wired(Path(hostile["config"])) as (client, service):
        key = service.ledger.create_key("n", "ann", ["route"])
        client.request("POST", "/route", key=key, json={"text": "risky again"})
    out = said("holds", "list", "--config", hostile["config"], "--limit", "1")[1]
    assert "and more" in out


def test_an_unreadable_setting_from_the_environment_is_exit_1(
    said: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = configure(tmp_path)
    monkeypatch.setenv("CLAWMARSHAL_SERVER__ALLOWED_HOSTS", "[oops")
    code, _, err = said("keys", "list", "--config", str(config))
    assert code == 1
    assert "server.allowed_hosts" in err
