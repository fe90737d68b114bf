"""Fitting a head to labelled messages, and what validation says of it."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from clawmarshal.errors import MessageError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.roster.loader import parse_roster
from clawmarshal.roster.roster import Roster
from clawmarshal.router.calibration import (
    Calibration,
    calibrate,
    head_document,
    samples_from,
)
from clawmarshal.router.evaluation import read_rows
from clawmarshal.router.labels import read_labels
from clawmarshal.router.models.choose import Chooser
from clawmarshal.router.models.fitting import (
    STRENGTHS,
    Sample,
    fitted_weights,
    rows_of,
    table,
)
from clawmarshal.router.models.head import Head, heads_from, shipped_heads
from clawmarshal.router.threshold_fit import MIN_ROWS
from tests.support.deciding import FLEET
from tests.support.labelled import labelled
from tests.support.service import ROSTER
from tests.support.tiny_encoder import TinyEncoder

FLEET2 = parse_roster(ROSTER.encode(), source="fleet")


def samples(*agents: str, count: int = 25) -> tuple[Sample, ...]:
    lines = [json.dumps(row) for row in labelled(*agents, count=count)]
    labels = read_labels(lines, agents={agent.id for agent in FLEET2})
    return samples_from(read_rows(lines), labels, FLEET2)


@pytest.fixture(scope="module")
def fitted() -> tuple[Calibration, Head]:
    return calibrate(samples("finance", "security", "none"), encoder=None)


def test_the_fit_is_better_calibrated_on_rows_it_has_not_seen(
    fitted: tuple[Calibration, Head],
) -> None:
    told, _ = fitted
    assert (told.kind, told.rows, told.nobody, told.left_out) == ("lexical", 75, 25, 0)
    assert told.error_after < told.error_before
    assert not told.made_nobody


def test_a_better_calibrated_fit_that_is_less_often_right_is_not_recommended(
    fitted: tuple[Calibration, Head],
) -> None:
    told, _ = fitted
    assert told.right_after < told.right_before
    assert "answers right" in told.losses
    assert not told.helps


def test_a_fit_that_is_better_and_nowhere_worse_is_recommended() -> None:
    told, _ = calibrate(samples("finance", "security"), encoder=None)
    assert told.helps
    assert told.losses == ()


def test_a_threshold_is_suggested_that_keeps_the_precision(
    fitted: tuple[Calibration, Head],
) -> None:
    told, _ = fitted
    assert told.min_probability is not None
    assert 0 < told.min_probability < 1


def test_the_same_labels_give_the_same_fit(fitted: tuple[Calibration, Head]) -> None:
    assert calibrate(samples("finance", "security", "none"), encoder=None) == fitted


def test_the_weights_keep_their_names(fitted: tuple[Calibration, Head]) -> None:
    shipped = shipped_heads().by_name["lexical"]
    assert list(fitted[1].option) == list(shipped.option)
    assert list(fitted[1].none) == list(shipped.none)
    assert fitted[1] != shipped


def test_every_fold_is_told() -> None:
    steps: list[int] = []
    calibrate(samples("finance", "security", count=25), encoder=None, step=steps.append)
    assert steps == [1, 2, 3, 4, 5]


def test_without_labelled_nobody_some_are_made() -> None:
    told, head = calibrate(samples("finance", "security"), encoder=None)
    assert told.made_nobody
    # The weight of nobody does not run away although no row is labelled so.
    found = head.distribution({name: [0.0, 0.0] for name in ("char", "char_unit", "bm25")})
    assert found.none > 0.3


def test_an_encoder_of_ones_own_can_be_fitted() -> None:
    told, _ = calibrate(samples("finance", "security", "none"), encoder=TinyEncoder())
    assert told.kind == "encoder"


@pytest.mark.parametrize("count", [0, MIN_ROWS - 1], ids=["none", "one too few"])
def test_too_few_are_refused_with_the_reason(count: int) -> None:
    with pytest.raises(MessageError) as raised:
        calibrate(samples("finance", "security")[:count], encoder=None)
    assert raised.value.code == "too-few-labels"
    assert f"{count} labelled messages" in str(raised.value)
    assert "fewer" in str(raised.value)


def test_texts_without_words_do_not_count() -> None:
    blank = tuple(replace(sample, text="?!") for sample in samples("none"))
    given = (*samples("finance", "security")[: MIN_ROWS - 1], *blank)
    with pytest.raises(MessageError):
        calibrate(given, encoder=None)


def test_the_document_is_a_fit_that_can_be_read(fitted: tuple[Calibration, Head]) -> None:
    document = json.loads(json.dumps(head_document(*fitted, provenance={"data": "x.jsonl"})))
    heads, shipped = heads_from(document), shipped_heads()
    assert heads.by_name["lexical"] == fitted[1]
    assert heads.by_name["encoder"] == shipped.by_name["encoder"]
    assert heads.background == shipped.background
    assert heads.version.startswith(f"{shipped.version}+")
    assert document["provenance"]["data"] == "x.jsonl"
    assert document["provenance"]["rows"] == 75
    assert document["provenance"]["shipped_version"] == shipped.version


def test_a_strong_pull_leaves_the_shipped_weights() -> None:
    rows, shipped = rows_of(Chooser(shipped_heads(), None), samples("finance", "security"))
    start = np.array([*shipped.option.values(), *shipped.none.values()])
    made = table(rows, shipped, makes_nobody=False)
    assert np.abs(fitted_weights(made, start, strength=1e6) - start).max() < 1e-3
    assert np.abs(fitted_weights(made, start, strength=STRENGTHS[-1]) - start).max() > 0.1


def test_the_fit_is_where_the_slope_ends() -> None:
    rows, shipped = rows_of(Chooser(shipped_heads(), None), samples("finance", "security", "none"))
    start = np.array([*shipped.option.values(), *shipped.none.values()])
    made, strength = table(rows, shipped, makes_nobody=False), 0.1

    def cost(weights: np.ndarray) -> float:
        scores = made.features @ weights + made.offset
        lifted = np.exp(scores - scores.max(1, keepdims=True))
        right = (lifted / lifted.sum(1, keepdims=True))[np.arange(len(scores)), made.answer]
        pull = ((weights - start) / np.maximum(np.abs(start), 0.5)) ** 2
        return float(-(made.weight @ np.log(right)) + strength * pull.sum() / 2)

    found = fitted_weights(made, start, strength=strength)
    draw = np.random.default_rng(1)
    for _ in range(20):
        moved = found + draw.normal(size=len(found)) * 0.05
        assert cost(moved) > cost(found) - 1e-9


def test_the_table_states_what_the_head_states() -> None:
    rows, shipped = rows_of(Chooser(shipped_heads(), None), samples("finance", "none", count=5))
    made = table(rows, shipped, makes_nobody=False)
    weights = np.array([*shipped.option.values(), *shipped.none.values()])
    for place, row in enumerate(rows):
        scores = made.features[place] @ weights + made.offset[place]
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        found = shipped.distribution(row.columns)
        is_tied = math.isclose(found.options[0], found.options[1], abs_tol=1e-9)
        if not is_tied:
            assert shares[-1] == pytest.approx(found.none, abs=1e-6)
            assert shares[:-1] == pytest.approx(found.options, abs=1e-6)


def test_equal_texts_stay_on_one_side() -> None:
    twice = samples("finance", "security", "none") * 2
    told, _ = calibrate(twice, encoder=None)
    once, _ = calibrate(samples("finance", "security", "none"), encoder=None)
    assert told.rows == 2 * once.rows
    assert told.right_after == pytest.approx(once.right_after, abs=0.1)


def test_ballots_of_several_sizes_can_be_mixed() -> None:
    third = AgentSpec("kitchen", "Recipes, groceries, meal plans and the pantry.")
    wide = Roster([*FLEET2, third])
    mixed = [
        replace(sample, agents=wide.agents) if place % 2 else sample
        for place, sample in enumerate(samples("finance", "security", "none"))
    ]
    assert calibrate(mixed, encoder=None)[0].rows == 75


def test_rows_that_no_message_may_hold_are_left_out() -> None:
    lines = [
        json.dumps({"id": 1, "text": "", "agent": "finance"}),
        json.dumps({"id": 2, "text": "an invoice", "agent": "finance"}),
        json.dumps({"id": 3, "text": "unlabelled"}),
        json.dumps({"id": 4, "text": "nobody", "agent": None}),
    ]
    labels = read_labels(lines, agents={agent.id for agent in FLEET})
    found = samples_from(read_rows(lines), labels, FLEET)
    assert [(sample.text, sample.agent) for sample in found] == [
        ("an invoice", "finance"),
        ("nobody", None),
    ]


def _moved(fitted: tuple[Calibration, Head], **figures: float) -> Calibration:
    even = {"right_before": 0.8, "right_after": 0.8, "coverage_before": 0.5, "coverage_after": 0.5}
    errors = {"error_before": 0.1, "error_after": 0.1}
    return replace(fitted[0], **{**even, **errors, **figures})  # type: ignore[arg-type] # all floats


@pytest.mark.parametrize(
    ("figures", "losses", "helps"),
    [
        ({}, (), False),
        ({"error_after": 0.05}, (), True),
        ({"right_after": 0.9}, (), True),
        ({"coverage_after": 0.6}, (), True),
        ({"error_after": 0.05, "right_after": 0.7}, ("answers right",), False),
        ({"error_after": 0.05, "coverage_after": 0.4}, ("share that can be routed",), False),
        ({"right_after": 0.9, "error_after": 0.2}, ("calibration",), False),
        ({"right_after": 0.79, "error_after": 0.05}, (), True),
    ],
    ids=["even", "calibrated", "right", "routed", "less right", "less routed", "worse", "one row"],
)
def test_a_fit_that_is_worse_by_any_figure_is_not_recommended(
    fitted: tuple[Calibration, Head],
    figures: dict[str, float],
    losses: tuple[str, ...],
    helps: bool,
) -> None:
    told = _moved(fitted, **figures)
    assert (told.losses, told.helps) == (losses, helps)


def test_what_can_be_routed_is_a_share_of_all_messages(
    fitted: tuple[Calibration, Head],
) -> None:
    assert 0 < fitted[0].coverage_after <= 50 / 75 / 0.9 + 1e-4
