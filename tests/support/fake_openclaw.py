"""A scripted OpenClaw CLI: a real script, started for real; its behaviour is its text.

Nothing reaches it by its environment, which is closed; what it saw it writes beside itself.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

VERSION = "OpenClaw 2026.9.6 (eb377ac)"
FLAGS = (
    "--agent <id>",
    "--session-key <key>",
    "--message-file <path>",
    "--timeout <seconds>",
    "--json",
    "--deliver",
    "--local",
)

_SCRIPT = r"""#!@PYTHON@ -I
import json, os, signal, sys, time
HERE = @FOLDER@
argv = sys.argv[1:]
def note(name, value):
    fd = os.open(f"{HERE}/{name}", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(fd, (json.dumps(value) + "\n").encode()); os.close(fd)
note("starts", {"argv": argv, "environment": dict(os.environ)})
if argv == ["--version"]:
    print(@VERSION@); sys.exit(0)
if argv == ["agent", "--help"]:
    print("Usage: openclaw agent [options]"); print(@FLAGS@); sys.exit(0)
def fail(message, **more):
    print(json.dumps({"ok": False, **more, "error": {"message": message}})); sys.exit(1)
if argv[:2] == ["gateway", "call"]:
    note("calls", argv[2:])
    exec(@CALLS@.get(argv[2], "print(@FLEET@)")); sys.exit(0)
options = dict(part.removeprefix("--").partition("=")[::2] for part in argv[1:])
def mode(path): return oct(os.lstat(path).st_mode & 0o7777)
file = options.get("message-file", "")
with open(file, "rb") as stream: message = stream.read()
note("launches", {
    "pid": os.getpid(), "sid": os.getsid(0), "pgid": os.getpgid(0), "argv": argv,
    "environment": dict(os.environ), "cwd": os.getcwd(), "cwd_listing": os.listdir(),
    "file": file, "file_mode": mode(file), "folder_mode": mode(os.path.dirname(file)),
    "message": message.decode(), "umask": oct(os.umask(0o077)),
    "descriptors": {fd: os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")
                    if os.path.lexists(f"/proc/self/fd/{fd}")},
    "ignored": [line for line in open("/proc/self/status") if line.startswith("SigIgn")],
})
def document(text="hello", agent=None, key=None, **more):
    session = "agent:%s:%s" % (agent or options.get("agent"), key or options.get("session-key"))
    meta = {"durationMs": 5, "agentMeta": {"sessionId": "s", "sessionFile": session,
            "provider": "mock", "model": "echo", "usage": {"total": 3}}, "aborted": False,
            "systemPromptReport": {"source": "run", "sessionKey": session},
            "finalAssistantVisibleText": text, "stopReason": "stop"}
    return {"runId": "run-0001", "status": "ok", "summary": "completed",
            "result": {"payloads": [{"text": text, "mediaUrl": None}], "meta": meta}} | more
def failure(message, **more):
    return {"ok": False, **more, "error": {"type": "cli_error", "message": message}}
def say(value): print(json.dumps(value, indent=2), flush=True)
def beat():
    while True:
        note("beats", os.getpid()); time.sleep(0.02)
@BODY@
"""


@dataclass(frozen=True)
class FakeOpenClaw:
    """One scripted CLI and what it wrote down."""

    path: Path

    @property
    def command(self) -> list[str]:
        """What the transport is configured with."""
        return [str(self.path)]

    def launches(self) -> list[dict[str, Any]]:
        """Return what each launch saw, oldest first."""
        return self.notes("launches")

    def notes(self, name: str) -> list[Any]:
        """Return the lines of one of its files; the last is left out while it is half written."""
        file = self.path.parent / name
        if not file.exists():
            return []
        return [json.loads(line) for line in file.read_text().splitlines(True) if line[-1] == "\n"]


def write_fake(
    folder: Path,
    body: str = "say(document())",
    *,
    version: str = VERSION,
    flags: tuple[str, ...] = FLAGS,
    fleet: str = "{}",
    calls: Mapping[str, str] = MappingProxyType({}),
) -> FakeOpenClaw:
    """Write a CLI that runs `body` for each turn; see the script for the words it may use.

    Parameters
    ----------
    fleet
        What a call of the Gateway prints.
    calls
        What one does instead, by method.
    """
    path = folder / "openclaw-fake"
    text = _SCRIPT.replace("@PYTHON@", sys.executable)
    text = text.replace('"print(@FLEET@)"', repr(f"print({fleet!r})"))
    values: tuple[tuple[str, object], ...] = (
        ("FOLDER", str(folder)),
        ("VERSION", version),
        ("FLAGS", "\n".join(flags)),
        ("CALLS", dict(calls)),
    )
    for name, value in values:
        text = text.replace(f"@{name}@", repr(value))
    path.write_text(text.replace("@BODY@", body), encoding="utf-8")
    path.chmod(0o755)
    return FakeOpenClaw(path)
