"""Every error we raise, drawn as one tree.

::

    ClawmarshalError               code (stable slug), retryable, message safe to show
    ├─ RosterError                 RosterFileError, RosterSchemaError, UnknownAgentError
    ├─ MessageError                empty, too large, not UTF-8, NUL, lone surrogate, BOM
    ├─ DecisionError               DecisionUnavailableError, DecisionInvalidError
    ├─ RouteRefusedError           an unroutable or forged route, or another text
    ├─ LedgerError                 NotFoundError, ConflictError, ExpiredError,
    │                              LedgerUnavailableError
    ├─ TransportError              NotLaunchedError, TurnFailedError, OutcomeUnknownError
    └─ SettingsError

Messages carry codes and ids, never message text, response bodies, environment values or keys.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


class ClawmarshalError(Exception):
    """Say what went wrong in words that are safe to show.

    Parameters
    ----------
    message
        One sentence for a person, with the mend where there is one.
    code
        A stable slug; the class's own code when left out.
    """

    code: str = "error"
    retryable: bool = False

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class RosterError(ClawmarshalError):
    """The fleet cannot be read as a roster."""

    code = "roster-invalid"


class RosterFileError(RosterError):
    """The roster file is missing, unreadable, or not YAML."""

    code = "roster-file"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong in a file, and where."""

    message: str
    """One sentence, no message text."""
    line: int | None = None
    """1-based; None where the fault has no place."""
    column: int | None = None
    """1-based; None where the fault has no place."""

    def __str__(self) -> str:
        if self.line is None:
            return self.message
        return f"line {self.line}, column {self.column}: {self.message}"


class RosterSchemaError(RosterError):
    """The roster breaks its rules; every fault is listed at once.

    Parameters
    ----------
    faults
        At least one.
    source
        The file's name, for the message.
    """

    code = "roster-schema"

    def __init__(self, faults: Sequence[Fault], *, source: str = "roster") -> None:
        self.faults = tuple(faults)
        lines = "".join(f"\n  {fault}" for fault in self.faults)
        super().__init__(f"{source}: {len(self.faults)} fault(s){lines}")


class UnknownAgentError(RosterError):
    """No agent of the roster has this id.

    Parameters
    ----------
    agent_id
        What was asked for.
    near
        Ids that are written almost the same, best first.
    """

    code = "unknown-agent"

    def __init__(self, agent_id: str, near: Sequence[str] = ()) -> None:
        self.agent_id = agent_id
        self.near = tuple(near)
        hint = f" Did you mean {', '.join(self.near)}?" if self.near else ""
        super().__init__(f"no agent {agent_id[:64]!r} in the roster.{hint}")


class MessageError(ClawmarshalError):
    """The message itself cannot be accepted; nothing was decided or launched."""

    code = "message-invalid"


class DecisionError(ClawmarshalError):
    """No usable answer; nothing was executed."""

    code = "decision-error"


class DecisionUnavailableError(DecisionError):
    """No answer before the deadline, or no model to ask.

    Parameters
    ----------
    retryable
        False where asking again cannot help before somebody mends something (a key, a setting).
    retry_after_s
        How long the model asks to be left alone; None where it does not say.
    """

    code = "decision-unavailable"
    retryable = True

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        retryable: bool = True,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message, code=code)
        self.retryable = retryable
        self.retry_after_s = retry_after_s


class DecisionInvalidError(DecisionError):
    """The answer breaks a validation rule; ``code`` names which."""

    code = "decision-invalid"


class RouteRefusedError(ClawmarshalError):
    """The route is not one this router decided for this text, or it is not routable."""

    code = "route-refused"


class LedgerError(ClawmarshalError):
    """The ledger refused."""

    code = "ledger-error"


class NotFoundError(LedgerError):
    """No such row, or none that this key may see."""

    code = "not-found"


class ConflictError(LedgerError):
    """Somebody answered first, or the row is in another state.

    Parameters
    ----------
    winner
        ``decision``, ``person``, ``at`` of the answer that stands, where there is one.
    detail
        More members for the problem document (gates, a new digest).
    """

    code = "conflict"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        winner: Mapping[str, object] | None = None,
        detail: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message, code=code)
        self.winner = dict(winner) if winner else None
        self.detail = dict(detail) if detail else {}


class ExpiredError(LedgerError):
    """The hold ran out before the answer."""

    code = "hold-expired"


class LedgerUnavailableError(LedgerError):
    """The database is away, locked, full or read-only; nothing was recorded."""

    code = "ledger-unavailable"
    retryable = True


class AcceptedUnreadError(LedgerUnavailableError):
    """The message is accepted and will be decided; only what became of it cannot be read now.

    Parameters
    ----------
    route_id
        The route to ask for.
    """

    code = "accepted-unread"
    retryable = False

    def __init__(self, route_id: str) -> None:
        self.route_id = route_id
        super().__init__("the message is accepted; ask for its route, and do not send it again")


class TransportError(ClawmarshalError):
    """The turn gave no reply."""

    code = "transport-error"


class NotLaunchedError(TransportError):
    """The turn certainly did not run."""

    code = "not-launched"


class TurnFailedError(TransportError):
    """The turn ran and ended without a reply."""

    code = "turn-failed"


class OutcomeUnknownError(TransportError):
    """The turn may have run. Never retry it by machine."""

    code = "outcome-unknown"


class SettingsError(ClawmarshalError):
    """The configuration cannot be used; every fault is listed at once."""

    code = "settings-invalid"

    def __init__(
        self, message: str, *, faults: Sequence[Fault] = (), code: str | None = None
    ) -> None:
        self.faults = tuple(faults)
        super().__init__(message + "".join(f"\n  {fault}" for fault in self.faults), code=code)
