import json
import math
from importlib import resources

import pytest

from clawmarshal.router.models.encoder import UseEncoder
from clawmarshal.router.models.head import (
    SHIPPED,
    Head,
    concentration,
    heads_from,
    none_feature,
    shipped_heads,
)

DOCUMENT = {
    "version": "7",
    "encoder": "tiny-1",
    "heads": {"lexical": {"option": {"bm25": 2}, "none": {"bias": 1.5}}},
    "background": [0.5, 0],
}


def test_probabilities_follow_the_weights() -> None:
    head = Head({"bm25": 2.0}, {"bias": 1.0})
    found = head.distribution({"bm25": [1.0, 0.5]})
    total = math.exp(2) + math.exp(1) + math.exp(1)
    assert found.options == pytest.approx((math.exp(2) / total, math.exp(1) / total))
    assert found.none == pytest.approx(math.exp(1) / total)


def test_what_an_option_refuses_counts_against_it() -> None:
    head = Head({"bm25": 1.0}, {"bias": -50.0})
    assert head.distribution({"bm25": [2.0, 1.0]}).options[0] > 0.7
    assert head.distribution({"bm25": [2.0, 1.0], "refused": [0.3, 0.0]}).options[0] < 0.2


def test_huge_scores_do_not_overflow() -> None:
    found = Head({"bm25": 1e4}, {"bias": -1e4}).distribution({"bm25": [1.0, 0.2]})
    assert found.options == (1.0, 0.0)
    assert found.none == 0.0


@pytest.mark.parametrize("values", [[0.0, 0.0, 0.0], [3.0, 1.0, 3.0]], ids=["all", "best-two"])
def test_a_tie_gives_none(values: list[float]) -> None:
    found = Head({"bm25": 5.0}, {"bias": -50.0}).distribution({"bm25": values})
    assert found.none > max(found.options)


def test_a_tie_far_behind_changes_nothing() -> None:
    found = Head({"bm25": 5.0}, {"bias": -50.0}).distribution({"bm25": [3.0, 1.0, 1.0]})
    assert found.options[0] > 0.99


@pytest.mark.parametrize(
    ("name", "size", "value"),
    [("bias", 3, 1), ("log_n", 20, math.log(20)), ("log_n", 2, math.log(8)), ("max:bm25", 3, 4)],
    ids=str,
)
def test_features_of_none(name: str, size: int, value: float) -> None:
    assert none_feature(name, {"bm25": [1, 4, 2]}, size) == value


def test_an_unknown_feature_of_none_is_refused() -> None:
    with pytest.raises(ValueError, match="min:bm25"):
        none_feature("min:bm25", {"bm25": [1.0]}, 1)


def test_a_document_becomes_heads() -> None:
    heads = heads_from(DOCUMENT)
    assert (heads.version, heads.encoder, heads.background) == ("7", "tiny-1", (0.5, 0.0))
    head = heads.head(has_encoder=False, has_examples=False)
    assert (dict(head.option), dict(head.none)) == ({"bm25": 2.0}, {"bias": 1.5})


@pytest.mark.parametrize("key", DOCUMENT)
def test_a_document_of_another_shape_is_refused(key: str) -> None:
    with pytest.raises((KeyError, TypeError)):
        heads_from({name: value for name, value in DOCUMENT.items() if name != key})
    with pytest.raises((TypeError, ValueError)):
        heads_from({**DOCUMENT, "heads": [1]} if key != "background" else {**DOCUMENT, key: "x"})


@pytest.mark.parametrize("has_examples", [False, True])
@pytest.mark.parametrize("has_encoder", [False, True])
def test_the_shipped_heads_are_whole(has_encoder: bool, has_examples: bool) -> None:
    head = shipped_heads().head(has_encoder=has_encoder, has_examples=has_examples)
    assert set(head.none) == {"bias", "log_n"} | ({"elsewhere"} if has_encoder else set())
    lexical = {"char", "char_unit"}
    assert lexical <= set(head.option)
    assert ("unit_out" in head.option) == has_encoder
    assert ("example" in head.option) == (has_encoder and has_examples)


def test_the_shipped_heads_fit_the_encoder_of_the_extra() -> None:
    assert shipped_heads().encoder == UseEncoder().name
    assert len(shipped_heads().background) == 512


def test_the_shipped_document_says_where_it_comes_from() -> None:
    source = resources.files("clawmarshal.router.models").joinpath(SHIPPED)
    provenance = json.loads(source.read_text("utf-8"))["provenance"]
    assert {"command", "date", "seed", "sha256"} <= set(provenance)


@pytest.mark.parametrize(
    ("probabilities", "expected"), [([1.0], 1.0), ([0.5, 0.5], 0.0), ([0.8, 0.1, 0.1], 0.7)]
)
def test_concentration_is_system_ones_formula(probabilities: list[float], expected: float) -> None:
    assert concentration(probabilities) == pytest.approx(expected)
