"""What a model makes of a roster: confused remits, thresholds out of reach, agents never chosen."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from clawmarshal.api.cli import main
from clawmarshal.errors import DecisionUnavailableError
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ballot import NONE_OF_THESE, Ballot
from clawmarshal.router.evaluation import Row
from clawmarshal.router.fleet_check import ModelWarning, check_with_model
from clawmarshal.router.labels import Label
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.scripted import ScriptedModel, scripted_answers
from tests.support.deciding import FINANCE, FLEET, PERSONAL, SECURITY
from tests.support.labelled import labelled, write
from tests.support.service import ROSTER

OWN = {agent.description: agent.id for agent in FLEET}


def warnings(
    shares: Mapping[str, Mapping[str, float]],
    *,
    roster: Roster = FLEET,
    labels: Mapping[str, str] | None = None,
) -> dict[str, ModelWarning]:
    """Ask about rows by their text; an agent's own remit is its own unless said otherwise."""

    def play(ballot: Ballot, message: InboundMessage) -> dict[str, object]:
        told = shares.get(message.text) or {OWN[message.text]: 0.9}
        return scripted_answers(ballot, agent=told, risk={"low": 0.96})

    rows = [Row(text, text) for text in shares if text not in OWN]
    told = [Label(text, agent) for text, agent in (labels or {}).items()]
    found = asyncio.run(check_with_model(ScriptedModel(play), roster, rows=rows, labels=told))
    return {f"{warning.code} {' '.join(warning.agents)}": warning for warning in found}


def test_a_fleet_that_is_told_apart_has_no_warning() -> None:
    assert warnings({"m1": {"finance": 0.9}}, labels={"m1": "finance"}) == {}


def test_labelled_messages_name_the_pair_that_they_confuse() -> None:
    shares = {"m1": {"personal": 0.9}, "m2": {"finance": 0.9}, "m3": {"finance": 0.9}}
    found = warnings(shares, labels={"m1": "finance", "m2": "personal", "m3": "finance"})
    warning = found["confused-remits finance personal"]
    assert warning.messages == ("m1", "m2")
    assert "(m1, m2)" in warning.message
    assert len(found) == 1


def test_one_message_makes_no_pair() -> None:
    assert warnings({"m1": {"personal": 0.9}}, labels={"m1": "finance"}) == {}


def test_without_labels_close_calls_make_a_pair() -> None:
    close = {"finance": 0.45, "security": 0.40}
    found = warnings({"m1": close, "m2": close, "m3": {"finance": 0.9}})
    assert found["confused-remits finance security"].messages == ("m1", "m2")


def test_messages_of_nobody_confuse_no_pair() -> None:
    close = {"finance": 0.45, "security": 0.40}
    assert warnings({"m1": close, "m2": close}, labels={"m1": "none", "m2": "none"}) == {}
    nobody = {"finance": 0.2, "security": 0.18, NONE_OF_THESE: 0.6}
    assert warnings({"m1": nobody, "m2": nobody}) == {}


def test_a_threshold_that_nothing_reaches_is_named() -> None:
    fleet = Roster([replace(FINANCE, min_probability=0.95), PERSONAL, SECURITY])
    found = warnings({"m1": {"finance": 0.93}}, roster=fleet)
    warning = found["unreachable-threshold finance"]
    assert "reaches 0.93 at most" in warning.message
    assert "its min_probability is 0.95" in warning.message


def test_a_threshold_that_its_remit_reaches_is_none_to_name() -> None:
    fleet = Roster([replace(FINANCE, min_probability=0.9), PERSONAL, SECURITY])
    assert warnings({}, roster=fleet) == {}


def test_an_agent_that_its_own_remit_does_not_choose_is_named() -> None:
    found = warnings({SECURITY.description: {"finance": 0.9}})
    assert list(found) == ["never-chosen security"]


def test_an_agent_that_some_message_chooses_is_not_never_chosen() -> None:
    found = warnings({SECURITY.description: {"finance": 0.9}, "m1": {"security": 0.8}})
    assert found == {}


def test_an_agent_that_none_of_its_messages_reaches_is_named() -> None:
    low = {"finance": 0.4, NONE_OF_THESE: 0.3, "personal": 0.1, "security": 0.2}
    found = warnings({"m1": low, "m2": low}, labels={"m1": "finance", "m2": "finance"})
    assert found["never-routed finance"].messages == ("m1", "m2")
    assert len(found) == 1


def test_a_model_without_answers_warns_of_nothing_it_does_not_know() -> None:
    away = ScriptedModel(DecisionUnavailableError("away", code="away"))
    assert asyncio.run(check_with_model(away, FLEET)) == ()


def test_a_text_that_no_message_may_hold_is_passed_over() -> None:
    model = ScriptedModel(
        lambda ballot, message: scripted_answers(
            ballot, agent={OWN[message.text]: 0.9}, risk={"low": 0.9}
        )
    )
    assert asyncio.run(check_with_model(model, FLEET, rows=[Row("m1", " ")])) == ()


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    path = tmp_path / "fleet.yaml"
    path.write_text(ROSTER, encoding="utf-8")
    return path


def test_roster_check_asks_a_model_where_data_is_given(
    fleet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = labelled("finance", count=3)
    for row in rows:
        row["agent"] = "security"
    data = write(tmp_path / "in.jsonl", rows)
    arguments = ("roster", "check", str(fleet), "--data", str(data), "--model", "lexical")
    assert main((*arguments, "--json")) == 0
    found = json.loads(capsys.readouterr().out)["warnings"]
    (confused,) = [w for w in found if w["code"] == "confused-remits"]
    assert confused["agents"] == ["finance", "security"]
    assert confused["messages"] == ["finance-0", "finance-1", "finance-2"]
    assert main(arguments) == 0
    assert "finance and security are confused on 3 messages" in capsys.readouterr().out


def test_roster_check_asks_nobody_about_a_roster_that_cannot_be_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("agents: 3", encoding="utf-8")
    assert main(("roster", "check", str(path), "--data", str(tmp_path / "no.jsonl"))) == 1
    assert "fault" in capsys.readouterr().out
