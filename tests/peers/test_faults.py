"""Every named fault of an independent mock server: what must be taken, what refused, and why."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from clawmarshal.errors import DecisionError
from clawmarshal.router.ballot import (
    AGENT,
    AGENT_REVERSED,
    RISK,
    Ballot,
    ChoiceQuestion,
    NoulQuestion,
    ScoreQuestion,
    reversed_question,
)
from clawmarshal.router.decision import Answers, validate_answer, validate_fleet
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.exchange import ApiKey
from clawmarshal.router.models.system_one import SystemOneModel
from tests.support.deciding import risk_question
from tests.support.peers import output_of, peer

FORWARD = ChoiceQuestion(
    "Which agent should handle the request in `message`?",
    {"Finance": "Invoices.", "café": "Menus.", "none_of_these": "Nobody."},
)
BALLOT = Ballot(
    {
        AGENT: FORWARD,
        AGENT_REVERSED: reversed_question(FORWARD),
        RISK: risk_question(),
        "urgency": ScoreQuestion("How urgent is it?", ("later", "this week", "today")),
        "spam": NoulQuestion("Is it spam?"),
    }
)
MESSAGE = InboundMessage("When is my invoice due?")


@dataclass(frozen=True)
class Expected:
    """What becomes of an answer under a fault."""

    why: str
    code: str | None = None
    """Of the error about the agent, or of the whole; None where the decision stands."""
    strict: str | None = None
    """Of the error in strict mode, where that is another."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Other questions whose answer is refused, and the code."""
    name: str = "mock"
    server_key: str | None = None
    key: str | None = None


TAKEN = "the answer itself keeps every rule"
NOT_ASKED = "we never send what this server stumbles over"
EXPECTED: dict[str, Expected] = {
    "wrong-route": Expected("404: the path is configured wrongly", "config"),
    "xssi-200": Expected("the body is not strict JSON", "body-not-json"),
    "plain-content-type": Expected("the body counts, not what it is called"),
    "text-errors": Expected("a plain text says nothing of models", "bad-request", name="no"),
    "models-404": Expected("the list of models is never asked for"),
    "auth-rejects-header": Expected("401: no key was wanted", "auth", key="k"),
    "auth-x-api-key": Expected(
        "403: it looks elsewhere for the key", "auth", server_key="k", key="k"
    ),
    "auth-plain": Expected("401 as plain text", "auth", server_key="k"),
    "auth-invalid-403-text": Expected("401 with another body", "auth", server_key="k", key="wrong"),
    "reject-array-state": Expected(NOT_ASKED),
    "reject-jev-latest": Expected("404: the model is not served", "config", name="jev-latest"),
    "first-question-only": Expected(
        "an answer about the agent is missing",
        "answer-missing",
        refused={"urgency": "answer-malformed", "spam": "answer-malformed"},
    ),
    "strict-ids": Expected(NOT_ASKED),
    "nfd-keys": Expected("options come back byte for byte or not at all", "options-differ"),
    "forbid-extra": Expected(NOT_ASKED),
    "string-only-text": Expected(NOT_ASKED),
    "noul-two-sided": Expected(NOT_ASKED),
    "noul-needs-instructions": Expected(NOT_ASKED),
    "no-null-description": Expected(NOT_ASKED),
    "cap-64": Expected("our cap is lower: " + NOT_ASKED),
    "cap-5-levels": Expected(NOT_ASKED),
    "accept-map-score": Expected(NOT_ASKED),
    "no-usage": Expected("usage is unknown, and no ground to refuse"),
    "float-usage": Expected("usage is a record, and no ground to refuse"),
    "extra-answer": Expected("ignored and counted"),
    "boolean-type": Expected("another type than asked", refused={"spam": "answer-type"}),
    "nan": Expected("NaN is not JSON, wherever it stands", "body-not-json"),
    "unprefixed-extra": Expected("unknown members are ignored"),
    "noul-range": Expected("above 1", refused={"spam": "number-range"}),
    "choice-no-confidence": Expected("lenient: it is recomputed", strict="confidence-missing"),
    "choice-key-case": Expected("options come back byte for byte", "options-differ"),
    "choice-sum": Expected("the total is 1.2", "mass-off"),
    "choice-second": Expected("named is not the largest", "choice-not-largest"),
    "score-no-legend": Expected("a legend is optional"),
    "legend-1-based": Expected("another legend", refused={"urgency": "legend-differs"}),
    "score-keys-1-based": Expected("other levels", refused={"urgency": "options-differ"}),
    "score-sum": Expected("the total is 0.8", refused={"urgency": "mass-off"}),
    "score-argmax": Expected("not the levels' mean", refused={"urgency": "score-differs"}),
    "confidence-over": Expected(
        "a figure above 1 is refused, also one we do not use",
        "number-range",
        refused={"urgency": "number-range"},
    ),
    "confidence-margin": Expected("its confidence is kept for the audit alone"),
    "500-on-unknown-type": Expected(NOT_ASKED),
    "accept-boolean": Expected(NOT_ASKED),
    "validation-400": Expected(NOT_ASKED),
    "error-flat": Expected("400: the model is unknown", "config", name="no"),
    "id-leaks": Expected(TAKEN),
    "batch-leaks": Expected(TAKEN),
    "order-leaks": Expected(TAKEN),
}


async def asked(url: str, case: Expected, *, strict: bool) -> Answers:
    async with SystemOneModel(
        url,
        case.name,
        answers_as=["jevcompat-mock-0.1"],
        key=ApiKey(case.key) if case.key else None,
        strict=strict,
    ) as model:
        return await model.answer(BALLOT, MESSAGE, deadline_s=20)


def outcome(url: str, case: Expected, *, strict: bool) -> tuple[str | None, dict[str, str], Any]:
    """Return the error's code, the refused questions beside the agent's, and the answers."""
    try:
        given = asyncio.run(asked(url, case, strict=strict))
    except DecisionError as error:
        return error.code, {}, None
    refused: dict[str, str] = {}
    for name in ("urgency", "spam"):
        try:
            validate_answer(BALLOT.questions[name], given.answers.get(name), strict=strict)
        except DecisionError as error:
            refused[name] = error.code
    try:
        validate_fleet(BALLOT, given, strict=strict)
    except DecisionError as error:
        return error.code, refused, given
    return None, refused, given


def test_the_table_is_about_every_fault_there_is() -> None:
    lines = output_of("jevcompat", "mock", "--list-faults").splitlines()
    assert set(EXPECTED) == {line.split()[0] for line in lines if line.strip()}
    assert len(EXPECTED) == 47


@pytest.mark.parametrize("fault", EXPECTED)
def test_a_fault_is_taken_or_refused_as_it_must_be(fault: str) -> None:
    case = EXPECTED[fault]
    more = ["--key", case.server_key] if case.server_key else []
    with peer("jevcompat", "--fault", fault, *more) as url:
        code, refused, given = outcome(url, case, strict=False)
        strict_code, _, _ = outcome(url, case, strict=True)
    assert code == case.code, case.why
    assert refused == dict(case.refused), case.why
    first_refused = next(iter(case.refused.values()), None)
    assert strict_code in {case.strict or case.code or first_refused}, case.why
    if fault == "extra-answer":
        assert validate_fleet(BALLOT, given).extra_answers == 1
    if fault == "no-usage":
        assert given.usage is None


def test_without_a_fault_everything_is_taken() -> None:
    case = Expected("clean", server_key="k", key="k")
    with peer("jevcompat", "--key", "k") as url:
        for strict in (False, True):
            assert outcome(url, case, strict=strict)[:2] == (None, {})
