import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clawmarshal.router.directives import has_directive, is_blank, is_displayable, neutralise

COMMANDS = [
    "/new",
    "/reset",
    "/NEW please",
    "  /compact now",
    "\n\t/deploy prod",
    "\u200b/deploy prod",
    "\u2060 \ufeff/new",
    "\u202e/new",
    "\u00ad/new",
    "\x1f/new",
    "\u3000/new",
    "\U000e0041/new",
    "\uff0fnew",
    "/etc/passwd is missing",
    "/",
]
REFERENCES = [
    "$admin do",
    "please run $deploy-prod now",
    "cost($x)",
    "$1password show",
    "$Admin",
    "$ADMIn",
    "$ns:skill",
    "\\\\$admin",
    "$$admin",
    "a\n$skill_name",
    "$\u200badmin",
    "$a\u200bdmin",
    "$4\u200b0x",
    "\\\u200b$admin",
    "\uff04admin",
    "\ufe69admin",
    "$40kids",
    "$40-ish",
]
PLAIN = [
    "hello",
    "it costs $40",
    "$40k to $50k, or $40k-50k",
    "$5m-$6m",
    "$1.5bn and $12,000.50",
    "$40:",
    "$9.99/month",
    "$100usd",
    "US$ 30",
    "$",
    "$ admin",
    "$(date)",
    "${HOME}",
    "$HOME and $PATH_2",
    "\\$admin",
    "\\\\\\$admin",
    "and/or",
    "see a/b",
    "!ls @file",
    "> /reset",
    "Message:\n/new",
    "[[reply_to_current]] hi",
    "$é",
    "",
]


@pytest.mark.parametrize("text", COMMANDS + REFERENCES, ids=ascii)
def test_what_openclaw_would_obey_is_a_directive(text: str) -> None:
    assert has_directive(text)


@pytest.mark.parametrize("text", PLAIN, ids=ascii)
def test_ordinary_text_is_no_directive(text: str) -> None:
    assert not has_directive(text)
    assert neutralise(text) == text


@pytest.mark.parametrize(
    ("text", "inert"),
    [
        ("/new", "> /new"),
        (" \n/new", ">  \n/new"),
        ("run $admin and $other", "run $ admin and $ other"),
        ("$admin", "$ admin"),
        ("\\\\$admin", "\\\\$ admin"),
        ("/go $admin", "> /go $ admin"),
        ("pay $40 to $bob", "pay $40 to $ bob"),
        ("\uff04admin", "\uff04 admin"),
    ],
)
def test_a_directive_is_made_inert_by_what_a_reader_sees(text: str, inert: str) -> None:
    assert neutralise(text) == inert


@pytest.mark.parametrize("text", COMMANDS + REFERENCES, ids=ascii)
def test_nothing_is_left_to_obey(text: str) -> None:
    assert not has_directive(neutralise(text))


TRICKY = st.text(alphabet="/$\\aA0k:-_ \n\u200b\ufeff\uff04\uff0f\u202eé", max_size=24)


@settings(max_examples=400, deadline=None)
@given(TRICKY)
def test_neutralising_is_complete_and_only_adds(text: str) -> None:
    inert = neutralise(text)
    assert not has_directive(inert)
    assert neutralise(inert) == inert
    left = iter(inert)
    assert all(character in left for character in text)
    assert set(inert) <= set(text) | {">", " "}


@settings(max_examples=400, deadline=None)
@given(TRICKY)
def test_unseen_characters_hide_no_directive(text: str) -> None:
    if has_directive(text):
        return
    seen = "".join(c for c in text if c not in "\u200b\ufeff\u202e")
    assert not has_directive(seen)


@pytest.mark.parametrize(
    "text",
    [
        "plain text,\twith a tab\r\nand lines\n",
        "Grüße, naïve façade",
        "שלום, מה שלומך?",
        "مرحبا 123 (اختبار) abc",
        "می‌خواهم",
        "ه‍ ",
        "עברית\u200f!",
        "👨‍👩‍👧‍👦 family",
        "👨‍👩‍👧‍👦" * 200,
        "❤️" * 200,
        "1️⃣ 2️⃣ #️⃣",
        "👍🏽",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "🇩🇪",
        "e\u0301 o\u0308\u0304 בְּרֵאשִׁית",
        "ภาษาไทย\u200bคำ",
        "हिन्दी क्‍ष",
        "葛\U000e0100城市",
        "𠀀𪚥",
        "\U0001fae8 new emoji",
        "\u0600123",
        "soft\u00adhyphen and \ufeffstray mark",
        "line\u2028separator",
        "replacement \ufffd",
    ],
    ids=ascii,
)
def test_ordinary_writing_can_be_shown(text: str) -> None:
    assert is_displayable(text)


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[2Jgone",
        "bell\x07",
        "back\x08space",
        "vertical\x0btab",
        "delete\x7f",
        "c1 \x9b2J",
        "over\rwrite",
        "nul\x00",
        "invoice\u202egpj.exe",
        "\u202aembed\u202c",
        "\u2066isolate\u2069",
        "deprecated \u206a",
        "hidden \U000e0064\U000e0065\U000e006c",
        "🏴\U000e0068\U000e0069\U000e007f",
        "language tag \U000e0001",
        "bytes a\U000e0100",
        "bytes 葛\U000e0100\U000e0101",
        "bytes ❤\ufe00\ufe01\ufe02\ufe03",
        "private \ue000",
        "noncharacter \ufdd0",
        "noncharacter \U0001ffff",
        "unassigned \u0378",
        "annotated \ufff9x\ufffay\ufffb",
        "object \ufffc",
        "lone \ud800",
        "run \u200b\u200c\u200b\u200c",
        "s\u200be\u200bc\u200br\u200be\u200bt" * 4,
        "tower z" + "\u0301" * 9,
        "é tower z" + "\u0301\u0300\u0302" * 3,
        "blank \u3164\u3164\u3164\u3164",
    ],
    ids=ascii,
)
def test_what_cannot_be_shown_faithfully_is_told(text: str) -> None:
    assert not is_displayable(text)


@pytest.mark.parametrize("text", ["", " \n", "\u200b", "\u2060\ufeff", "\u3164", "\x1f", "\u2028"])
def test_a_text_with_nothing_to_see_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", "\u200b.", "❤️", "   -", "字"])
def test_a_text_with_something_to_see_is_not_blank(text: str) -> None:
    assert not is_blank(text)


MEBI = 1024 * 1024
WORST = {
    "signs": "$" * MEBI,
    "shell": "$A" * (MEBI // 2),
    "amounts": "$40k" * (MEBI // 4),
    "backslashes": "\\" * MEBI + "$a",
    "escaped": "\\$a" * (MEBI // 3),
    "long-name": "$" + "A" * MEBI,
    "digits": "$" + "1" * MEBI,
    "blanks": " " * MEBI + "x",
    "unseen": "\u200b" * (MEBI // 3) + "$",
    "signs-unseen": "$\u200b" * (MEBI // 4),
    "references": "$a" * (MEBI // 2),
    "marks": "e\u0301" * (MEBI // 3),
    "emoji": "👨‍👩‍👧‍👦" * (MEBI // 25),
    "selectors": "葛\U000e0100" * (MEBI // 7),
}


@pytest.mark.parametrize("text", WORST.values(), ids=WORST)
@pytest.mark.timeout(60)  # work that grows with the square of the text would take days
def test_the_worst_text_of_a_mebibyte_is_judged_and_made_inert(text: str) -> None:
    is_displayable(text)
    is_blank(text)
    inert = neutralise(text)
    assert not has_directive(inert)
