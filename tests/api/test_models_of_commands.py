"""Commands that decide by a System One server of a configuration, under its policy."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from clawmarshal.api.choosing import Terms, chosen_model
from clawmarshal.api.cli import main
from clawmarshal.api.opening import opened_ledger
from clawmarshal.errors import SettingsError
from tests.support.labelled import WORDS, labelled, write
from tests.support.loopback_server import LoopbackServer
from tests.support.service import ROSTER, SAFE, configure, settings_of, wired
from tests.support.system_one_server import MODEL, choice, good, preferring
from tests.support.turns import wait_until

KEY = "sk-of-a-command"
ROWS = labelled("finance", "security", "none", count=20)
Said = Callable[..., tuple[int, str, str]]


def knowing(request: Mapping[str, Any], *, share: float = 0.8) -> httpx.Response:
    """Answer by the words of the labelled messages, sure of it by a share."""
    text = request["state"]["message"].lower()
    agent = next((name for name, words in WORDS.items() if any(w in text for w in words)), "none")
    wanted = {"agent": "none_of_these" if agent == "none" else agent, "risk": "low"}
    wanted["agent_reversed"] = wanted["agent"]
    answers = {}
    for name, question in request["questions"].items():
        rest = (1 - share) / (len(question["criteria"]) - 1)
        answers[name] = choice(dict.fromkeys(question["criteria"], rest) | {wanted[name]: share})
    return good(answers)


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(knowing) as found:
        yield found


def written(folder: Path, server: LoopbackServer, more: str = "", *, beside: bool = False) -> str:
    """Write a configuration whose acting model, or challenger, is the server."""
    config = configure(folder, more=more)
    key = folder / "key"
    key.write_text(KEY, encoding="ascii")
    key.chmod(0o600)
    told = f"base_url: '{server.url}', name: {MODEL}, key_file: key"
    decision = f"model: system_one, {told}"
    if beside:
        decision = f"model: lexical, challenger: system_one, challenger_server: {{{told}}}"
    text = config.read_text(encoding="utf-8")
    config.write_text(
        text.replace("decision: {model: lexical}", f"decision: {{{decision}}}"), encoding="utf-8"
    )
    return str(config)


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Said:
    (tmp_path / "fleet.yaml").write_text(ROSTER, encoding="utf-8")
    write(tmp_path / "labelled.jsonl", ROWS)

    def call(command: str, *arguments: str) -> tuple[int, str, str]:
        roster = str(tmp_path / "fleet.yaml")
        fixed = (roster,) if command == "roster" else ("--roster", roster)
        words = ("roster", "check") if command == "roster" else (command,)
        data = () if command == "route" else ("--data", str(tmp_path / "labelled.jsonl"))
        code = main((*words, *fixed, *data, *arguments))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def closed(server: LoopbackServer) -> bool:
    """Whether the key went along with every request and nothing is open any more."""
    keys = {one.headers.get("authorization") for one in server.requests}
    return keys == {f"Bearer {KEY}"} and wait_until(lambda: server.open == 0)


def test_route_decides_by_the_server(said: Said, server: LoopbackServer, tmp_path: Path) -> None:
    config = written(tmp_path, server)
    code, out, _ = said("route", "--model", "system_one", "-c", config, "--json", "My tax budget?")
    route = json.loads(out)
    assert (code, route["model"], route["agent"], route["outcome"]) == (
        0,
        MODEL,
        "finance",
        "dispatch",
    )
    assert closed(server)


def test_the_server_of_the_challenger_is_meant_where_there_is_no_other(
    said: Said, server: LoopbackServer, tmp_path: Path
) -> None:
    config = written(tmp_path, server, beside=True)
    for name, model in (("system_one", MODEL), ("challenger", MODEL), ("configured", "clawm")):
        code, out, _ = said("route", "--model", name, "-c", config, "--json", "My tax budget?")
        assert code == 0
        assert json.loads(out)["model"].startswith(model)
    assert len(server.requests) == 2
    assert closed(server)


def test_a_configuration_alone_says_who_decides(
    said: Said, server: LoopbackServer, tmp_path: Path
) -> None:
    code, out, _ = said("route", "--config", written(tmp_path, server), "--json", "My tax budget?")
    assert (code, json.loads(out)["model"]) == (0, MODEL)


def test_the_fallback_answers_for_the_server_of_route(said: Said, tmp_path: Path) -> None:
    with LoopbackServer(lambda _: httpx.Response(401)) as server:
        config = Path(written(tmp_path, server))
        text = config.read_text().replace(
            "model: system_one", "model: system_one, fallback: lexical"
        )
        config.write_text(text)
        code, out, _ = said("route", "--config", str(config), "--json", SAFE)
    route = json.loads(out)
    assert (code, route["via"]) == (0, "offline")
    assert "fallback-after:auth" in route["notes"]


def test_evaluate_reports_on_the_server(said: Said, server: LoopbackServer, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    config = written(tmp_path, server)
    code, out, err = said(
        "evaluate", "--model", "system_one", "-c", config, "--report", "--report-json", str(file)
    )
    report = json.loads(file.read_text())
    assert (code, report["model"], report["errors"]) == (0, MODEL, {})
    assert report["right"]["hits"] == len(ROWS)
    assert closed(server)
    assert KEY not in out + err + file.read_text()


def test_evaluate_says_why_there_are_no_answers(said: Said, tmp_path: Path) -> None:
    with LoopbackServer(lambda _: httpx.Response(401)) as server:
        config = written(tmp_path, server)
        code, out, _ = said("evaluate", "--model", "system_one", "-c", config, "--report")
    assert code == 0
    assert f"{len(ROWS)}  auth" in out


def test_an_answer_of_another_model_is_no_answer_to_evaluate(said: Said, tmp_path: Path) -> None:
    with LoopbackServer(lambda body: _as_another(knowing(body))) as server:
        config = written(tmp_path, server)
        code, out, _ = said("evaluate", "--model", "system_one", "-c", config, "--report")
    assert code == 0
    assert f"{len(ROWS)}  model-mismatch" in out


def _as_another(response: httpx.Response) -> httpx.Response:
    return httpx.Response(200, json={**response.json(), "model": "jev-9"})


def test_evaluate_and_compare_use_the_policy_of_the_configuration(
    said: Said, server: LoopbackServer, tmp_path: Path
) -> None:
    routed = {}
    for policy in ("", "policy: {min_probability: 0.85}\n"):
        config, file = written(tmp_path, server, policy), tmp_path / "report.json"
        said("evaluate", "--config", config, "--report-json", str(file))
        _, out, _ = said("compare", "system_one", "lexical", "--config", config, "--json")
        told = json.loads(out)
        sides = [told[side]["routed"]["hits"] for side in ("first", "second")]
        routed[policy] = json.loads(file.read_text())["in_scope_routed"]["hits"], *sides
    lax, strict = routed.values()
    assert (lax[:2], strict[:2]) == ((40, 40), (0, 0))
    assert lax[2] > strict[2]


def test_a_fallback_that_the_roster_has_not_is_refused(
    said: Said, server: LoopbackServer, tmp_path: Path
) -> None:
    config = written(tmp_path, server, "policy: {fallback: finanse}\n")
    for command in (("evaluate", "--report"), ("compare", "lexical", "lexical")):
        code, _, err = said(command[0], *command[1:], "--config", config)
        assert code == 1
        assert "did you mean finance?" in err
    assert server.requests == []


def test_compare_asks_two_servers_the_same(said: Said, tmp_path: Path) -> None:
    with LoopbackServer(knowing) as first, LoopbackServer(preferring("security")) as second:
        config = Path(written(tmp_path, first))
        other = f"base_url: '{second.url}', name: {MODEL}"
        text = config.read_text().replace(
            "key_file: key",
            f"key_file: key, challenger: system_one, challenger_server: {{{other}}}",
        )
        config.write_text(text)
        code, out, _ = said("compare", "system_one", "challenger", "-c", str(config), "--json")
        told = json.loads(out)
        assert (code, told["rows"], told["agree"]["hits"]) == (0, 60, 20)
        assert [one.body for one in first.requests] == [one.body for one in second.requests]
        assert wait_until(lambda: first.open == 0 and second.open == 0)
        assert "authorization" not in second.requests[0].headers


def test_calibrate_finds_the_threshold_of_a_server(
    said: Said, server: LoopbackServer, tmp_path: Path
) -> None:
    out_file = tmp_path / "threshold.json"
    config = written(tmp_path, server)
    code, out, err = said(
        "calibrate", "--model", "system_one", "--config", config, "--out", str(out_file)
    )
    assert code == 0, err
    assert "60 labelled messages, 20 of them nobody's" in out
    assert "policy.min_probability 0.8 keeps 90% right" in out
    assert f"it holds for {MODEL} alone" in out
    assert "66.7% routed, 100.0% of it right" in out
    assert json.loads(out_file.read_text())["min_probability"] == pytest.approx(0.8, abs=1e-3)
    assert closed(server)
    assert KEY not in out + err + out_file.read_text()


def test_calibrate_refuses_a_server_without_enough_answers(said: Said, tmp_path: Path) -> None:
    with LoopbackServer(lambda _: httpx.Response(401)) as server:
        config = written(tmp_path, server)
        code, _, err = said("calibrate", "--model", "system_one", "--config", config)
    assert code == 1
    assert "0 of 60 labelled messages got a usable answer and 50 are needed (auth 60)" in err


def test_calibrate_takes_what_reviewers_approved_for_a_server_too(
    said: Said, server: LoopbackServer, tmp_path: Path
) -> None:
    config = Path(written(tmp_path, server))
    with wired(config) as (client, service):
        key = service.ledger.create_key("test", "ann", ["route", "review"])
        for number in range(2):
            body = {"text": f"risky tax matter {number}"}
            held = client.request("POST", "/route", key=key, json=body).json()
            path = f"/holds/{held['hold_id']}/approve"
            assert client.request("POST", path, key=key, json={}).status_code == 200
    code, out, err = said("calibrate", "--model", "system_one", "--config", str(config), "--json")
    assert code == 0, err
    assert json.loads(out)["rows"] == 62


def test_calibrate_takes_a_model_by_its_import_path(said: Said) -> None:
    code, out, err = said("calibrate", "--model", "tests.support.service:model")
    assert code == 0, err
    assert "none keeps 90% right" in out


def test_roster_check_asks_the_server_under_the_policy_of_the_configuration(
    said: Said, server: LoopbackServer, tmp_path: Path
) -> None:
    config = written(tmp_path, server, "policy: {min_probability: 0.9}\n")
    code, out, _ = said("roster", "--model", "system_one", "--config", config, "--json")
    codes = {(one["code"], *one["agents"]) for one in json.loads(out)["warnings"]}
    assert code == 0
    assert ("unreachable-threshold", "finance") in codes
    assert closed(server)


@pytest.mark.parametrize("command", ["route", "evaluate", "compare", "calibrate", "roster"])
def test_a_server_needs_a_configuration_and_one_that_names_it(
    said: Said, tmp_path: Path, command: str
) -> None:
    arguments = {
        "route": ("--model", "system_one", "hello"),
        "evaluate": ("--model", "system_one", "--report"),
        "compare": ("lexical", "system_one"),
        "calibrate": ("--model", "system_one"),
        "roster": ("--model", "system_one"),
    }[command]
    code, _, err = said(command, *arguments)
    assert code == 1
    assert "system_one is named in a configuration; give it with --config" in err
    config = configure(tmp_path)
    code, _, err = said(command, *arguments, "--config", str(config))
    assert code == 1
    assert "the configuration names no System One server" in err


def test_no_command_takes_a_key(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("route", "evaluate", "compare", "calibrate", "serve"):
        assert main((command, "--help")) == 0
        assert "--key" not in capsys.readouterr().out
        assert main((command, "--key", "sk-x")) == 2
        capsys.readouterr()


def test_a_key_that_is_not_there_is_said_before_anything_is_asked(
    said: Said, server: LoopbackServer, tmp_path: Path
) -> None:
    config = written(tmp_path, server)
    (tmp_path / "key").unlink()
    code, _, err = said("evaluate", "--config", config, "--report")
    assert code == 1
    assert "decision.key_file cannot be read" in err
    assert server.requests == []
    with opened_ledger(settings_of(Path(config))):
        pass


@pytest.mark.parametrize(
    "weights",
    [{"head": Path("head.json")}, {"encoder": "some.encoder:Own"}],
    ids=["head", "encoder"],
)
@pytest.mark.parametrize("name", ["configured", "challenger", "system_one"])
def test_weights_of_the_offline_model_are_refused_for_what_a_configuration_names(
    name: str, weights: dict[str, Any]
) -> None:
    with pytest.raises(SettingsError, match="is for offline"):
        chosen_model(name, terms=Terms(), **weights)
