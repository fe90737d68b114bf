"""What became of a route over HTTP: lists, details, events, waiting, cancelling, resolving."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import pytest

from clawmarshal.api.app import create_app
from clawmarshal.router.ledger.states import RouteState
from tests.support.asgi import AppClient, served
from tests.support.fake_desk import FakeDesk, fake_parts

ROUTE = f"rt_{1:032x}"


@pytest.fixture
def desk() -> FakeDesk:
    return FakeDesk()


@pytest.fixture
def client(desk: FakeDesk) -> Iterator[AppClient]:
    with served(create_app(fake_parts(desk))) as client:
        yield client


def send(client: AppClient, text: str, **more: object) -> dict[str, object]:
    answer = client.request("POST", "/route", key="sender-key", json={"text": text, **more})
    assert answer.status_code in (200, 202)
    route: dict[str, object] = answer.json()
    return route


def test_pages_follow_their_cursor_to_the_end(client: AppClient) -> None:
    sent = [send(client, f"hello {n}")["id"] for n in range(5)]
    seen: list[object] = []
    query = "/routes?limit=2"
    for _ in range(3):
        page = client.request("GET", query, key="sender-key").json()
        seen += [route["id"] for route in page["routes"]]
        query = f"/routes?limit=2&cursor={page['next']}"
    assert seen == sent[::-1]
    assert page["next"] is None


def test_the_list_filters_by_state_and_leaves_the_text_out(client: AppClient) -> None:
    send(client, "hello")
    send(client, "risky")
    page = client.request("GET", "/routes?state=held", key="sender-key").json()
    assert [route["state"] for route in page["routes"]] == ["held"]
    assert "message" not in page["routes"][0]


def test_an_unknown_state_is_422(client: AppClient) -> None:
    answer = client.request("GET", "/routes?state=odd", key="sender-key")
    assert (answer.status_code, answer.json()["code"]) == (422, "query-invalid")


def test_details_grow_from_the_same_object(client: AppClient) -> None:
    short = send(client, "risky")
    detail = client.request("GET", f"/routes/{short['id']}", key="sender-key").json()
    changed = {name for name in short if detail[name] != short[name]}
    assert not changed
    assert detail["gates"] == [{"number": 3, "reason": "risk", "detail": "the rules say high"}]
    assert detail["hold"]["id"] == short["hold_id"]


def test_attempts_show_what_an_operator_asks_about(client: AppClient) -> None:
    short = send(client, "hello")
    detail = client.request("GET", f"/routes/{short['id']}", key="sender-key").json()
    (attempt,) = detail["attempts"]
    assert (attempt["state"], attempt["code"], attempt["fence"]) == ("done", "ok", 1)


def test_events_go_on_after_the_last_number_seen(client: AppClient) -> None:
    send(client, "hello")
    first = client.request("GET", f"/routes/{ROUTE}/events?limit=1", key="sender-key").json()
    assert [event["kind"] for event in first["events"]] == ["accepted"]
    after = first["next"]
    rest = client.request("GET", f"/routes/{ROUTE}/events?after={after}", key="sender-key").json()
    assert [event["kind"] for event in rest["events"]] == ["decided"]
    assert rest["next"] is None


def finish(desk: FakeDesk, route_id: str) -> None:
    desk.routes[route_id] = replace(
        desk.routes[route_id], state=RouteState.DONE, reply_text="late", ran=True
    )


async def post_and_finish(client: AppClient, desk: FakeDesk, **body: object) -> dict[str, object]:
    headers = {"Authorization": "Bearer sender-key"}
    sent = asyncio.ensure_future(client.http.post("/route", json=body, headers=headers))
    async with asyncio.timeout(10):
        while not desk.routes:
            await asyncio.sleep(0)
    finish(desk, ROUTE)
    answer: dict[str, object] = (await sent).json()
    return answer


def test_wait_s_answers_with_the_end(client: AppClient, desk: FakeDesk) -> None:
    answer = client.run(post_and_finish(client, desk, text="slow", wait_s=30))
    assert (answer["state"], answer["reply"]) == ("done", {"text": "late"})


def test_a_wait_that_runs_out_is_202_and_running(client: AppClient) -> None:
    answer = client.request(
        "POST", "/route", key="sender-key", json={"text": "slow", "wait_s": 0.05}
    )
    assert (answer.status_code, answer.json()["state"]) == (202, "running")
    later = client.request("GET", f"/routes/{ROUTE}?wait_s=0.05", key="sender-key")
    assert later.json()["state"] == "running"


def test_a_stop_answers_those_who_wait(client: AppClient) -> None:
    async def post_and_stop() -> int:
        headers = {"Authorization": "Bearer sender-key"}
        body = {"text": "slow", "wait_s": 600}
        sent = asyncio.ensure_future(client.http.post("/route", json=body, headers=headers))
        await asyncio.sleep(0)
        client.app.state.stopping.set()
        async with asyncio.timeout(10):
            return (await sent).status_code

    assert client.run(post_and_stop()) == 202


@pytest.mark.parametrize("cancels", [False, True])
def test_a_caller_who_leaves_cancels_only_what_it_said(
    client: AppClient, desk: FakeDesk, cancels: bool
) -> None:
    body = b'{"text": "slow", "wait_s": 600, "cancel_on_disconnect": %s}'
    said = body % (b"true" if cancels else b"false")

    async def post_and_leave() -> None:
        messages: list[dict[str, object]] = [
            {"type": "http.request", "body": said, "more_body": False},
            {"type": "http.disconnect"},
        ]

        async def receive() -> dict[str, object]:
            if len(messages) == 1:
                while not desk.routes:
                    await asyncio.sleep(0.001)
            return messages.pop(0) if len(messages) > 1 else messages[0]

        async def send(_: object) -> None:
            pass

        headers = [
            (b"host", b"localhost"),
            (b"authorization", b"Bearer sender-key"),
            (b"content-type", b"application/json"),
        ]
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/route",
            "query_string": b"",
            "headers": headers,
        }
        async with asyncio.timeout(10):
            await client.app(scope, receive, send)

    client.run(post_and_leave())
    assert list(desk.routes) == [ROUTE]
    assert desk.cancelled == ([ROUTE] if cancels else [])


def test_a_caller_who_left_before_acceptance_leaves_no_row(
    client: AppClient, desk: FakeDesk
) -> None:
    async def leave_early() -> None:
        messages: list[dict[str, object]] = [
            {"type": "http.request", "body": b'{"text": "x"}', "more_body": False},
            {"type": "http.disconnect"},
        ]

        async def receive() -> dict[str, object]:
            return messages.pop(0) if len(messages) > 1 else messages[0]

        async def send(_: object) -> None:
            pass

        headers = [
            (b"host", b"localhost"),
            (b"authorization", b"Bearer sender-key"),
            (b"content-type", b"application/json"),
        ]
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/route",
            "query_string": b"",
            "headers": headers,
        }
        await client.app(scope, receive, send)

    client.run(leave_early())
    assert not desk.routes


def test_cancel_goes_through_the_desk(client: AppClient, desk: FakeDesk) -> None:
    send(client, "slow")
    answer = client.request("POST", f"/routes/{ROUTE}/cancel", key="sender-key")
    assert (answer.status_code, answer.json()["state"]) == (200, "cancelled")
    assert desk.cancelled == [ROUTE]


@pytest.mark.parametrize("what", ["ran", "not_run", "rerun", "leave"])
def test_resolve_takes_four_answers(client: AppClient, what: str) -> None:
    send(client, "slow")
    body = {"answer": what, "note": "looked at the transcript"}
    answer = client.request("POST", f"/routes/{ROUTE}/resolve", key="review-key", json=body)
    assert (answer.status_code, answer.json()["reason"]) == (200, what)


@pytest.mark.parametrize("body", [{}, {"answer": "maybe"}, {"answer": "ran", "force": True}])
def test_resolve_refuses_other_answers(client: AppClient, body: object) -> None:
    send(client, "slow")
    answer = client.request("POST", f"/routes/{ROUTE}/resolve", key="review-key", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "body-invalid")
