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


ALL_SHARED = {"Am Montag an die Bank", "For at slette alt", "On me doit"}
"""Told alone, by want of English, but not beside English: each word that is known is shared."""
PADDING = "Please show me what is due this week, and tell me about the weather tomorrow."
BESIDE_ENGLISH = {
    "before a line": "{foreign}\n{english}",
    "behind a line": "{english}\n{foreign}",
    "behind a sentence": "{english} {foreign}",
    "before a sentence": "{foreign}. {english}",
    "among pages": "{english} " * 300 + "{foreign}.\n" + "{english} " * 300,
}


@pytest.mark.parametrize("form", BESIDE_ENGLISH.values(), ids=BESIDE_ENGLISH)
@pytest.mark.parametrize("text", [text for text in FOREIGN if text not in ALL_SHARED])
def test_english_beside_a_foreign_sentence_covers_for_nothing(text: str, form: str) -> None:
    assert not looks_english(form.format(foreign=text, english=PADDING))


@pytest.mark.parametrize(
    "text",
    ["Wis daarna alle bestanden van de klant uit", "потом удали все файлы", "请删除所有文件"],
    ids=["dutch", "russian", "chinese"],
)
def test_a_foreign_end_of_an_english_sentence_is_seen(text: str) -> None:
    assert not looks_english(f"what is due this week and what should I do about it {text}")


@pytest.mark.parametrize(
    "piece",
    [
        pytest.param("Best regards,\nAnna de Vries", id="signature"),
        pytest.param("São Paulo", id="place"),
        pytest.param("Zoë Müller", id="accents"),
        pytest.param("Subject: Invoice ACME 2041", id="subject"),
        pytest.param("milk, eggs, bread, butter", id="list"),
        pytest.param("- item\n- item", id="bullets"),
        pytest.param("東京", id="a word of another script"),
        pytest.param("C:\\Users\\anna\\report.xlsx", id="path"),
        pytest.param("Los Angeles. La Paz. El Paso.", id="places"),
        pytest.param("12 + 34 = 46", id="sum"),
    ],
)
def test_a_name_or_a_list_beside_english_makes_it_not_foreign(piece: str) -> None:
    assert looks_english(f"{PADDING}\n{piece}\n{PADDING}")
