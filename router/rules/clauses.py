"""Which words of a sentence ask or tell, and which request; pure.

Only what stands to the left of a word decides about it, so that nothing appended to a text can
take back what was found before.
"""

from collections.abc import Mapping, Sequence

BREAKS = frozenset(',;:\n()"“”«»—–、，：')
_QUESTION_WORDS = 24
"""How many words a question reaches; a longer one is not trusted to be only a question."""
_MAX_FILLERS = 12
_MAX_SHORT_FILLERS = 2
_FOREIGN_OPENING = 3
_SUBJECTS = frozenset("task it i you we they that there this everyone he she which who".split())
_FUTURE = frozenset({"will", "would"})
"""They ask, unless they speak to "you"."""
_THIRD = frozenset("i it they there he she the my we".split())
_DETERMINERS = frozenset("a an the my your this that our his her their".split())
_CLOSED, _AFTER_QUESTION, _OPEN = range(3)


class Clauses:
    """Walk over the words of one sentence and keep track of who is doing what.

    Parameters
    ----------
    bits
        Class names to bits, as in `lexicon.Lexicon`.
    """

    def __init__(self, bits: Mapping[str, int]) -> None:
        self._bits = bits
        self._questions = bits["ask"] | bits["read"]

    def free(self, words: Sequence[str], masks: Sequence[int]) -> list[int]:
        """Give the masks again: none inside questions, and requests marked.

        Parameters
        ----------
        words, masks
            Of equal length; breaks are among the words.
        """
        self._opening, self._fillers, self._place = _OPEN, 0, 0
        self._asking = self._foreign_asking = 0
        self._is_how = False
        free = list(masks)
        for i, (word, mask) in enumerate(zip(words, masks, strict=True)):
            if word in BREAKS:
                self._break(word)
                continue
            self._place += 1
            if mask & self._bits["foreign_ask"] and self._place <= _FOREIGN_OPENING:
                self._foreign_asking = _QUESTION_WORDS
            if self._is_request(words, i, mask):
                free[i] = mask | self._request_bits(mask)
            elif self._asking or (self._foreign_asking and mask & self._bits["foreign"]):
                free[i] = 0
            self._asking = max(self._asking - 1, 0)
            self._foreign_asking = max(self._foreign_asking - 1, 0)
        return free

    def _break(self, word: str) -> None:
        if word == "\n":
            self._asking = 0
        self._foreign_asking = 0
        self._opening = _AFTER_QUESTION if self._asking else _OPEN
        self._fillers = self._place = 0

    def _request_bits(self, mask: int) -> int:
        is_buying = mask & self._bits["buy"]
        return self._bits["request"] | (self._bits["request_buy"] if is_buying else 0)

    def _is_request(self, words: Sequence[str], i: int, mask: int) -> bool:
        """Take in one word; tell whether it is the verb of a request."""
        if self._opening == _CLOSED:
            self._reopen(mask)
            return False
        before = words[i - 1] if i else "\n"
        after = words[i + 1] if i + 1 < len(words) else ""
        tells = mask & self._bits["read_phrase"] or (words[i] in _FUTURE and after in _THIRD)
        acts = mask & self._bits["strong_act"] or (
            self._opening == _OPEN and mask & self._bits["act"]
        )
        if acts and not tells and before not in _DETERMINERS:
            self._opening, self._asking = _CLOSED, 0
            return True
        if tells or (mask & self._questions and not _is_statement(words[i], before, after)):
            self._asking, self._is_how = _QUESTION_WORDS, words[i] == "how"
            self._opening = _CLOSED
        elif mask & self._bits["filler"] and self._fillers < _MAX_FILLERS:
            self._fillers += 1
        else:
            self._opening = _CLOSED
        return False

    def _reopen(self, mask: int) -> None:
        """Start another clause inside a sentence where a word like "then" or "and" says so."""
        if mask & self._bits["release"]:
            self._opening, self._fillers = _OPEN, 0
        elif mask & self._bits["joins"] and not self._is_how:
            self._opening = _AFTER_QUESTION if self._asking else _OPEN
            self._fillers = _MAX_FILLERS - _MAX_SHORT_FILLERS


def _is_statement(word: str, before: str, after: str) -> bool:
    """Tell whether a word that could open a question does not."""
    if word in {"have", "do"} and after in {"not", "n", "t", "to"}:
        return True
    is_auxiliary = word in {"is", "are", "was", "were", "am", "has", "have", "had", "do", "should"}
    return is_auxiliary and before in _SUBJECTS
