"""What a child is told: an environment built from nothing; pure.

`PUBLISHED` and `REFUSED` are the published tables; ``docs/transport.md`` is made from them.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from clawmarshal.errors import NotLaunchedError
from clawmarshal.roster.agent import ENV_NAME

MAX_VALUE_BYTES = 32_768
_TIME_ZONE = re.compile(r"[A-Za-z0-9<][A-Za-z0-9_+\-/.,:<>]{0,63}", re.ASCII)
_PATHS = frozenset({"OPENCLAW_CONFIG_PATH", "OPENCLAW_STATE_DIR", "HOME", "TMPDIR"})


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable that a child may see."""

    name: str
    origin: str
    """Where the value comes from, in words."""
    reason: str
    evidence: str
    """How we know; measured and read with OpenClaw 2026.9.6."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A kind of name that no child may see, even when an operator lists it."""

    names: tuple[str, ...]
    """Whole names in capitals; ``*`` stands for any characters, or none, at either end."""
    reason: str
    evidence: str
    """How we know; measured and read with OpenClaw 2026.9.6."""

    def covers(self, name: str) -> bool:
        """Tell whether a name, in any case, is of this kind."""
        return any(_matches(pattern, name.upper()) for pattern in self.names)


PUBLISHED: tuple[Variable, ...] = (
    Variable(
        "OPENCLAW_CONFIG_PATH",
        "`transport.openclaw_config`, or the file written from `transport.gateway`",
        "which Gateway, with which token; the token itself is in no variable",
        "measured: without it the account's own configuration is read",
    ),
    Variable(
        "OPENCLAW_STATE_DIR",
        "a private, empty directory",
        "no state of the account is read",
        "measured: nothing is written to it",
    ),
    Variable(
        "HOME", "a private, empty directory", "no file of the account is read", "our own choice"
    ),
    Variable(
        "OPENCLAW_NO_RESPAWN",
        "`1`",
        "one process instead of a second one in a session of its own, which no signal to the first "
        "one's group would reach",
        "measured: the second one outlives SIGKILL to the group",
    ),
    Variable("LANG", "`C.UTF-8`", "bytes are UTF-8 both ways", "our own choice"),
    Variable(
        "TMPDIR",
        "`transport.tmpdir`, else a private directory",
        "no compile cache that others can fill, and none in theirs",
        "measured: 13 MB are written",
    ),
    Variable("TZ", "`transport.tz`, if set", "the time the agent is told", "our own choice"),
)
"""Every variable of every child; what is meant for one agent comes on top."""

REFUSED: tuple[Refusal, ...] = (
    Refusal(
        ("OPENCLAW_*", "CLAWDBOT_*", "MOLTBOT_*"),
        "redirects or rewires OpenClaw itself, or writes prompts elsewhere",
        "measured: `OPENCLAW_GATEWAY_URL` with a token wins over the configuration; "
        "`OPENCLAW_CONTAINER` and `OPENCLAW_SHELL` change what runs. Read: 196 such names",
    ),
    Refusal(
        ("NODE", "NODE_*", "NPM_CONFIG_*", "V8_*", "UV_*", "BUN_*", "DENO_*", "COREPACK_*",
         "ELECTRON_*"),
        "loads code or trust into Node",
        "measured: `NODE_OPTIONS=--require FILE` runs that file inside the CLI",
    ),
    Refusal(
        ("LD_*", "_RLD*", "LDR_*", "LIBPATH", "SHLIB_PATH", "DYLD_*", "GCONV_PATH",
         "GETCONF_DIR", "GLIBC_TUNABLES", "MALLOC_*"),
        "loads code into any program, or steers its memory",
        "ld.so(8); sudo's list",
    ),
    Refusal(("PROXY", "*_PROXY"), "redirects traffic", "read: `--local` would use them"),
    Refusal(
        ("SSL_CERT_*", "SSLKEYLOGFILE", "OPENSSL_*", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE",
         "KRB5*", "AUTHSTATE"),
        "moves trust",
        "measured for a certificate bundle; sudo's list",
    ),
    Refusal(
        ("PYTHON*", "PERL*", "RUBY*", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS",
         "CLASSPATH"),
        "loads code into tools that an agent may start",
        "sudo's list",
    ),
    Refusal(
        ("BASH_*", "BASHOPTS", "ENV", "SHELLOPTS", "PS4", "IFS", "CDPATH", "GLOBIGNORE",
         "PROMPT_COMMAND", "ZDOTDIR", "FPATH", "NULLCMD", "READNULLCMD", "TMPPREFIX", "LESSOPEN",
         "LESSCLOSE"),
        "runs code in shells",
        "sudo's list",
    ),
    Refusal(
        ("PATH", "SHELL", "USER", "LOGNAME", "HOME", "PWD", "OLDPWD", "TMPDIR", "TMP", "TEMP",
         "TZ", "LANG", "LC_*", "LANGUAGE"),
        "is set by us, or left out on purpose",
        "our own choice",
    ),
    Refusal(
        ("LOCALDOMAIN", "HOSTALIASES", "RES_OPTIONS", "NLSPATH", "LOCPATH", "PATH_LOCALE",
         "TZDIR", "TERMINFO*", "TERMCAP", "TERMPATH"),
        "steers the C library",
        "sudo's list",
    ),
    Refusal(
        ("XDG_*", "DBUS_*", "SSH_*", "GIT_*", "SUDO_*", "EDITOR", "VISUAL", "PAGER", "BROWSER"),
        "leads to the account",
        "our own choice",
    ),
    Refusal(
        ("DEBUG", "VITEST", "CI", "FORCE_COLOR", "NOTIFY_SOCKET", "LISTEN_*"),
        "changes behaviour",
        "read: `VITEST` changes safety behaviour",
    ),
    Refusal(
        ("CLAWMARSHAL*",), "holds our own settings, keys of people among them", "our own choice"
    ),
)  # fmt: skip


def _matches(pattern: str, name: str) -> bool:
    """Compare with a pattern that has a star at one end, or none."""
    if pattern.endswith("*"):
        return name.startswith(pattern[:-1])
    if pattern.startswith("*"):
        return name.endswith(pattern[1:])
    return name == pattern


def name_fault(name: str) -> str | None:
    """Say why an operator may not list this variable, or None when it may be listed."""
    if not isinstance(name, str) or not ENV_NAME.fullmatch(name):
        return "not the name of an environment variable"
    for refusal in REFUSED:
        if refusal.covers(name):
            return f"{name} is refused: {refusal.reason}"
    return None


def value_fault(name: str, value: object) -> str | None:
    """Say what is wrong with a value, without repeating it; None when nothing is.

    Notes
    -----
    As sudo does (sudoers(5), "Command environment", checked 2026-12-01): no shell function, no
    time zone that names a file; control characters come on top.
    """
    if not isinstance(value, str):
        return f"{name} has no text as its value"
    if re.search("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", value):
        return f"{name} holds a control character"
    if len(value.encode()) > MAX_VALUE_BYTES:
        return f"{name} is longer than {MAX_VALUE_BYTES} bytes"
    if re.match(r"\s*\(\s*\)", value):
        return f"{name} holds a function definition"
    if name == "TZ" and (not _TIME_ZONE.fullmatch(value) or ".." in value):
        return f"{name} is not the name of a time zone"
    if name in _PATHS and not value.startswith("/"):
        return f"{name} is not an absolute path"
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
