"""Row: one class of request in the risk table; pure."""

from dataclasses import dataclass

from clawmarshal.roster.agent import Risk


@dataclass(frozen=True, slots=True)
class Row:
    """One class of request, told by word classes that stand near each other.

    A row fires where all its classes meet within a window of words in one sentence. The first
    class is the trigger: it does not count inside a question or a request to read or explain,
    unless the row says `even_asked`.
    """

    code: str
    """The reason code a reviewer sees."""
    tier: Risk
    needs: tuple[str, ...]
    """Class names of the word tables; ``a|b`` is either. The trigger is first."""
    within: int = 8
    """How many words apart the outermost may stand."""
    even_asked: bool = False
    """Fires inside questions too, because asking already tells of the harm."""
    in_order: bool = False
    """The classes must follow each other as they are listed."""
    voided_by: str = ""
    """A class that, standing before the rest, makes the sentence about something else."""
    void_words: int = 0
    """For how many words after it `voided_by` holds; what stood before it never counts."""
    examples: tuple[str, ...] = ()
    """Texts that must fire this row's code."""
    counter_examples: tuple[str, ...] = ()
    """Texts that must not fire this row's code."""
