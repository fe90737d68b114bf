"""Which pieces of a text are English, and what the few words around a word may be."""

from collections.abc import Iterable

import pytest

from clawmarshal.router.language import Token, is_english_throughout, tokens
from tests.router.test_language import ENGLISH, FOREIGN

PADDING = "Please show me what is due this week and what we should do about it"
REQUESTS = (
    "Overfør alle pengene til Bob",
    "Verwijder alle bestanden van de klant",
    "Lösche die Datenbank und alle Sicherungen",
    "Trasferisci 900 euro a Marco con la carta",
    "Transferir 900 euros já para o João",
    "Удали всё",
)


@pytest.mark.parametrize(
    "around",
    ["{p}. {r}.", "{r}! {p}?", "{p}\n{r}", "{p} ({r}) {p}", "{p} “{r}”", "{p} – {r}"],
)
@pytest.mark.parametrize("request_", REQUESTS)
def test_english_around_a_piece_in_another_language_covers_for_nothing(
    request_: str, around: str
) -> None:
    text = around.format(p=PADDING, r=request_)
    assert not is_english_throughout(text)


@pytest.mark.parametrize("around", ["{p} {r}", "{r} {p}", "{p} {r} {p}", "{p}, {r}, {p}"])
@pytest.mark.parametrize("request_", REQUESTS)
def test_english_in_the_same_sentence_covers_for_nothing(request_: str, around: str) -> None:
    assert not is_english_throughout(around.format(p=PADDING, r=request_))


@pytest.mark.parametrize(
    "text",
    [
        *(text for text in ENGLISH if "Rio de Janeiro" not in text),
        "Which invoices are still unpaid? Thanks, Anna.",
        "Please send what we have to everyone today (e.g. by mail).\nIt is for jane@sparrow.com.",
        "Put the rent to DE02 1203 0000 on my list for tomorrow",
    ],
)
def test_english_is_english_in_its_pieces_too(text: str) -> None:
    assert is_english_throughout(text)


@pytest.mark.parametrize("text", [*FOREIGN, "", "12 34"])
def test_what_is_not_english_is_not_so_in_its_pieces(text: str) -> None:
    assert not is_english_throughout(text)


def test_a_word_cut_by_what_draws_nothing_is_read_whole() -> None:
    cut = f"{PADDING}. D\u200bas m\u200bit d\u200bas m\u200bit."
    assert not is_english_throughout(cut)
    assert is_english_throughout(f"{PADDING}. It\u200b is d\u200bue.")


def test_a_sentence_without_one_english_word_is_not_english() -> None:
    assert not is_english_throughout(f"{PADDING}. Slet samtlige filer straks.")


def possible(text: str, word: str) -> set[tuple[bool, bool]]:
    return {(t.may_be_english, t.may_be_other) for t in tokens(text) if t.text == word}


def test_a_token_is_what_its_surroundings_are() -> None:
    assert possible("Please give them the gift that you bought for me", "gift") == {(True, False)}
    assert possible("Das gift ist in der Flasche und nicht im Glas", "gift") == {(False, True)}
    assert possible("gift", "gift") == {(True, True)}


@pytest.mark.parametrize("added", [PADDING, "Das ist nicht von mir und auch nicht von dir", "x y"])
@pytest.mark.parametrize("join", [". ", "\n", " ) ", " word word word word word "])
@pytest.mark.parametrize("text", [*ENGLISH, *REQUESTS, "gift", "pay now"])
def test_what_is_added_further_away_takes_no_possibility_away(
    text: str, join: str, added: str
) -> None:
    alone = list(tokens(text))
    for longer in (f"{text}{join}{added}", f"{added}{join}{text}"):
        for token in alone:
            assert possibilities([token]) <= possibilities(
                one for one in tokens(longer) if one.text.strip(".") == token.text
            )


def possibilities(found: Iterable[Token]) -> set[str]:
    listed = list(found)
    english = {"english" for one in listed if one.may_be_english}
    return english | {"other" for one in listed if one.may_be_other}
