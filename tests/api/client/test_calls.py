"""The client without a network: what it sends, what it tries again, and what it raises."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from clawmarshal.api.client import (
    AsyncClient,
    Client,
    ConflictProblem,
    KeyRefusedProblem,
    NotFoundProblem,
    Problem,
    RefusedProblem,
    Retries,
    TooOftenProblem,
    UnavailableProblem,
    UnreachableError,
    UnreadableAnswerError,
)
from clawmarshal.api.client.sse import EventReader

ROUTE = {"id": "rt_1", "state": "done", "agent": "finance", "reply": {"text": "fine"}}
HOLD = {
    "id": "hd_1",
    "route_id": "rt_1",
    "state": "open",
    "suggestion": "finance",
    "reason": "risk",
    "risk": "high",
    "gates": [{"number": 3, "reason": "risk", "detail": "the rules say high"}],
    "digest": "d" * 64,
    "created_at": "2026-01-31T09:30:00Z",
    "expires_at": None,
    "decision": None,
    "agent": None,
    "person": None,
    "note": None,
}
Answer = httpx.Response | Exception


class Service:
    """Answers in turn, and remembers what was asked."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[httpx.Request] = []
        self.slept: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, **more: Any) -> Client:
        return Client(
            "http://service",
            "cmk_x",
            transport=httpx.MockTransport(self),
            sleep=self.slept.append,
            **more,
        )


def problem(status: int, code: str, **more: Any) -> httpx.Response:
    headers = more.pop("headers", {}) | {"X-Request-Id": "r-1"}
    document = {"type": f"/problems/{code}", "title": "T", "status": status, "detail": "D."}
    return httpx.Response(status, json=document | {"code": code} | more, headers=headers)


def done() -> httpx.Response:
    return httpx.Response(200, json=ROUTE)


def test_every_try_of_a_message_has_the_same_key() -> None:
    gone = httpx.ConnectError("gone")
    service = Service(
        gone, problem(503, "ledger-unavailable", headers={"Retry-After": "2"}), done()
    )
    route = service.client().send("hello", channel="chat", wait_s=5)
    assert (route.id, route.reply, route.is_resting) == ("rt_1", "fine", True)
    keys = {request.headers["idempotency-key"] for request in service.asked}
    assert (len(service.asked), len(keys)) == (3, 1)
    bodies = [json.loads(request.content) for request in service.asked]
    assert bodies[0] == bodies[2] == {"text": "hello", "wait_s": 5, "channel": "chat"}
    assert len(service.slept) == 2 and service.slept[1] >= 2


def test_two_messages_have_two_keys_and_one_that_was_given_is_kept() -> None:
    service = Service(done(), done(), done())
    client = service.client()
    client.send("a")
    client.send("a")
    client.send("a", idempotency_key="mine")
    keys = [request.headers["idempotency-key"] for request in service.asked]
    assert keys[0] != keys[1] and keys[2] == "mine"


@pytest.mark.parametrize(
    "act",
    [lambda c: c.resolve("rt_1", "rerun"), lambda c: c.cancel("rt_1")],
    ids=["rerun", "cancel"],
)
def test_what_is_not_the_same_twice_is_sent_once(act: Callable[[Client], object]) -> None:
    service = Service(httpx.ReadTimeout("slow"), done())
    with pytest.raises(UnreachableError):
        act(service.client())
    assert len(service.asked) == 1


def test_the_tries_end() -> None:
    service = Service(*[httpx.ConnectError("gone")] * 9)
    with pytest.raises(UnreachableError) as caught:
        service.client(retries=Retries(tries=3)).route("rt_1")
    assert len(service.asked) == 3
    assert isinstance(caught.value.__cause__, httpx.ConnectError)


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "key-unknown", KeyRefusedProblem),
        (403, "scope-missing", KeyRefusedProblem),
        (404, "not-found", NotFoundProblem),
        (409, "hold-decided", ConflictProblem),
        (412, "hold-changed", ConflictProblem),
        (422, "body-invalid", RefusedProblem),
        (500, "internal", UnavailableProblem),
    ],
)
def test_a_problem_is_an_error_of_its_own_and_not_tried_again(
    status: int, code: str, kind: type[Problem]
) -> None:
    service = Service(problem(status, code, winner={"person": "rita"}, digest="e"))
    with pytest.raises(kind) as caught:
        service.client().hold("hd_1")
    error = caught.value
    assert (error.status, error.code, error.request_id) == (status, code, "r-1")
    assert error.members == {"winner": {"person": "rita"}, "digest": "e"}
    assert len(service.asked) == 1
    if isinstance(error, ConflictProblem):
        assert (error.winner, error.digest) == ({"person": "rita"}, "e")


def test_a_long_retry_after_is_the_callers_to_decide() -> None:
    service = Service(problem(429, "too-many-requests", headers={"Retry-After": "60"}))
    with pytest.raises(TooOftenProblem) as caught:
        service.client().routes()
    assert (caught.value.retry_after_s, service.slept) == (60, [])


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, content=b"<html>"),
        httpx.Response(200, json=[1]),
        httpx.Response(200, json={"id": "hd_1"}),
        httpx.Response(502, content=b"<html>"),
        httpx.Response(302, headers={"Location": "http://elsewhere/"}),
    ],
    ids=["no JSON", "a list", "half a hold", "a gateway's page", "a redirect"],
)
def test_an_answer_of_somebody_else_is_said(answer: httpx.Response) -> None:
    with pytest.raises(UnreadableAnswerError):
        Service(answer).client().hold("hd_1")


def test_a_hold_is_approved_as_it_was_shown() -> None:
    shown = httpx.Response(200, json=HOLD, headers={"ETag": '"e1"'})
    service = Service(shown, httpx.Response(200, json=HOLD | {"decision": "approve"}))
    client = service.client()
    hold = client.hold("hd_1")
    assert client.approve(hold, note="ok").decision == "approve"
    request = service.asked[1]
    assert request.headers["if-match"] == '"e1"'
    assert json.loads(request.content) == {"note": "ok", "digest": "d" * 64}


def test_the_digest_of_the_suggestion_is_not_sent_for_another_agent() -> None:
    shown = httpx.Response(200, json=HOLD, headers={"ETag": '"e1"'})
    service = Service(shown, httpx.Response(200, json=HOLD))
    client = service.client()
    client.approve(client.hold("hd_1"), agent="security")
    assert json.loads(service.asked[1].content) == {"agent": "security"}


@pytest.mark.parametrize("name", ["", "../keys", "rt_1/cancel", "rt_1?x=1", "rt_\u00e9"])
def test_an_id_never_becomes_another_path(name: str) -> None:
    with pytest.raises(ValueError, match="an id is"):
        Service().client().cancel(name)


@pytest.mark.parametrize("key", ["", "a b", "cmk_x\r\nX: y"])
def test_what_is_no_key_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(ValueError, match="the key is") as caught:
        Client("http://service", key)
    assert not key or key not in str(caught.value)


def test_every_page_is_gone_through() -> None:
    pages = [{"routes": [ROUTE], "next": "m.1"}, {"routes": [ROUTE], "next": None}]
    service = Service(*(httpx.Response(200, json=page) for page in pages))
    assert len(list(service.client().every_route(state="done"))) == 2
    assert [dict(request.url.params) for request in service.asked] == [
        {"limit": "500", "state": "done"},
        {"limit": "500", "cursor": "m.1", "state": "done"},
    ]


def test_the_key_goes_nowhere_else() -> None:
    service = Service(httpx.Response(307, headers={"Location": "http://elsewhere/route"}))
    with pytest.raises(UnreadableAnswerError) as caught:
        service.client().route("rt_1")
    assert len(service.asked) == 1
    assert "cmk_x" not in repr(caught.value)


FRAMES = (
    "retry: 50\n\n"
    ': here\n\nid: 7\nevent: held\ndata: {"number":7,"at":"2026-01-31T09:30:00Z",\n'
    'data: "actor":"service",\n'
    'data: "kind":"held","facts":{"hold":"hd_1"}}\n\n'
    'event: end\ndata: {"state":"done"}\n\n'
)


def test_a_stream_is_read_event_by_event() -> None:
    reader = EventReader()
    events = [event for line in FRAMES.split("\n") for event in reader.line(line)]
    assert [(event.number, event.kind, dict(event.facts)) for event in events] == [
        (7, "held", {"hold": "hd_1"})
    ]
    assert (reader.last_id, reader.retry_s, reader.is_over) == (7, 0.05, True)


def test_a_broken_stream_goes_on_where_it_was() -> None:
    begun, rest = FRAMES.split("event: end")
    half = httpx.Response(200, text=begun + "id: 9\nevent: do")
    service = Service(
        half, httpx.ConnectError("gone"), httpx.Response(200, text=f"event: end{rest}")
    )
    assert [event.kind for event in service.client().follow("rt_1")] == ["held"]
    assert [request.headers.get("last-event-id") for request in service.asked] == [None, "7", "7"]
    assert service.slept[0] == 0.05


def test_an_event_that_comes_twice_is_given_once() -> None:
    begun = FRAMES.split("event: end")[0]
    service = Service(httpx.Response(200, text=begun), httpx.Response(200, text=FRAMES))
    assert [event.number for event in service.client().follow("rt_1")] == [7]


def test_a_stream_that_is_refused_says_so() -> None:
    revoked = httpx.Response(200, text="event: revoked\ndata: {}\n\n")
    service = Service(revoked, problem(401, "key-unknown"))
    with pytest.raises(KeyRefusedProblem):
        list(service.client().follow_holds())


def test_a_stream_that_is_over_is_204() -> None:
    service = Service(httpx.Response(204))
    assert list(service.client().follow("rt_1", after=7)) == []
    assert service.asked[0].headers["last-event-id"] == "7"


def test_both_clients_have_the_same_methods() -> None:
    def named(kind: type) -> set[str]:
        return {name for name in vars(kind) if not name.startswith("_")}

    assert named(AsyncClient) == named(Client) - {"close"} | {"aclose"}


def test_the_async_client_tries_again_and_follows() -> None:
    service = Service(
        problem(503, "ledger-unavailable"),
        done(),
        httpx.Response(200, text=FRAMES.split("event: end")[0]),
        httpx.ConnectError("gone"),
        httpx.Response(200, text=FRAMES),
    )
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def talk() -> list[int | None]:
        transport = httpx.MockTransport(service)
        async with AsyncClient("http://s", "cmk_x", transport=transport, sleep=sleep) as client:
            assert (await client.send("hello")).state == "done"
            return [event.number async for event in client.follow("rt_1")]

    assert asyncio.run(talk()) == [7]
    assert len(slept) == 3
    keys = {request.headers.get("idempotency-key") for request in service.asked[:2]}
    assert len(keys) == 1
