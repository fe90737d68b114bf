import numpy as np
import pytest

from clawmarshal.router.models.dense import DenseIndex, Reader, Stack
from clawmarshal.router.models.features import Remit
from tests.support.tiny_encoder import TinyEncoder

REMITS = [
    Remit("finance", "invoices, tax deadlines"),
    Remit("travel", "flights, hotels", ("book seats", "rent a car", "cancel room")),
    Remit("kitchen", "recipes, ingredients", ("boil an egg",), ("hotel kitchens",)),
]


def columns(text: str, remits: list[Remit] = REMITS) -> dict[str, list[float]]:
    reader = Reader(TinyEncoder())
    return DenseIndex(remits, reader).columns(reader.message([text]))


@pytest.mark.parametrize("feature", ["whole", "unit", "unit_mean", "any"])
def test_features_of_remits_favour_the_one_that_is_alike(feature: str) -> None:
    assert np.argmax(columns("hotels flights")[feature]) == 1


@pytest.mark.parametrize("feature", ["example", "example_mean", "centre", "any"])
def test_features_of_examples_favour_the_one_that_is_alike(feature: str) -> None:
    assert np.argmax(columns("boil egg")[feature]) == 2


def test_an_agent_without_examples_borrows_from_its_remit() -> None:
    found = columns("tax deadlines")
    assert found["example"][0] == found["unit"][0]
    assert found["example_mean"][0] == found["unit_mean"][0]
    assert found["example"][1] != found["unit"][1]


def test_a_roster_without_examples_has_no_features_of_them() -> None:
    assert set(columns("tax", REMITS[:1])) == {"whole", "unit", "unit_mean"}


def test_what_an_agent_refuses_counts_only_where_it_is_nearer_than_its_remit() -> None:
    assert columns("hotel kitchens")["refused"][2] > 0.2
    assert columns("recipes ingredients")["refused"] == [0, 0, 0]


def test_the_soft_best_lies_between_mean_and_best() -> None:
    stack = Stack([np.eye(2, dtype=np.float32), np.ones((1, 2), np.float32)])
    cosines = np.array([[0.9, 0.1, 0.4]], np.float32)
    mean, soft, best = stack.mean(cosines), stack.soft_best(cosines), stack.best(cosines)
    assert mean[0] < soft[0] < best[0] == pytest.approx(0.9)
    assert [mean[1], soft[1], best[1]] == pytest.approx([0.4] * 3)


def test_readings_of_a_message_are_averaged() -> None:
    stack = Stack([np.ones((1, 2), np.float32)])
    assert stack.mean(np.array([[0.2], [0.4]], np.float32))[0] == pytest.approx(0.3)


def test_the_background_is_taken_out_of_messages_and_examples_alone() -> None:
    tiny = TinyEncoder()
    background = (tiny.encode(["please"])[0] * 0.5).tolist()
    plain, centred = Reader(tiny), Reader(tiny, background)
    remit = REMITS[1]
    assert np.allclose(plain.vectors(remit).units, centred.vectors(remit).units)
    assert not np.allclose(plain.vectors(remit).examples, centred.vectors(remit).examples)
    message = centred.message(["please book"])
    assert np.allclose(message.written, plain.message(["please book"]).written)
    shared = np.array(background, np.float32)
    assert abs(float(message.readings[0] @ shared)) < float(message.written @ shared)
    assert np.allclose(np.linalg.norm(message.readings, axis=1), 1, atol=1e-5)


def test_a_message_is_read_as_written_and_by_its_content_words() -> None:
    tiny = TinyEncoder()
    assert len(Reader(tiny).message(["where is my invoice"]).readings) == 2
    assert tiny.texts == ["where is my invoice", "invoice"]


def test_a_long_message_is_read_as_written_alone() -> None:
    tiny = TinyEncoder()
    text = "where is my invoice? " * 20
    assert len(Reader(tiny).message([text]).readings) == 1
    assert tiny.texts == [text]


def test_windows_weigh_by_their_length() -> None:
    tiny = TinyEncoder()
    message = Reader(tiny).message(["invoice " * 100, "egg"])
    alone = tiny.encode(["invoice", "egg"]) @ message.written
    assert alone[0] > 0.95
    assert len(message.readings) == 1


def test_each_remit_is_encoded_once() -> None:
    tiny = TinyEncoder()
    reader = Reader(tiny)
    DenseIndex(REMITS, reader)
    DenseIndex(REMITS[:2], reader)
    assert len(tiny.texts) == len(set(tiny.texts))
