"""What a conversation adds to a message: risk over its last turns, and context; pure."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from clawmarshal.roster.agent import Risk
from clawmarshal.router.folding import fold
from clawmarshal.router.language import is_english_throughout
from clawmarshal.router.message import InboundMessage, Utterance
from clawmarshal.router.risk import RiskFloor
from clawmarshal.router.rules.phrases import (
    ANAPHORS,
    CLOSINGS,
    CONSENTS,
    NEGATIONS,
    NODS,
    QUESTION_WORDS,
    REFUSALS,
    TRIFLES,
)

MAX_TURNS = 6
"""How many messages back a conversation is looked at."""
TURN_CHARS = 2000
"""Of each text and reply: the first and the last half of it."""
SWITCH = "conversation:switch"
"""A label, set by a caller and never by a text: the conversation lets go of its agent."""
GATES_OF_CONTENT = frozenset({3, 5})
"""Held by these, a message raises what follows it: it was held for what it asks."""
SHORT_WORDS = 8
_PROPOSALS_BACK = 3
_FRAGMENT_WORDS = 2
"""Words of its own that a fragment may have: ``to Bob, today``."""
_MAX_SENTENCES = 100
_FRAME_WORDS = 8
"""The longest run of words before what a question proposes: ``would you like me to please``."""
_END = ".!?\u3002\uff01\uff1f\u061f"
_UNSPACED = tuple(p for p in CONSENTS | NODS | REFUSALS if p >= "\u0e00")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?|[\u2600-\u27bf\U0001f300-\U0001faff]")
_SENTENCE = re.compile(rf"[^{_END}\n]+[{_END}]*")
_FRAME = re.compile(r"\b(?:(?:shall|should|may|can|could|will) (?:i|we)|me to)\b", re.IGNORECASE)
_ASKS = ("?", "\uff1f", "\u061f", "\u037e")

Judge = Callable[[str], RiskFloor]


class Fate(StrEnum):
    """What became of an earlier message's hold."""

    NONE = "none"
    """It was not held, or not for what it asks."""
    WAITING = "waiting"
    REFUSED = "refused"
    """Rejected, expired or cancelled."""
    APPROVED = "approved"


@dataclass(frozen=True, slots=True)
class PastTurn:
    """An earlier message of the same conversation, and what came back."""

    text: str
    """At most `TURN_CHARS`; see `excerpt`."""
    reply: str | None = None
    """As `text`; None where there is none."""
    risk: Risk = Risk.LOW
    """How risky it was found."""
    fate: Fate = Fate.NONE


def excerpt(text: str) -> str:
    """Keep the beginning and the end of a text."""
    if len(text) <= TURN_CHARS:
        return text
    return f"{text[: TURN_CHARS // 2]} … {text[-(TURN_CHARS // 2 - 3) :]}"


def kept_agent(agent: str | None, message: InboundMessage) -> str | None:
    """Return the agent a conversation is with, unless its caller lets go of it."""
    return None if SWITCH in message.labels else agent


def is_follow_up(text: str) -> bool:
    """Tell whether a text says nothing of its own: consent, thanks, a nod, a refusal."""
    words = _words(text)
    return 0 < len(words) <= SHORT_WORDS and not _residue(words)


def context_of(past: Sequence[PastTurn]) -> tuple[Utterance, ...]:
    """Say what came before a message, oldest first, for a model that reads conversations.

    Not cut further here: what leaves the machine is redacted before it is cut, never after.
    """
    said: list[Utterance] = []
    for turn in past[-MAX_TURNS:]:
        said.append(Utterance("sender", excerpt(turn.text)))
        if turn.reply:
            said.append(Utterance("agent", excerpt(turn.reply)))
    return tuple(said)


def seen_by_models(message: InboundMessage, past: Sequence[PastTurn]) -> InboundMessage:
    """Return the message with what came before it as its context."""
    return message.following(context_of(past)) if past else message


def conversation_floor(text: str, past: Sequence[PastTurn], *, judge: Judge) -> RiskFloor:
    """Judge a message as the continuation of its conversation.

    What came before can only raise. Besides the codes of the rules: ``assent`` (consent to, or a
    short answer about, something risky that was proposed), ``conversation`` (risky only together
    with what was said before, or after a hold) and ``rephrased`` (much like what waits, or was
    refused).

    Parameters
    ----------
    text
        The new message.
    past
        Oldest first; the last `MAX_TURNS` count.
    judge
        Judges one text by the rules in force.
    """
    floor = judge(text)
    turns = past[-MAX_TURNS:]
    if not turns:
        return floor
    found = [floor, *_inherited(text, turns, judge), *_joined(text, turns, floor, judge)]
    found += _after_a_hold(text, turns)
    tier = max((one.tier for one in found), key=lambda one: one.level)
    codes = {code for one in found for code in one.codes if one.tier is not Risk.LOW}
    return RiskFloor(tier, tuple(sorted({*floor.codes, *codes})))


def _inherited(text: str, past: Sequence[PastTurn], judge: Judge) -> Iterator[RiskFloor]:
    """Take over the risk of the proposal that a consent or a short answer answers."""
    words = _words(text)
    consents = _consents(words)
    is_asked = text.rstrip().endswith(_ASKS) and words[:1] and words[0] in QUESTION_WORDS
    if not consents and (is_asked or not _answers(words)):
        return
    if consents and past[-1].fate in (Fate.WAITING, Fate.REFUSED):
        yield _raised(past[-1].risk, "assent")
    for number, turn in enumerate(reversed(past[-_PROPOSALS_BACK:])):
        if turn.reply and (consents or number == 0):
            yield _proposal(turn.reply, judge, is_answer=not consents)
        # What this message answered is settled: an earlier proposal is no longer open.
        if not consents or _settles(_words(turn.text)):
            return


def _proposal(reply: str, judge: Judge, *, is_answer: bool) -> RiskFloor:
    shown = excerpt(reply)
    if is_answer and not any(mark in shown for mark in _ASKS):
        return RiskFloor(Risk.LOW)
    tiers = [judge(reading).tier for reading in _readings(shown)]
    if not is_english_throughout(shown):
        # The rules know too few forms of other languages to call a proposal harmless.
        tiers.append(Risk.MEDIUM)
    return _raised(max(tiers, key=lambda one: one.level), "assent")


def _readings(reply: str) -> Iterator[str]:
    """Read a reply as it stands, and what its sentences propose as if it were asked for."""
    yield reply
    for sentence in _SENTENCE.findall(reply)[:_MAX_SENTENCES]:
        proposal = sentence.rstrip().rstrip(_END)
        if frame := _FRAME.search(proposal):
            yield proposal[frame.end() :]
        words = proposal.split()
        yield from (" ".join(words[i:]) for i in range(1, min(len(words) - 2, _FRAME_WORDS)))


def _joined(
    text: str, past: Sequence[PastTurn], floor: RiskFloor, judge: Judge
) -> Iterator[RiskFloor]:
    """Read a fragment together with the texts before it, and with the last reply."""
    words = _words(text)
    if not words or not (len(_residue(words)) <= _FRAGMENT_WORDS or ANAPHORS & {*words}):
        return
    befores = [_one_sentence([turn.text for turn in past])]
    befores += [_one_sentence([turn.text]) for turn in past if len(past) > 1]
    befores += [_one_sentence([reply]) for reply in [past[-1].reply] if reply]
    for before in befores:
        earlier, both = judge(before), judge(f"{before} , {_one_sentence([text])}")
        if both.tier.level > max(earlier.tier.level, floor.tier.level):
            yield _raised(both.tier, "conversation", *both.codes)


def _after_a_hold(text: str, past: Sequence[PastTurn]) -> Iterator[RiskFloor]:
    words = _words(text)
    for turn in past:
        if turn.fate is Fate.NONE:
            continue
        yield _raised(Risk.MEDIUM, "conversation")
        is_open = turn.fate in (Fate.WAITING, Fate.REFUSED)
        if is_open and _resembles(words, _words(turn.text)):
            yield _raised(turn.risk, "rephrased")


def _resembles(words: Sequence[str], earlier: Sequence[str]) -> bool:
    """Tell whether a message may be about what was held: a shared word, or only a pointer."""
    own = _residue(words)
    if not own:
        return False
    if {_stem(word) for word in own} & {_stem(word) for word in _residue(earlier)}:
        return True
    return bool(ANAPHORS & {*words})


def _consents(words: Sequence[str]) -> bool:
    """Tell whether a short text lets happen what was proposed, as a report needs no nod."""
    return len(words) <= SHORT_WORDS and _holds(words, CONSENTS)


def _refuses(words: Sequence[str]) -> bool:
    return len(words) <= SHORT_WORDS and _holds(words, REFUSALS) and not _residue(words)


def _settles(words: Sequence[str]) -> bool:
    return _consents(words) or _refuses(words)


def _holds(words: Sequence[str], phrases: frozenset[str]) -> bool:
    """Tell whether a phrase stands among the words and is not turned round."""
    line = f" {' '.join(words)} "
    for phrase in phrases:
        at = line.find(f" {phrase} ")
        if at >= 0 and not {*line[:at].split()[-1:]} & NEGATIONS:
            return True
    return _starts_unspaced(words, phrases)


def _starts_unspaced(words: Sequence[str], phrases: frozenset[str]) -> bool:
    # Scripts without blanks come as one long word.
    return bool(words) and words[0].startswith(tuple(p for p in phrases if p >= "\u0e00"))


def _answers(words: Sequence[str]) -> bool:
    """Tell whether a text is short enough to be an answer, and is no refusal and no farewell."""
    return 0 < len(words) <= SHORT_WORDS and not _refuses(words) and bool({*words} - CLOSINGS)


def _residue(words: Sequence[str]) -> set[str]:
    line = f" {' '.join(words)} "
    for phrase in sorted(CONSENTS | NODS | REFUSALS, key=len, reverse=True):
        line = line.replace(f" {phrase} ", "  ")
    left = {*line.split()} - CLOSINGS - ANAPHORS - TRIFLES
    return {word for word in left if not word.startswith(_UNSPACED)}


def _stem(word: str) -> str:
    return word[:5] if len(word) > 5 else word


def _words(text: str) -> list[str]:
    return _WORD.findall(fold(excerpt(text)).text)


def _one_sentence(texts: Sequence[str]) -> str:
    return " , ".join(re.sub(rf"[{_END}…;\n]+", " , ", excerpt(one)) for one in texts)


def _raised(tier: Risk, *codes: str) -> RiskFloor:
    return RiskFloor(tier, codes if tier is not Risk.LOW else ())
