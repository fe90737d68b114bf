"""Whether a text is recognisably English; pure."""

import re

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_ENGLISH = frozenset(
    """
    about add afternoon again and another any anything aren't back because been before between both
    buy call can can't could create day days did didn't does doesn't don't done down during each
    eight evening ever every everybody everyone everything few find first five four from get go
    good hasn't haven't here him his hours how how's i'd i'll i'm i've if into isn't it it's its
    know left let's made make many minutes money month months more morning much must myself name
    never next night nobody nothing now off only other our out own pay people play please read
    remind right same say says see send set she should shouldn't show some someone something such
    tell than that that's the their them then there these they thing things think this those three
    through today tomorrow tonight turn two until up very wasn't way week weeks went weren't what
    what's when where which who whose why with without won't would wouldn't year years yes
    yesterday yet you you're your yours
    """.split()
)
"""Common words that are English and hardly anything else."""
_SHARED = frozenset(
    """
    a after all am an are as at be but by do for give had has have he her i in is just let like may
    me most my need new no not of on one or over put so to us want was we were will
    """.split()
)
"""English words that are also words of Dutch, German, Danish, Spanish, Polish and others: they
count beside one that is English alone, or where there are many of them."""
_FOREIGN = frozenset(
    """
    aan ako al als ang ao au auch auf aux av avec bei bij bir bitte bu ce cette che com como
    con cuando czy da dan dans dari das dat de dei del della dem den der des det deze di dit
    dos du e een ein eine einem einen el ele elle em en er es est esta este et eu foi fra geef
    geen gli haar hai han har heb heeft het hij hoe hun ich ihr ik ikke il ile im ini inte ist
    itu jag jak je jeg jest jij ka kan kann ke ki ko kun kwa kya la le les leur lo ma maar man
    med mein men mes met meu mi mig mijn min minha mit mo moet moeten mon na naar nach nas nel
    ng ni nicht nie niet noch nog non nos nous nu och oder og om ook op os ou para pas por
    pour que qui sa saya se sem ses seu si sie som sono su sur sus te ti tidak til till ton tu
    u uit um uma un una und une untuk van ve vi vom von voor vous wa waar war wat wel welke
    wie wij wir wo wordt y ya yang yo ze zet zijn zo zou zu zum zur
    """.split()
)
"""Common words of other languages that no English sentence needs. Where a word is in two of the
three lists, it is taken as foreign."""
_ENOUGH_WORDS = 4
_OWN_FOR_ONE_FOREIGN = 2
"""A place or a name such as LA or Rio de Janeiro makes no sentence foreign."""
_MANY_SHARED = 3
_WORDS_FOR_ONE_ACCENT = 8
"""So many words for each that has letters beyond ASCII: a name, a borrowed word."""
_SCANNED_WORDS = 4_000
"""Each window of a long text is looked at on its own: one English page covers for nothing."""


def looks_english(text: str) -> bool:
    """Tell whether every part of a text is recognisably English.

    A text is English when at least one of its words is a common word of English alone, or half of
    them and three are English words that other languages share; when hardly any is a common word of
    another language; and, from four words on, when a quarter are common English words. Letters
    beyond ASCII are for one word in eight. What cannot be told counts as not English: the answer
    only ever lowers trust.

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
    beyond_ascii = sum(not word.isascii() for word in words)
    foreign = sum(word in _FOREIGN for word in words)
    own = sum(word in _ENGLISH for word in words)
    shared = [word for word in words if word in _SHARED]
    if foreign * _OWN_FOR_ONE_FOREIGN > own or beyond_ascii * _WORDS_FOR_ONE_ACCENT > len(words):
        return False
    if own == 0:
        return len(set(shared)) >= _MANY_SHARED and len(shared) >= len(words) / 2
    return len(words) < _ENOUGH_WORDS or own + len(shared) >= len(words) / 4
