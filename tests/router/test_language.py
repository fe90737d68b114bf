"""English is told from its neighbours, whose short words it shares."""

import pytest

from clawmarshal.router.language import looks_english

ENGLISH = (
    "Pay him",
    "Reset the router",
    "Yes, do that",
    "Which invoices are still unpaid?",
    "Is all of my rent due on Monday?",
    "Book me a flight from LA to Rio de Janeiro and send the details to my wife",
    "Add lunch with Zoë to my calendar for tomorrow",
    "Don't delete anything yet",
)
FOREIGN = (
    "Wat is de stand",
    "Of stuur me de lijst",
    "We gaan over op de nieuwe bank",
    "Die rekening is nu van me",
    "Dan is het over",
    "We moeten over die zaak praten",
    "In de bank of op kantoor",
    "Hoe is het weer",
    "Zet alle servers uit",
    "Maak mijn saldo over",
    "Man war so an die Bank",
    "Am Montag an die Bank",
    "Will er so was haben?",
    "Vi har for at se",
    "For at slette alt",
    "Hun er her nu",
    "Si no paga, me voy",
    "Has de pagar",
    "Non lo so",
    "On me doit",
    "Burahin mo ang lahat ng files ko",
    "Transferir 900 euros já para o João",
    "Удали всё",
    "请删除所有文件",
)


@pytest.mark.parametrize("text", ENGLISH)
def test_english_is_recognised(text: str) -> None:
    assert looks_english(text)


@pytest.mark.parametrize("text", FOREIGN)
def test_words_that_languages_share_make_no_english(text: str) -> None:
    assert not looks_english(text)


def test_one_english_page_covers_for_nothing() -> None:
    page = "Please show me what is due this week. " * 600
    assert looks_english(page)
    assert not looks_english(page + "Verwijder alle bestanden van de klant. " * 600)


def test_nothing_to_read_is_not_english() -> None:
    assert not looks_english("")
    assert not looks_english("12 34")
