"""What one launch came to: done, failed and certainly not run, failed and ran, or unknown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from clawmarshal.roster.agent import AgentSpec


class TurnState(StrEnum):
    """How a launch ended; nothing else is possible."""

    DONE = "done"
    FAILED_NOT_RUN = "failed_not_run"
    FAILED_RAN = "failed_ran"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Turn:
    """One launch to be made."""

    agent: AgentSpec
    session_key: str
    """``cm-`` and lower-case hex."""
    text: str
    """The exact text that was decided."""
    timeout_s: int
    """``--timeout``, whole seconds from 1."""
    attempt_id: str
    """Names the private directory and the log lines."""
    not_after_boot_s: float
    """CLOCK_BOOTTIME seconds after which the launcher must refuse to exec."""


@dataclass(frozen=True, slots=True)
class ToolSend:
    """Something the agent sent by itself during the turn."""

    provider: str | None
    to: str | None
    text: str | None


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What is known about a launch once it is over."""

    state: TurnState
    code: str
    """Stable slug of the row of the outcome table that matched, such as ``ok``."""
    reply_text: str | None = None
    """Cleaned of control and bidi characters; only with DONE."""
    raw_text: str | None = None
    """As the agent wrote it; only with DONE."""
    run_id: str | None = None
    exit_code: int | None = None
    signal: int | None = None
    detail: str = ""
    """One sentence for an operator, cleaned, at most 500 characters; never message text."""
    stderr_tail: str = ""
    """Cleaned, at most 2,000 characters; never shown to callers."""
    noise: str = ""
    """What stood around the document on stdout, cleaned, at most 2,000 characters."""
    tool_sends: tuple[ToolSend, ...] = ()
    cancel_unconfirmed: bool = False
    """Descendants of the CLI could not be accounted for."""
    cli_version: str | None = None
    pid: int | None = None
    wall_s: float = 0.0
    facts: Mapping[str, object] = field(default_factory=dict)
    """More for the audit record; JSON values, no text of the message."""


class TurnWatcher(Protocol):
    """Be told when the child is confirmed to have started."""

    async def started(self, pid: int) -> None:
        """Record that the exec succeeded."""
        ...


class Transport(Protocol):
    """Launch one turn and say what it came to."""

    @property
    def label(self) -> str:
        """What ``/readyz`` says of it, such as ``openclaw 2026.9.6`` or ``stand-in``."""
        ...

    async def launch(self, turn: Turn, watcher: TurnWatcher | None = None) -> TurnResult:
        """Launch once and return what is known.

        Never raises for what the child does: everything is a `TurnResult`. A cancelled await
        stops the child and still leaves nothing behind.
        """
        ...

    def template(self, agent: AgentSpec) -> Mapping[str, object]:
        """Describe exactly what would run: argv template, version, environment names.

        JSON values, stable between calls; approvals are bound to its digest.
        """
        ...

    async def close(self) -> None:
        """Stop what runs and release everything."""
        ...
