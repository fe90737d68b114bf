"""Builders for fleets, ballots, answers and decisions, without a model."""

import json
from collections.abc import Mapping
from pathlib import Path

from clawmarshal.roster.agent import AgentSpec
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ballot import (
    NONE_OF_THESE,
    RISK_CRITERIA,
    Ballot,
    ChoiceQuestion,
    fleet_ballot,
)
from clawmarshal.router.decision import Answers, Decision, validate_fleet
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.scripted import scripted_answers

EXAMPLES = Path(__file__).with_name("system_one")
FINANCE = AgentSpec("finance", "Invoices, bookkeeping and tax deadlines.")
PERSONAL = AgentSpec("personal", "Household bills, appointments and errands.")
SECURITY = AgentSpec("security", "Breach alerts and suspicious access.")
FLEET = Roster([FINANCE, PERSONAL, SECURITY])
SURE = {"finance": 0.9, "personal": 0.03, "security": 0.03, NONE_OF_THESE: 0.04}
LOW = {"low": 0.9, "medium": 0.08, "high": 0.02}


def example(name: str) -> dict[str, object]:
    """One of the example responses, by the beginning of its file name."""
    (path,) = EXAMPLES.glob(f"{name}*.json")
    loaded: dict[str, object] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def choice_question(*options: str) -> ChoiceQuestion:
    return ChoiceQuestion("Which one?", dict.fromkeys(options, "something"))


def choice_answer(probabilities: Mapping[str, object], **more: object) -> dict[str, object]:
    """A well-formed choice answer, unless the probabilities are not."""
    figures = {k: v for k, v in probabilities.items() if isinstance(v, int | float)}
    named = max(figures, key=lambda option: figures[option], default="nobody")
    answer: dict[str, object] = {
        "type": "choice",
        "choice": named,
        "confidence": 0.5,
        "probabilities": dict(probabilities),
    }
    return {**answer, **more}


def answers(given: Mapping[str, object], *, truncated: bool = False) -> Answers:
    return Answers(given, model="test-1", truncated=truncated, latency_ms=1.0)


def ballot_for(roster: Roster = FLEET, text: str = "hello") -> Ballot:
    return fleet_ballot(roster, InboundMessage(text))


def decision(
    agent: Mapping[str, float] = SURE,
    risk: Mapping[str, float] = LOW,
    *,
    roster: Roster = FLEET,
    truncated: bool = False,
) -> Decision:
    ballot = ballot_for(roster)
    given = scripted_answers(ballot, agent=agent, risk=risk)
    return validate_fleet(ballot, answers(given, truncated=truncated))


def risk_question() -> ChoiceQuestion:
    return ChoiceQuestion("How risky?", RISK_CRITERIA)
