"""Refusals: what a System One server's error response means; each class is one typed error."""

import email.utils
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from clawmarshal.errors import DecisionError, DecisionInvalidError, DecisionUnavailableError

MESSAGE_CHARS = 200
_SECONDS = re.compile(r"\d{1,9}(?:\.\d{1,6})?", re.ASCII)
_ABOUT_MODEL = re.compile(
    r"unknown model|no such model|decisions model"
    r"|model\b.{0,80}\b(?:not (?:found|served|supported|available)|does not exist|not exist)"
)
_ABOUT_SIZE = re.compile(r"max_tokens_exceeded|too large|too long|must not exceed|token limit")
_ABOUT_LOAD = re.compile(r"capacity|overload|\bbusy\b")
_TEXTS: Mapping[str, str] = {
    "config": "the decision server does not serve this model or path; check base_url, path, name",
    "bad-request": "the decision server refused the request",
    "too-large": "the request is too large for the decision server",
    "auth": "the decision server refused the key, or needs one; check key_env or key_file",
    "blocked": "something in front of the decision server blocked the request",
    "quota": "the account at the decision server has no credit left",
    "timeout": "the decision server took too long",
    "rate-limited": "the decision server's rate limit is reached",
    "server": "the decision server failed",
    "overloaded": "the decision server is overloaded",
    "protocol": "the decision server does not answer as a System One server",
}
ONCE = frozenset({"timeout", "rate-limited", "server", "overloaded", "unreachable"})
"""The classes that may be asked once more."""
_BY_STATUS: Mapping[int, str] = {
    401: "auth",
    402: "quota",
    404: "config",
    405: "config",
    408: "timeout",
    413: "too-large",
    429: "rate-limited",
    501: "config",
    529: "overloaded",
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error response, classified."""

    status: int
    code: str
    """One of the classes above."""
    retry_after_s: float | None = None
    """How long the server asks to wait; None where it does not say."""

    @property
    def error(self) -> DecisionError:
        """The typed error: its text holds the status alone, nothing the server wrote."""
        text = f"{_TEXTS[self.code]} (status {self.status})"
        if self.code == "protocol":
            return DecisionInvalidError(text, code=self.code)
        return DecisionUnavailableError(
            text,
            code=self.code,
            retryable=self.code in ONCE,
            retry_after_s=self.retry_after_s,
        )


def read_refusal(status: int, headers: Mapping[str, str], body: bytes, *, now: datetime) -> Refusal:
    """Classify a response that is not a 200.

    Parameters
    ----------
    status
        Anything but 200.
    headers
        Looked up by lower-case name.
    body
        Its beginning is enough; read to classify, never shown.
    now
        For a ``Retry-After`` that is a date; time zone required.

    Notes
    -----
    Source: error responses of System One servers, hosted and local, checked in autumn 2026.
    """
    code = _code(status, headers, body)
    wait_s = wait_asked(headers, now=now) if code in ONCE else None
    return Refusal(status, code, wait_s)


def wait_asked(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Return the seconds that ``retry-after-ms`` or ``Retry-After`` ask for, or None."""
    exact = headers.get("retry-after-ms", "").strip()
    if _SECONDS.fullmatch(exact):
        return float(exact) / 1000
    written = headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(written):
        return float(written)
    try:
        at = email.utils.parsedate_to_datetime(written)
    except (ValueError, OverflowError):
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - now).total_seconds())


def server_message(body: bytes) -> str:
    """Return what an error body says, at most 200 characters; empty where it says nothing.

    For classifying, and for a person who asked for it: it may echo the request, so it goes into
    no error and no log.
    """
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(parsed, dict):
        return ""
    error, detail = parsed.get("error"), parsed.get("detail")
    told = [
        error,
        error.get("message") if isinstance(error, dict) else None,
        parsed.get("message"),
        detail,
        (detail.get("message") or detail.get("error_type")) if isinstance(detail, dict) else None,
        _joined(detail),
        _joined(parsed.get("errors"), "message"),
    ]
    return next((one for one in told if isinstance(one, str) and one), "")[:MESSAGE_CHARS]


def _joined(detail: object, member: str = "msg") -> str | None:
    if not isinstance(detail, list):
        return None
    texts = [one.get(member) for one in detail if isinstance(one, dict)]
    return "; ".join(text for text in texts if isinstance(text, str))


def _code(status: int, headers: Mapping[str, str], body: bytes) -> str:
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    said = server_message(body).lower()
    if status == 403:
        return "blocked" if _is_page(headers, body) else "auth"
    if status == 503 and _ABOUT_LOAD.search(said):
        return "overloaded"
    if status >= 500:
        return "server"
    if status < 400:
        return "protocol"
    if status == 400 and _ABOUT_MODEL.search(said):
        return "config"
    if status in (400, 422) and _ABOUT_SIZE.search(said):
        return "too-large"
    return "bad-request"


def _is_page(headers: Mapping[str, str], body: bytes) -> bool:
    return "html" in headers.get("content-type", "").lower() or body.lstrip()[:1] == b"<"
