"""Projection: how much of a message and of the questions one request carries; pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from clawmarshal.router.message import InboundMessage
from clawmarshal.router.redaction import Redactor

MAX_TEXT_CHARS = 8_000
MAX_BODY_BYTES = 60 * 1024
"""Below the smallest body limit known of a server (64 KiB)."""
MAX_TEXT_BYTES = 24 * 1024
"""What the text may take of the body, serialised; the rest belongs to the questions."""
MAX_TURNS = 6
MAX_TURN_CHARS = 500
MAX_TURN_BYTES = 1024
MAX_OPTION_BYTES = 1_500
"""What one option's description may take, serialised."""


@dataclass(frozen=True, slots=True)
class Projection:
    """The state of a request."""

    state: Mapping[str, object]
    is_truncated: bool
    """True when the model sees less than the agent will: the text was cut, or redacted."""
    notes: tuple[str, ...]
    """``redacted:N``, ``conversation-cut``."""


def project(message: InboundMessage, *, redactor: Redactor | None = None) -> Projection:
    """Make the state: the message under its own key, its channel, and the last turns.

    Parameters
    ----------
    message
        Evidence. Its text is redacted, then cut to 8,000 characters and 24 KiB as serialised; of
        its context the last six are sent, each redacted and cut to 500 characters.
    redactor
        None sends the text as it is.
    """
    redactor = redactor or Redactor()
    told = redactor.redact(message.text, max_chars=MAX_TEXT_CHARS)
    text = fitted(told.text, MAX_TEXT_BYTES)
    state: dict[str, object] = {"message": text}
    if message.channel is not None:
        state["channel"] = redactor.redact(message.channel, max_chars=len(message.channel)).text
    count, cut = told.count, len(message.context) > MAX_TURNS
    earlier = []
    for turn in message.context[-MAX_TURNS:]:
        said = redactor.redact(turn.text, max_chars=MAX_TURN_CHARS)
        earlier.append({"speaker": turn.role, "text": fitted(said.text, MAX_TURN_BYTES)})
        count += said.count
        cut = cut or said.is_cut or earlier[-1]["text"] != said.text
    if earlier:
        state["conversation"] = earlier
    notes = (f"redacted:{count}",) if count else ()
    return Projection(
        state,
        is_truncated=told.is_cut or told.count > 0 or text != told.text,
        notes=(*notes, "conversation-cut") if cut else notes,
    )


def fitted(text: str, max_bytes: int) -> str:
    """Return the longest beginning of a text that takes at most `max_bytes` when serialised."""
    if serialised_bytes(text) <= max_bytes:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if serialised_bytes(text[:middle]) <= max_bytes:
            low = middle
        else:
            high = middle - 1
    return text[:low]


def serialised_bytes(value: object) -> int:
    """Return how many bytes a value takes in a request."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
