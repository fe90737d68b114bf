"""What is run: (agent, session, file, timeout) to one argv, or one of a fixed read-only list; pure.

Every argument there is:

====================  ==========================================================================
``agent``             one turn through the Gateway; ``--local`` and ``agent exec`` cannot be built
``--agent=ID``        who answers; joined with ``=`` because OpenClaw parses root options even in
                      value position
``--session-key=KEY`` which conversation; without it all callers share one
``--message-file=F``  where the text is; no text ever stands in an argv, which others can read
``--timeout=N``       seconds the run may take; without it OpenClaw's own default of 600 holds
``--json``            one JSON document instead of text for people
====================  ==========================================================================
"""

import re
from enum import Enum

from clawmarshal.errors import NotLaunchedError
from clawmarshal.roster.agent import id_faults

SESSION_KEY = re.compile(r"cm-[0-9a-f]{16,64}", re.ASCII)
MESSAGE_FILE = re.compile(r"(/[A-Za-z0-9._+@ -]+)+", re.ASCII)
MAX_TIMEOUT_S = 3600
REQUIRED_FLAGS = ("--agent", "--session-key", "--message-file", "--timeout", "--json")


class ReadOnly(Enum):
    """Every call besides a turn; none of them changes anything."""

    VERSION = ("--version",)
    AGENT_HELP = ("agent", "--help")
    CONFIG = ("gateway", "call", "config.get", "--json")
    AGENTS = ("gateway", "call", "agents.list", "--json")


def turn_argv(
    executable: tuple[str, ...],
    *,
    agent_id: str,
    session_key: str,
    message_file: str,
    timeout_s: int,
) -> tuple[str, ...]:
    """Build the argv of one turn.

    Parameters
    ----------
    executable
        One or more parts, the first an absolute path; from `executable.resolve`.
    agent_id
        A valid roster id.
    session_key
        ``cm-`` and 16 to 64 lower-case hex digits.
    message_file
        Absolute path of plain characters, without ``.`` or ``..`` as a part.
    timeout_s
        1 to 3600.

    Raises
    ------
    NotLaunchedError
        Anything else was given; code ``argument-refused``. The value is not repeated.
    """
    if id_faults(agent_id):
        raise _refused("the agent id")
    if not isinstance(session_key, str) or not SESSION_KEY.fullmatch(session_key):
        raise _refused("the session key")
    if not _is_plain_path(message_file):
        raise _refused("the message file's path")
    if type(timeout_s) is not int or not 1 <= timeout_s <= MAX_TIMEOUT_S:
        raise _refused("the timeout")
    return (
        *_checked(executable),
        "agent",
        f"--agent={agent_id}",
        f"--session-key={session_key}",
        f"--message-file={message_file}",
        f"--timeout={timeout_s}",
        "--json",
    )


def read_only_argv(executable: tuple[str, ...], call: ReadOnly) -> tuple[str, ...]:
    """Build the argv of one read-only call.

    Raises
    ------
    NotLaunchedError
        `call` is not one of the list; code ``argument-refused``.
    """
    if not isinstance(call, ReadOnly):
        raise _refused("the call")
    return (*_checked(executable), *call.value)


def _checked(executable: tuple[str, ...]) -> tuple[str, ...]:
    if not executable or not executable[0].startswith("/") or any("\0" in p for p in executable):
        raise _refused("the executable")
    return executable


def _is_plain_path(path: object) -> bool:
    if not isinstance(path, str) or not MESSAGE_FILE.fullmatch(path):
        return False
    return not {".", ".."} & set(path.split("/"))


def _refused(what: str) -> NotLaunchedError:
    return NotLaunchedError(
        f"{what} is not of the closed form; nothing was started", code="argument-refused"
    )
