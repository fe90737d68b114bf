"""Reply: what an agent answered, or the error that stands for every other end of a launch."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import assert_never

from clawmarshal.errors import (
    NotLaunchedError,
    OutcomeUnknownError,
    TransportError,
    TurnFailedError,
)
from clawmarshal.transport.outcome import TurnResult, TurnState


@dataclass(frozen=True, slots=True)
class Reply:
    """What an agent answered."""

    text: str
    """Cleaned of control and bidi characters."""
    agent: str
    route_id: str
    raw_text: str
    """As the agent wrote it; hostile in terminals and pages."""
    run_id: str | None = None
    """OpenClaw's own id of the run."""
    tool_sends: tuple[Mapping[str, object], ...] = ()
    """What the agent sent by itself: ``provider``, ``to``, ``text``."""

    def __str__(self) -> str:
        """Return the text, so that ``print(reply)`` shows the answer."""
        return self.text


def reply_of(result: TurnResult, *, agent: str, route_id: str) -> Reply:
    """Return the reply of a turn that is done.

    Raises
    ------
    NotLaunchedError, TurnFailedError, OutcomeUnknownError, TransportError
        Every other end; see `failure_of`.
    """
    if result.state is TurnState.DONE:
        return Reply(
            text=result.reply_text or "",
            agent=agent,
            route_id=route_id,
            raw_text=result.raw_text or "",
            run_id=result.run_id,
            tool_sends=tuple(asdict(sent) for sent in result.tool_sends),
        )
    raise failure_of(result.state, result.code, result.detail)


def failure_of(state: TurnState, code: str, detail: str = "") -> TransportError:
    """Return the error for an end that gave no reply.

    Parameters
    ----------
    state
        Any but DONE.
    code
        Becomes the error's code.
    """
    said = f"{code}: {detail}" if detail else code
    match state:
        case TurnState.FAILED_NOT_RUN:
            return NotLaunchedError(said, code=code)
        case TurnState.FAILED_RAN:
            return TurnFailedError(said, code=code)
        case TurnState.CANCELLED:
            return TransportError(said, code=code)
        case TurnState.UNKNOWN:
            return OutcomeUnknownError(said, code=code)
        case TurnState.DONE:
            raise ValueError("a turn that is done has not failed")
        case _:
            assert_never(state)
