"""What the Gateway says of a turn whose outcome was lost; pure, and never a verdict."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from clawmarshal.transport.command import RUN_ID
from clawmarshal.transport.text import clean_text

MAX_REPLY_CHARS = 100_000
SKEW_MS = 120_000
"""A message of the same words counts when it came at most this long before the launch, since the
Gateway's clock is another one."""
LEAST_BEGINNING = 200
"""The Gateway cuts long texts short; so many characters of one must agree."""


class EvidenceCode(StrEnum):
    """What was found; none of them proves that a turn did not run."""

    ANSWERED = "answered"
    """The run's answer stands in the transcript, or the Gateway reports it."""
    ENDED = "ended"
    """The Gateway says that the run ended, without an answer that can be seen."""
    RUNNING = "running"
    """The Gateway says that the run is under way."""
    ARRIVED = "arrived"
    """The message stands in the transcript, and nothing more is known."""
    NOTHING_FOUND = "nothing-found"
    """The Gateway answered and knows of neither. The turn may have run all the same."""
    NOT_UNDERSTOOD = "not-understood"
    """The Gateway's answer has a shape that is not known."""
    NOT_REACHABLE = "not-reachable"
    """The Gateway could not be asked."""

    @property
    def is_final(self) -> bool:
        """True where asking again would find nothing more."""
        return self in (EvidenceCode.ANSWERED, EvidenceCode.ENDED)


@dataclass(frozen=True, slots=True)
class LostTurn:
    """What is known of a turn whose outcome is not."""

    agent_id: str
    session_key: str
    run_id: str | None
    texts: Collection[str] = field(repr=False)
    """The message file's text, in each form in which it may have crossed."""
    launched_ms: int
    """Unix time of the launch in milliseconds."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was found, for a person to judge."""

    code: EvidenceCode
    run_id: str | None = None
    """As OpenClaw names the run."""
    found_by: str | None = None
    """``run-id``, or ``text`` where only the words and the time agree."""
    reply_text: str | None = field(default=None, repr=False)
    """Cleaned; only with ``answered``."""
    facts: Mapping[str, object] = field(default_factory=dict)
    """More for the audit record; JSON values, no text of the message or the reply."""


@runtime_checkable
class EvidenceSource(Protocol):
    """Look for traces of a turn, read-only."""

    async def evidence(self, turn: LostTurn) -> Evidence:
        """Return what can be found; never raises for what the Gateway does."""
        ...


def run_in(history: object, turn: LostTurn) -> str | None:
    """Return the run's id: ours if known, else the one the transcript names beside the message."""
    if turn.run_id is not None:
        return turn.run_id
    found = _message_at(_messages(history), turn)
    return None if found is None else found[1]


def is_aborted(wait: object, *, since_ms: int) -> bool:
    """Tell whether ``agent.wait`` says that a run was ended by an abort that was asked for.

    Parameters
    ----------
    since_ms
        Unix time of the launch in milliseconds: a run that began before it is another one.

    Notes
    -----
    Measured on 2026.9.6: a run that the CLI aborts on SIGTERM is ``status: "error"`` with
    ``stopReason: "rpc"`` and both times. A Gateway whose clock is behind ours confirms nothing.
    """
    if not isinstance(wait, Mapping):
        return False
    told = (wait.get("status"), wait.get("stopReason"))
    began, ended = _time(wait.get("startedAt")), _time(wait.get("endedAt"))
    if began is None or ended is None or told != ("error", "rpc"):
        return False
    return since_ms <= began <= ended


def read_evidence(history: object, wait: object, *, turn: LostTurn) -> Evidence:
    """Join what ``chat.history`` and ``agent.wait`` answered.

    Parameters
    ----------
    history
        The parsed answer; None where it was not understood.
    wait
        The parsed answer about the run; None where it was not asked or not understood.

    Notes
    -----
    Measured on 2026.9.6: a session that is not there answers with no messages, for an agent that
    is not there, too; a run that is not known answers ``status: "timeout"``. So nothing here is
    ever read as "did not run".
    """
    messages = _messages(history)
    if messages is None and not isinstance(wait, Mapping):
        return Evidence(EvidenceCode.NOT_UNDERSTOOD)
    found = _message_at(messages, turn)
    run_id = turn.run_id or (found[1] if found else None)
    facts = dict(_facts(history, wait, run_id=run_id, is_there=found is not None))
    by = None if found is None else found[2]
    if found is not None and (later := _of_others(messages or [], found[0], run_id)):
        facts["answers_of_other_runs"] = later
    reply = _reply(messages or [], found[0] if found else None, run_id=run_id) or _told(wait)
    if reply is not None:
        cleaned = clean_text(reply, limit=MAX_REPLY_CHARS)
        facts["reply_chars"] = len(cleaned)
        return Evidence(EvidenceCode.ANSWERED, run_id, by or "run-id", cleaned, facts)
    if facts.get("active"):
        return Evidence(EvidenceCode.RUNNING, run_id, by, None, facts)
    if facts.get("ended_ms") is not None:
        return Evidence(EvidenceCode.ENDED, run_id, by or "run-id", None, facts)
    code = EvidenceCode.NOTHING_FOUND if found is None else EvidenceCode.ARRIVED
    return Evidence(code, run_id, by, None, facts)


def parse(stdout: bytes) -> Mapping[str, Any] | None:
    """Read one JSON object; None for anything else, an error document among it."""
    try:
        value = json.loads(stdout)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and value.get("ok") is not False else None


def _messages(history: object) -> list[Mapping[str, Any]] | None:
    """Return the messages of a transcript, oldest first; None where there is no list of them."""
    if not isinstance(history, Mapping) or not isinstance(history.get("messages"), list):
        return None
    return [message for message in history["messages"] if isinstance(message, Mapping)]


def _message_at(
    messages: list[Mapping[str, Any]] | None, turn: LostTurn
) -> tuple[int, str | None, str] | None:
    """Find our message: where it stands, its run's id, and how it was recognised."""
    places = range(len(messages or ()) - 1, -1, -1)
    for place in places:
        message = (messages or [])[place]
        run_id = _run_of(message)
        if message.get("role") == "user" and turn.run_id is not None and run_id == turn.run_id:
            return place, run_id, "run-id"
    for place in places if turn.run_id is None else ():
        message = (messages or [])[place]
        if message.get("role") == "user" and _is_ours(message, turn):
            return place, _run_of(message), "text"
    return None


def _is_ours(message: Mapping[str, Any], turn: LostTurn) -> bool:
    at = message.get("timestamp")
    if not isinstance(at, int | float) or at < turn.launched_ms - SKEW_MS:
        return False
    content = _text(message).strip()
    return any(_agree(content, text.strip()) for text in turn.texts)


def _agree(shown: str, sent: str) -> bool:
    if shown == sent:
        return True
    return (
        len(shown) < len(sent)
        and len(shown) > LEAST_BEGINNING
        and (sent.startswith(shown[:LEAST_BEGINNING]))
    )


def _run_of(message: Mapping[str, Any]) -> str | None:
    """Return the run that a message of a transcript belongs to."""
    about = message.get("__openclaw")
    about = about if isinstance(about, Mapping) else {}
    for named in (about.get("runId"), message.get("idempotencyKey"), about.get("idempotencyKey")):
        if isinstance(named, str) and RUN_ID.fullmatch(run_id := named.partition(":")[0]):
            return run_id
    return None


def _reply(
    messages: list[Mapping[str, Any]], place: int | None, *, run_id: str | None
) -> str | None:
    """Return the last text of the run's answer: by its id, else what follows our message."""
    if run_id is not None:
        own = [m for m in messages if m.get("role") == "assistant" and _run_of(m) == run_id]
    elif place is not None:
        own = list(_until_next_message(messages[place + 1 :]))
    else:
        own = []
    texts = [text for message in own if _is_answer(message) and (text := _text(message).strip())]
    return texts[-1] if texts else None


def _of_others(messages: list[Mapping[str, Any]], place: int, run_id: str | None) -> int:
    """Count answers behind our message that other runs gave, such as a recovery after a restart."""
    behind = [m for m in messages[place + 1 :] if m.get("role") == "assistant"]
    return sum(1 for m in behind if _run_of(m) not in (None, run_id) and _text(m).strip())


def _until_next_message(messages: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for message in messages:
        if message.get("role") == "user":
            return
        if message.get("role") == "assistant":
            yield message


def _is_answer(message: Mapping[str, Any]) -> bool:
    """Tell whether the model had ended there, and not to call a tool or in an error."""
    return message.get("stopReason") in ("stop", "length", "end_turn")


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(
        part["text"]
        for part in parts
        if isinstance(part, Mapping)
        and part.get("type") == "text"
        and isinstance(part.get("text"), str)
    )


def _told(wait: object) -> str | None:
    """Return the answer that ``agent.wait`` reports of a run that ended well."""
    if not isinstance(wait, Mapping) or wait.get("status") != "ok":
        return None
    reply = wait.get("terminalReply")
    text = reply.get("text") if isinstance(reply, Mapping) else None
    return text if isinstance(text, str) and text.strip() else None


def _facts(
    history: object, wait: object, *, run_id: str | None, is_there: bool
) -> Iterator[tuple[str, object]]:
    """Pick what a reviewer may want to know; words are cut to what a code can be."""
    yield "in_transcript", is_there
    told = history if isinstance(history, Mapping) else {}
    flight, session = told.get("inFlightRun"), told.get("sessionInfo")
    active = flight.get("runId") if isinstance(flight, Mapping) else None
    is_active = active is not None and (active == run_id or (run_id is None and is_there))
    if isinstance(session, Mapping):
        yield "session_status", _word(session.get("status"))
        yield "session_last_run", session.get("lastRunId") == run_id and run_id is not None
    if isinstance(wait, Mapping):
        status = _word(wait.get("status"))
        yield "run_status", status
        is_active = is_active or status in ("pending", "running", "in_flight")
        if (ended := _time(wait.get("endedAt"))) is not None:
            yield "ended_ms", ended
            is_active = False
        yield "stop_reason", _word(wait.get("stopReason"))
    yield "active", is_active


def _time(value: object) -> int | None:
    """Return a Unix time in milliseconds that every ledger can hold."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < 2**53 else None


def _word(value: object) -> str | None:
    return clean_text(value, limit=40) if isinstance(value, str) else None
