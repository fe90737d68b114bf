"""A stand-in for the OpenClaw CLI, clearly labelled: no agent, no Gateway, answers of real shape.

Run as ``python -I stand_in.py ARGS``; only the standard library. For trying the service and for
``demo`` on a machine without OpenClaw. Every reply begins with ``[stand-in]`` and says that no
agent has seen the message; it never repeats the message.
"""

import json
import os
import re
import sys
import uuid
from pathlib import Path

VERSION = "OpenClaw stand-in 2026.9.6 (no agent runs here)"
_HELP = """OpenClaw stand-in: it answers for no agent.

Usage: openclaw agent [options]
  --agent <id>
  --session-key <key>
  --message-file <path>
  --timeout <seconds>
  --json
"""
_TURN = re.compile(
    r"--agent=(?P<agent>[a-z0-9][a-z0-9_-]{0,63})\0--session-key=(?P<key>cm-[0-9a-f]{16,64})"
    r"\0--message-file=(?P<file>/[^\0]+)\0--timeout=(?P<timeout>[1-9][0-9]{0,3})\0--json"
)


def stand_in_command() -> tuple[str, ...]:
    """Return the ``command`` that makes the transport use the stand-in."""
    return (os.path.abspath(sys.executable), "-I", str(Path(__file__).resolve()))


def main(argv: list[str]) -> int:
    """Answer one call as the CLI would."""
    if argv == ["--version"]:
        print(VERSION)
    elif argv == ["agent", "--help"]:
        print(_HELP, end="")
    elif argv[:2] == ["gateway", "call"]:
        print("{}")
    elif argv[:1] == ["agent"] and (turn := _TURN.fullmatch("\0".join(argv[1:]))):
        return _answer(turn["agent"], turn["key"], Path(turn["file"]))
    else:
        return _fail("OpenClaw does not recognize option or command (stand-in).")
    return 0


def _answer(agent: str, key: str, file: Path) -> int:
    try:
        size = len(file.read_text(encoding="utf-8").partition("\n")[2])
    except FileNotFoundError:
        return _fail(f"Message file not found: {file}")
    except UnicodeDecodeError:
        return _fail(f"Message file must be valid UTF-8: {file}")
    text = (
        f"[stand-in] The message ({size} characters) reached agent {agent}. "
        "No OpenClaw is configured, so no agent has read it."
    )
    print(json.dumps(_document(agent, key, text), indent=2))
    return 0


def _document(agent: str, key: str, text: str) -> dict[str, object]:
    session, run_id = f"agent:{agent}:{key}", str(uuid.uuid4())
    return {
        "runId": run_id,
        "status": "ok",
        "summary": "completed",
        "result": {
            "payloads": [{"text": text, "mediaUrl": None}],
            "meta": {
                "durationMs": 0,
                "agentMeta": {
                    "sessionId": str(uuid.uuid4()),
                    "sessionFile": session,
                    "provider": "stand-in",
                    "model": "stand-in",
                },
                "aborted": False,
                "systemPromptReport": {"source": "run", "sessionKey": session},
                "finalAssistantVisibleText": text,
                "stopReason": "stop",
            },
        },
    }


def _fail(message: str) -> int:
    failure = {"ok": False, "error": {"type": "cli_error", "message": message}}
    print(json.dumps(failure, indent=2))
    print(f"[openclaw] The CLI command failed.\n[openclaw] Reason: {message}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
