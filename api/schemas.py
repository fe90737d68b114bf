"""The bodies that come in over HTTP."""

import unicodedata
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictStr,
)

from clawmarshal.router.ledger.records import Mode, Submission
from clawmarshal.router.message import Attachment, InboundMessage, checked_text

NOTE_CHARS = 2000


def _written_time(value: object) -> object:
    if value is not None and not isinstance(value, str):
        raise ValueError("write a time as text, such as 2026-01-31T09:30:00Z")
    return value


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("say why in a few words")
    return value


def _printable(value: str) -> str:
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in value):
        raise ValueError("holds a control character")
    return value


WrittenTime = Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_written_time)]
Note = Annotated[StrictStr, Field(max_length=NOTE_CHARS)]


class Body(BaseModel):
    """A request body: strict types, no unknown fields."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class AttachmentBody(Body):
    """Something that came with the text."""

    kind: str
    name: str | None = None


class RouteBody(Body):
    """A message to be routed; only ``text`` is required."""

    text: str
    channel: str | None = None
    account: str | None = None
    sender: str | None = None
    conversation: str | None = None
    message_id: str | None = None
    revision: int = 0
    received_at: WrittenTime | None = None
    labels: list[str] = Field(default_factory=list)
    attachments: list[AttachmentBody] = Field(default_factory=list)
    agent: str | None = Field(default=None, min_length=1, max_length=200)
    mode: Literal["dispatch", "decide", "dry_run"] = "dispatch"
    wait_s: float = Field(default=0.0, ge=0, le=600, allow_inf_nan=False)
    on_uncertain: Literal["hold", "clarify"] = "hold"
    clarifies: str | None = Field(default=None, min_length=1, max_length=64)
    cancel_on_disconnect: bool = False
    reply_target: (
        Annotated[str, Field(min_length=1, max_length=512), AfterValidator(_printable)] | None
    ) = None

    def submission(
        self,
        owner: str,
        *,
        idempotency_key: str | None,
        max_text_bytes: int,
        trace: str | None = None,
    ) -> Submission:
        """Make what the desk takes.

        Raises
        ------
        MessageError
            The text or a field cannot be accepted.
        """
        checked_text(self.text, max_bytes=max_text_bytes)
        message = InboundMessage(
            self.text,
            channel=self.channel,
            account=self.account,
            sender=self.sender,
            conversation=self.conversation,
            message_id=self.message_id,
            revision=self.revision,
            received_at=self.received_at,
            labels=tuple(self.labels),
            attachments=tuple(Attachment(a.kind, a.name) for a in self.attachments),
        )
        return Submission(
            message,
            owner,
            mode=Mode(self.mode),
            idempotency_key=idempotency_key,
            pin=self.agent,
            on_uncertain=self.on_uncertain,
            clarifies=self.clarifies,
            cancel_on_disconnect=self.cancel_on_disconnect,
            reply_target=self.reply_target,
            trace=trace,
        )


class ApproveBody(Body):
    """Yes to a hold; everything may be left out."""

    agent: str | None = Field(default=None, min_length=1, max_length=200)
    note: Note | None = None
    digest: str | None = Field(default=None, min_length=1, max_length=128)


class RejectBody(Body):
    """No to a hold; the reason is kept."""

    reason: Annotated[
        Note, Field(min_length=1, json_schema_extra={"pattern": r"\S"}), AfterValidator(_not_blank)
    ]


class OneApproval(ApproveBody):
    """Yes to one hold of several."""

    hold_id: str = Field(min_length=1, max_length=64)
    answer: Literal["approve"]


class OneRejection(RejectBody):
    """No to one hold of several."""

    hold_id: str = Field(min_length=1, max_length=64)
    answer: Literal["reject"]


OneAnswer = Annotated[OneApproval | OneRejection, Field(discriminator="answer")]


class AnswersBody(Body):
    """Answers to several holds."""

    answers: list[OneAnswer] = Field(min_length=1, max_length=100)


class EraseBody(Body):
    """A privacy request; everything may be left out."""

    reason: Note | None = None
    """Kept for ever: a number of the request, nothing about a person."""


class ResolveBody(Body):
    """What became of a turn whose outcome is unknown."""

    answer: Literal["ran", "not_run", "rerun", "leave"]
    note: Note | None = None
