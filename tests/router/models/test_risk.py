import json
import math
from collections.abc import Callable, Mapping
from importlib import resources

import pytest

from clawmarshal.roster.agent import Risk
from clawmarshal.router.models.encoder import UseEncoder
from clawmarshal.router.models.risk import (
    SHIPPED,
    RiskClassifier,
    RiskHead,
    head_from,
    risk_answer,
    shipped_head,
)
from clawmarshal.router.risk import RiskFloor, risk_floor

UNKNOWN_LANGUAGE = "Sgrìobh litir gu mo mhàthair a-màireach"
ENGLISH = "it is a nice day in the garden and the tea is warm"
STATED = {
    "low": (0.9, 0.07, 0.03),
    "medium": (0.2, 0.7, 0.1),
    "high": (0.1, 0.1, 0.8),
    "raised": (0.3, 0.6, 0.1),
}
Vector = Callable[[str], tuple[float, float] | None]


def yes(_: str) -> tuple[float, float]:
    return 1.0, 0.0


def no(_: str) -> tuple[float, float]:
    return 0.0, 1.0


def unread(_: str) -> None:
    return None


def head(threshold: float = 0.5) -> RiskHead:
    return RiskHead("tiny", (9.0, -9.0), 0.0, threshold, STATED)


def top(answer: Mapping[str, float]) -> str:
    return max(answer, key=lambda tier: answer[tier])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (UNKNOWN_LANGUAGE, [UNKNOWN_LANGUAGE]),
        (f"{ENGLISH}. {ENGLISH}! Das muss alles weg", ["Das muss alles weg"]),
        (ENGLISH, []),
    ],
    ids=["whole", "part", "english"],
)
def test_the_classifier_is_shown_what_is_not_english(text: str, shown: list[str]) -> None:
    asked: list[str] = []

    def vector(part: str) -> None:
        asked.append(part)

    risk_answer(text, RiskFloor(Risk.LOW), classifier=RiskClassifier(head()), vector=vector)
    assert asked == shown


@pytest.mark.parametrize("tier", Risk)
def test_the_most_probable_tier_is_the_floors(tier: Risk) -> None:
    answer = risk_answer(ENGLISH, RiskFloor(tier, ()))
    assert top(answer) == tier
    assert math.isclose(sum(answer.values()), 1)
    assert list(answer) == ["low", "medium", "high"]


@pytest.mark.parametrize("tier", [Risk.LOW, Risk.MEDIUM])
def test_only_high_states_more_than_the_policys_limit(tier: Risk) -> None:
    assert risk_answer(ENGLISH, RiskFloor(tier, ()))["high"] < 0.30
    assert risk_answer(ENGLISH, RiskFloor(Risk.HIGH, ("money",)))["high"] > 0.30


def test_a_foreign_low_message_is_raised_by_the_classifier() -> None:
    floor = risk_floor(UNKNOWN_LANGUAGE)
    assert floor.tier is Risk.LOW
    answer = risk_answer(UNKNOWN_LANGUAGE, floor, classifier=RiskClassifier(head()), vector=yes)
    assert top(answer) == "medium"


@pytest.mark.parametrize(
    ("text", "tier", "vector"),
    [
        pytest.param(UNKNOWN_LANGUAGE, Risk.LOW, no, id="the classifier sees no change"),
        pytest.param(ENGLISH, Risk.LOW, yes, id="english"),
        pytest.param(UNKNOWN_LANGUAGE, Risk.HIGH, no, id="nothing lowers high"),
        pytest.param(UNKNOWN_LANGUAGE, Risk.HIGH, yes, id="high is not made medium"),
        pytest.param(UNKNOWN_LANGUAGE, Risk.MEDIUM, no, id="nothing lowers medium"),
    ],
)
def test_the_classifier_only_raises_foreign_low_messages(
    text: str, tier: Risk, vector: Vector
) -> None:
    classifier = RiskClassifier(head())
    answer = risk_answer(text, RiskFloor(tier, ()), classifier=classifier, vector=vector)
    assert answer == risk_answer(text, RiskFloor(tier, ()))


@pytest.mark.parametrize(
    ("classifier", "vector"),
    [
        pytest.param(None, yes, id="no classifier"),
        pytest.param(RiskClassifier(head()), None, id="no vector"),
        pytest.param(RiskClassifier(head()), unread, id="not read"),
    ],
)
def test_without_an_encoder_the_floor_alone_answers(
    classifier: RiskClassifier | None, vector: Vector | None
) -> None:
    floor = RiskFloor(Risk.LOW, ())
    answer = risk_answer(UNKNOWN_LANGUAGE, floor, classifier=classifier, vector=vector)
    assert top(answer) == "low"


def test_the_threshold_decides() -> None:
    near = (0.11, 0.0)
    assert RiskClassifier(head(0.70)).raises(near)
    assert not RiskClassifier(head(0.75)).raises(near)


def test_extreme_scores_do_not_overflow() -> None:
    assert RiskClassifier(head()).probability((1e6, 0.0)) == pytest.approx(1)
    assert RiskClassifier(head()).probability((-1e6, 0.0)) == pytest.approx(0)


def test_a_vector_of_another_encoder_is_refused() -> None:
    with pytest.raises(ValueError, match="another encoder"):
        RiskClassifier(head()).probability((1.0, 2.0, 3.0))


def test_the_shipped_head_is_whole() -> None:
    shipped = shipped_head()
    assert len(shipped.weights) == 512
    assert 0.5 <= shipped.threshold < 1
    assert set(shipped.stated) == {"low", "medium", "high", "raised"}
    for row in shipped.stated.values():
        assert math.isclose(sum(row), 1, abs_tol=1e-9)
    assert max(shipped.stated["raised"]) == shipped.stated["raised"][1]


@pytest.mark.parametrize("broken", ["weights", "stated", "bias", "row"])
def test_a_head_of_another_shape_is_refused(broken: str) -> None:
    source = resources.files("clawmarshal.router.models").joinpath(SHIPPED)
    document = json.loads(source.read_text("utf-8"))
    if broken == "row":
        document["stated"]["low"] = 0.5
    else:
        document[broken] = "not this"
    with pytest.raises(TypeError):
        head_from(document)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Könntest du mir bitte ein Taxi besorgen", "medium", id="german request"),
        pytest.param("Wie hoch ist der Eiffelturm eigentlich", "low", id="german question"),
    ],
)
def test_the_shipped_head_works_on_its_encoder(text: str, expected: str) -> None:
    encoder, classifier = UseEncoder(), RiskClassifier(shipped_head())
    assert 0 < classifier.probability(encoder.encode([text])[0]) < 1
    answer = risk_answer(
        text,
        risk_floor(text),
        classifier=classifier,
        vector=lambda part: [float(n) for n in encoder.encode([part])[0]],
    )
    assert top(answer) == expected
