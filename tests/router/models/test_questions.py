from collections.abc import Mapping
from dataclasses import replace

import pytest

from clawmarshal.roster.agent import AgentSpec
from clawmarshal.router.ballot import (
    NONE_OF_THESE,
    Ballot,
    ChoiceQuestion,
    NoulQuestion,
    Question,
    ScoreQuestion,
)
from clawmarshal.router.decision import validate_answer
from clawmarshal.router.models.choose import (
    MAX_CACHED_BALLOTS,
    BallotIndex,
    Chooser,
    Reading,
)
from clawmarshal.router.models.features import Remit
from clawmarshal.router.models.head import Distribution, Heads, shipped_heads
from clawmarshal.router.models.questions import Respondent
from tests.support.tiny_encoder import TinyEncoder

COLOURS = {"red": "Fire, blood and roses.", "blue": "Sky, sea and jeans."}


@pytest.fixture(params=["tiny", "lexical"])
def respondent(request: pytest.FixtureRequest) -> Respondent:
    encoder = TinyEncoder() if request.param == "tiny" else None
    return Respondent(Chooser(shipped_heads(), encoder))


def answer(respondent: Respondent, question: Question, text: str) -> dict[str, object]:
    (given,) = respondent.answers(Ballot({"q": question}), Reading(text)).values()
    validate_answer(question, given, strict=True)
    assert isinstance(given, dict)
    return given


@pytest.mark.parametrize(("text", "option"), [("roses", "red"), ("jeans", "blue")])
def test_a_choice_between_any_options_goes_by_their_texts(
    respondent: Respondent, text: str, option: str
) -> None:
    assert answer(respondent, ChoiceQuestion("Which?", COLOURS), text)["choice"] == option


def test_an_option_may_have_no_description(respondent: Respondent) -> None:
    question = ChoiceQuestion("Which?", {"fire_brigade": "", "police": ""})
    assert answer(respondent, question, "fire brigade")["choice"] == "fire_brigade"


def test_a_choice_without_a_none_option_spreads_over_the_options(respondent: Respondent) -> None:
    given = answer(respondent, ChoiceQuestion("Which?", COLOURS), "🙂")
    assert given["probabilities"] == {"red": 0.5, "blue": 0.5}


@pytest.mark.parametrize("options", [("red", "blue"), ("blue", "red")])
def test_a_tie_without_a_none_option_goes_by_name(
    respondent: Respondent, options: tuple[str, ...]
) -> None:
    question = ChoiceQuestion("Which?", {option: COLOURS[option] for option in options})
    assert answer(respondent, question, "🙂")["choice"] == "blue"


def test_a_none_option_takes_what_fits_nothing(respondent: Respondent) -> None:
    question = ChoiceQuestion("Which?", {NONE_OF_THESE: "Neither.", **COLOURS})
    assert answer(respondent, question, "🙂")["choice"] == NONE_OF_THESE


def test_part_of_a_fleet_is_judged_by_the_agents_and_not_by_the_option_texts(
    respondent: Respondent,
) -> None:
    agents = tuple(AgentSpec(name, text) for name, text in COLOURS.items())
    question = ChoiceQuestion("Which?", {"red": "?", NONE_OF_THESE: "?"})
    ballot = Ballot({"q": question}, agents)
    (given,) = respondent.answers(ballot, Reading("roses and blood, fire")).values()
    assert isinstance(given, dict)
    assert given["choice"] == "red"


def test_a_score_goes_by_the_texts_of_the_levels(respondent: Respondent) -> None:
    question = ScoreQuestion("How hot?", ("ice and snow", "mild spring day", "burning desert"))
    low = answer(respondent, question, "snow and ice")
    high = answer(respondent, question, "burning in the desert")
    assert isinstance(low["score"], float)
    assert isinstance(high["score"], float)
    assert low["score"] < 1 < high["score"]
    assert high["legend"] == {"0": "ice and snow", "1": "mild spring day", "2": "burning desert"}


@pytest.mark.parametrize(
    "criteria",
    [None, {"true": "about roses"}, {"true": "about roses", "false": "about engines"}],
    ids=["instructions", "one-sided", "both"],
)
def test_a_noul_is_surer_of_what_its_text_names(
    respondent: Respondent, criteria: Mapping[str, str] | None
) -> None:
    question = NoulQuestion("Is it about roses?", criteria)
    yes = answer(respondent, question, "about roses")["noul"]
    no = answer(respondent, question, "engines")["noul"]
    assert isinstance(yes, float)
    assert isinstance(no, float)
    assert yes > no


def test_a_noul_with_its_criteria_exchanged_is_the_complement(respondent: Respondent) -> None:
    there = NoulQuestion("Which way?", {"true": "about roses", "false": "about engines"})
    back = NoulQuestion("Which way?", {"true": "about engines", "false": "about roses"})
    given = [answer(respondent, question, "roses")["noul"] for question in (there, back)]
    assert isinstance(given[0], float)
    assert isinstance(given[1], float)
    assert given[0] + given[1] == pytest.approx(1)
    assert given[0] > 0.6


class CountingChooser(Chooser):
    """A chooser that counts what it is asked."""

    asked = 0

    def distribution(self, index: BallotIndex, reading: Reading) -> Distribution | None:
        self.asked += 1
        return super().distribution(index, reading)


def test_what_is_asked_in_two_orders_is_judged_once() -> None:
    chooser = CountingChooser(shipped_heads(), None)
    questions = {
        "forward": ChoiceQuestion("Which?", COLOURS),
        "reversed": ChoiceQuestion("Which?", dict(reversed(COLOURS.items()))),
    }
    Respondent(chooser).answers(Ballot(questions), Reading("roses"))
    assert chooser.asked == 1


def test_a_ballot_that_is_known_is_not_read_again() -> None:
    chooser = Chooser(shipped_heads(), None)
    first = chooser.index("key", lambda: [Remit("red", "Roses.")])

    def unasked() -> list[Remit]:
        raise AssertionError("read again")

    assert chooser.index("key", unasked) is first


def test_the_background_belongs_to_the_encoder_it_was_fitted_with() -> None:
    tiny = TinyEncoder()
    shared = tuple(float(x) for x in tiny.encode(["roses"])[0])
    ours = replace(shipped_heads(), encoder="tiny-1", background=shared)
    others = replace(ours, encoder="another")

    def columns(heads: Heads) -> Mapping[str, list[float]]:
        chooser = Chooser(heads, tiny)
        index = chooser.index("key", lambda: [Remit("red", "Roses.")])
        return chooser.columns(index, Reading("please roses"))

    assert columns(ours)["whole"][0] < columns(others)["whole"][0] - 0.2


def test_a_noul_does_not_know_about_a_text_without_words(respondent: Respondent) -> None:
    assert answer(respondent, NoulQuestion("Is it about roses?"), "🙂")["noul"] == 0.5


def test_a_ballot_is_indexed_once_and_forgotten_when_there_are_many() -> None:
    tiny = TinyEncoder()
    respondent = Respondent(Chooser(shipped_heads(), tiny))
    reading = Reading("roses")
    for number in range(MAX_CACHED_BALLOTS + 1):
        options = {f"o{number}": "Roses.", "other": "Jeans."}
        respondent.answers(Ballot({"q": ChoiceQuestion("?", options)}), reading)
    known = len(tiny.texts)
    respondent.answers(Ballot({"q": ChoiceQuestion("?", options)}), reading)
    assert len(tiny.texts) == known
