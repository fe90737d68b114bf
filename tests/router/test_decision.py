import unicodedata
from typing import Any

import pytest

from clawmarshal.errors import DecisionInvalidError
from clawmarshal.router.ballot import (
    NoulQuestion,
    Question,
    ScoreQuestion,
)
from clawmarshal.router.decision import (
    Choice,
    Noul,
    Score,
    validate_answer,
)
from tests.support.deciding import (
    choice_answer,
    choice_question,
    example,
)

THREE = choice_question("finance", "personal", "security")
GOOD = {"finance": 0.9, "personal": 0.07, "security": 0.03}
FORTY = choice_question("target", *(f"agent-{number:02}" for number in range(39)))
SCALE = ScoreQuestion("How bad?", ("Cosmetic", "Degraded", "Blocking"))


def refusal(question: Question, raw: object, *, strict: bool = False) -> str:
    with pytest.raises(DecisionInvalidError) as caught:
        validate_answer(question, raw, strict=strict)
    return caught.value.code


def the_choice(question: Question, raw: object, *, strict: bool = False) -> Choice:
    found = validate_answer(question, raw, strict=strict)
    assert isinstance(found, Choice)
    return found


def the_score(question: Question, raw: object) -> Score:
    found = validate_answer(question, raw)
    assert isinstance(found, Score)
    return found


ACCEPTED: list[tuple[str, dict[str, Question]]] = [
    (
        "10",
        {
            "is_urgent": NoulQuestion("Urgent?"),
            "department": choice_question("billing", "sales", "technical"),
            "frustration": ScoreQuestion("How angry?", ("Calm", "Frustrated", "Very angry")),
        },
    ),
    ("11", {"severity": SCALE}),
    ("12", {"agent": THREE}),
    ("13", {"agent": FORTY}),
    ("14", {"risk": choice_question("low", "medium", "high")}),
    ("15", {"agent": THREE}),
    ("16", {"label": choice_question("billing", "bug", "account")}),
    (
        "17",
        {
            "team": choice_question("billing", "shipping", "security"),
            "urgent": NoulQuestion("Urgent?"),
        },
    ),
    ("18", {"agent": THREE, "urgent": NoulQuestion("Urgent?")}),
    ("19", {"agent": THREE}),
    ("20", {"agent": THREE}),
]


@pytest.mark.parametrize(("name", "questions"), ACCEPTED, ids=[name for name, _ in ACCEPTED])
def test_documented_good_answers_are_accepted(name: str, questions: dict[str, Question]) -> None:
    file: Any = example(name)
    expect = file["expect"]
    body = file["body"].get("result", file["body"])
    is_strict = not expect.get("lenient_only", False)
    found = {
        key: validate_answer(question, body["answers"][key], strict=is_strict)
        for key, question in questions.items()
    }
    choices = [answer for answer in found.values() if isinstance(answer, Choice)]
    scores = [answer for answer in found.values() if isinstance(answer, Score)]
    for choice in choices:
        assert choice.option == expect.get("choice", choice.option)
        assert choice.is_tied is expect.get("tie", False)
        assert choice.is_coarse is expect.get("coarse", False)
        assert sum(choice.probabilities.values()) == pytest.approx(1)
        if "recomputed_confidence" in expect:
            assert choice.concentration == pytest.approx(expect["recomputed_confidence"], abs=1e-5)
    for score in scores:
        assert score.value == expect.get("score", score.value)
    assert len(choices) + len(scores) + sum(isinstance(a, Noul) for a in found.values()) == len(
        questions
    )


def test_an_answer_without_confidence_is_refused_in_strict_mode_only() -> None:
    file: Any = example("19")
    raw = file["body"]["answers"]["agent"]
    assert the_choice(THREE, raw).stated_confidence is None
    assert refusal(THREE, raw, strict=True) == "confidence-missing"
    score = {"type": "score", "score": 1, "probabilities": {"0": 0, "1": 1, "2": 0}}
    assert the_score(SCALE, score).stated_confidence is None
    assert refusal(SCALE, score, strict=True) == "confidence-missing"


REJECT_CODES = {
    "option_not_asked": "options-differ",
    "option_missing": "options-differ",
    "choice_not_argmax": "choice-not-largest",
    "probability_above_one": "number-range",
    "negative": "number-range",
    "all_zero": "mass-zero",
    "independent_sigmoids": "mass-off",
    "string_number": "number-invalid",
    "boolean_number": "number-invalid",
    "key_case_changed": "options-differ",
    "wrong_type": "answer-type",
}


@pytest.mark.parametrize("name", REJECT_CODES)
def test_documented_bad_distributions_are_refused(name: str) -> None:
    file: Any = example("30")
    assert {case["name"] for case in file["cases"]} == set(REJECT_CODES)
    (case,) = (one for one in file["cases"] if one["name"] == name)
    question = choice_question(*file["asked"])
    assert refusal(question, case["body"]["answers"]["agent"]) == REJECT_CODES[name]


BAD_NUMBERS: list[object] = [
    True,
    False,
    "0.9",
    None,
    [0.9],
    {"value": 0.9},
    0.9 + 0j,
    float("nan"),
    float("inf"),
    float("-inf"),
    -0.001,
    1.001,
    2,
    -1,
    10**400,
    -(10**400),
]


@pytest.mark.parametrize("bad", BAD_NUMBERS, ids=lambda bad: f"{bad!r:.20}")
def test_a_figure_that_is_no_probability_is_refused_wherever_it_stands(bad: object) -> None:
    codes = {"number-invalid", "number-range"}
    assert refusal(THREE, choice_answer({**GOOD, "personal": bad})) in codes
    assert refusal(THREE, choice_answer(GOOD, confidence=bad)) in codes
    assert refusal(NoulQuestion("So?"), {"type": "noul", "noul": bad}) in codes
    levels = {"0": 0.0, "1": 1.0, "2": 0.0}
    if bad not in (2, 1.001):
        assert refusal(SCALE, {"type": "score", "score": bad, "probabilities": levels}) in codes


def test_a_score_beyond_the_last_level_is_refused() -> None:
    raw = {"type": "score", "score": 2.01, "probabilities": {"0": 0, "1": 0, "2": 1}}
    assert refusal(SCALE, raw) == "number-range"


def test_integers_and_negative_zero_are_numbers() -> None:
    found = the_choice(THREE, choice_answer({"finance": 1, "personal": -0.0, "security": 0}))
    assert found.option == "finance"
    assert str(found.probabilities["personal"]) == "0.0"


@pytest.mark.parametrize(
    "keys",
    [
        ("finance", "personal"),
        ("finance", "personal", "security", "root"),
        ("finance", "personal", "Security"),
        ("finance", "personal", "security "),
        ("finance", "personal", "__proto__"),
        ("finance", "personal", 7),
        ("finance", "personal", None),
        (),
    ],
    ids=repr,
)
def test_options_must_be_those_asked(keys: tuple[object, ...]) -> None:
    raw = choice_answer(GOOD)
    raw["probabilities"] = dict.fromkeys(keys, 0.3)
    assert refusal(THREE, raw) == "options-differ"


def test_option_names_are_compared_byte_for_byte() -> None:
    composed = unicodedata.normalize("NFC", "büro")
    decomposed = unicodedata.normalize("NFD", composed)
    question = choice_question(composed, "other")
    assert the_choice(question, choice_answer({composed: 0.8, "other": 0.2})).option == composed
    assert refusal(question, choice_answer({decomposed: 0.8, "other": 0.2})) == "options-differ"


def test_prototype_like_names_are_names_like_any_other() -> None:
    question = choice_question("__proto__", "constructor")
    assert refusal(question, choice_answer({})) == "options-differ"
    found = the_choice(question, choice_answer({"__proto__": 0.8, "constructor": 0.2}))
    assert found.option == "__proto__"


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (None, "answer-malformed"),
        ("finance", "answer-malformed"),
        ([], "answer-malformed"),
        ({}, "answer-type"),
        ({"type": ["choice"]}, "answer-type"),
        ({"type": "Choice"}, "answer-type"),
        ({"type": "choice"}, "probabilities-missing"),
        ({"type": "choice", "probabilities": [0.9, 0.1]}, "probabilities-missing"),
        ({"type": "choice", "probabilities": None}, "probabilities-missing"),
        (choice_answer(GOOD, choice=None), "choice-unknown"),
        (choice_answer(GOOD, choice=["finance"]), "choice-unknown"),
        (choice_answer(GOOD, choice="root"), "choice-unknown"),
        (choice_answer(GOOD, choice="FINANCE"), "choice-unknown"),
    ],
)
def test_malformed_answers_are_refused(raw: object, code: str) -> None:
    assert refusal(THREE, raw) == code


def test_a_question_without_options_has_no_good_answer() -> None:
    assert refusal(choice_question(), choice_answer({}, choice="")) == "mass-zero"


def test_advice_and_other_extras_are_ignored() -> None:
    plain = the_choice(THREE, choice_answer(GOOD))
    advised = choice_answer(GOOD, action="dispatch", decision={"agent": "security"}, note=[1])
    assert the_choice(THREE, advised) == plain


@pytest.mark.parametrize(
    ("shares", "is_accepted"),
    [
        # base = 0.01 + 0.005 * 3 = 0.025; the step 0.005 allows 0.015
        ((0.9, 0.07, 0.055), True),
        ((0.9, 0.07, 0.056), False),
        ((0.9, 0.05, 0.025), True),
        ((0.9, 0.05, 0.024), False),
    ],
)
def test_the_mass_of_a_few_options_may_be_a_little_off(
    shares: tuple[float, ...], is_accepted: bool
) -> None:
    raw = choice_answer(dict(zip(THREE.criteria, shares, strict=True)))
    if is_accepted:
        assert the_choice(THREE, raw).is_coarse is False
    else:
        assert refusal(THREE, raw) == "mass-off"


@pytest.mark.parametrize(
    ("top", "each", "nonzero", "is_accepted"),
    [
        # forty options in two decimals: over by 0.005 for each that is not zero, under by 0.20
        (0.80, 0.01, 39, True),
        (0.82, 0.01, 39, False),
        (0.80, 0.0, 0, True),
        (0.79, 0.0, 0, False),
        (0.91, 0.01, 19, True),
        (0.92, 0.01, 19, False),
        # unrounded figures get the base of 0.10 and no more
        (0.7000001, 0.01, 39, True),
        (0.7200001, 0.01, 39, False),
    ],
)
def test_rounding_widens_the_mass_rule(
    top: float, each: float, nonzero: int, is_accepted: bool
) -> None:
    names = list(FORTY.criteria)
    shares = {name: each if place < nonzero else 0.0 for place, name in enumerate(names[1:])}
    raw = choice_answer({"target": top, **shares})
    if is_accepted:
        assert the_choice(FORTY, raw).option == "target"
    else:
        assert refusal(FORTY, raw) == "mass-off"


@pytest.mark.parametrize(
    ("top", "each", "is_coarse"),
    [(0.71, 0.01, False), (0.72, 0.01, True), (0.90, 0.0, False), (0.89, 0.0, True)],
)
def test_a_total_more_than_a_tenth_off_is_coarse(top: float, each: float, is_coarse: bool) -> None:
    shares = dict.fromkeys(list(FORTY.criteria)[1:], each)
    found = the_choice(FORTY, choice_answer({"target": top, **shares}))
    assert found.is_coarse is is_coarse


@pytest.mark.parametrize(
    ("first", "second", "is_tied"),
    [(0.45, 0.45, True), (0.455, 0.446, True), (0.45, 0.44, False), (0.15, 0.14, False)],
)
def test_two_options_less_than_a_hundredth_apart_are_tied(
    first: float, second: float, is_tied: bool
) -> None:
    names = [f"o{number}" for number in range(12)]
    rest = (1 - first - second) / 10
    shares = {"o0": first, "o1": second, **dict.fromkeys(names[2:], rest)}
    assert the_choice(choice_question(*names), choice_answer(shares)).is_tied is is_tied


def test_a_single_option_is_never_tied() -> None:
    found = the_choice(choice_question("only"), choice_answer({"only": 1}))
    assert (found.is_tied, found.margin, found.concentration) == (False, 1.0, 1.0)


@pytest.mark.parametrize(
    ("named", "code"), [("personal", None), ("security", "choice-not-largest")]
)
def test_the_named_option_may_be_half_a_hundredth_below_the_largest(
    named: str, code: str | None
) -> None:
    raw = choice_answer({"finance": 0.345, "personal": 0.34, "security": 0.315}, choice=named)
    if code is None:
        assert the_choice(THREE, raw).option == "finance"
    else:
        assert refusal(THREE, raw) == code


@pytest.mark.parametrize(
    ("shares", "confidence"),
    [((0.88, 0.07, 0.03), 0.88), ((0.92, 0.07, 0.03), 0.92 / 1.02)],
    ids=["total-under-1", "total-over-1"],
)
def test_confidence_is_the_smaller_of_stated_and_renormalised(
    shares: tuple[float, ...], confidence: float
) -> None:
    found = the_choice(THREE, choice_answer(dict(zip(THREE.criteria, shares, strict=True))))
    assert found.confidence == pytest.approx(confidence)
    assert found.probabilities["finance"] == pytest.approx(shares[0] / sum(shares))
    assert found.margin == pytest.approx((shares[0] - shares[1]) / sum(shares))


def test_probabilities_come_most_probable_first_and_ties_by_name() -> None:
    question = choice_question("security", "personal", "finance")
    raw = choice_answer({"security": 0.2, "personal": 0.6, "finance": 0.2})
    assert list(the_choice(question, raw).probabilities) == ["personal", "finance", "security"]


def test_the_stated_confidence_is_kept_apart() -> None:
    file: Any = example("16")
    question = choice_question("billing", "bug", "account")
    found = the_choice(question, file["body"]["answers"]["label"])
    assert found.stated_confidence == 0.8906
    assert found.confidence == pytest.approx(0.9781)


@pytest.mark.parametrize(
    ("score", "code"),
    [(0.44, None), (0.45, "score-differs"), (0.36, None), (0.35, "score-differs")],
)
def test_a_score_must_be_the_mean_of_its_levels(score: float, code: str | None) -> None:
    # step 0.005 over three levels: 0.02 + 0.005 * (1 + 3) = 0.04
    raw = {"type": "score", "score": score, "probabilities": {"0": 0.6, "1": 0.4, "2": 0.0}}
    if code is None:
        assert the_score(SCALE, raw).value == score
    else:
        assert refusal(SCALE, raw) == code


@pytest.mark.parametrize(
    "legend",
    [
        None,
        {},
        {"0": "Cosmetic"},
        {"0": "Cosmetic", "1": "Degraded", "2": "blocking"},
        ["Cosmetic"],
    ],
    ids=repr,
)
def test_a_legend_must_match_the_levels_sent(legend: object) -> None:
    raw = {
        "type": "score",
        "score": 0,
        "legend": legend,
        "probabilities": {"0": 1, "1": 0, "2": 0},
    }
    assert refusal(SCALE, raw) == "legend-differs"


def test_a_score_is_renormalised() -> None:
    levels = tuple(f"level {number}" for number in range(10))
    shares = {str(number): 0.1 if number else 0.05 for number in range(10)}
    mean = sum(int(level) * share for level, share in shares.items())
    raw = {"type": "score", "score": mean, "probabilities": shares}
    found = the_score(ScoreQuestion("How much?", levels), raw)
    assert sum(found.probabilities) == pytest.approx(1)
    assert found.probabilities[0] == pytest.approx(0.05 / 0.95)
    assert found.is_coarse is False


def test_a_scale_of_one_level_is_certain() -> None:
    raw = {"type": "score", "score": 0, "confidence": 1, "probabilities": {"0": 1}}
    assert the_score(ScoreQuestion("How much?", ("all",)), raw).concentration == 1.0


def test_the_concentration_of_a_score_is_never_negative() -> None:
    raw = {"type": "score", "score": 1, "probabilities": {"0": 0.5, "1": 0.0, "2": 0.5}}
    assert the_score(SCALE, raw).concentration == 0.0
    file: Any = example("11")
    found = the_score(SCALE, file["body"]["answers"]["severity"])
    assert found.concentration == pytest.approx(0.355)


def test_a_noul_is_its_probability() -> None:
    assert validate_answer(NoulQuestion("So?"), {"type": "noul", "noul": 1}) == Noul(1.0)
