"""A routing decision through each independent server, or the typed error it must give."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from clawmarshal.errors import DecisionUnavailableError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ballot import Ballot, ChoiceQuestion
from clawmarshal.router.decider import Decider
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.exchange import ApiKey, Budget
from clawmarshal.router.models.scripted import ScriptedModel, scripted_answers
from clawmarshal.router.models.system_one import SystemOneModel
from clawmarshal.router.policy import Circumstances
from clawmarshal.router.route import Reason, Route
from tests.support.deciding import FLEET, LOW, SURE
from tests.support.peers import free_port, peer

TEXT = "When is the tax deadline for my invoice?"
LARGE = Roster([AgentSpec(f"agent-{n:03}", f"Matters of department {n}.") for n in range(60)])


def routes(model: SystemOneModel, *texts: str, roster: Roster = FLEET, **more: Any) -> list[Route]:
    """Decide a few messages with one model, whose connections are closed at the end."""

    async def decided() -> list[Route]:
        decider = Decider(model, roster, deadline_s=20, **more)
        async with model:
            return [
                (await decider.decide(InboundMessage(text), circumstances=Circumstances()))[0]
                for text in texts
            ]

    return asyncio.run(decided())


def gate_two(route: Route) -> str | None:
    details = [gate.detail for gate in route.gates if gate.number == 2]
    return details[0] if details else None


@pytest.fixture(scope="module")
def sparrow() -> Iterator[str]:
    with peer("sparrow-decider") as url:
        yield url


@pytest.fixture(scope="module")
def microllm() -> Iterator[str]:
    with peer("microllm", environ={"MICROLLM_API_KEY": "right"}) as url:
        yield url


@pytest.fixture(scope="module")
def dev_double() -> Iterator[str]:
    with peer("dev-double") as url:
        yield url


def test_sparrow_decider_decides_under_its_own_name(sparrow: str) -> None:
    (route,) = routes(SystemOneModel(sparrow, "sparrow-nano-general-v1.1"), TEXT)
    assert route.model == "sparrow-nano-general-v1.1"
    assert route.candidates[0].agent == "finance"
    assert gate_two(route) is None


def test_a_server_that_names_another_model_is_held_and_shows_its_answer(sparrow: str) -> None:
    (route,) = routes(SystemOneModel(sparrow, "jev-1.13.0"), TEXT)
    assert (route.reason, route.agent) == (Reason.DECISION_INVALID, "finance")
    assert "model-mismatch" in route.notes
    assert route.candidates


def test_a_large_fleet_is_asked_in_rounds_or_held(sparrow: str) -> None:
    model = SystemOneModel(sparrow, "sparrow-nano-general-v1.1")
    (route,) = routes(model, TEXT, roster=LARGE)
    if gate_two(route) is None:
        assert any(note.startswith("rounds:") for note in route.notes)
        assert len(route.candidates) == 61
    else:
        assert "rounds-undecided" in str(gate_two(route))


def test_microllm_decides_with_the_key(microllm: str) -> None:
    model = SystemOneModel(microllm, "jev-latest", key=ApiKey("right"), strict=True)
    (route,) = routes(model, TEXT)
    assert (route.model, route.candidates[0].agent) == ("jev-latest", "finance")
    assert gate_two(route) is None


@pytest.mark.parametrize("key", [None, "expired"], ids=repr)
def test_a_missing_or_wrong_key_is_held_and_not_told(microllm: str, key: str | None) -> None:
    model = SystemOneModel(microllm, "jev-latest", key=ApiKey(key) if key else None)
    (route,) = routes(model, TEXT)
    assert (route.reason, route.agent) == (Reason.DECISION_UNAVAILABLE, None)
    assert "(auth)" in str(gate_two(route))
    assert "expired" not in repr(route)


def test_the_fallback_answers_for_a_server_that_refuses_the_key(microllm: str) -> None:
    offline = ScriptedModel(lambda ballot, _: scripted_answers(ballot, agent=SURE, risk=LOW))
    model = SystemOneModel(microllm, "jev-latest", key=ApiKey("expired"))
    (route,) = routes(model, TEXT, fallback=offline)
    assert (route.routable, route.via, route.agent) == (True, "offline", "finance")
    assert "fallback-after:auth" in route.notes


def test_a_server_without_anybody_is_unreachable() -> None:
    (route,) = routes(SystemOneModel(f"http://127.0.0.1:{free_port()}", "m"), TEXT)
    assert route.reason is Reason.DECISION_UNAVAILABLE
    assert "(unreachable)" in str(gate_two(route))


def test_dev_double_takes_26_options_and_no_more(dev_double: str) -> None:
    (route,) = routes(SystemOneModel(dev_double, "nimble", option_cap=26), TEXT)
    assert (route.model, gate_two(route)) == ("nimble", None)
    twenty_five = Roster(list(LARGE)[:25])
    (route,) = routes(SystemOneModel(dev_double, "nimble", option_cap=26), TEXT, roster=twenty_five)
    assert "bad-request" not in str(gate_two(route))
    (route,) = routes(SystemOneModel(dev_double, "nimble", option_cap=100), TEXT, roster=LARGE)
    assert "(bad-request)" in str(gate_two(route))


@pytest.mark.parametrize(
    "text", ["x" * 1024 * 1024, "界" * 300_000, "🙂" * 250_000], ids=["ascii", "cjk", "emoji"]
)
def test_a_message_of_a_mebibyte_passes_its_limit_and_is_held(dev_double: str, text: str) -> None:
    (route,) = routes(SystemOneModel(dev_double, "nimble", option_cap=26), text)
    assert "too-large" not in str(gate_two(route))
    assert not route.routable
    assert Reason.TRUNCATED in {gate.reason for gate in route.gates}


def test_its_limit_is_64_kib_and_a_typed_error(dev_double: str) -> None:
    async def beyond() -> None:
        async with SystemOneModel(dev_double, "nimble") as model:
            exchange = model._exchange
            body = b'{"model":"nimble","state":"' + b"x" * 70_000 + b'"}'
            await exchange.ask(body, Budget(asyncio.get_running_loop().time() + 20))

    with pytest.raises(DecisionUnavailableError) as caught:
        asyncio.run(beyond())
    assert (caught.value.code, caught.value.retryable) == ("too-large", False)


LAYA: Mapping[str, str] = {
    "LAYA_SERVE_BACKEND": "fake",
    "LAYA_SERVE_API_KEY": "right",
    "LAYA_SERVE_RATE_LIMIT_PER_MINUTE": "2",
}


def test_laya_serve_ties_and_then_limits_the_rate() -> None:
    with peer("laya-serve", environ=LAYA) as url:
        model = SystemOneModel(
            url, "laya-english", key=ApiKey("right"), answers_as=["laya-english"]
        )
        found = routes(model, *[TEXT] * 4)
    codes = [str(gate_two(route)) for route in found]
    assert codes[:2] == ["None", "None"]
    assert "(rate-limited)" in codes[2]
    assert "(circuit-open)" in codes[3]
    assert not any(route.routable for route in found)
    assert Reason.UNCERTAIN in {gate.reason for gate in found[0].gates}


def test_laya_serve_refuses_a_wrong_key() -> None:
    with peer("laya-serve", environ=LAYA) as url:
        (route,) = routes(SystemOneModel(url, "laya-english", key=ApiKey("wrong")), TEXT)
    assert "(auth)" in str(gate_two(route))


@pytest.mark.parametrize("key", [None, "wrong"], ids=repr)
def test_the_mock_with_a_key_answers_403_and_401(key: str | None) -> None:
    with peer("jevcompat", "--key", "right") as url:
        (route,) = routes(SystemOneModel(url, "mock", key=ApiKey(key) if key else None), TEXT)
    assert "(auth)" in str(gate_two(route))


def test_a_question_with_255_options_is_answered_in_one_choice() -> None:
    wide = Ballot({"q": ChoiceQuestion("Which?", {f"o{n}": "x" for n in range(255)})})

    async def asked(url: str) -> int:
        async with SystemOneModel(url, "mock", option_cap=255) as model:
            answered = await model.answer(wide, InboundMessage(TEXT), deadline_s=20)
        raw: Any = answered.answers["q"]
        return len(raw["probabilities"])

    with peer("jevcompat") as url:
        assert asyncio.run(asked(url)) == 255
