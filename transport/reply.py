"""What the CLI printed, and how it ended, to what the turn came to; pure.

The rules, strict where they say that something happened or did not:

``done``
    One complete document with ``status: "ok"`` and visible text, the session that was asked for,
    and exit 0, or our own stop of a process that stayed after the document.
``failed``, ran
    The document reports the run ended: ``status: "timeout"`` (whatever the exit code: where the
    two disagree, the document's own word about the run decides), or only error texts.
``failed``, certainly not run
    Exit 1, one document on stdout without ``runId``, and a message from the table of the version.
``unknown``
    Everything else: no document, two, half of one, another agent or session, an unknown shape.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from clawmarshal.transport.command import RUN_ID
from clawmarshal.transport.documents import Findings, Shape, find_documents, objects_in
from clawmarshal.transport.outcome import ToolSend, TurnState
from clawmarshal.transport.refusals import find_refusal
from clawmarshal.transport.text import clean_text, storable_text

_NOT_A_REPLY = (
    "isError",
    "isReasoning",
    "isCommentary",
    "isStatusNotice",
    "isCompactionNotice",
    "isFallbackNotice",
)
_RUN_ID = re.compile(
    r"(?:accepted run|abort Gateway run|Gateway run|run) ([0-9A-Za-z][0-9A-Za-z._-]{7,63})",
    re.ASCII,
)
_ACCEPTED = re.compile(
    r"accepted run |abort Gateway run |Gateway run \S+ was not confirmed", re.ASCII
)
_MAX_SENDS = 50
_NOISE_CHARS = 20_000
"""More is not cleaned: megabytes of it would cost their size several times over."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked of the CLI."""

    agent_id: str
    session_key: str
    text: str = field(repr=False)
    """To recognise a document that is only the message's echo."""
    cli_version: str | None = None

    @property
    def session(self) -> str:
        """The session as OpenClaw names it."""
        return f"agent:{self.agent_id}:{self.session_key}"


@dataclass(frozen=True, slots=True)
class Output:
    """What came back, and how the process ended."""

    stdout: bytes = field(repr=False)
    stderr: bytes = field(repr=False)
    exit_code: int | None = None
    signal: int | None = None
    stopped: str | None = None
    """Why we stopped it: ``deadline``, ``asked``, ``linger``, ``flood``; None when it ended."""
    had_document: bool = False
    """A complete document stood there before we stopped it."""
    is_cut: bool = False
    """Stdout went over its cap."""
    is_lost: bool = False
    """Nobody saw the process end."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the turn came to, as far as its output tells."""

    state: TurnState
    code: str
    detail: str = ""
    reply_text: str | None = None
    raw_text: str | None = None
    run_id: str | None = None
    noise: str = ""
    tool_sends: tuple[ToolSend, ...] = ()
    facts: Mapping[str, object] = field(default_factory=dict)


def read_turn(output: Output, asked: Asked) -> Reading:
    """Decide what the turn came to."""
    stderr = output.stderr.decode("utf-8", "replace")
    findings = find_documents(output.stdout.decode("utf-8", "replace"))
    is_stdout = True
    if not output.stdout.strip():
        findings, is_stdout = find_documents(stderr), False
    noise = clean_text(findings.noise.strip()[:_NOISE_CHARS], limit=2000) if is_stdout else ""
    reading = _read(output, asked, findings=findings, is_stdout=is_stdout, stderr=stderr)
    facts = {**reading.facts, "undecodable": True} if _is_undecodable(output) else reading.facts
    return replace(
        reading,
        facts=facts,
        detail=reading.detail or _describe(output),
        run_id=reading.run_id or _run_id_in(stderr),
        noise=noise,
    )


def _is_undecodable(output: Output) -> bool:
    """Whether bytes on stdout are no UTF-8; a document cut at the cap is no such thing."""
    try:
        output.stdout.decode("utf-8")
    except UnicodeDecodeError:
        return not output.is_cut
    return False


def has_answer(stdout: bytes) -> bool:
    """Tell whether exactly one complete document of a known shape stands on stdout."""
    found = find_documents(stdout.decode("utf-8", "replace"))
    return len(found.documents) == 1 and found.documents[0].shape is not Shape.STRANGE


def _read(
    output: Output, asked: Asked, *, findings: Findings, is_stdout: bool, stderr: str
) -> Reading:
    fault = _fault(output, asked, findings)
    if fault is not None:
        code, detail = fault
        return Reading(TurnState.UNKNOWN, code, detail)
    document = findings.documents[0]
    match document.shape:
        case Shape.RESULT:
            return _read_result(output, asked, document.value)
        case Shape.ERROR:
            return _read_error(output, asked, document.value, is_stdout=is_stdout, stderr=stderr)
        case Shape.EMBEDDED:
            return _unknown("no-status", "the document has no status: not a turn of the Gateway")
        case _:
            return _unknown("unknown-shape", "the document has a shape that no known version has")


def _fault(output: Output, asked: Asked, findings: Findings) -> tuple[str, str] | None:
    """Name what keeps the output from being read as one answer."""
    documents = findings.documents
    if output.is_cut:
        return "reply-too-large", "the CLI printed more than the cap"
    if output.is_lost:
        return "keeper-lost", "nobody saw the CLI end"
    if findings.is_too_tangled:
        return "output-tangled", "the output is too tangled to be read as one answer"
    if len(documents) > 1:
        return "two-documents", "more than one document could be the answer"
    if findings.is_cut:
        return "document-cut", "the document is not complete"
    if not documents:
        return _no_document(output)
    if not documents[0].starts_line:
        return "document-embedded", "the document stands inside another line"
    if "{" in asked.text and documents[0].value in objects_in(asked.text):
        return "document-echoed", "the document is the message's own text"
    return None


def _no_document(output: Output) -> tuple[str, str]:
    if output.stopped == "deadline":
        return "deadline", "the CLI was stopped at its deadline; the run may go on"
    if output.stopped is not None:
        return "stopped", "the CLI was stopped; the Gateway did not confirm that the run ended"
    if output.signal is not None:
        return "killed", f"the CLI died of signal {output.signal}"
    return "no-document", f"the CLI printed no document, exit {output.exit_code}"


def _read_result(output: Output, asked: Asked, value: Mapping[str, Any]) -> Reading:
    result = value.get("result")
    result = result if isinstance(result, dict) else {}
    known = Reading(
        TurnState.UNKNOWN,
        "unread",
        run_id=_run_id(value),
        tool_sends=_tool_sends(result),
        facts=_facts(value, result),
    )
    named = _session_fault(result, asked)
    if named in ("wrong-agent", "wrong-session"):
        return _judge(known, named, "the document names another session than the one asked")
    status = value["status"]
    texts = _texts(result)
    at_exit = _at_exit(output)
    if status == "timeout":
        detail = f"the turn ran out of time{at_exit}"
        return _judge(known, "turn-timeout", detail, state=TurnState.FAILED_RAN)
    if status in ("ok", "error") and texts.only_errors:
        detail = f"the run ended with an error{at_exit}"
        return _judge(known, "error-reply", detail, state=TurnState.FAILED_RAN)
    if status != "ok":
        return _judge(known, "status-not-ok", f"the status is {_word(status)}{at_exit}")
    if named is not None:
        return _judge(known, named, "the document does not name its session")
    if not _ended_well(output):
        return _judge(known, "exit-disagrees", f"the status is ok{at_exit}")
    if not texts.visible.strip():
        return _judge(known, "no-visible-text", "the run ended without visible text")
    return replace(
        known,
        state=TurnState.DONE,
        code="ok",
        detail="the agent answered",
        reply_text=clean_text(texts.visible),
        raw_text=storable_text(texts.visible),
    )


def _read_error(
    output: Output, asked: Asked, value: Mapping[str, Any], *, is_stdout: bool, stderr: str
) -> Reading:
    message = value["error"].get("message")
    run_id = _run_id(value)
    if "runId" in value or _ACCEPTED.search(stderr):
        detail = f"the Gateway had accepted the run when the CLI failed{_at_exit(output)}"
        return _unknown("failed-after-acceptance", detail, run_id=run_id)
    row = find_refusal(asked.cli_version, message)
    certain = is_stdout and output.exit_code == 1 and output.stopped is None
    if row is None or not certain:
        return _unknown(
            "cli-error", f"the CLI failed without proof that nothing ran{_at_exit(output)}"
        )
    first_line = clean_text(str(message).splitlines()[0], limit=200)
    return Reading(TurnState.FAILED_NOT_RUN, row.code, f"{first_line} {row.mend}")


@dataclass(frozen=True, slots=True)
class _Texts:
    visible: str
    only_errors: bool


def _texts(result: Mapping[str, Any]) -> _Texts:
    """Join the texts that are the reply, and tell whether there are only error texts."""
    entries = result.get("payloads")
    entries = [e for e in entries if isinstance(e, dict)] if isinstance(entries, list) else []
    visible = [
        entry["text"]
        for entry in entries
        if isinstance(entry.get("text"), str)
        and entry["text"].strip()
        and not any(entry.get(flag) for flag in _NOT_A_REPLY)
    ]
    only_errors = bool(entries) and all(entry.get("isError") is True for entry in entries)
    return _Texts("\n\n".join(visible), only_errors)


def _session_fault(result: Mapping[str, Any], asked: Asked) -> str | None:
    """Compare every session the document names with the one that was asked."""
    meta = result.get("meta")
    named = [
        name
        for name in (
            _get(meta, "agentMeta", "sessionFile"),
            _get(meta, "systemPromptReport", "sessionKey"),
        )
        if isinstance(name, str) and "/" not in name
    ]
    for name in named:
        if name.casefold() != asked.session:
            is_same_agent = name.casefold().startswith(f"agent:{asked.agent_id}:")
            return "wrong-session" if is_same_agent else "wrong-agent"
    return None if named else "session-unnamed"


def _ended_well(output: Output) -> bool:
    if output.stopped is None:
        return output.exit_code == 0
    return output.had_document


def _tool_sends(result: Mapping[str, Any]) -> tuple[ToolSend, ...]:
    """List what the agent sent by itself, as far as the document says."""
    targets, texts = result.get("messagingToolSentTargets"), result.get("messagingToolSentTexts")
    sends = [
        ToolSend(_word(t.get("provider")), _word(t.get("to")), _sent_text(t.get("text")))
        for t in (targets if isinstance(targets, list) else [])
        if isinstance(t, dict)
    ]
    told = {send.text for send in sends}
    for text in texts if isinstance(texts, list) else []:
        if _sent_text(text) not in told:
            sends.append(ToolSend(None, None, _sent_text(text)))
    media = any(
        value for key, value in result.items() if key.startswith("messagingToolSent") and value
    )
    if not sends and (media or result.get("didSendViaMessagingTool") is True):
        sends.append(ToolSend(None, None, None))
    return tuple(sends[:_MAX_SENDS])


def _sent_text(text: object) -> str | None:
    return clean_text(text, limit=4000) if isinstance(text, str) else None


def _facts(value: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, object]:
    """Keep what explains a turn later: short words and whole numbers only."""
    meta = result.get("meta")
    found = {
        "status": value.get("status"),
        "summary": value.get("summary"),
        "timeout_phase": value.get("timeoutPhase"),
        "provider_started": value.get("providerStarted"),
        "session": _get(meta, "agentMeta", "sessionFile"),
        "session_id": _get(meta, "agentMeta", "sessionId"),
        "provider": _get(meta, "agentMeta", "provider"),
        "model": _get(meta, "agentMeta", "model"),
        "duration_ms": _get(meta, "durationMs"),
        "tokens": _get(meta, "agentMeta", "usage", "total"),
        "stop_reason": _get(meta, "stopReason"),
    }
    facts: dict[str, object] = {}
    for name, fact in found.items():
        if isinstance(fact, str):
            facts[name] = clean_text(fact, limit=200)
        elif isinstance(fact, bool) or (isinstance(fact, int) and abs(fact) < 2**53):
            facts[name] = fact
    return facts


def _get(value: object, *path: str) -> object:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _run_id(value: Mapping[str, Any]) -> str | None:
    run_id = value.get("runId")
    return run_id if isinstance(run_id, str) and RUN_ID.fullmatch(run_id) else None


def _run_id_in(stderr: str) -> str | None:
    found = _RUN_ID.search(stderr)
    return found[1] if found else None


def _word(value: object) -> str | None:
    return clean_text(value, limit=200).strip() if isinstance(value, str) else None


def _at_exit(output: Output) -> str:
    if output.signal is not None:
        return f", signal {output.signal}"
    return f", exit {output.exit_code}"


def _describe(output: Output) -> str:
    return f"the CLI ended{_at_exit(output)}"


def _unknown(code: str, detail: str, *, run_id: str | None = None) -> Reading:
    return Reading(TurnState.UNKNOWN, code, detail, run_id=run_id)


def _judge(
    known: Reading, code: str, detail: str, *, state: TurnState = TurnState.UNKNOWN
) -> Reading:
    return replace(known, state=state, code=code, detail=detail)
