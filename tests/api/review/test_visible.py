"""Characters that hide, turn or imitate are written out, and ordinary text stays as it is."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmarshal.api.review.visible import hidden_in, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, with marks: 40 % & more", "plain text, with marks: 40 % &amp; more"),
        ("<b>&\"'", "&lt;b&gt;&amp;&#34;&#39;"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("a\r\nb", "a\nb"),
        ("a\rb", "a<i>[CR]</i>b"),
        ("\u202eabc\u202c", "<i>[RLO]</i>abc<i>[PDF]</i>"),
        ("a" + "\u200b" * 40 + "b", "a<i>[ZWSP*40]</i>b"),
        ("\x00\x1b[2J\x7f\x85", "<i>[NUL]</i><i>[ESC]</i>[2J<i>[DEL]</i><i>[U+0085]</i>"),
        (chr(0xE0041), "<i>[TAG A]</i>"),
        ("\ue000\U000f0000", "<i>[U+E000]</i><i>[U+F0000]</i>"),
        ("\u3164x\uffa0", "<i>[U+3164]</i>x<i>[U+FFA0]</i>"),
        ("\ud800", "<i>[U+D800]</i>"),
        (
            "ein Wörtchen, żółw, мир, 中文, العربية, हिन्दी",
            "ein Wörtchen, żółw, мир, 中文, العربية, हिन्दी",
        ),
        ("👩\u200d👧 ✔\ufe0f 1\ufe0f⃣ 🇩🇪", "👩\u200d👧 ✔\ufe0f 1\ufe0f⃣ 🇩🇪"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("pay\u200dpal", "pay<i>[ZWJ]</i>pal"),
        ("с\u200dс", "с<i>[ZWJ]</i>с"),
        ("e\u0301", "e\u0301"),
    ],
)
def test_it_shows(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_tower_of_marks_is_cut_where_it_would_reach_other_lines() -> None:
    shown = visible("a" + "\u0301" * 12)
    assert shown == "a" + "\u0301" * 8 + "<i>[U+0301*4]</i>"


def test_what_is_written_out_is_counted_by_name() -> None:
    assert hidden_in("a\u202eb\u202e\u200b\u200b") == {
        "right-to-left override": 2,
        "zero width space": 2,
    }
    assert hidden_in("plain") == {}


def test_every_character_that_has_no_glyph_or_moves_others_is_written_out() -> None:
    missed = []
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if character in "\n\t":
            continue
        if unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp"):
            if "<i>" not in visible(f"a{character}b"):
                missed.append(f"U+{code:04X}")
    assert missed == []


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=60))
def test_nothing_is_lost_and_nothing_becomes_markup(text: str) -> None:
    shown = str(visible(text))
    bare = shown.replace("<i>", "").replace("</i>", "")
    assert "<" not in bare and ">" not in bare
    assert not any(unicodedata.category(c) in ("Cc", "Cs") for c in bare if c not in "\n\t")
    kept = [c for c in text if unicodedata.category(c)[0] in "LN" and c.isalnum()]
    assert len(bare) >= len([c for c in kept if not hidden_in(c)])


def test_a_megabyte_of_the_worst_is_shown_in_one_pass() -> None:
    text = "\u200b\u202e" * 200_000
    assert str(visible(text)).count("<i>") == 400_000
