"""Whether a text, and each part of it, is recognisably English; pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from clawmarshal.router.folding import fold

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
    aan ako al alle alles als ang ao au auch auf aux av avec bagaimana bei bij bir bitte bu ce
    cette che com como con cuando czy da dan dans dari das dat de dei del della dem den der des
    det deze di dit dos du e een ein eine einem einen el ele elle em en er es est esta este et
    eu foi fra geef geen gli graag haar hai han har heb heeft het heute hier hij hoe hoy hun
    hvad hvordan ich ihr ik ikke il ile im ini inte ist itu jag jak je jeg jest jij ka kan kann
    ke ki ko kun kwa kya la le les leur lo ma maar man med mein meine meinen meiner men mes met
    meu meus mi mia miei mig mijn min minha minhas mio mir mis mit mo moet moeten mon na naar
    nach nas nel ng ni nicht nie niet noch nog noget non nos nous nu och oder og om ook op os ou
    para pas por pour que qui sa saya se sem semua ses seu si sie som sono su sur sus te ti
    tidak til till todas todos ton tous toutes tu tutte tutti u uit um uma un una und une untuk
    van ve vi vom von voor vous wa waar war wat wel welche welke wie wij wir wo wollen wordt y
    ya yang yo ze zet zijn zo zou zu zum zur
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
_PIECE_END = re.compile(r"[.!?…;]+(?=\s|$)|[\n。！？।؟]+")
_ONE_LINE_WORDS = 12
"""A sentence that goes on is looked at in parts of so many words too."""
_ALIEN_WORDS = 4
"""And for other alphabets, which a few words tell, in parts of so many."""
_UNKNOWN_WORDS = 6
"""So many words without a common English one are no English sentence; fewer may be a list."""
_ALIEN_LETTERS = 3
_MEMO_LENGTH = 400
_LAST_LATIN = 0x24F
_PARTICLES = frozenset("al da das de del den der di dos du el la las le los van von y".split())
_NAME_WORDS = 3
_BREAKS = '\n()[]{}"“”«»'
_TOKEN = re.compile(r"[\n()\[\]{}\"“”«»]|[^\s()\[\]{}\"“”«»]+")
_TOKEN_END = re.compile(r"(?:[.!?…;:。！？।؟؛]['’]?|^[-–—]+)$")
_NO_WORD = re.compile(r"\.com\b|\be(?=[.-]\w)|\b[A-Za-z]{1,3}\d\w*")
"""A domain, ``e.g.`` and ``DE02``: no words of Portuguese, Italian or German."""
WINDOW_TOKENS = 5
"""So few words are judged at a time: what stands further away excuses no word."""
_JUDGED_ALONE = 4
"""A piece of so many words needs an English one; "Thanks, Anna" may do without."""

_Marks = tuple[int, int, int]
"""Words, common English ones, and by how much these outweigh those of other languages."""


@dataclass(frozen=True, slots=True)
class Token:
    """What stands between two blanks, and what it may be around there."""

    text: str
    piece: int
    """Number of the sentence, line or bracket that it stands in."""
    may_be_english: bool
    """Some words in a row, it among them, are not recognisably of another language."""
    may_be_other: bool
    """Some words in a row, it among them, are not recognisably English."""


def looks_english(text: str) -> bool:
    """Tell whether every part of a text is recognisably English.

    A text is English when at least one of its words is a common word of English alone, or half of
    them and three are English words that other languages share; when hardly any is a common word of
    another language; and, from four words on, when a quarter are common English words. Letters
    beyond ASCII are for one word in eight. No sentence and no line of it may be foreign by itself:
    English beside a text covers for nothing. What cannot be told of the whole counts as not
    English: the answer only ever lowers trust.

    Parameters
    ----------
    text
        Any length, linear time; read in windows, each of which must look English.
    """
    words: list[str] = []
    seen: set[str] = set()
    has_words = False
    for piece in _pieces(text):
        found = _WORD.findall(piece.replace("’", "'"))
        if not found:
            continue
        if len(piece) > _MEMO_LENGTH or piece not in seen:
            if _is_foreign(found):
                return False
            seen.add(piece[: _MEMO_LENGTH + 1])
        has_words = True
        for start in range(0, len(found), _SCANNED_WORDS):
            words += [word.casefold() for word in found[start : start + _SCANNED_WORDS]]
            if len(words) >= _SCANNED_WORDS:
                if not _is_english(words):
                    return False
                words = []
    return has_words and (not words or _is_english(words))


def _pieces(text: str) -> Iterator[str]:
    start = 0
    for end in _PIECE_END.finditer(text):
        yield text[start : end.start()]
        start = end.end()
    yield text[start:]


def _is_foreign(written: list[str]) -> bool:
    """Tell whether a sentence or a line is in another language, whatever stands beside it.

    What cannot be told of so little is not foreign: names, lists, places.
    """
    words = [word.casefold() for word in written]
    own = sum(word in _ENGLISH for word in words)
    foreign = sum(word in _FOREIGN for word in words)
    shared = sum(word in _SHARED and word not in _FOREIGN for word in words)
    if own == 0 and not _is_name(written):
        accented = sum(not word.isascii() and ord(max(word)) <= _LAST_LATIN for word in words)
        if foreign or accented >= max(1, shared) or (len(words) >= _UNKNOWN_WORDS and not shared):
            return True
    if _is_alien(words) or _has_more_foreign(words, _OWN_FOR_ONE_FOREIGN):
        return True
    return any(map(_is_alien, _parts(words, _ALIEN_WORDS))) or any(
        _has_more_foreign(part, 1) for part in _parts(words, _ONE_LINE_WORDS)
    )


def _parts(words: list[str], size: int) -> Iterator[list[str]]:
    return (words[start : start + size] for start in range(0, len(words), size))


def _is_alien(words: list[str]) -> bool:
    """Tell whether most letters are of an alphabet that English has none of."""
    alien = sum(ord(letter) > _LAST_LATIN for word in words for letter in word)
    return alien >= _ALIEN_LETTERS and 2 * alien > sum(map(len, words))


def _has_more_foreign(words: list[str], weight: int) -> bool:
    foreign = sum(word in _FOREIGN for word in words)
    own = sum(word in _ENGLISH for word in words)
    return foreign > 1 and foreign * weight > own


def _is_name(written: list[str]) -> bool:
    """Tell whether two or three words are those of a name or a place."""
    named = [word for word in written if word not in _PARTICLES]
    return len(written) <= _NAME_WORDS and all(word[0].isupper() for word in named)


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


def is_english_throughout(text: str) -> bool:
    """Tell whether a text is recognisably English as a whole and in each of its pieces.

    A piece is a sentence, a line or what stands in brackets. One of four words or more has an
    English word, and no few words in a row are of another language. English put around a request
    in another language does not cover for it, except between its words. A piece of one to three
    words that are in no list ("Thanks, Anna") is not held against the text.

    Parameters
    ----------
    text
        Any length; the work is linear in it.

    Notes
    -----
    Source: bench/results/language.md, for what it finds and what it takes English from.
    """
    if not _all_english(text):
        return False
    return text.isascii() or _all_english(fold(text).text)


def tokens(text: str) -> Iterator[Token]:
    """Cut a text at blanks and brackets, and say of each token what its surroundings may be.

    Words added further than `WINDOW_TOKENS` away, or in another piece, take no possibility away.
    """
    for number, (piece, marks) in enumerate(_marked(text)):
        windows = list(_windows(marks))
        for place, token in enumerate(piece):
            near = windows[max(0, place - WINDOW_TOKENS + 1) : place + 1]
            yield Token(
                token,
                number,
                may_be_english=any(passes for passes, _ in near),
                may_be_other=not all(is_known for _, is_known in near),
            )


def other_part(text: str) -> str:
    """Return what may be in another language than English, with the few words around it."""
    return " ".join(token.text for token in tokens(text) if token.may_be_other)


def _all_english(text: str) -> bool:
    if not looks_english(text):
        return False
    for _, marks in _marked(text):
        size, known = sum(words for words, _, _ in marks), sum(found for _, found, _ in marks)
        if (size >= _JUDGED_ALONE and not known) or not all(may for may, _ in _windows(marks)):
            return False
    return True


def _marked(text: str) -> Iterator[tuple[list[str], list[_Marks]]]:
    """Yield the tokens of each piece, and their marks; equal tokens are read once."""
    known: dict[str, _Marks] = {}
    for piece in _token_pieces(text):
        for token in piece:
            if token not in known:
                known[token] = _marks(token)
        yield piece, [known[token] for token in piece]


def _token_pieces(text: str) -> Iterator[list[str]]:
    """Yield the tokens of each piece that has some."""
    piece: list[str] = []
    for token in _TOKEN.findall(text):
        if token not in _BREAKS:
            piece.append(token)
        if piece and (token in _BREAKS or _TOKEN_END.search(token)):
            yield piece
            piece = []
    if piece:
        yield piece


def _marks(token: str) -> _Marks:
    words = [word.casefold().replace("’", "'") for word in _WORD.findall(_NO_WORD.sub("", token))]
    foreign = sum((word in _FOREIGN) + (not word.isascii()) for word in words)
    known = sum((word in _ENGLISH) + (word in _SHARED) for word in words)
    return len(words), known, known - _OWN_FOR_ONE_FOREIGN * foreign


def _windows(marks: Sequence[_Marks]) -> Iterator[tuple[bool, bool]]:
    """Say of each few tokens in a row whether they may be English, and whether they are."""
    sums = [[0, *accumulate(column)] for column in zip(*marks, strict=True)]
    for end in range(min(WINDOW_TOKENS, len(marks)), len(marks) + 1):
        _, known, lead = (one[end] - one[max(0, end - WINDOW_TOKENS)] for one in sums)
        yield lead >= 0, lead >= 0 and known > 0
