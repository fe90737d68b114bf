"""What a child is told: an environment built from nothing; pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from clawmarshal.errors import NotLaunchedError
from clawmarshal.roster.agent import ENV_NAME

MAX_VALUE_CHARS = 32_768


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable that a child may see."""

    name: str
    value: str
    """Where the value comes from, in words."""
    reason: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """A kind of name that no child may see, even when an operator lists it."""

    pattern: str
    """Matched against the whole upper-case name."""
    reason: str


PUBLISHED: tuple[Variable, ...] = (
    Variable(
        "OPENCLAW_CONFIG_PATH", "transport.openclaw_config", "which Gateway, with which token"
    ),
    Variable("OPENCLAW_STATE_DIR", "a private directory", "no state of the account is read"),
    Variable("HOME", "a private directory", "no file of the account is read"),
    Variable("OPENCLAW_NO_RESPAWN", "1", "one process instead of a detached second one"),
    Variable("LANG", "C.UTF-8", "bytes are UTF-8 both ways"),
    Variable("TMPDIR", "transport.tmpdir, or a private directory", "no cache that others can fill"),
    Variable("TZ", "transport.tz, if set", "the time the agent is told"),
)
"""Every variable of every child; what an agent's ``env`` lists comes on top."""

REFUSED: tuple[Refusal, ...] = (
    Refusal(r"NODE_.*|NODE|NPM_CONFIG_.*|V8_.*|UV_.*", "loads code or trust into Node"),
    Refusal(r"LD_.*|DYLD_.*|GCONV_PATH|GLIBC_TUNABLES|MALLOC_.*", "loads code into any program"),
    Refusal(r"OPENCLAW_.*|CLAWDBOT_.*|MOLTBOT_.*", "redirects or rewires OpenClaw itself"),
    Refusal(r"(.*_)?PROXY", "redirects traffic"),
    Refusal(
        r"SSL_CERT_.*|SSLKEYLOGFILE|OPENSSL_.*|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE", "moves trust"
    ),
    Refusal(r"PYTHON.*|PERL.*|RUBY.*|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS", "loads code into tools"),
    Refusal(
        r"BASH_.*|BASHOPTS|ENV|SHELLOPTS|PS4|IFS|CDPATH|PROMPT_COMMAND|ZDOTDIR|FPATH",
        "runs code in shells",
    ),
    Refusal(r"PATH|SHELL|USER|LOGNAME|HOME|TMPDIR|TMP|TEMP|TZ|LANG|LC_.*|LANGUAGE", "set by us"),
    Refusal(
        r"LOCALDOMAIN|HOSTALIASES|RES_OPTIONS|NLSPATH|LOCPATH|TERMINFO.*", "steers the C library"
    ),
    Refusal(r"XDG_.*|DBUS_.*|SSH_.*|GIT_.*|EDITOR|VISUAL|PAGER|BROWSER", "leads to the account"),
    Refusal(
        r"DEBUG|VITEST|CI|FORCE_COLOR|CLAWMARSHAL.*|NOTIFY_SOCKET|LISTEN_.*", "changes behaviour"
    ),
)


def name_fault(name: str) -> str | None:
    """Say why an operator may not list this variable, or None when it may be listed."""
    if not isinstance(name, str) or not ENV_NAME.fullmatch(name):
        return "not the name of an environment variable"
    for refusal in REFUSED:
        if re.fullmatch(refusal.pattern, name.upper()):
            return f"{name} is refused: {refusal.reason}"
    return None


def value_fault(name: str, value: object) -> str | None:
    """Say what is wrong with a value, without repeating it; None when nothing is."""
    if not isinstance(value, str):
        return f"{name} has no text as its value"
    if len(value) > MAX_VALUE_CHARS:
        return f"{name} is longer than {MAX_VALUE_CHARS} characters"
    if re.search("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", value):
        return f"{name} holds a control character"
    if re.match(r"\s*\(\)\s*\{", value):
        return f"{name} holds a function definition"
    return None


def child_environment(
    *,
    config_path: str | None,
    state_dir: str,
    home: str,
    tmpdir: str | None = None,
    tz: str | None = None,
    names: Iterable[str] = (),
    values: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Build the environment of one child from nothing.

    Parameters
    ----------
    names
        What the agent lists; each is taken from `values`, no other value is.

    Raises
    ------
    NotLaunchedError
        A name is refused, has no value, or a value is refused; code ``environment-refused``.
    """
    fixed = {
        "OPENCLAW_CONFIG_PATH": config_path,
        "OPENCLAW_STATE_DIR": state_dir,
        "HOME": home,
        "OPENCLAW_NO_RESPAWN": "1",
        "LANG": "C.UTF-8",
        "TMPDIR": tmpdir,
        "TZ": tz,
    }
    environment = {name: value for name, value in fixed.items() if value is not None}
    for name in names:
        fault = name_fault(name) or value_fault(name, (values or {}).get(name))
        if fault:
            raise NotLaunchedError(fault, code="environment-refused")
        environment[name] = (values or {})[name]
    for name, value in environment.items():
        if fault := value_fault(name, value):
            raise NotLaunchedError(fault, code="environment-refused")
    return environment
