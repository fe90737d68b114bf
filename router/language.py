"""Whether a text is recognisably English; pure."""

import re

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_ENGLISH = frozenset(
    """
    a about after all am an and any are as at be because been before but by can can't could did do
    does doesn't don't each every for from get give go had has have he her here him his how i i'd
    i'll i'm i've if in into is isn't it it's its just let let's like make may me more most my need
    new no not now of off on one only or other our out over please put she should so some than that
    the their them then there these they this those to too turn up us want was we were what what's
    when where which who whose why will with without won't would you your yours
    """.split()
)
_ENOUGH_WORDS = 4
_SCANNED_WORDS = 4_000
"""Each window of a long text is looked at on its own: one English page covers for nothing."""


def looks_english(text: str) -> bool:
    """Tell whether every part of a text is recognisably English.

    A text of a few words is English when one of them is a common English word and all its letters
    are ASCII; a longer one when a quarter of its words are. What cannot be told counts as not
    English: the answer only ever lowers trust.

    Parameters
    ----------
    text
        Any length; read in windows, each of which must look English.
    """
    words: list[str] = []
    for match in _WORD.finditer(text):
        words.append(match.group().casefold().replace("’", "'"))
        if len(words) == _SCANNED_WORDS:
            if not _is_english(words):
                return False
            words = []
    return _is_english(words) if words or not text.strip() else False


def _is_english(words: list[str]) -> bool:
    if not words:
        return False
    foreign = sum(not word.isascii() for word in words)
    common = sum(word in _ENGLISH for word in words)
    if len(words) < _ENOUGH_WORDS:
        return common > 0 and not foreign
    return common >= len(words) / 4 and foreign <= len(words) / 10
