"""The risk classifier reads with the shipped encoder, whichever encoder routes."""

import asyncio
import logging
import threading
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from clawmarshal.roster.agent import AgentSpec
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ballot import RISK, fleet_ballot
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.choose import Reading
from clawmarshal.router.models.encoder import Encoder, UseEncoder
from clawmarshal.router.models.local import (
    ENCODER_SAMPLED,
    HEAD_UNFITTED,
    RISK_BY_RULES,
    LocalDecisionModel,
)
from clawmarshal.router.models.risk_reader import RiskReader
from clawmarshal.router.risk import risk_floor
from tests.support.tiny_encoder import TinyEncoder

FLEET = Roster(
    [
        AgentSpec("errands", "Rides, tables, deliveries."),
        AgentSpec("facts", "Questions about the world."),
    ]
)
REQUEST = "Könntest du mir bitte ein Taxi besorgen"
QUESTION = "Wie hoch ist der Eiffelturm eigentlich"
ENGLISH = "what is it that we should think about this week"


class Counted:
    """Loads an encoder, and counts how often."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.times = 0

    def __call__(self) -> Encoder:
        self.times += 1
        return self.encoder


class Watched:
    """Passes texts on, and remembers them."""

    def __init__(self, encoder: UseEncoder) -> None:
        self.name = encoder.name
        self.texts: list[str] = []
        self._encode = encoder.encode

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        return self._encode(texts)


@pytest.fixture(scope="module")
def use() -> UseEncoder:
    return UseEncoder()


def ask(model: LocalDecisionModel, text: str) -> tuple[str, tuple[str, ...]]:
    message = InboundMessage(text)
    answers = asyncio.run(model.answer(fleet_ballot(FLEET, message), message, deadline_s=60))
    answer = answers.answers[RISK]
    assert isinstance(answer, dict)
    return str(answer["choice"]), answers.notes


def test_risk_is_raised_while_another_encoder_routes(use: UseEncoder) -> None:
    tiny, load = TinyEncoder(), Counted(use)
    model = LocalDecisionModel(encoder=tiny, load_encoder=load)
    assert risk_floor(REQUEST).tier == "low"
    assert ask(model, REQUEST) == ("medium", (HEAD_UNFITTED,))
    assert ask(model, QUESTION) == ("low", (HEAD_UNFITTED,))
    assert REQUEST in tiny.texts
    assert load.times == 1


def test_the_second_encoder_is_loaded_with_the_model_and_once(use: UseEncoder) -> None:
    load = Counted(use)
    model = LocalDecisionModel(encoder=TinyEncoder(), load_encoder=load)
    assert ask(model, ENGLISH)[0] == "low"
    assert load.times == 0
    model.load()
    model.load()
    ask(model, REQUEST)
    assert load.times == 1


def test_without_it_the_rules_judge_and_the_answer_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def missing() -> Encoder:
        raise ImportError

    model = LocalDecisionModel(encoder=TinyEncoder(), load_encoder=missing)
    with caplog.at_level(logging.WARNING, logger="clawmarshal"):
        assert ask(model, REQUEST) == ("low", (HEAD_UNFITTED, RISK_BY_RULES))
        assert ask(model, REQUEST)[1] == (HEAD_UNFITTED, RISK_BY_RULES)
    assert ask(model, ENGLISH) == ("low", (HEAD_UNFITTED,))
    assert [
        record.getMessage().count("the rules judge risk alone") for record in caplog.records
    ] == [1]


def test_an_encoder_that_the_classifier_does_not_know_is_not_shown_to_it() -> None:
    model = LocalDecisionModel(encoder=TinyEncoder(), load_encoder=lambda: TinyEncoder("other"))
    assert ask(model, REQUEST) == ("low", (HEAD_UNFITTED, RISK_BY_RULES))


@pytest.mark.parametrize("around", ["{p}. {r}", "{r}. {p}", "{p} ({r}) {p}"])
def test_english_around_a_request_does_not_keep_it_from_the_classifier(
    around: str, use: UseEncoder
) -> None:
    text = around.format(p=ENGLISH, r=REQUEST)
    assert risk_floor(text).tier == "low"
    assert ask(LocalDecisionModel(encoder=use), text)[0] == "medium"
    assert ask(LocalDecisionModel(encoder=use), around.format(p=ENGLISH, r=QUESTION))[0] == "low"


def test_what_routes_is_not_read_again(use: UseEncoder) -> None:
    watched = Watched(use)
    assert ask(LocalDecisionModel(encoder=watched), REQUEST)[0] == "medium"
    assert watched.texts.count(REQUEST) == 1


def test_a_long_text_is_sampled_and_said_so(use: UseEncoder) -> None:
    reader, reading = RiskReader(lambda: use), Reading("müsste " * 20_000)
    assert reader.vector(reading.text, reading) is not None
    assert not reading.is_whole
    assert ENCODER_SAMPLED == "encoder-sampled"


def test_two_threads_load_it_once(use: UseEncoder) -> None:
    load = Counted(use)
    reader = RiskReader(load)
    readings = [Reading(REQUEST) for _ in range(4)]
    threads = [threading.Thread(target=reader.vector, args=(r.text, r)) for r in readings]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert load.times == 1
    assert all(reading.is_risk_read for reading in readings)
