import pytest

from clawmarshal.router.models.features import Remit
from clawmarshal.router.models.lexical import GramIndex, LexicalIndex, WordIndex

REMITS = [
    Remit("finance", "Invoices, bookkeeping and tax deadlines."),
    Remit("travel", "Flights and hotels.", ("cheap seats to Lisbon",)),
    Remit("kitchen", "Recipes and ingredients."),
]


@pytest.mark.parametrize(
    ("text", "best"),
    [("tax deadline", 0), ("hotel", 1), ("lisbon seats", 1), ("ingredient for a recipe", 2)],
)
def test_each_feature_favours_the_remit_that_shares_words(text: str, best: int) -> None:
    for name, column in LexicalIndex(REMITS).columns(text).items():
        assert max(range(3), key=column.__getitem__) == best, name


@pytest.mark.parametrize("text", ["", "🙂", "...", "qqq zzz"], ids=ascii)
def test_nothing_shared_is_zero_everywhere(text: str) -> None:
    columns = LexicalIndex(REMITS).columns(text)
    assert columns == dict.fromkeys(("char", "char_unit", "bm25", "overlap"), [0.0] * 3)


def test_a_document_is_its_own_best_match() -> None:
    index = GramIndex([["tax", "deadline"], ["hotel"]])
    cosines = index.cosines(["tax", "deadline"], lambda: None)
    assert cosines[0] == pytest.approx(1)
    assert cosines[1] < 0.1


def test_unknown_words_weaken_a_match() -> None:
    index = GramIndex([["hotel"], ["tax"]])
    alone = index.cosines(["hotel"], lambda: None)[0]
    assert index.cosines(["hotel", "zzzzzz", "qqqqqq"], lambda: None)[0] < alone


def test_overlap_is_the_share_of_the_message_that_was_found() -> None:
    _, overlap = WordIndex([["tax"], ["hotel"]]).scores(["tax"])
    assert overlap == [1.0, 0.0]
    _, half = WordIndex([["tax"], ["hotel"]]).scores(["tax", "hotel"])
    assert half == pytest.approx([0.5, 0.5])


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    index = WordIndex([["card", "lost"], ["card", "fee"], ["card", "limit"]])
    bm25, _ = index.scores(["card", "fee"])
    assert bm25[1] > 2 * bm25[0]


def test_the_deadline_is_checked_while_a_long_text_is_read() -> None:
    class TooLateError(Exception): ...

    def late() -> None:
        raise TooLateError

    with pytest.raises(TooLateError):
        LexicalIndex(REMITS).columns("word " * 20_000, late)


def test_every_word_of_a_long_text_is_read() -> None:
    columns = LexicalIndex(REMITS).columns("filler " * 20_000 + "hotel")
    assert columns["bm25"][1] > columns["bm25"][0] == 0


def test_what_a_remit_is_not_for_counts_where_it_is_nearer_than_the_remit() -> None:
    remits = [Remit("office", "Hotels.", not_for=("expense reports",)), Remit("other", "Tea.")]
    index = LexicalIndex(remits)
    assert index.columns("expense report")["refused"][0] > 0.3
    assert index.columns("expense report")["refused"][1] == 0
    assert index.columns("hotels")["refused"] == [0, 0]
