"""Predictions: what a model and the default gates say of rows of text, one line per row."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass

from clawmarshal.errors import DecisionError, Fault, MessageError
from clawmarshal.roster.agent import Risk
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ballot import NONE_OF_THESE, Ballot, fleet_ballot
from clawmarshal.router.decision import (
    MODEL_MISMATCH,
    Decision,
    DecisionModel,
    validate_fleet,
)
from clawmarshal.router.gates import Case, answer_given, no_match, risk_view, uncertain
from clawmarshal.router.language import is_english_throughout
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.operator_rules import floor_with
from clawmarshal.router.policy import Verdict, decide
from clawmarshal.router.target import best_agent, resolve_target
from clawmarshal.router.thresholds import Circumstances, Policy

NOBODY = "none"
"""How a prediction spells that no agent gets the message."""
MAX_FAULTS_TOLD = 20


@dataclass(frozen=True, slots=True)
class Row:
    """One text to predict for."""

    id: str | int
    text: str
    """Anything; a text that no message may hold gives an abstention."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the product would do with one row."""

    id: str | int
    agent: str
    """What gates 7 and 8 leave: an agent's id, or ``none``."""
    confidence: float
    """The stated probability that `agent` is right: the agent's, or, of an abstention for
    whatever reason, that no agent is; 0 where there is no usable answer."""
    top: str
    """The best real agent even where none gets it; ``none`` without a usable answer."""
    p_none: float | None
    """The stated probability that no agent covers it; None without a usable answer."""
    risk: Risk
    """The highest of the rules' tier and the model's top tier; high where no answer counts."""
    latency_ms: float
    """From ballot to verdict, milliseconds."""
    error: str | None = None
    """The code of what made the answer unusable."""
    top_probability: float = 0.0
    """The stated probability of `top`; 0 without a usable answer."""
    outcome: str | None = None
    """What all gates make of it where nothing but the text is known; None without a usable
    answer."""
    reason: str | None = None
    """Of the first gate that fired; None for a dispatch."""
    risk_probability: float | None = None
    """The stated probability of `risk`; None where the model gave no usable answer about it."""

    def as_json(self) -> dict[str, object]:
        """Return the line of a predictions file; ``error`` is there only where one was.

        The members after ``error`` are for reports alone: a line says who should get the message.
        """
        line: dict[str, object] = {
            "id": self.id,
            "agent": self.agent,
            "confidence": self.confidence,
            "top": self.top,
            "p_none": self.p_none,
            "risk": str(self.risk),
            "latency_ms": self.latency_ms,
        }
        return line if self.error is None else {**line, "error": self.error}


def read_rows(lines: Iterable[str | bytes]) -> tuple[Row, ...]:
    """Read JSON lines of ``{id, text}``; other members are ignored, and blank lines skipped.

    Parameters
    ----------
    lines
        As a file gives them; bytes must be UTF-8.

    Raises
    ------
    MessageError
        ``rows-invalid``: every bad line with its number, the first twenty of them.
    """
    rows: list[Row] = []
    faults: list[Fault] = []
    first_seen: dict[str | int, int] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = _read_row(line)
        except ValueError as error:
            faults.append(Fault(str(error), number, 1))
            continue
        if first_seen.setdefault(row.id, number) != number:
            faults.append(Fault(f"the id of line {first_seen[row.id]} again", number, 1))
        rows.append(row)
    if faults:
        told = "".join(f"\n  {fault}" for fault in faults[:MAX_FAULTS_TOLD])
        raise MessageError(f"{len(faults)} line(s) cannot be read{told}", code="rows-invalid")
    return tuple(rows)


async def predict(
    model: DecisionModel,
    roster: Roster,
    *,
    rows: Iterable[Row],
    policy: Policy | None = None,
    deadline_s: float = 60.0,
) -> AsyncIterator[Prediction]:
    """Predict row after row what gates 7 and 8 leave.

    The other gates play no part: a prediction is about who should get the message, not about
    whether it may run unseen. A row without a usable answer gives an abstention, and no error.

    Parameters
    ----------
    model
        Who answers.
    roster
        The fleet.
    rows
        From `read_rows`, or your own.
    policy
        Thresholds; the defaults where None.
    deadline_s
        Seconds for one row, over 0.

    Notes
    -----
    Confidence, as calibration is measured (expected calibration error over every row): the
    probability of the answer that the prediction gives. Of an agent that is the agent's. An
    abstention answers "none", by gate 7 because none wins, by gate 8 because nothing is sure
    enough; either way it is right exactly when no agent covers the text, so it states the
    probability of ``none_of_these``, however small that is.
    """
    for row in rows:
        begin = time.perf_counter()
        judged = await _judge(model, roster, row, policy or Policy(), deadline_s)
        elapsed_ms = round((time.perf_counter() - begin) * 1000, 3)
        yield _prediction(row, judged, elapsed_ms, roster)


@dataclass(frozen=True, slots=True)
class _Judged:
    """A row that has a usable decision."""

    case: Case
    decision: Decision


async def _judge(
    model: DecisionModel, roster: Roster, row: Row, policy: Policy, deadline_s: float
) -> _Judged | str:
    """Return the case with its usable decision, or the code of what is unusable."""
    try:
        message = InboundMessage(row.text)
    except MessageError as error:
        return error.code
    ballot = fleet_ballot(roster, message)
    decision = await _decision(model, ballot, message, deadline_s)
    if isinstance(decision, str):
        return decision
    # The floor for other languages depends on the target; predictions state the message's own.
    circumstances = Circumstances(is_english=True)
    target = resolve_target(
        policy, roster=roster, ballot=ballot, decision=decision, circumstances=circumstances
    )
    ids = [agent.id for agent in ballot.agents]
    floor = floor_with(message.text, policy.rules, options=ids)
    case = Case(policy, message, ballot, decision, floor, circumstances, target)
    return _Judged(case, decision)


async def _decision(
    model: DecisionModel, ballot: Ballot, message: InboundMessage, deadline_s: float
) -> Decision | str:
    try:
        async with asyncio.timeout(deadline_s):
            answers = await model.answer(ballot, message, deadline_s=deadline_s)
        decision = validate_fleet(ballot, answers)
    except DecisionError as error:
        return error.code
    except TimeoutError:
        return "deadline"
    except Exception:  # a custom model is foreign code: whatever it does is one row's abstention
        return "model-failed"
    if MODEL_MISMATCH in decision.notes:  # as gate 2 has it: thresholds hold for one model alone
        return MODEL_MISMATCH
    return "coarse" if decision.agent.is_coarse else decision


def _prediction(row: Row, judged: _Judged | str, elapsed_ms: float, roster: Roster) -> Prediction:
    if isinstance(judged, str):
        return Prediction(row.id, NOBODY, 0.0, NOBODY, None, Risk.HIGH, elapsed_ms, judged)
    case, decision = judged.case, judged.decision
    p_none = decision.agent.probabilities[NONE_OF_THESE]
    is_abstained = any([*no_match(case), *uncertain(case)])
    answer, confidence, _ = answer_given(case)
    if is_abstained or answer == NONE_OF_THESE:
        answer, confidence = NOBODY, p_none
    top, verdict, risk = best_agent(decision), _verdict(case, roster), risk_view(case)
    return Prediction(
        id=row.id,
        agent=answer,
        confidence=confidence,
        top=top or NOBODY,
        p_none=p_none,
        risk=risk.top,
        latency_ms=elapsed_ms,
        top_probability=decision.agent.probabilities[top] if top else 0.0,
        outcome=str(verdict.outcome),
        reason=str(verdict.reason) if verdict.gates else None,
        risk_probability=risk.probabilities.get(risk.top),
    )


def _verdict(case: Case, roster: Roster) -> Verdict:
    return decide(
        case.policy,
        message=case.message,
        roster=roster,
        ballot=case.ballot,
        decision=case.decision,
        floor=case.floor,
        circumstances=Circumstances(is_english=is_english_throughout(case.message.text)),
    )


def _read_row(line: str | bytes) -> Row:
    try:
        found = json.loads(line if isinstance(line, str) else line.decode("utf-8"))
    except (ValueError, RecursionError):
        raise ValueError("not one JSON object in UTF-8") from None
    if not isinstance(found, dict):
        raise ValueError("not a JSON object")
    row_id, text = found.get("id"), found.get("text")
    if isinstance(row_id, bool) or not isinstance(row_id, str | int) or row_id == "":
        raise ValueError("id is a text or a whole number")
    if not isinstance(text, str):
        raise ValueError("text is a string")
    return Row(row_id, text)
