"""What both clients share about one exchange: headers, timeouts, and how an answer is read."""

from collections.abc import Mapping
from typing import TypeVar

import httpx

from clawmarshal._version import __version__
from clawmarshal.api.client.calls import WAIT_MARGIN_S, Call
from clawmarshal.api.client.errors import UnreadableAnswerError, problem_of
from clawmarshal.api.client.sse import EventReader

T = TypeVar("T")
HOLD_STREAM = "/holds/events"
LONGEST_WAIT_S = 60.0
"""Of one request within a longer wait: proxies cut longer ones off."""
STREAM_SILENCE_S = 45.0
"""The service says something every 15 s; a stream that is silent longer is broken."""
KNOWN = 1000
"""So many events are remembered, to know those that come twice."""


def headers_for(key: str) -> Mapping[str, str]:
    """Return what every request says.

    Raises
    ------
    ValueError
        The key is none; it is not repeated.
    """
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError("the key is empty, or holds what no key holds")
    return {"Authorization": f"Bearer {key}", "User-Agent": f"clawmarshal-client/{__version__}"}


def timeout_of(timeout_s: float, call: Call[T]) -> httpx.Timeout:
    """Return how long an answer may take."""
    read_s = timeout_s + (call.wait_s + WAIT_MARGIN_S if call.wait_s else 0.0)
    return httpx.Timeout(timeout_s, read=read_s)


def stream_timeout(timeout_s: float) -> httpx.Timeout:
    """Return how long a stream may be silent."""
    return httpx.Timeout(timeout_s, read=max(timeout_s, STREAM_SILENCE_S))


def stream_headers(reader: EventReader) -> Mapping[str, str]:
    """Ask for a stream, from where another one broke off."""
    accept = {"Accept": "text/event-stream"}
    return accept if reader.last_id is None else accept | {"Last-Event-ID": str(reader.last_id)}


def read_answer(call: Call[T], answer: httpx.Response) -> T:
    """Return what an answer says, or raise what it stands for.

    Raises
    ------
    ClientError
        See `problem_of`.
    """
    headers = {name.lower(): value for name, value in answer.headers.items()}
    if not answer.is_success:
        raise problem_of(answer.status_code, answer.content, headers)
    try:
        told = answer.json()
    except ValueError as error:
        raise UnreadableAnswerError("the answer is no JSON") from error
    return call.answer(told, headers)


def is_news(number: int | None, known: dict[int, None]) -> bool:
    """Tell whether an event has not come yet, and remember it; those without number are news."""
    if number is None:
        return True
    if number in known:
        return False
    known[number] = None
    while len(known) > KNOWN:
        del known[next(iter(known))]
    return True
