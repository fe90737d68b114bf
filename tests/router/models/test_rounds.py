"""Fleets over the option cap: groups, rounds and a final, and nobody lost on the way."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clawmarshal.errors import DecisionInvalidError, DecisionUnavailableError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ballot import AGENT, NONE_OF_THESE, Ballot, ChoiceQuestion, fleet_ballot
from clawmarshal.router.decision import Decision, validate_fleet
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.rounds import Room
from tests.support.system_one_server import FakeServer, choice, good, preferring

HELLO = InboundMessage("hello")


def fleet(size: int, description: str = "Something.") -> Ballot:
    agents = [AgentSpec(f"agent-{n:04}", description) for n in range(size)]
    return fleet_ballot(Roster(agents), HELLO)


def scored(
    scores: Mapping[str, float], *, reversed_scores: Mapping[str, float] | None = None
) -> Any:
    """Answer as one consistent model: every choice shares out the same scores."""

    def answering(request: Mapping[str, Any]) -> httpx.Response:
        answers = {}
        for name, question in request["questions"].items():
            told = reversed_scores if reversed_scores and "reversed" in name else scores
            weights = {o: told.get(o, 1e-4) for o in question["criteria"]}
            total = sum(weights.values())
            answers[name] = choice({o: w / total for o, w in weights.items()})
        return good(answers)

    return answering


def decide(server: FakeServer, ballot: Ballot, **more: Any) -> tuple[Decision, tuple[str, ...]]:
    model = server.model(strict=True, **more)
    answered = asyncio.run(model.answer(ballot, HELLO, deadline_s=60))
    return validate_fleet(ballot, answered, strict=True), answered.notes


@pytest.mark.parametrize("size", [24, 100, 255, 1000])
def test_the_right_agent_wins_wherever_it_stands(size: int) -> None:
    for place in (0, size // 2, size - 1):
        server = FakeServer(preferring(f"agent-{place:04}"))
        decision, notes = decide(server, fleet(size))
        assert decision.agent.option == f"agent-{place:04}"
        assert decision.agent.confidence == pytest.approx(0.9)
        assert decision.orders_agree
        assert decision.risk is not None
        assert len(decision.agent.probabilities) == size + 1
        assert any(note.startswith("rounds:") for note in notes)


def test_the_cap_counts_none_of_these() -> None:
    server = FakeServer(preferring("agent-0001"))
    decide(server, fleet(23))
    assert len(server.requests) == 1
    server = FakeServer(preferring("agent-0001"))
    decide(server, fleet(24))
    assert len(server.requests) == 2
    server = FakeServer(preferring("agent-0001"))
    decide(server, fleet(24), option_cap=25)
    assert len(server.requests) == 1


def test_every_agent_is_in_one_group_of_the_first_round_and_no_request_is_too_large() -> None:
    server = FakeServer(preferring("agent-0777"))
    ballot = fleet(1000)
    decide(server, ballot)
    seen: Counter[str] = Counter()
    for request, body in zip(server.requests, server.bodies, strict=True):
        assert len(request.content) <= 60 * 1024
        assert len(body["questions"]) <= 8
        for name, question in body["questions"].items():
            options = list(question["criteria"])
            if name == "risk":
                continue
            assert len(options) <= 24
            assert NONE_OF_THESE in options
            if f"{name}_reversed" in body["questions"]:
                backwards = list(body["questions"][f"{name}_reversed"]["criteria"])
                assert backwards == options[::-1]
            elif not name.endswith("_reversed"):
                raise AssertionError("both orders go into one request")
            if len(body["questions"]) > 3 and not name.endswith("_reversed"):
                seen.update(o for o in options if o != NONE_OF_THESE)
    first_round = set(list(_criteria(ballot))[:-1])
    assert first_round <= set(seen)
    assert sorted(body["questions"].keys() for body in server.bodies[-1:])[0] == {
        "agent",
        "agent_reversed",
        "risk",
    }


def _criteria(ballot: Ballot) -> Mapping[str, str]:
    question = ballot.questions[AGENT]
    assert isinstance(question, ChoiceQuestion)
    return question.criteria


def test_who_is_not_in_the_final_is_stated_as_zero() -> None:
    decision, notes = decide(FakeServer(preferring("agent-0007")), fleet(100))
    shares = decision.agent.probabilities
    finalists = [option for option, share in shares.items() if share > 0]
    assert notes == ("rounds:2", f"finalists:{len(finalists) - 1}")
    assert sum(shares.values()) == pytest.approx(1)


def test_zeros_beside_none_of_these_do_not_fill_the_next_round() -> None:
    """Two decimals leave nothing of the others, and a tie at 0 is no reason to ask again."""
    right = "agent-0555"

    def answering(request: Mapping[str, Any]) -> httpx.Response:
        answers = {}
        for name, question in request["questions"].items():
            top = right if right in question["criteria"] else "none_of_these"
            top = top if top in question["criteria"] else "low"
            answers[name] = choice(dict.fromkeys(question["criteria"], 0.0) | {top: 1.0})
        return good(answers)

    server = FakeServer(answering)
    decision, notes = decide(server, fleet(1000))
    assert decision.agent.option == right
    assert notes[0] == "rounds:3"
    assert len(server.requests) == 11 + 1 + 1


def test_a_tie_with_none_of_these_is_carried_on() -> None:
    ties = {"agent-0003": 0.4, "agent-0005": 0.4, NONE_OF_THESE: 0.45}
    decision, _ = decide(FakeServer(scored(ties)), fleet(60))
    shares = decision.agent.probabilities
    assert shares["agent-0003"] == pytest.approx(shares["agent-0005"])
    assert shares["agent-0003"] > 0.3


def test_a_group_that_nobody_claims_still_sends_its_best() -> None:
    """None of these beats the right agent in its group, and not in the final."""
    right = "agent-0060"

    def answering(request: Mapping[str, Any]) -> httpx.Response:
        answers = {}
        for name, question in request["questions"].items():
            shares = {o: 0.2 / len(question["criteria"]) for o in question["criteria"]}
            top = right if right in shares and name.startswith("agent") else NONE_OF_THESE
            shares |= {right: 0.3} if right in shares else {}
            shares[top if top in shares else "low"] = 0.9
            total = sum(shares.values())
            answers[name] = choice({o: p / total for o, p in shares.items()})
        return good(answers)

    decision, _ = decide(FakeServer(answering), fleet(100))
    assert decision.agent.option == right


def in_the_final(server: FakeServer) -> set[str]:
    return set(server.bodies[-1]["questions"]["agent"]["criteria"])


def test_who_is_best_in_either_order_goes_on() -> None:
    forward = {"agent-0003": 1.0}
    backward = {"agent-0005": 0.4, "agent-0003": 0.35, "agent-0007": 0.34}
    server = FakeServer(scored(forward, reversed_scores=backward))
    decision, _ = decide(server, fleet(60))
    assert not decision.orders_agree
    assert {"agent-0003", "agent-0005"} <= in_the_final(server)
    assert "agent-0007" not in in_the_final(server)


def test_who_is_best_on_average_goes_on_also_where_nobody_claims_the_group() -> None:
    forward = {"agent-0003": 0.2, "agent-0004": 0.15, NONE_OF_THESE: 0.6}
    backward = {"agent-0005": 0.2, "agent-0004": 0.15, NONE_OF_THESE: 0.6}
    server = FakeServer(scored(forward, reversed_scores=backward))
    decide(server, fleet(60))
    assert {"agent-0003", "agent-0004", "agent-0005"} <= in_the_final(server)


def test_near_ties_are_cut_by_rank_and_counted() -> None:
    """A weak model: everybody is near, and the best is still known."""
    scores = {f"agent-{n:04}": 1.0 - n / 200 for n in range(100)} | {NONE_OF_THESE: 0.5}
    decision, notes = decide(FakeServer(scored(scores)), fleet(100))
    assert decision.agent.option == "agent-0000"
    assert notes[0] == "rounds:3"
    assert notes[2].startswith("rounds-cut:")


def test_all_that_tie_with_the_best_go_on() -> None:
    tied = {f"agent-{n:04}": 1.0 for n in range(10)} | {NONE_OF_THESE: 0.5}
    decision, notes = decide(FakeServer(scored(tied)), fleet(100))
    shares = decision.agent.probabilities
    assert len({shares[f"agent-{n:04}"] for n in range(10)}) == 1
    assert notes[-1].startswith("finalists:")


def test_a_model_that_separates_nobody_is_an_error_and_not_a_draw() -> None:
    everybody = {f"agent-{n:04}": 1.0 for n in range(100)} | {NONE_OF_THESE: 0.5}
    with pytest.raises(DecisionInvalidError) as caught:
        decide(FakeServer(scored(everybody)), fleet(100))
    assert caught.value.code == "rounds-undecided"


@pytest.mark.parametrize(
    ("spoilt", "code"),
    [
        (None, "answer-missing"),
        ({"type": "unsupported"}, "answer-type"),
        ({"type": "choice", "choice": "root", "probabilities": {"root": 1}}, "options-differ"),
    ],
    ids=repr,
)
def test_a_group_without_a_usable_answer_ends_the_decision(spoilt: Any, code: str) -> None:
    good_answer = preferring("agent-0001")

    def answering(request: Mapping[str, Any]) -> httpx.Response:
        answers = _answers(good_answer(request))
        if "group_2" in answers:
            answers.pop("group_2")
            answers |= {"group_2": spoilt} if spoilt else {}
        return good(answers)

    with pytest.raises(DecisionInvalidError) as caught:
        decide(FakeServer(answering), fleet(100))
    assert caught.value.code == code


def _answers(response: httpx.Response) -> dict[str, Any]:
    found: dict[str, Any] = response.json()["answers"]
    return found


def test_a_coarse_group_is_not_acted_on() -> None:
    def answering(request: Mapping[str, Any]) -> httpx.Response:
        answers = {}
        for name, question in request["questions"].items():
            shares = dict.fromkeys(question["criteria"], 0.01)
            first = next(iter(shares)) if "reversed" not in name else list(shares)[-1]
            shares[first] = 0.88
            answers[name] = choice(shares)
        return good(answers)

    with pytest.raises(DecisionInvalidError) as caught:
        decide(FakeServer(answering), fleet(92))
    assert caught.value.code == "coarse"


def test_a_final_that_is_off_is_not_saved_by_the_zeros_of_the_others() -> None:
    good_answer = preferring("agent-0001")

    def answering(request: Mapping[str, Any]) -> httpx.Response:
        answers = _answers(good_answer(request))
        if "agent" in answers:
            spread = dict.fromkeys(answers["agent"]["probabilities"], 0.0) | {"agent-0001": 0.5}
            answers["agent"] = choice(spread)
        return good(answers)

    with pytest.raises(DecisionInvalidError) as caught:
        decide(FakeServer(answering), fleet(1000))
    assert caught.value.code == "mass-off"


def test_long_remits_make_smaller_groups_and_nobody_is_dropped() -> None:
    server = FakeServer(preferring("agent-0019"))
    decision, notes = decide(server, fleet(23, "界" * 1300))
    assert decision.agent.option == "agent-0019"
    assert "remits-cut:23" in notes
    assert "rounds:2" in notes
    assert max(len(request.content) for request in server.requests) <= 60 * 1024


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 200),
    st.integers(4, 40),
    st.randoms(use_true_random=False),
)
def test_a_consistent_model_never_loses_its_favourite(size: int, cap: int, draw: Any) -> None:
    ballot = fleet(size)
    scores = {o: draw.random() ** 4 + 1e-6 for o in _criteria(ballot)}
    favourite = max(scores, key=lambda option: scores[option])
    scores[favourite] *= 2.5
    server = FakeServer(scored(scores))
    try:
        decision, _ = decide(server, ballot, option_cap=cap)
    except DecisionInvalidError as error:
        assert error.code == "rounds-undecided"
    else:
        assert decision.agent.option == favourite
        assert set(decision.agent.probabilities) == set(_criteria(ballot))


@given(st.integers(0, 300), st.integers(3, 60), st.integers(1600, 20_000), st.data())
def test_groups_hold_everybody_once_in_order(
    count: int, options: int, room: int, data: st.DataObject
) -> None:
    names = [f"a{n}" for n in range(count)]
    sizes = {name: data.draw(st.integers(1, 1600)) for name in names[:20]}
    sizes |= dict.fromkeys(names[20:], 40)
    parts = Room(options, room, sizes).groups(names)
    assert [name for part in parts for name in part] == names
    assert all(len(part) <= options for part in parts)
    assert all(sum(sizes[name] for name in part) <= room for part in parts)


def test_an_option_that_fits_no_request_is_an_error() -> None:
    with pytest.raises(DecisionInvalidError):
        Room(10, 100, {"a": 200}).groups(["a"])


def final_only(scene: Any) -> Any:
    """Play a scene in the final, and answer the rounds before it well."""
    good_one = preferring("agent-0500")

    def answering(request: Mapping[str, Any]) -> Any:
        return (scene if "risk" in request["questions"] else good_one)(request)

    return answering


def test_one_deadline_holds_for_all_rounds_together() -> None:
    server = FakeServer(final_only(lambda _: asyncio.Event().wait()))
    begin = time.monotonic()
    with pytest.raises(DecisionUnavailableError) as caught:
        asyncio.run(server.model().answer(fleet(1000), HELLO, deadline_s=2.0))
    assert caught.value.code == "timeout"
    assert time.monotonic() - begin < 10
    assert sum("risk" in body["questions"] for body in server.bodies) == 1


def test_all_rounds_share_one_repeat() -> None:
    away = httpx.Response(503)
    well = preferring("agent-0500")
    answered = asyncio.run(FakeServer(away, well).model().answer(fleet(1000), HELLO, deadline_s=30))
    assert validate_fleet(fleet(1000), answered).agent.option == "agent-0500"
    server = FakeServer(away, *[well] * 8, final_only(lambda _: away))
    with pytest.raises(DecisionUnavailableError) as caught:
        asyncio.run(server.model().answer(fleet(1000), HELLO, deadline_s=30))
    assert caught.value.code == "server"
    assert sum("risk" in body["questions"] for body in server.bodies) == 1
