"""``explain``: what was decided, by which gate, and what would have changed it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clawmarshal.api.cli import main
from clawmarshal.api.explaining import explained
from clawmarshal.api.opening import opened_ledger
from clawmarshal.errors import ConflictError
from clawmarshal.roster.loader import load_roster
from clawmarshal.router.ledger.records import Submission
from clawmarshal.router.message import InboundMessage
from tests.support.service import ROSTER, SAFE, configure, settings_of, wired
from tests.support.turns import wait_until

Said = Callable[..., tuple[int, str, str]]
TEXTS = {
    "dispatched": SAFE,
    "risky": "a risky thing about invoices",
    "nobody": "nobody wants this",
    "both": "nobody wants this risky thing",
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Decide a few messages in a service that is gone afterwards."""
    config = configure(tmp_path_factory.mktemp("desk"))
    ids = {}
    with wired(config) as (client, service):
        key = service.ledger.create_key("test", "ann", ["route"])
        for name, text in TEXTS.items():
            answer = client.request("POST", "/route", key=key, json={"text": text, "wait_s": 5})
            ids[name] = answer.json()["id"]
    return config, ids


@pytest.fixture
def said(desk: tuple[Path, dict[str, str]], capsys: pytest.CaptureFixture[str]) -> Said:
    config, ids = desk
    (config.parent / "fleet.yaml").write_text(ROSTER, encoding="utf-8")

    def call(name: str, *arguments: str) -> tuple[int, str, str]:
        code = main(("explain", ids.get(name, name), "--config", str(config), *arguments))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def told(said: Said, name: str) -> dict[str, Any]:
    code, out, _ = said(name, "--json")
    assert code == 0
    document: dict[str, Any] = json.loads(out)
    return document


def test_a_hold_names_the_gate_that_fired_and_all_that_fired(said: Said) -> None:
    document = told(said, "both")
    assert document["decided_by"]["number"] == 3
    assert [gate["number"] for gate in document["fired"]] == [3, 7]
    assert document["thresholds"]["min_probability"] == 0.5
    assert {line["agent"] for line in document["ballot"]} == {"finance", "security"}
    assert document["decision"]["agent"]["option"] == "none_of_these"


def test_risk_says_which_limits_would_have_let_it_pass(said: Said) -> None:
    (change,) = told(said, "risky")["changes"]
    assert change["gate"] == 3
    assert change["passes"] is True
    assert change["settings"] == [
        {"what": "max_risk of finance", "was": "medium", "instead": "high"},
        {"what": "policy.max_high_probability", "was": "0.3", "instead": "0.96"},
    ]
    assert change["outcome"] == "dispatch"


def test_each_change_says_what_it_alone_comes_to(said: Said) -> None:
    document = told(said, "both")
    assert {change["gate"]: change["reason"] for change in document["changes"]} == {
        3: "no_match",
        7: "risk",
    }
    assert document["together"] == {"outcome": "dispatch", "agent": "finance", "reason": "matched"}


def test_a_dispatch_says_what_would_have_held_it(said: Said) -> None:
    document = told(said, "dispatched")
    assert document["decided_by"] is None
    assert {(c["gate"], c["passes"], c["outcome"]) for c in document["changes"]} == {
        (8, False, "hold"),
        (3, False, "hold"),
    }


def test_for_people_it_is_the_same(said: Said) -> None:
    code, out, _ = said("both")
    assert code == 0
    assert "gate 3 decided" in out
    assert "gate 7 fired too" in out
    assert "max_risk of finance high (it was medium)" in out
    assert "all of them together: dispatch finance" in out


def test_no_message_text_is_shown(said: Said) -> None:
    assert "wants this" not in said("both")[1]
    assert "wants this" not in said("both", "--json")[1]


def test_it_is_explained_after_the_roster_was_replaced(
    said: Said, desk: tuple[Path, dict[str, str]]
) -> None:
    before = told(said, "risky")
    (desk[0].parent / "fleet.yaml").write_text(
        "agents:\n  - id: security\n    description: Something else altogether now.\n",
        encoding="utf-8",
    )
    after = told(said, "risky")
    assert after["changes"] == before["changes"]
    assert after["ballot"] == before["ballot"]
    assert after["fired"] == before["fired"]
    assert after["remarks"] == [
        "the roster has changed since for finance, security; their limits are those of then"
    ]


def test_a_route_that_is_not_there_is_one_line(said: Said) -> None:
    code, _, err = said("rt_" + "0" * 32)
    assert code == 1
    assert err.count("\n") == 1


def test_a_route_that_is_not_decided_has_nothing_to_explain(tmp_path: Path) -> None:
    settings = settings_of(configure(tmp_path))
    with opened_ledger(settings) as ledger:
        accepted = ledger.accept(Submission(InboundMessage("hello"), owner="ann"))
        record = ledger.route(accepted.route_id)
    with pytest.raises(ConflictError) as raised:
        explained(record, load_roster(settings.roster))
    assert raised.value.code == "not-decided"


def test_a_challenger_is_recorded_and_decides_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = configure(tmp_path)
    text = config.read_text(encoding="utf-8")
    config.write_text(
        text.replace(
            "{model: lexical}",
            "{model: lexical, challenger: 'tests.support.challengers:second'}",
        ),
        encoding="utf-8",
    )
    with wired(config) as (client, service):
        key = service.ledger.create_key("test", "ann", ["route", "review"])
        route = client.request("POST", "/route", key=key, json={"text": SAFE, "wait_s": 5}).json()
        kept = service.ledger.route
        assert wait_until(lambda: "challenger" in kept(route["id"]).explanation)
        figures = client.request("GET", "/metrics", key=key).text
    assert route["agent"] == "finance"
    assert 'clawmarshal_challenger_answers_total{said="differs"} 1.0' in figures
    main(("explain", route["id"], "--config", str(config), "--json"))
    document = json.loads(capsys.readouterr().out)
    assert document["challenger"]["agent"]["option"] == "security"
    assert document["route"]["agent"] == "finance"
    assert main(("explain", route["id"], "--config", str(config))) == 0
    assert "the challenger second said security" in capsys.readouterr().out
