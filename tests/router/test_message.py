from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any

import pytest

from clawmarshal.errors import MessageError
from clawmarshal.router.message import (
    DEFAULT_TEXT_BYTES,
    MAX_TEXT_BYTES,
    Attachment,
    InboundMessage,
    checked_text,
    decoded_text,
)


def refusal(text: Any = "hello", **fields: Any) -> str:
    with pytest.raises(MessageError) as caught:
        InboundMessage(text, **fields)
    return caught.value.code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "text-empty"),
        (" \n\t\u3000", "text-empty"),
        ("\u200b\u2060", "text-empty"),
        ("a\x00b", "text-nul"),
        ("a\ud800b", "text-surrogate"),
        ("\ufeffhello", "text-bom"),
        ("x" * (MAX_TEXT_BYTES + 1), "text-too-large"),
        ("é" * (MAX_TEXT_BYTES // 2 + 1), "text-too-large"),
        (b"hello", "field-invalid"),
        (None, "field-invalid"),
    ],
    ids=lambda value: f"{value!r:.16}",
)
def test_a_text_that_cannot_be_routed_is_refused(text: object, code: str) -> None:
    assert refusal(text) == code


@pytest.mark.parametrize(
    "text", ["hi", " hi ", "x" * MAX_TEXT_BYTES, "👩‍🚀", "a\ufeffb", "/new", "\u202eabc"], ids=len
)
def test_a_text_that_can_be_routed_is_kept_as_it_is(text: str) -> None:
    assert InboundMessage(text).text == text


def test_the_refusal_never_repeats_the_text() -> None:
    with pytest.raises(MessageError) as caught:
        InboundMessage("xyzzy\x00")
    assert "xyzzy" not in str(caught.value)


def test_the_digest_is_over_the_bytes_of_the_text_alone() -> None:
    digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    assert InboundMessage("hello").digest == digest
    assert InboundMessage("hello", sender="me").digest == digest
    assert InboundMessage("Hello").digest != digest


@pytest.mark.parametrize("name", ["channel", "account", "sender", "conversation", "message_id"])
@pytest.mark.parametrize(
    "bad", ["", "a\nb", "a\x7f", "\x9b", "\ud800", "x" * 513, 7, b"x"], ids=ascii
)
def test_a_field_with_controls_or_without_content_is_refused(name: str, bad: object) -> None:
    assert refusal(**{name: bad}) == "field-invalid"


@pytest.mark.parametrize("name", ["channel", "account", "sender", "conversation", "message_id"])
@pytest.mark.parametrize("good", [None, "x", "x" * 512, "Jürgen שלום", "a:b/c"], ids=ascii)
def test_an_ordinary_field_is_kept(name: str, good: str | None) -> None:
    assert getattr(InboundMessage("hello", **{name: good}), name) == good  # type: ignore[arg-type]  # by name


@pytest.mark.parametrize("bad", [-1, 2**31, True, 1.0, "1", None], ids=repr)
def test_a_revision_is_a_whole_number(bad: object) -> None:
    assert refusal(revision=bad) == "field-invalid"


class Nowhere(tzinfo):
    """A zone that does not know its offset."""

    def utcoffset(self, dt: datetime | None) -> None:
        return None

    def dst(self, dt: datetime | None) -> None:
        return None

    def tzname(self, dt: datetime | None) -> None:
        return None


@pytest.mark.parametrize(
    "bad",
    [
        datetime(2026, 1, 1),
        datetime(2026, 1, 1, tzinfo=Nowhere()),
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=23))),
        datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-23))),
        "2026-01-01T00:00:00Z",
        0,
    ],
    ids=["naive", "nowhere", "before all years", "after all years", "text", "number"],
)
def test_a_received_time_has_its_zone(bad: object) -> None:
    assert refusal(received_at=bad) == "field-invalid"


def test_a_message_at_its_limits_is_accepted() -> None:
    message = InboundMessage(
        "hello",
        revision=2**31 - 1,
        received_at=datetime(2026, 1, 1, tzinfo=UTC),
        labels=tuple(f"l{number}" for number in range(32)),
        attachments=[Attachment("image", "a.png")] * 64,  # type: ignore[arg-type]  # a list is taken
    )
    assert isinstance(message.attachments, tuple)
    assert message.required_tags == frozenset()


@pytest.mark.parametrize(
    "labels",
    [
        tuple(f"l{number}" for number in range(33)),
        ("Upper",),
        ("",),
        ("a b",),
        ("x" * 65,),
        ("tag:",),
        ("tag:Ops",),
        (7,),
        (None,),
        ("é",),
        ("a\n",),
    ],
    ids=ascii,
)
def test_labels_are_a_few_slugs(labels: object) -> None:
    assert refusal(labels=labels) == "field-invalid"


def test_a_single_label_is_one_label() -> None:
    message = InboundMessage("hello", labels="tag:ops")  # type: ignore[arg-type]  # an easy slip
    assert message.labels == ("tag:ops",)


def test_tag_labels_name_the_tags_an_agent_must_carry() -> None:
    message = InboundMessage("hello", labels=("tag:ops", "urgent", "tag:emea.1"))
    assert message.required_tags == frozenset({"ops", "emea.1"})


@pytest.mark.parametrize(
    "attachments",
    [
        [Attachment("image")] * 65,
        [Attachment("")],
        [Attachment("x" * 65)],
        [Attachment("image", "")],
        [Attachment("image", "a\x1b.png")],
        [Attachment("image", "x" * 513)],
        [Attachment(None)],  # type: ignore[arg-type]  # that is the case
        [{"kind": "image"}],
        ["image"],
    ],
    ids=lambda value: f"{value!r:.40}",
)
def test_attachments_are_a_few_named_kinds(attachments: object) -> None:
    assert refusal(attachments=attachments) == "field-invalid"


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"\xff\xfeh\x00i\x00", "text-not-utf8"),
        (b"caf\xe9", "text-not-utf8"),
        (b"\xed\xa0\x80", "text-not-utf8"),
        (b"\xc0\xaf", "text-not-utf8"),
        (b"\xef\xbb\xbfhello", "text-bom"),
        (b"", "text-empty"),
        (b"a\x00", "text-nul"),
        (b"x" * (DEFAULT_TEXT_BYTES + 1), "text-too-large"),
    ],
    ids=lambda value: f"{value!r:.24}",
)
def test_bytes_that_are_no_message_are_refused(raw: bytes, code: str) -> None:
    with pytest.raises(MessageError) as caught:
        decoded_text(raw)
    assert caught.value.code == code


def test_the_place_of_the_bad_byte_is_named() -> None:
    with pytest.raises(MessageError, match="byte 3"):
        decoded_text(b"caf\xe9")


def test_good_bytes_are_decoded_up_to_the_cap_in_force() -> None:
    assert decoded_text("grün".encode()) == "grün"
    assert len(decoded_text(b"x" * DEFAULT_TEXT_BYTES)) == DEFAULT_TEXT_BYTES
    assert decoded_text(b"x" * 300_000, max_bytes=300_000)
    assert checked_text("é", max_bytes=2) == b"\xc3\xa9"
    with pytest.raises(MessageError):
        checked_text("é", max_bytes=1)
