"""What OpenClaw would read as a command, how to make it inert, and what can be shown as it is."""

import re
import unicodedata

_INVISIBLE_RANGES = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u2064\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0"
)
_HIDDEN_RANGES = "\u202a-\u202e\u2066-\u206f\U000e0000-\U000e0fff"
_UNSEEN = re.compile(f"[\x00-\x08\x0e-\x1f\x7f-\x9f{_INVISIBLE_RANGES}{_HIDDEN_RANGES}]+")
"""Characters without a glyph of their own: dropped before a command is looked for."""
_BLANKS = rf"\s\x00-\x1f\x7f-\x9f{_INVISIBLE_RANGES}{_HIDDEN_RANGES}"
_LEADING_SLASH = re.compile(rf"[{_BLANKS}]*[/\uff0f]")
_SEEN = re.compile(rf"[^{_BLANKS}]")
_WIDE_SIGNS = ("\uff04", "\ufe69")
_SIGN = re.compile(r"[$\uff04\ufe69]")
_SCALE = r"(?i:k|m|b|t|mn|mm|bn|tn|mil)"
_CURRENCY = r"(?i:usd|aud|cad|nzd|sgd|hkd|us|pp|pm|pa|ea)"
_AMOUNT = rf"\d+(?:{_SCALE}|{_CURRENCY})?(?:-\d*{_SCALE}?)?:*(?![-A-Za-z0-9_])"
_REFERENCE = re.compile(
    rf"(?<!\\)(?:\\\\)*\$(?!{_AMOUNT})(?=[-A-Z0-9_:]*[a-z])"  # an even number of backslashes
)

_NEVER_SHOWN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # controls; tab and line feed are fine
    "\u202a-\u202e\u2066-\u206f"  # bidi embeddings, overrides, isolates; deprecated formats
    "\ufff9-\ufffc"  # interlinear annotations, and a stand-in for an object we do not have
    "\ud800-\udfff\ufdd0-\ufdef"
    "\U0001d173-\U0001d17a"  # invisible musical formats
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"  # tag characters spell hidden ASCII
    r"|\r(?!\n)"  # a lone carriage return lets a line overwrite itself
    "|(?<![\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef]"
)
_FLAGS = re.compile(
    "\U0001f3f4(?:"
    + "|".join(
        "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
        for region in ("gbeng", "gbsct", "gbwls")
    )
    + ")"
)
"""The three flags that are written with tag characters."""
_INVISIBLE = re.compile(f"[{_INVISIBLE_RANGES}]")
_INVISIBLE_RUN = re.compile(f"[{_INVISIBLE_RANGES}]{{4}}")
_JOINED = re.compile(
    "(?<=[^\x00-\x7f])\u200d(?=[^\x00-\x7f])|(?<=[^\x00-\x7f]|[0-9#*])[\ufe0e\ufe0f]"
)
"""How joiners and presentation selectors stand in emoji and in scripts that need them."""
_MAX_STACKED_MARKS = 8
_FREE_INVISIBLES = 16
_NEW_SCRIPTS = ((0x1F000, 0x1FAFF), (0x20000, 0x3FFFD))
"""Emoji and ideographs grow every year, and a Python knows only those of its own."""


def has_directive(text: str) -> bool:
    """Tell whether OpenClaw would read the text as a command or expand a skill.

    A ``/`` that comes first, blanks and unseen characters aside, and ``$name`` anywhere; an
    amount such as ``$40`` or ``$40k``, an upper-case shell variable and a ``$`` after a backslash
    are text.

    Parameters
    ----------
    text
        Any length; linear time.

    Notes
    -----
    Source: measured on OpenClaw 2026.9.6 and its own reading of ``$name``: letters, digits,
    ``-``, ``_`` and ``:`` with at least one lower-case letter, after an even number of
    backslashes.
    Unseen characters and the wide forms of ``/`` and ``$`` count here although that version
    takes them as text.
    """
    if _LEADING_SLASH.match(text) or _REFERENCE.search(text):
        return True
    return _REFERENCE.search(_looks(text)) is not None


def neutralise(text: str) -> str:
    """Make every directive inert by characters that a reader sees.

    ``> `` before a leading ``/``, and a space after the ``$`` of a reference. A text without a
    directive comes back as it was.

    Parameters
    ----------
    text
        Any length; linear time.
    """
    inert = _REFERENCE.sub(r"\g<0> ", text)
    if _REFERENCE.search(_looks(inert)):
        inert = _SIGN.sub(r"\g<0> ", inert)
    return f"> {inert}" if _LEADING_SLASH.match(inert) else inert


def is_displayable(text: str) -> bool:
    """Tell whether a reviewer can be shown the text as the agent would get it.

    Refused are controls, bidi embeddings, overrides and isolates, tag characters, private and
    unassigned characters, hidden runs or swarms of invisible ones, and towers of marks.
    Right-to-left text, emoji sequences, ordinary joiners and combining marks are fine.

    Parameters
    ----------
    text
        Any length; linear time.
    """
    if text.isascii():
        return _NEVER_SHOWN.search(text) is None
    text = _FLAGS.sub("", text)
    if _NEVER_SHOWN.search(text) or _INVISIBLE_RUN.search(text):
        return False
    if len(_INVISIBLE.findall(_JOINED.sub("", text))) > max(_FREE_INVISIBLES, len(text) // 4):
        return False
    seen = set(text)
    if any(not _has_a_glyph(character) for character in seen):
        return False
    marks = "".join(c for c in seen if unicodedata.category(c) in ("Mn", "Me"))
    return not _has_run_of(_INVISIBLE.sub("", marks), text, _MAX_STACKED_MARKS + 1)


def is_blank(text: str) -> bool:
    """Tell whether there is nothing to see in the text at all."""
    return _SEEN.search(text) is None


def _looks(text: str) -> str:
    """Return the text as it looks: unseen characters gone, wide signs as the plain one."""
    for wide in _WIDE_SIGNS:
        text = text.replace(wide, "$")
    return _UNSEEN.sub("", text)


def _has_a_glyph(character: str) -> bool:
    category = unicodedata.category(character)
    if category != "Cn":
        return category not in ("Co", "Cs")
    return any(low <= ord(character) <= high for low, high in _NEW_SCRIPTS)


def _has_run_of(characters: str, text: str, length: int) -> bool:
    if not characters:
        return False
    return re.search(f"[{re.escape(characters)}]{{{length}}}", text) is not None
