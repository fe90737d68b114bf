"""A model provider for tests: OpenAI's chat completions on loopback, without a model.

The reply is ``[<model>] echo: <last user text>``. Directives anywhere in that text change it:

    [[slow=SECONDS]]     wait before the first byte
    [[fail=STATUS]]      answer with that status and an error
    [[drop]]             close the connection without an answer
    [[raw=TEXT]]         reply with exactly TEXT
    [[huge=CHARS]]       reply with that many characters
    [[tool=NAME {JSON}]] ask for one tool call, then echo its result

Each request is two JSON lines in ``--log``: when it begins, and what became of it.
"""

import argparse
import json
import re
import select
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

_OWN_CONTEXT = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>"
_FOOTER = re.compile(r"\n\nRuntime: agent=[^\n]*\Z")
_LOCK = threading.Lock()


def _text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(p.get("text", "")) for p in content if isinstance(p, dict))
    return content if isinstance(content, str) else ""


def _asked(body: dict[str, Any]) -> tuple[str, str | None]:
    """Return the last user text, and the tool result that came after it."""
    result: str | None = None
    for message in reversed(body.get("messages") or []):
        text = _text(message.get("content"))
        if message.get("role") == "tool" and result is None:
            result = text
        elif message.get("role") == "user" and not text.startswith(_OWN_CONTEXT):
            return _FOOTER.sub("", text), result
    return "", result


def _directive(text: str, name: str) -> str | None:
    found = re.search(rf"\[\[{name}(?:=(.*?))?\]\]", text, re.S)
    return None if found is None else found.group(1) or ""


def _reply(model: str, text: str, result: str | None) -> str:
    if result is not None:
        return f"[{model}] tool result: {result[:2000]}"
    raw, huge = _directive(text, "raw"), _directive(text, "huge")
    if raw is not None:
        return raw
    return "x" * int(huge) if huge else f"[{model}] echo: {text}"


class Handler(BaseHTTPRequestHandler):
    """Answer one request after another."""

    protocol_version = "HTTP/1.1"
    log_file: Path | None = None

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent."""

    def do_GET(self) -> None:
        """Say that the provider is there."""
        self._send(200, {"object": "list", "data": []})

    def do_POST(self) -> None:
        """Answer a completion, and note the request whatever became of it."""
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        text, result = _asked(body)
        outcome = "done"
        self._note({"model": body.get("model"), "outcome": "begun", "last_user": text[-500:]})
        try:
            self._complete(body, text, result)
        except (BrokenPipeError, ConnectionResetError):
            outcome = "client-disconnected"
            self.close_connection = True
        finally:
            self._note({"model": body.get("model"), "outcome": outcome, "last_user": text[-500:]})

    def _note(self, line: dict[str, object]) -> None:
        if self.log_file is not None:
            with _LOCK, self.log_file.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(line) + "\n")

    def _complete(self, body: dict[str, Any], text: str, result: str | None) -> None:
        self._wait(float(_directive(text, "slow") or 0))
        if _directive(text, "drop") is not None:
            raise ConnectionResetError
        if fail := _directive(text, "fail"):
            self._send(int(fail), {"error": {"message": f"mock failure {fail}", "type": "mock"}})
            return
        want = _directive(text, "tool")
        calls = None
        if want and result is None:
            name, _, arguments = want.strip().partition(" ")
            function = {"name": name, "arguments": arguments or "{}"}
            calls = [{"index": 0, "id": "call_1", "type": "function", "function": function}]
        delta = {"tool_calls": calls} if calls else {"content": _reply(body["model"], text, result)}
        self._stream(body["model"], delta, "tool_calls" if calls else "stop")

    def _wait(self, seconds: float) -> None:
        """Wait, but notice a client that goes away."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.connection], [], [], left)[0]:
                raise ConnectionResetError

    def _stream(self, model: str, delta: dict[str, Any], finish: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        base = {"id": "mock", "object": "chat.completion.chunk", "created": 0, "model": model}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        steps: list[tuple[dict[str, Any], str | None]] = [
            ({"role": "assistant", "content": ""}, None),
            (delta, None),
            ({}, finish),
        ]
        for part, reason in steps:
            choice = {"index": 0, "delta": part, "finish_reason": reason}
            self._event({**base, "choices": [choice]})
        self._event({**base, "choices": [], "usage": usage})
        self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, value: object) -> None:
        self.wfile.write(f"data: {json.dumps(value)}\n\n".encode())
        self.wfile.flush()

    def _send(self, status: int, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    """Serve until killed; print the port once it is open."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=18080)
    parser.add_argument("--log", type=Path)
    options = parser.parse_args()
    Handler.log_file = options.log
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
