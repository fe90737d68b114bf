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
_OBJECTS = _DETERMINERS | frozenset(
    "me us him them it all every each both any some these those everything everyone"
    " one two three four five six seven eight nine ten".split()
)
"""What a command goes on with: "push the stand-up", "book us a hotel", "buy two tickets"."""
_HOLDS_A_VERB = _SUBJECTS | frozenset(
    "to not don t never no cannot can could will would shall should may might must do does did"
    " am is are was were be been being have has had ll d ve re m s who whom whose what when where"
    " why how if of for from with by in on at as than or your his her its their our"
    " people customers users always often usually sometimes".split()
)
"""Before a verb they make it a statement, an infinitive or a noun: "we book the", "to book the"."""
_TAILS = frozenset("s d m t ll re ve".split())
"""What an apostrophe leaves: "it's" is two words here."""
_TAKES_A_TAIL = (
    _SUBJECTS
    | _HOLDS_A_VERB
    | frozenset(
        "he me us them here let one nobody everybody somebody someone isn aren wasn weren doesn"
        " didn hasn haven hadn won wouldn shouldn couldn mustn needn ain".split()
    )
)
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
        self._verbs = bits["act"] | bits["strong_act"]

    def free(self, words: Sequence[str], masks: Sequence[int]) -> list[int]:
        """Give the masks again: none inside questions, and requests marked.

        Parameters
        ----------
        words, masks
            Of equal length; breaks are among the words.
        """
        self._opening, self._fillers, self._place = _OPEN, 0, 0
        self._asking = self._foreign_asking = 0
        self._is_how = self._is_told = False
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
        if word in ("\n", ":"):  # what stands behind a colon is quoted, and is judged as itself
            self._asking, self._is_told = 0, False
        self._foreign_asking = 0
        self._opening = _AFTER_QUESTION if self._asking else _OPEN
        self._fillers = self._place = 0

    def _request_bits(self, mask: int) -> int:
        is_buying = mask & self._bits["buy"]
        return self._bits["request"] | (self._bits["request_buy"] if is_buying else 0)

    def _is_request(self, words: Sequence[str], i: int, mask: int) -> bool:
        """Take in one word; tell whether it is the verb of a request."""
        before = words[i - 1] if i else "\n"
        after = words[i + 1] if i + 1 < len(words) else ""
        if self._opening == _CLOSED:
            self._reopen(mask)
            is_bare = bool(mask & self._verbs) and not mask & self._bits["read_phrase"]
            if before in _TAILS and (i < 2 or words[i - 2] not in _TAKES_A_TAIL):
                before = ""  # a letter by itself: "b s Dim the lights"
            return is_bare and not self._asking and _is_command(before, after)
        tells = mask & self._bits["read_phrase"] or (words[i] in _FUTURE and after in _THIRD)
        acts = mask & self._bits["strong_act"] or (
            self._opening == _OPEN and mask & self._bits["act"]
        )
        if acts and not tells and before not in _DETERMINERS:
            self._opening, self._asking = _CLOSED, 0
            return True
        is_statement = (words[i] == "any" and self._is_told) or _is_statement(
            words[i], before, after
        )
        if tells or (mask & self._questions and not is_statement):
            self._asking, self._is_how = _QUESTION_WORDS, words[i] == "how"
            self._opening = _CLOSED
        elif mask & self._bits["filler"] and self._fillers < _MAX_FILLERS:
            self._fillers += 1
        else:
            self._opening, self._is_told = _CLOSED, True
        return False

    def _reopen(self, mask: int) -> None:
        """Start another clause inside a sentence where a word like "then" or "and" says so."""
        if mask & self._bits["release"]:
            self._opening, self._fillers = _OPEN, 0
        elif mask & self._bits["joins"] and not self._is_how:
            self._opening = _AFTER_QUESTION if self._asking else _OPEN
            self._fillers = _MAX_FILLERS - _MAX_SHORT_FILLERS


def _is_command(before: str, after: str) -> bool:
    """Tell whether a verb is a command though words that say nothing stand before it.

    Without this a few words put before a request would hide it: "calendar buy two tickets".
    """
    is_object = after in _OBJECTS or after[:1].isdigit()
    return is_object and before not in _HOLDS_A_VERB


def _is_statement(word: str, before: str, after: str) -> bool:
    """Tell whether a word that could open a question does not."""
    if word in {"have", "do"} and after in {"not", "n", "t", "to"}:
        return True
    is_auxiliary = word in {"is", "are", "was", "were", "am", "has", "have", "had", "do", "should"}
    return is_auxiliary and before in _SUBJECTS
