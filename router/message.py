"""InboundMessage: what arrived, checked before anything is decided about it."""

import copy
import hashlib
import re
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from typing import Literal

from clawmarshal.errors import MessageError
from clawmarshal.router.directives import is_blank

MAX_TEXT_BYTES = 4 * 1024 * 1024 - 4096
"""No setting goes over this: OpenClaw refuses message files over 4 MiB (FINDINGS 3.2)."""
DEFAULT_TEXT_BYTES = 256 * 1024
LABEL = re.compile(r"[a-z0-9][a-z0-9_.:-]{0,63}", re.ASCII)
MAX_FIELD_CHARS = 512
MAX_ATTACHMENTS = 64
MAX_LABELS = 32


@dataclass(frozen=True, slots=True)
class Attachment:
    """Something that came with the text and was not judged."""

    kind: str
    """``image``, ``audio``, ``file``, … as the channel calls it; 1 to 64 characters."""
    name: str | None = None
    """The file's name; hostile, never used as a path. At most 512 characters."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """Something said earlier in a conversation, cut to a bounded length."""

    role: Literal["sender", "agent"]
    text: str
    """Evidence, as hostile as any message."""


@dataclass(frozen=True, slots=True)
class InboundMessage:
    """A message as it arrived.

    Raises
    ------
    MessageError
        ``text-empty``, ``text-too-large``, ``text-nul``, ``text-surrogate``, ``text-bom``,
        ``field-invalid``.
    """

    text: str
    """At most `MAX_TEXT_BYTES` of UTF-8 with something to see in it; no NUL, no lone surrogate, no
    leading BOM."""
    _: KW_ONLY
    channel: str | None = None
    account: str | None = None
    sender: str | None = None
    conversation: str | None = None
    message_id: str | None = None
    """The channel's own id; with channel, account and conversation it prevents duplicates."""
    revision: int = 0
    """Grows when the sender edits a message; 0 to 2**31-1."""
    received_at: datetime | None = None
    """When the channel got it; time zone required."""
    labels: tuple[str, ...] = ()
    """0 to 32 slugs set by the caller, never by the text; ``tag:NAME`` narrows the ballot."""
    attachments: tuple[Attachment, ...] = ()
    """At most 64."""
    context: tuple[Utterance, ...] = field(default=(), repr=False, compare=False)
    """What came before in the conversation, oldest first; set by the decider, never by a caller,
    and no part of the message's identity."""
    digest: str = field(init=False, repr=False, compare=False)
    """SHA-256 of the text's UTF-8 bytes, lower-case hex."""

    def __post_init__(self) -> None:
        """Check every field and compute the digest."""
        put = object.__setattr__
        put(self, "labels", (self.labels,) if isinstance(self.labels, str) else tuple(self.labels))
        put(self, "attachments", tuple(self.attachments))
        put(self, "digest", hashlib.sha256(checked_text(self.text)).hexdigest())
        for name in ("channel", "account", "sender", "conversation", "message_id"):
            _check_field(name, getattr(self, name))
        self._check_attachments()
        self._check_labels()
        revision, received_at = self.revision, self.received_at
        if isinstance(revision, bool) or not isinstance(revision, int):
            raise MessageError("revision is a whole number", code="field-invalid")
        if not 0 <= revision < 2**31:
            raise MessageError("revision is between 0 and 2**31 - 1", code="field-invalid")
        if received_at is not None:
            _check_time(received_at)

    def following(self, context: tuple[Utterance, ...]) -> "InboundMessage":
        """Return the same message as the continuation of what came before; checks nothing anew."""
        message = copy.copy(self)
        object.__setattr__(message, "context", context)
        return message

    def _check_attachments(self) -> None:
        if len(self.attachments) > MAX_ATTACHMENTS:
            raise MessageError(f"more than {MAX_ATTACHMENTS} attachments", code="field-invalid")
        for attachment in self.attachments:
            if not isinstance(attachment, Attachment) or attachment.kind is None:
                raise MessageError("an attachment has a kind", code="field-invalid")
            _check_field("attachment kind", attachment.kind, limit=64)
            _check_field("attachment name", attachment.name)

    def _check_labels(self) -> None:
        if len(self.labels) > MAX_LABELS:
            raise MessageError(f"more than {MAX_LABELS} labels", code="field-invalid")
        if any(not isinstance(label, str) or not LABEL.fullmatch(label) for label in self.labels):
            raise MessageError("labels are slugs of at most 64 characters", code="field-invalid")
        if "tag:" in self.labels:
            raise MessageError("the label 'tag:' names no tag", code="field-invalid")

    @property
    def required_tags(self) -> frozenset[str]:
        """The tags an agent must carry to be on the ballot."""
        return frozenset(label[4:] for label in self.labels if label.startswith("tag:"))


def checked_text(text: str, *, max_bytes: int = MAX_TEXT_BYTES) -> bytes:
    """Return the text's UTF-8 bytes if it can be routed at all.

    Parameters
    ----------
    text
        Anything a caller sent.
    max_bytes
        The cap in force, at most `MAX_TEXT_BYTES`.

    Raises
    ------
    MessageError
        See `InboundMessage`.
    """
    if not isinstance(text, str):
        raise MessageError("text is not a string", code="field-invalid")
    try:
        encoded = text.encode("utf-8")
    except UnicodeEncodeError:
        raise MessageError("text holds a lone surrogate", code="text-surrogate") from None
    if len(encoded) > max_bytes:
        raise MessageError(
            f"text is {len(encoded)} bytes; the limit is {max_bytes}", code="text-too-large"
        )
    if "\x00" in text:
        raise MessageError("text holds a NUL character", code="text-nul")
    if text.startswith("\ufeff"):
        raise MessageError("text begins with a byte order mark; send it without", code="text-bom")
    if is_blank(text):
        raise MessageError("text is empty or blank", code="text-empty")
    return encoded


def decoded_text(raw: bytes, *, max_bytes: int = DEFAULT_TEXT_BYTES) -> str:
    """Decode bytes from a file or a body strictly.

    Raises
    ------
    MessageError
        ``text-not-utf8``, or as `checked_text`.
    """
    if len(raw) > max_bytes:
        raise MessageError(
            f"text is {len(raw)} bytes; the limit is {max_bytes}", code="text-too-large"
        )
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MessageError(
            f"text is not UTF-8 (byte {error.start})", code="text-not-utf8"
        ) from None
    checked_text(text, max_bytes=max_bytes)
    return text


def _check_time(value: object) -> None:
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise MessageError("received_at is a time with its zone", code="field-invalid")
    try:
        value.astimezone(UTC)
    except OverflowError:
        # It could be written and never read again, with every list that it stands in.
        raise MessageError(
            "received_at is outside of the years 1 to 9999", code="field-invalid"
        ) from None


def _check_field(name: str, value: str | None, *, limit: int = MAX_FIELD_CHARS) -> None:
    if value is None:
        return
    if not isinstance(value, str) or not value or len(value) > limit:
        raise MessageError(f"{name} is a text of 1 to {limit} characters", code="field-invalid")
    if any(ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0 or 0xD800 <= ord(c) < 0xE000 for c in value):
        raise MessageError(f"{name} holds a control character", code="field-invalid")
