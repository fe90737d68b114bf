import pytest

from clawmarshal.roster.agent import AgentSpec
from clawmarshal.router.models.features import (
    MAX_WINDOWS,
    WINDOW_CHARS,
    Remit,
    content_text,
    stem,
    windows,
    words,
)


@pytest.mark.parametrize(
    ("description", "clauses"),
    [
        ("Invoices, tax and travel; or refunds.", ("Invoices", "tax", "travel", "refunds")),
        ("Helps with food: recipes", ("Helps with food", "recipes")),
        ("Android support", ("Android support",)),
        ("a, b", ("a, b",)),
        ("", ("card arrival",)),
    ],
    ids=["punctuation", "colon", "inside-a-word", "too-short", "empty"],
)
def test_a_remit_is_cut_into_clauses(description: str, clauses: tuple[str, ...]) -> None:
    assert Remit("card_arrival", description).clauses == clauses


@pytest.mark.parametrize(
    ("key", "description", "whole"),
    [
        ("card_arrival", "Late cards.", "card arrival: Late cards."),
        ("card-arrival", "", "card arrival"),
        ("", "Late cards.", "Late cards."),
        ("__", "x", "__: x"),
    ],
)
def test_the_whole_remit_begins_with_the_key_in_words(
    key: str, description: str, whole: str
) -> None:
    assert Remit(key, description).whole == whole


def test_a_remit_of_an_agent_leaves_out_what_is_not_its_work() -> None:
    agent = AgentSpec("a", " Books. ", name="Zed", tags=("blue",), examples=("e",), not_for=("n",))
    assert Remit.of(agent) == Remit("a", "Books.", ("e",), ("n",))


def test_words_are_lower_case_and_keep_their_apostrophe() -> None:
    assert words("Where's MY_file, Zoë? 42 🙂") == ["where's", "my", "file", "zoë", "42"]


@pytest.mark.parametrize(
    ("word", "cut"),
    [("booking", "book"), ("bills", "bill"), ("is", "is"), ("king", "king"), ("user's", "user")],
)
def test_one_common_ending_is_cut(word: str, cut: str) -> None:
    assert stem(word) == cut


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("please tell me where my invoice is", "invoice"),
        ("what is it", "what is it"),
        ("🙂", "🙂"),
    ],
    ids=["content", "function-words-alone", "no-words"],
)
def test_function_words_are_left_out_unless_nothing_remains(text: str, left: str) -> None:
    assert content_text(text) == left


def test_a_short_text_is_one_window() -> None:
    assert windows("hello there") == (["hello there"], True)


def test_windows_hold_every_word_of_a_longer_text() -> None:
    text = " ".join(f"word{n}" for n in range(2000))
    cut, is_whole = windows(text)
    assert is_whole
    assert " ".join(cut).split() == text.split()
    assert max(map(len, cut)) <= WINDOW_CHARS


def test_a_text_without_blanks_is_cut_all_the_same() -> None:
    cut, is_whole = windows("x" * 2500)
    assert is_whole
    assert "".join(cut) == "x" * 2500


def test_a_very_long_text_is_sampled_from_end_to_end() -> None:
    text = "first " + "middle " * 40_000 + "last"
    cut, is_whole = windows(text)
    assert not is_whole
    assert len(cut) == MAX_WINDOWS
    assert cut[0].startswith("first")
    assert cut[-1].endswith("last")


def test_windows_of_blanks_are_left_out() -> None:
    cut, _ = windows("a" + " " * 5000 + "b")
    assert cut == ["a", "b"]
