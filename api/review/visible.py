"""Foreign text to markup in which every character that hides, turns or imitates is seen."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from markupsafe import Markup, escape

_ABBREVIATIONS = {
    0x00AD: "SHY", 0x034F: "CGJ", 0x061C: "ALM", 0x180E: "MVS", 0x200B: "ZWSP", 0x200C: "ZWNJ",
    0x200D: "ZWJ", 0x200E: "LRM", 0x200F: "RLM", 0x2028: "LSEP", 0x2029: "PSEP", 0x202A: "LRE",
    0x202B: "RLE", 0x202C: "PDF", 0x202D: "LRO", 0x202E: "RLO", 0x2060: "WJ", 0x2066: "LRI",
    0x2067: "RLI", 0x2068: "FSI", 0x2069: "PDI", 0xFEFF: "BOM", 0x0D: "CR", 0x1B: "ESC",
    0x00: "NUL", 0x7F: "DEL", 0x08: "BS",
}  # fmt: skip
_SEEN_AS_NOTHING = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef"
)
"""Marks and letters without a glyph, beside the categories below."""
_ODD_BLANKS = "\u1680\u2000-\u200a\u202f\u205f"
_SUSPECT = re.compile(
    "[^ -~\\n\\t\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0377\u0391-\u03ff"
    "\u0400-\u0482\u048a-\u052f\u4e00-\u9fff]"
)
"""What is looked up at all: plain letters of common scripts are not."""
_FINE_JOINERS = re.compile(
    # A joiner between two emoji or two letters of scripts that are written with it, and the
    # selector that makes an emoji of a sign.
    "(?<=[\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d(?=[\u2190-\u2bff\U0001f000-\U0001faff])"
    "|(?<=[\u0620-\u109f])[\u200c\u200d](?=[\u0620-\u109f])"
    "|(?<=[\u2190-\u2bff\u3030\u303d\u3297\u3299\u00a9\u00ae\U0001f000-\U0001faff0-9#*])\ufe0f"
)
_HIDING = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
_NOTHING = re.compile(f"[{_SEEN_AS_NOTHING}{_ODD_BLANKS}]")
_LINE_END = re.compile("\r\n")
_MAX_MARKS = 8
"""Combining marks on one letter that are drawn; more would reach into other lines."""


def visible(text: object) -> Markup:
    """Escape a text and write out what cannot be seen in it.

    Controls, direction controls, zero-width, tag, private and unassigned characters, unusual
    blanks and towers of marks stand as ``<i>[NAME]</i>``, each run of one character once with its
    length. Line feeds and tabs stay; nothing becomes a link.

    Parameters
    ----------
    text
        Anything; linear time.
    """
    return Markup("").join(_parts(_LINE_END.sub("\n", str(text))))


def hidden_in(text: str) -> dict[str, int]:
    """Count the characters of a text that `visible` writes out, by name."""
    found: dict[str, int] = {}
    for _, character, length in _runs(_LINE_END.sub("\n", text)):
        name = unicodedata.name(character, f"U+{ord(character):04X}").lower()
        found[name] = found.get(name, 0) + length
    return found


def _parts(text: str) -> Iterator[Markup]:
    done = 0
    for start, character, length in _runs(text):
        yield escape(text[done:start])
        times = f"*{length}" if length > 1 else ""
        yield Markup("<i>[{}{}]</i>").format(_label(character), times)
        done = start + length
    yield escape(text[done:])


def _runs(text: str) -> Iterator[tuple[int, str, int]]:
    """Find each stretch of one character that must be written out: where, which, how long."""
    fine = {found.start() for found in _FINE_JOINERS.finditer(text)}
    at, marks = -1, 0
    for found in _SUSPECT.finditer(text):
        place, character = found.start(), found.group()
        if place < at:
            continue
        if unicodedata.combining(character):
            marks = marks + 1 if place == at else 1
            at = place + 1
            if marks <= _MAX_MARKS:
                continue
        elif place in fine or not _hides(character):
            continue
        end = place + 1
        while end < len(text) and text[end] == character and end not in fine:
            end += 1
        yield place, character, end - place
        at = end


@lru_cache(maxsize=4096)
def _hides(character: str) -> bool:
    return unicodedata.category(character) in _HIDING or _NOTHING.match(character) is not None


def _label(character: str) -> str:
    code = ord(character)
    if code in _ABBREVIATIONS:
        return _ABBREVIATIONS[code]
    if 0xE0020 <= code <= 0xE007E:
        return f"TAG {chr(code - 0xE0000)}"
    return f"U+{code:04X}"
