"""A text to the bytes of its file, and a finished child to a `TurnResult`."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from clawmarshal.errors import NotLaunchedError
from clawmarshal.transport.masking import mask
from clawmarshal.transport.outcome import TurnResult, TurnState
from clawmarshal.transport.readers import in_reader
from clawmarshal.transport.reply import Asked, Output, Reading, read_turn
from clawmarshal.transport.run import Finished
from clawmarshal.transport.text import clean_text

FIRST_LINE = "Message (untrusted, routed by clawmarshal):"
"""Stands before every text, so that no text is first in the file and read as a command."""
MAX_TEXT_BYTES = 4 * 1024 * 1024 - 4096
"""OpenClaw reads no file larger than 4 MiB."""
_BIG = 128 * 1024


def encode_message(text: str, *, limit: int = MAX_TEXT_BYTES) -> bytes:
    """Return the exact bytes of the message file: the first line, then the text as it is.

    Raises
    ------
    NotLaunchedError
        The text is over `limit` bytes, blank, or holds NUL or a lone surrogate; code
        ``text-refused``.
    """
    try:
        body = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise NotLaunchedError("the text holds a lone surrogate", code="text-refused") from error
    if len(body) > limit:
        raise NotLaunchedError(f"the text is over {limit} bytes", code="text-refused")
    if b"\0" in body or not text.strip():
        raise NotLaunchedError("the text is blank or holds NUL", code="text-refused")
    return f"{FIRST_LINE}\n".encode() + body


async def to_result(
    finished: Finished,
    asked: Asked,
    *,
    reply_cap: int,
    facts: Mapping[str, object],
    secrets: Iterable[str] = (),
) -> TurnResult:
    """Read what a child left behind; a long output is read beside the event loop.

    Parameters
    ----------
    secrets
        Values that the child was given; they are masked in everything but its answer.
    """
    output, ending = finished.output, finished.ending
    if len(output.stdout) + len(output.stderr) + len(asked.text) > _BIG:
        reading = await in_reader(read_turn, output, asked)
    else:
        reading = read_turn(output, asked)
    if reading.raw_text is not None and len(reading.raw_text.encode()) > reply_cap:
        detail = f"the reply is over {reply_cap} bytes"
        reading = Reading(TurnState.UNKNOWN, "reply-too-large", detail, run_id=reading.run_id)
    known = tuple(secrets)
    return TurnResult(
        state=reading.state,
        code=reading.code,
        reply_text=reading.reply_text,
        raw_text=reading.raw_text,
        run_id=reading.run_id,
        exit_code=output.exit_code,
        signal=output.signal,
        detail=mask(clean_text(reading.detail, limit=500), known),
        stderr_tail=_tail(mask(clean_text(output.stderr.decode("utf-8", "replace")), known)),
        noise=mask(reading.noise, known),
        tool_sends=reading.tool_sends,
        cancel_unconfirmed=ending.left != 0,
        pid=finished.pid,
        facts={**reading.facts, **_how(output), **facts},
    )


def to_cancelled(result: TurnResult, run_id: str | None) -> TurnResult:
    """Say that a launch was called off and its run aborted; None: the Gateway did not say so."""
    if run_id is None:
        return result
    detail = "the launch was called off, and the Gateway says that the run was aborted"
    return replace(
        result, state=TurnState.CANCELLED, code="cancelled", detail=detail, run_id=run_id
    )


def _tail(stderr: str) -> str:
    """Return the end of stderr; what came last says most."""
    text = stderr.strip()
    return text if len(text) <= 2000 else "…" + text[-1999:]


def _how(output: Output) -> dict[str, object]:
    return {} if output.stopped is None else {"stopped": output.stopped}
