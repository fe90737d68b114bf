"""Calls: each request as a value, shared by both clients; pure."""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

from clawmarshal.api.client.errors import UnreadableAnswerError
from clawmarshal.api.client.results import (
    Agent,
    Event,
    Hold,
    HoldPage,
    Json,
    Route,
    RoutePage,
    agent_of,
    event_of,
    hold_of,
    hold_page_of,
    route_of,
    route_page_of,
)

T = TypeVar("T")
Headers = Mapping[str, str]
WAIT_MARGIN_S = 30.0
"""Added to a wait before its answer is given up."""


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request, and how its answer is read."""

    method: str
    path: str
    read: Callable[[Json, Headers], T]
    """Given the body and the headers, names in lower case."""
    query: Mapping[str, str] = field(default_factory=dict)
    body: Json | None = field(default=None, repr=False)
    headers: Headers = field(default_factory=dict)
    wait_s: float = 0.0
    """How long the service may take beyond the usual."""

    def answer(self, told: object, headers: Headers) -> T:
        """Read an answer.

        Raises
        ------
        UnreadableAnswerError
            It has another shape than this service's.
        """
        if not isinstance(told, dict):
            raise UnreadableAnswerError("the answer is no JSON object")
        try:
            return self.read(told, headers)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UnreadableAnswerError(
                f"the answer has another shape than expected ({type(error).__name__})"
            ) from error


def send(text: str, *, idempotency_key: str | None, wait_s: float, fields: Json) -> Call[Route]:
    """Send a message; one key over all tries, so that it is accepted once."""
    return Call(
        "POST",
        "/route",
        lambda told, _: route_of(told),
        body={"text": text, "wait_s": wait_s, **given(fields)},
        headers={"Idempotency-Key": idempotency_key or str(uuid.uuid4())},
        wait_s=wait_s,
    )


def route(route_id: str, *, wait_s: float = 0.0) -> Call[Route]:
    """Ask for a route."""
    query = {"wait_s": f"{wait_s:g}"} if wait_s else {}
    path = f"/routes/{_part(route_id)}"
    return Call("GET", path, lambda told, _: route_of(told), query=query, wait_s=wait_s)


def routes(filters: Json) -> Call[RoutePage]:
    """Ask for a page of routes."""
    return Call("GET", "/routes", lambda told, _: route_page_of(told), query=_query(filters))


def cancel(route_id: str) -> Call[Route]:
    """Cancel a route."""
    return Call("POST", f"/routes/{_part(route_id)}/cancel", lambda told, _: route_of(told))


def resolve(route_id: str, answer: str, note: str | None) -> Call[Route]:
    """Say what became of an unknown route."""
    return Call(
        "POST",
        f"/routes/{_part(route_id)}/resolve",
        lambda told, _: route_of(told),
        body=given({"answer": answer, "note": note}),
    )


def events(route_id: str, *, after: int, limit: int) -> Call[tuple[Event, ...]]:
    """Ask for a route's trail."""
    return Call(
        "GET",
        f"/routes/{_part(route_id)}/events",
        lambda told, _: tuple(event_of(one) for one in told["events"]),
        query={"after": str(after), "limit": str(limit)},
    )


def hold(hold_id: str) -> Call[Hold]:
    """Ask for a hold."""
    path = f"/holds/{_part(hold_id)}"
    return Call("GET", path, lambda told, headers: hold_of(told, etag=headers.get("etag")))


def holds(filters: Json) -> Call[HoldPage]:
    """Ask for a page of holds."""
    return Call("GET", "/holds", lambda told, _: hold_page_of(told), query=_query(filters))


def approve(
    shown: Hold | str, *, agent: str | None, note: str | None, digest: str | None
) -> Call[Hold]:
    """Say yes to a hold; to exactly what was shown, where it was."""
    hold_id, headers = _shown(shown)
    if digest is None and isinstance(shown, Hold) and agent in (None, shown.suggestion):
        digest = shown.digest
    body = given({"agent": agent, "note": note, "digest": digest})
    path = f"/holds/{_part(hold_id)}/approve"
    return Call("POST", path, lambda told, _: hold_of(told), body=body, headers=headers)


def reject(shown: Hold | str, reason: str) -> Call[Hold]:
    """Say no to a hold."""
    hold_id, headers = _shown(shown)
    path = f"/holds/{_part(hold_id)}/reject"
    return Call(
        "POST", path, lambda told, _: hold_of(told), body={"reason": reason}, headers=headers
    )


def agents() -> Call[tuple[Agent, ...]]:
    """Ask for the fleet."""
    return Call("GET", "/agents", lambda told, _: tuple(agent_of(a) for a in told["agents"]))


def given(fields: Json) -> dict[str, Any]:
    """Leave out what was not given, and write times as text."""
    return {name: _plain(value) for name, value in fields.items() if value is not None}


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value


def _query(filters: Json) -> Mapping[str, str]:
    return {name: str(value) for name, value in given(filters).items()}


def _shown(shown: Hold | str) -> tuple[str, Headers]:
    if isinstance(shown, str):
        return shown, {}
    return shown.id, {} if shown.etag is None else {"If-Match": shown.etag}


def _part(name: str) -> str:
    """Refuse what would be another path.

    Raises
    ------
    ValueError
        It is no id.
    """
    if not name or not name.isascii() or not name.replace("_", "").isalnum():
        raise ValueError("an id is letters, digits and underscores")
    return name
