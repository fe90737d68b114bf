"""Fold disguised text to the plain form that rules are written in; pure."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

_LATIN_LOOK = {
    # Cyrillic and Greek letters that are drawn like Latin ones, after casefolding.
    **dict(zip("аеорсухіјѕѵԁԛԝһкмнтвгьпиѡӏ", "aeopcyxijsvdqwhkmhtbrbnuwl", strict=True)),
    **dict(zip("αβγεηικνορτυχωκϲϳμζ", "abyenikvoptuxwkcjuz", strict=True)),
    # Armenian, Cherokee and IPA letters seen in the wild.
    **dict(zip("օսոցհաɑɡɩʏꞓꮯꭰꭱ", "ounghaagiycodr", strict=True)),
}
_LOOKALIKES = str.maketrans(_LATIN_LOOK)
_LETTER_VARIANTS = str.maketrans(
    {
        **dict(zip("łøđħŧıŀɫƚɵĸ", "lodhtilllok", strict=True)),
        **{"æ": "ae", "œ": "oe", "þ": "th", "ð": "d"},
        # Arabic letters that keyboards of different languages write differently.
        **{"ي": "ی", "ى": "ی", "ك": "ک", "ة": "ه", "ۀ": "ه", "ہ": "ه"},
        **{"’": "'", "‘": "'", "ʼ": "'", "`": "'", "´": "'", "＇": "'", "_": " ", "\u2800": " "},
    }
)
_LEET = str.maketrans("0134578@$!|9", "oieastbasilg")
_LEET_L = str.maketrans("0134578@$!|9", "oleastbasllg")

# What draws nothing: zero-width, joiners, soft hyphen, bidi controls, fillers, selectors.
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Marks that only decorate a letter. Vowel signs of Indic scripts and Thai are letters to a reader.
_DECORATION = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
_CONTROL = "\u0001-\u0008\u000e-\u001a\u007f"
_DROPPED = re.compile(f"[{_INVISIBLE}{_DECORATION}{_CONTROL}]+")
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f")
_EXPANDING = re.compile("[\ufdf0-\ufdfb\u3300-\u33ff]")
_MIXED = re.compile(
    r"[a-z][\u0370-\u052f\u0561-\u0587\uab70-\uabbf]|[\u0370-\u052f\u0561-\u0587\uab70-\uabbf][a-z]"
)
_LEET_SIGN = re.compile(r"[013457@$!|89]")
_LAST_MARK = 0x1E94B


@dataclass(frozen=True, slots=True)
class Folded:
    """A text in its plain form, and what was found while folding."""

    text: str
    """Casefolded, compatibility-composed, without what draws nothing and without diacritics."""
    hides_text: bool
    """True when invisible tag characters spelled something; what they spelled is in `text`."""


def fold(text: str) -> Folded:
    """Undo what hides a word from rules and not from a reader.

    Work is linear in the length of the text: runs of marks are cut before they are normalised,
    since canonical ordering is quadratic in such runs.

    Parameters
    ----------
    text
        Any text; lone surrogates are kept as they are.
    """
    if text.isascii():
        return Folded(_DROPPED.sub("", text).lower().translate(_LETTER_VARIANTS), False)
    hidden = "".join(_TAGS.findall(_FLAG.sub("", text)))
    plain = _EXPANDING.sub(" ", _DROPPED.sub("", text))
    plain = _long_mark_runs().sub("", plain)
    plain = _DROPPED.sub("", unicodedata.normalize("NFKD", plain)).casefold()
    plain = unicodedata.normalize("NFC", _DROPPED.sub("", unicodedata.normalize("NFKD", plain)))
    plain = plain.translate(_LETTER_VARIANTS)
    if hidden:
        plain += "\n" + "".join(chr(ord(tag) - 0xE0000) for tag in hidden).lower()
    return Folded(plain, bool(hidden))


def is_mixed(word: str) -> bool:
    """Tell whether a folded word joins Latin letters with letters of another alphabet.

    Words of two letters are units (μm, kΩ), not disguises.
    """
    return len(word) > 2 and _MIXED.search(word) is not None


def latin_look(word: str) -> str:
    """Spell a folded word with the Latin letters it looks like."""
    return word.translate(_LOOKALIKES)


def unleet(word: str) -> tuple[str, ...]:
    """Give the readings of a word in which digits and signs stand for letters; none for others.

    At least as many letters as signs are asked for, so that amounts and codes stay what they are.
    """
    signs = len(_LEET_SIGN.findall(word[:32]))
    if not signs or len(word) > 32 or sum(c.isalpha() for c in word) < signs:
        return ()
    return tuple({word.translate(_LEET), word.translate(_LEET_L)})


@cache
def _long_mark_runs() -> re.Pattern[str]:
    """Match what exceeds four reordering marks in a row."""
    marks = "".join(chr(c) for c in range(0x300, _LAST_MARK) if unicodedata.combining(chr(c)))
    one = f"[{re.escape(marks)}]"
    return re.compile(f"(?<={one}{{4}}){one}+")
