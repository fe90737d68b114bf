import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from clawmarshal.errors import DecisionInvalidError
from clawmarshal.router.ballot import NoulQuestion, Question, ScoreQuestion
from clawmarshal.router.body import parse_body
from clawmarshal.router.decision import Choice, Noul, Score, validate_answer, validate_fleet
from tests.support.deciding import answers, ballot_for, choice_answer, choice_question

SHORT = settings(max_examples=150, deadline=None)


@st.composite
def honest_shares(draw: st.DrawFn) -> dict[str, float]:
    """A distribution that adds up to 1, rounded to 2 to 6 decimals or not at all."""
    count = draw(st.integers(1, 45))
    weights = draw(st.lists(st.floats(0, 1), min_size=count, max_size=count))
    weights[draw(st.integers(0, count - 1))] += draw(st.floats(0.05, 30))
    total = math.fsum(weights)
    decimals = draw(st.sampled_from([2, 3, 4, 5, 6, None]))
    exact = [weight / total for weight in weights]
    shown = exact if decimals is None else [round(share, decimals) for share in exact]
    return {f"option-{place:02}": share for place, share in enumerate(shown)}


def is_informative(shares: Mapping[str, float]) -> bool:
    return any(share > 0 for share in shares.values())


@SHORT
@given(honest_shares().filter(is_informative))
def test_no_honest_distribution_is_refused(shares: dict[str, float]) -> None:
    found = validate_answer(choice_question(*shares), choice_answer(shares), strict=True)
    assert isinstance(found, Choice)
    assert set(found.probabilities) == set(shares)
    assert math.isclose(math.fsum(found.probabilities.values()), 1)
    assert 0 <= found.confidence <= max(shares.values())
    assert 0 <= found.margin <= 1
    assert 0 <= found.concentration <= 1
    assert list(found.probabilities.values()) == sorted(found.probabilities.values(), reverse=True)


BAD_FIGURES = st.one_of(
    st.booleans(),
    st.none(),
    st.text(max_size=5),
    st.floats(max_value=-1e-9, allow_nan=False),
    st.floats(min_value=1 + 1e-6, allow_nan=False),
    st.just(float("nan")),
    st.integers(min_value=2),
    st.integers(max_value=-1),
    st.just(10**400),
    st.lists(st.floats(0, 1), max_size=2),
)


def _without_a_key(raw: Any, victim: str, bad: object) -> None:
    del raw["probabilities"][victim]


def _with_an_extra_key(raw: Any, victim: str, bad: object) -> None:
    raw["probabilities"][victim + "\u0301"] = 0.0


def _with_a_changed_key(raw: Any, victim: str, bad: object) -> None:
    raw["probabilities"][victim.upper()] = raw["probabilities"].pop(victim)


def _with_a_bad_figure(raw: Any, victim: str, bad: object) -> None:
    raw["probabilities"][victim] = bad


def _with_a_bad_confidence(raw: Any, victim: str, bad: object) -> None:
    raw["confidence"] = bad


def _with_another_type(raw: Any, victim: str, bad: object) -> None:
    raw["type"] = bad


def _with_an_unknown_choice(raw: Any, victim: str, bad: object) -> None:
    raw["choice"] = bad


def _with_no_mass(raw: Any, victim: str, bad: object) -> None:
    raw["probabilities"] = dict.fromkeys(raw["probabilities"], 0)


def _with_too_much_mass(raw: Any, victim: str, bad: object) -> None:
    raw["probabilities"] = dict.fromkeys(raw["probabilities"], 1)
    raw["probabilities"][victim + "x"] = 1


Mutation = Callable[[Any, str, object], None]
MUTATIONS: list[Mutation] = [
    _without_a_key,
    _with_an_extra_key,
    _with_a_changed_key,
    _with_a_bad_figure,
    _with_a_bad_confidence,
    _with_another_type,
    _with_an_unknown_choice,
    _with_no_mass,
    _with_too_much_mass,
]


@SHORT
@given(
    honest_shares().filter(is_informative),
    st.sampled_from(MUTATIONS),
    BAD_FIGURES,
    st.integers(0, 1000),
)
def test_no_spoilt_answer_is_accepted(
    shares: dict[str, float], spoil: Mutation, bad: object, place: int
) -> None:
    question = choice_question(*shares)
    raw = choice_answer(shares)
    spoil(raw, list(shares)[place % len(shares)], bad)
    try:
        validate_answer(question, raw)
    except DecisionInvalidError:
        return
    raise AssertionError("accepted")


@SHORT
@given(
    st.lists(st.integers(0, 100), min_size=1, max_size=45),
    st.integers(0, 44),
)
def test_two_decimal_mass_is_judged_to_the_letter(hundredths: list[int], named: int) -> None:
    figures: list[Decimal] = [Decimal(figure) / 100 for figure in hundredths]
    shares = {f"option-{place:02}": float(figure) for place, figure in enumerate(figures)}
    total, count = sum(figures, Decimal(0)), len(figures)
    half_step = Decimal("0.005")
    base = min(Decimal("0.10"), Decimal("0.01") + half_step * count)
    nonzero = sum(figure > 0 for figure in figures)
    choice = f"option-{named % count:02}"
    is_good = (
        total > 0
        and total - 1 <= max(base, half_step * nonzero)
        and 1 - total <= max(base, half_step * count)
        and max(figures) - figures[named % count] <= half_step
    )
    question, raw = choice_question(*shares), choice_answer(shares, choice=choice)
    try:
        found = validate_answer(question, raw)
    except DecisionInvalidError:
        assert not is_good
    else:
        assert is_good
        assert isinstance(found, Choice)
        assert found.is_coarse is (abs(total - 1) > Decimal("0.10"))


JUNK = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.sampled_from(["choice", "score", "noul", "a", "b", "0", "1", ""]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.one_of(
                st.sampled_from(
                    ["type", "choice", "probabilities", "confidence", "noul", "score", "a", "b"]
                ),
                st.integers(0, 2),
            ),
            inner,
            max_size=6,
        ),
    ),
    max_leaves=12,
)
QUESTIONS: list[Question] = [
    choice_question("a", "b"),
    ScoreQuestion("How much?", ("none", "all")),
    NoulQuestion("So?"),
]


@SHORT
@given(st.sampled_from(QUESTIONS), JUNK)
def test_junk_is_refused_or_is_a_coherent_answer(question: Question, junk: object) -> None:
    try:
        found = validate_answer(question, junk)
    except DecisionInvalidError:
        return
    match found:
        case Choice():
            assert set(found.probabilities) == {"a", "b"}
            assert math.isclose(sum(found.probabilities.values()), 1)
        case Score():
            assert 0 <= found.value <= 1
            assert math.isclose(sum(found.probabilities), 1)
        case Noul():
            assert 0 <= found.value <= 1


@SHORT
@given(st.dictionaries(st.sampled_from(["agent", "agent_reversed", "risk", "x"]), JUNK))
def test_a_fleet_of_junk_is_an_error(junk: dict[str, object]) -> None:
    try:
        validate_fleet(ballot_for(), answers(junk))
    except DecisionInvalidError:
        return
    raise AssertionError("accepted")


@SHORT
@given(st.one_of(st.binary(max_size=60), st.text(alphabet='{}[]":,0e9NaI\\ud8', max_size=40)))
def test_any_bytes_are_refused_or_hold_an_answers_object(raw: bytes | str) -> None:
    try:
        body = parse_body(raw if isinstance(raw, bytes) else raw.encode())
    except DecisionInvalidError:
        return
    assert isinstance(body["answers"], dict)
