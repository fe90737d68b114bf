"""Text from outside cannot drive or deceive a screen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmarshal.transport.text import clean_text, storable_text, visible_text

CASES = {
    "plain": ("Grüße, 日本語 🦞", "Grüße, 日本語 🦞"),
    "newline and tab stay": ("a\n\tb", "a\n\tb"),
    "colours": ("\x1b[1;31mred\x1b[0m", "red"),
    "window title": ("\x1b]0;title\x07x", "x"),
    "title ended by ST": ("\x1b]0;title\x1b\\x", "x"),
    "unended title": ("a\x1b]0;rest", "a"),
    "link": ("\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\", "text"),
    "clear screen": ("\x1b[2J\x1b[Hx", "x"),
    "8-bit CSI": ("\x9b31mred", "red"),
    "8-bit OSC": ("\x9dtitle\x9cx", "x"),
    "reset": ("\x1bcx", "x"),
    "lone escape": ("a\x1b", "a"),
    "bell, backspace, NUL": ("a\x07\x08\0b", "ab"),
    "delete and C1": ("a\x7f\x80b", "ab"),
    "carriage return": ("a\r\nb\rc", "a\nb\nc"),
    "line separators": ("a\u2028b\u2029c\x0bd\x0ce\x85f", "a\nb\nc\nd\ne\nf"),
    "bidi": ("\u202ertl\u202c \u2066i\u2069 \u200ex\u200f \u061cy", "rtl i x y"),
    "zero width": ("z\u200be\u200cr\u200do\ufeff\u2060\u00ad", "zero"),
    "joined emoji stay": ("👨\u200d👩\u200d👧 ❤️\u200d🔥", "👨\u200d👩\u200d👧 ❤️\u200d🔥"),
    "tag characters": ("a\U000e0041\U000e007fb", "ab"),
    "lone surrogate": ("a\ud800b", "a\ufffdb"),
    "private use stands for nothing": ("a\ue000b", "a\ufffdb"),
    "hangul filler": ("a\u3164\u115fb", "ab"),
}


@pytest.mark.parametrize(
    ("text", "clean"), CASES.values(), ids=[name.replace(" ", "-") for name in CASES]
)
def test_text_is_cleaned(text: str, clean: str) -> None:
    assert clean_text(text) == clean


@given(st.text() | st.text(alphabet="\x1b[]0;m\x07\\\x9bab\u202e\u200d👨\r\n"))
def test_clean_text_is_clean(text: str) -> None:
    clean = clean_text(text)

    assert clean_text(clean) == clean
    assert not any(c in clean for c in "\x1b\x00\x07\x08\x7f\x9b\r\u202e\u200b\u2028\ufeff")
    clean.encode()


def test_cut_is_marked_and_within_the_limit() -> None:
    assert clean_text("abcdef", limit=4) == "abc…"
    assert clean_text("\x1b[0mabcd", limit=4) == "abcd"


def test_storable_text_keeps_all_but_what_no_store_keeps() -> None:
    assert storable_text("a\0\ud800\x1b\u202eb") == "a\ufffd\ufffd\x1b\u202eb"


VISIBLE = {
    "plain": ("Grüße, 日本語 🦞", "Grüße, 日本語 🦞"),
    "line ends and tab": ("a\r\nb\nc\td", "a↵b↵c⇥d"),
    "escape": ("\x1b[2J\x07", "⟨001B⟩[2J⟨0007⟩"),
    "bidi": ("\u202ertl\u202c", "⟨202E⟩rtl⟨202C⟩"),
    "zero width": ("a\u200bb", "a⟨200B⟩b"),
    "tag characters": ("\U000e0072", "⟨E0072⟩"),
    "variation selector": ("c\ufe0f", "c⟨FE0F⟩"),
    "line separator": ("a\u2028b\x0cc", "a⟨2028⟩b⟨000C⟩c"),
    "lone surrogate": ("\ud800", "⟨D800⟩"),
    "cut": ("a" * 60, "a" * 50 + "…"),
}


@pytest.mark.parametrize(
    ("text", "shown"), VISIBLE.values(), ids=[name.replace(" ", "-") for name in VISIBLE]
)
def test_what_hides_is_shown_as_its_code(text: str, shown: str) -> None:
    assert visible_text(text, limit=50) == shown


@given(st.text() | st.text(alphabet="\x1b[]0;m\x07\\\x9bab\u202e\u200d👨\r\n"))
def test_visible_text_is_one_clean_line(text: str) -> None:
    shown = visible_text(text, limit=100)
    assert clean_text(shown).replace("\ufffd", "") == shown.replace("\ue000", "")
    assert "\n" not in shown
