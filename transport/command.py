"""What is run: (agent, session, file, timeout) to one argv, or one of a fixed read-only list; pure.

`ARGUMENTS` and `CALLS` are the published tables: every argument there is, and why. The page
``docs/transport.md`` is made from them.
"""

import json
import re
from dataclasses import dataclass
from enum import Enum

from clawmarshal.errors import NotLaunchedError
from clawmarshal.roster.agent import id_faults

SESSION_KEY = re.compile(r"cm-[0-9a-f]{16,64}", re.ASCII)
MESSAGE_FILE = re.compile(r"(/[A-Za-z0-9._+@ -]+)+", re.ASCII)
RUN_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z._:-]{0,127}", re.ASCII)
MAX_TIMEOUT_S = 3600
HISTORY_LIMIT = 50
RUN_WAIT_MS = 1000
REQUIRED_FLAGS = ("--agent", "--session-key", "--message-file", "--timeout", "--json")


class ReadOnly(Enum):
    """Every call besides a turn that takes nothing from us; none of them changes anything."""

    VERSION = ("--version",)
    AGENT_HELP = ("agent", "--help")
    CONFIG = ("gateway", "call", "config.get", "--json")
    AGENTS = ("gateway", "call", "agents.list", "--json")
    HEALTH = ("gateway", "call", "health", "--json")
    STATUS = ("gateway", "call", "status", "--json")


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a turn."""

    form: str
    origin: str
    """Where its value comes from, in words."""
    reason: str
    evidence: str
    """How we know; measured and read with OpenClaw 2026.9.6."""


@dataclass(frozen=True, slots=True)
class Call:
    """One read-only call."""

    form: str
    reason: str
    evidence: str
    """How we know; measured and read with OpenClaw 2026.9.6."""


ARGUMENTS: tuple[Argument, ...] = (
    Argument(
        "NODE",
        "`transport.command`, resolved at the start",
        "a fixed Node: another one on `PATH` may be too old",
        "measured: Node 20 exits 1 with an empty stdout",
    ),
    Argument(
        "[NODE OPTION]",
        "`transport.command`: `--max-old-space-size=N` or `--disable-warning=ExperimentalWarning`",
        "bounds the heap, or keeps stderr quiet; no other option is taken",
        "measured: 64 MiB is enough for small replies",
    ),
    Argument(
        "OPENCLAW.MJS",
        "`transport.command`, resolved at the start",
        "the script itself, since a shim looks for Node along `PATH`",
        "read in the package",
    ),
    Argument(
        "agent",
        "fixed",
        "one turn through the Gateway; `--local` and `agent exec` cannot be built",
        "measured: `--local` takes 8 to 10 s and 1 GB, and refuses beside a Gateway",
    ),
    Argument(
        "--agent=ID",
        "the agent's `id` in the roster",
        "who answers; joined with `=` and checked by us, since root options are parsed first "
        "even in value position",
        "measured: `--agent --dev` switches the profile",
    ),
    Argument(
        "--session-key=KEY",
        "`cm-` and a hash of owner, channel, account, conversation, agent and generation",
        "which conversation; without it all callers share one",
        "measured: without it the session is `agent:ID:main`",
    ),
    Argument(
        "--message-file=FILE",
        "a file of ours, mode 0600, made for this launch",
        "where the text is; no text ever stands in an argv, which others can read",
        "measured: a regular file up to 4 MiB of UTF-8",
    ),
    Argument(
        "--timeout=N",
        "the agent's `timeout_s`, else `transport.timeout_s`",
        "seconds the run may take",
        "measured: a turn that loops on tools runs for the default of 600 s",
    ),
    Argument(
        "--json",
        "fixed",
        "one document instead of text for people",
        "measured: without it control characters come raw",
    ),
)
"""Every argument of a turn, in its order."""

CALLS: tuple[Call, ...] = (
    Call("--version", "the version gate; nothing reaches the Gateway", "measured: 0.1 s"),
    Call("agent --help", "the flags that a turn needs are there", "read in the package"),
    Call(
        "gateway call config.get --json",
        "descriptions, identities and tools of the fleet, secrets redacted by the Gateway",
        "measured: `config get` would read the caller's own file",
    ),
    Call(
        "gateway call agents.list --json",
        "the ids that the Gateway knows",
        "measured: `agents list` would read the caller's own file",
    ),
    Call("gateway call health --json", "whether the Gateway answers", "measured"),
    Call(
        "gateway call status --json", "which version the Gateway is", "measured: `runtimeVersion`"
    ),
    Call(
        'gateway call chat.history --params={"limit":50,"sessionKey":"agent:ID:KEY"} --json',
        "after `unknown` or a call-off: what stands in the transcript of that session",
        "measured: a session that is not there answers with no messages",
    ),
    Call(
        'gateway call agent.wait --params={"runId":"RUN","timeoutMs":1000} --json',
        "after `unknown` or a call-off: how the Gateway says that run ended",
        "measured: a run that is not known answers `timeout`",
    ),
)
"""Every call besides a turn."""


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
    _check_session(agent_id, session_key)
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


def history_argv(
    executable: tuple[str, ...], *, agent_id: str, session_key: str
) -> tuple[str, ...]:
    """Build the argv that reads the transcript of one session of ours through the Gateway.

    Raises
    ------
    NotLaunchedError
        An id or key that no turn could have; code ``argument-refused``.
    """
    _check_session(agent_id, session_key)
    told: dict[str, str | int] = {
        "limit": HISTORY_LIMIT,
        "sessionKey": f"agent:{agent_id}:{session_key}",
    }
    return _look_up(executable, "chat.history", told)


def run_argv(executable: tuple[str, ...], run_id: str) -> tuple[str, ...]:
    """Build the argv that asks the Gateway how a run ended; it waits for a second at most.

    Raises
    ------
    NotLaunchedError
        The id is not of the closed form; code ``argument-refused``.
    """
    if not isinstance(run_id, str) or not RUN_ID.fullmatch(run_id):
        raise _refused("the run id")
    return _look_up(executable, "agent.wait", {"runId": run_id, "timeoutMs": RUN_WAIT_MS})


def _look_up(
    executable: tuple[str, ...], method: str, told: dict[str, str | int]
) -> tuple[str, ...]:
    params = json.dumps(told, separators=(",", ":"), sort_keys=True)
    return (*_checked(executable), "gateway", "call", method, f"--params={params}", "--json")


def _check_session(agent_id: str, session_key: str) -> None:
    if id_faults(agent_id):
        raise _refused("the agent id")
    if not isinstance(session_key, str) or not SESSION_KEY.fullmatch(session_key):
        raise _refused("the session key")


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
