"""The documented requests and responses, and arbitrary ones, through the client."""

import asyncio
import json
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clawmarshal.errors import DecisionError
from clawmarshal.router.ballot import (
    AGENT,
    Ballot,
    ChoiceQuestion,
    NoulQuestion,
    Question,
    ScoreQuestion,
)
from clawmarshal.router.decision import Answers, validate_answer, validate_fleet
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.wire import WireRequest, wire_question
from tests.support.deciding import EXAMPLES, ballot_for, choice_question, example
from tests.support.system_one_server import FakeServer

MESSAGE = InboundMessage("When is my invoice due?")
HANDLED = {"00", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "20", "21", "22"}
ELSEWHERE = {
    "01": "what a server must accept: tests of our own /v1/systemone",
    "30": "through the client below, and test_decision.py",
    "31": "through the client below, and test_decision_body.py",
    "40": "test_refusals.py",
    "41": "test_refusals.py",
    "42": "the client never asks for a list of models",
}


def test_every_example_is_a_case_somewhere() -> None:
    assert {path.name[:2] for path in EXAMPLES.glob("*.json")} == HANDLED | set(ELSEWHERE)


def ask(response: httpx.Response, ballot: Ballot, **more: Any) -> Answers:
    server = FakeServer(response)
    exchange = server.exchange(envelope=more.pop("envelope", False))
    model = server.model(exchange=exchange, **more)
    return asyncio.run(model.answer(ballot, MESSAGE, deadline_s=5))


def question_for(name: str, answer: dict[str, Any]) -> Question:
    match answer["type"]:
        case "choice":
            return choice_question(*answer["probabilities"])
        case "score":
            levels = [answer["legend"][str(n)] for n in range(len(answer["legend"]))]
            return ScoreQuestion(name, tuple(levels))
        case _:
            return NoulQuestion(name)


def test_the_documented_request_is_what_we_send() -> None:
    file: Any = example("00")
    body = file["body"]
    questions: dict[str, Question] = {
        name: ChoiceQuestion(one["instructions"], one["criteria"])
        if one["type"] == "choice"
        else NoulQuestion(one["instructions"])
        for name, one in body["questions"].items()
    }
    sent = WireRequest.model_construct(
        model=body["model"],
        state=body["state"],
        questions={name: wire_question(one) for name, one in questions.items()},
    ).body()
    assert sent == json.dumps(body, separators=(",", ":")).encode()
    assert WireRequest.model_validate_json(sent).body() == sent


@pytest.mark.parametrize("name", sorted(HANDLED - {"00", "21", "22"}))
def test_documented_good_responses_pass_the_client(name: str) -> None:
    file: Any = example(name)
    body = file["body"]
    read = body.get("result", body)
    ballot = Ballot({k: question_for(k, answer) for k, answer in read["answers"].items()})
    found = ask(
        httpx.Response(200, json=body, headers=file["headers"]),
        ballot,
        name=read["model"],
        option_cap=64,
        envelope=name == "20",
    )
    assert (found.model, found.notes[1:]) == (read["model"], ())
    assert set(found.answers) == set(ballot.questions)
    for key, question in ballot.questions.items():
        validate_answer(question, found.answers[key])
    assert found.request_id == (
        file["headers"].get("x-typesafe-request-id")
        or file["headers"].get("cf-ray")
        or read.get("id")
    )
    cost = read.get("usage", {}).get("cost")
    assert (found.usage or {}).get("cost") == cost


def test_what_a_server_cannot_answer_is_missing_and_the_rest_stands() -> None:
    file: Any = example("21")
    questions = {AGENT: choice_question("finance", "personal", "security")}
    ballot = Ballot({**questions, "risk": choice_question("low", "medium", "high")})
    found = ask(httpx.Response(200, json=file["body"]), ballot, name="encoder-small")
    decision = validate_fleet(ballot, found)
    assert (decision.agent.option, decision.risk) == ("finance", None)


def test_a_box_that_nobody_asked_for_is_ignored() -> None:
    file: Any = example("22")
    ballot = Ballot({"spam": NoulQuestion("Spam?")})
    found = ask(httpx.Response(200, json=file["body"]), ballot, name="jev-1.14.0")
    assert "spam" not in found.answers


_REJECTED: Any = example("30")


@pytest.mark.parametrize("case", _REJECTED["cases"], ids=lambda case: case["name"])
def test_documented_bad_answers_never_become_a_decision(case: Any) -> None:
    ballot = Ballot({AGENT: choice_question(*_REJECTED["asked"])})
    found = ask(httpx.Response(200, json=case["body"]), ballot, name="m")
    with pytest.raises(DecisionError):
        validate_fleet(ballot, found)


_RAW: Any = example("31")


@pytest.mark.parametrize("case", _RAW["cases"], ids=lambda case: case["name"])
def test_documented_bad_bodies_are_typed_errors(case: Any) -> None:
    with pytest.raises(DecisionError):
        ask(httpx.Response(200, content=case["raw_body"].encode()), ballot_for(), name="m")


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["agent", "agent_reversed", "risk", "type", "choice", "probabilities"])
            | st.text(max_size=5),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
BODIES = (
    st.binary(max_size=200)
    | ANYTHING.map(lambda value: json.dumps(value).encode())
    | st.fixed_dictionaries(
        {"answers": ANYTHING, "model": ANYTHING, "usage": ANYTHING, "id": ANYTHING}
    ).map(lambda value: json.dumps(value).encode())
)
HEADERS = st.dictionaries(
    st.sampled_from(["retry-after", "retry-after-ms", "x-request-id", "content-type", "cf-ray"]),
    st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=30),
    max_size=3,
)


@settings(max_examples=300, deadline=None)
@given(st.integers(200, 599), HEADERS, BODIES, st.booleans())
def test_whatever_a_server_sends_is_refused_or_fails_with_a_typed_error(
    status: int, headers: dict[str, str], body: bytes, strict: bool
) -> None:
    response = httpx.Response(status, headers=headers, content=body)
    ballot = ballot_for()
    with pytest.raises(DecisionError):
        server = FakeServer(response)
        model = server.model(strict=strict)
        # A wait that a header asks for goes beyond a deadline as short as this.
        answers = asyncio.run(model.answer(ballot, MESSAGE, deadline_s=0.2))
        validate_fleet(ballot, answers)
