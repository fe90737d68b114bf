"""Server-sent events in the real application: resumption, other processes, keys, seats, an end."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from clawmarshal.api.opening import opened_ledger
from clawmarshal.api.streams import frame
from clawmarshal.api.wiring import Service
from tests.support.asgi import AppClient
from tests.support.keys import key_for
from tests.support.service import configure, settings_of, wired

PATIENCE_S = 30


@dataclass
class Room:
    client: AppClient
    service: Service
    config: Path
    keys: dict[str, str]

    def held(self, text: str, *, key: str = "ann") -> dict[str, Any]:
        body = {"text": f"risky {text}", "wait_s": 20}
        answer = self.client.request("POST", "/route", key=self.keys[key], json=body)
        assert answer.status_code == 202, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def reject(self, hold_id: str) -> None:
        path = f"/holds/{hold_id}/reject"
        body = {"reason": "no"}
        answer = self.client.request("POST", path, key=self.keys["rita"], json=body)
        assert answer.status_code == 200, answer.text


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    config = configure(tmp_path, more="limits: {waits_per_key: 2}\n")
    scopes = {"ann": "route", "bob": "route", "rita": "review"}
    keys = {name: key_for(config, scope, person=name) for name, scope in scopes.items()}
    with wired(config) as (client, service):
        yield Room(client, service, config, keys)


class Stream:
    """One connection to the application; its parts arrive as they are sent."""

    def __init__(self, app: FastAPI, path: str, headers: dict[str, str]) -> None:
        self.status = 0
        self.sent_headers: dict[str, str] = {}
        self.is_over = False
        self._parts: asyncio.Queue[str] = asyncio.Queue()
        self._left = asyncio.Event()
        self._buffer = ""
        path, _, query = path.partition("?")
        scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "query_string": query.encode(),
            "headers": [(k.lower().encode(), v.encode()) for k, v in headers.items()],
        }
        self._task = asyncio.create_task(self._run(app, scope))

    async def _run(self, app: FastAPI, scope: dict[str, Any]) -> None:
        await app(scope, self._receive, self._send)
        self.is_over = True
        await self._parts.put("")

    async def _receive(self) -> dict[str, Any]:
        if not hasattr(self, "_asked"):
            self._asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.sent_headers = {k.decode(): v.decode() for k, v in message["headers"]}
        else:
            await self._parts.put(message.get("body", b"").decode())

    async def next(self) -> dict[str, Any] | None:
        """Return the next event; None at the end."""
        while True:
            head, found, rest = self._buffer.partition("\n\n")
            if found:
                self._buffer = rest
                fields = dict(line.split(": ", 1) for line in head.splitlines() if line[0] != ":")
                if "event" in fields:
                    return {**fields, "data": json.loads(fields["data"])}
                continue
            if self.is_over and self._parts.empty():
                return None
            self._buffer += await asyncio.wait_for(self._parts.get(), PATIENCE_S)

    async def rest(self) -> list[str]:
        """Return the names of what still comes until the end."""
        names = []
        while (event := await self.next()) is not None:
            names.append(event["event"])
        return names

    async def leave(self) -> None:
        self._left.set()
        await asyncio.wait_for(self._task, PATIENCE_S)


@asynccontextmanager
async def streaming(
    room: Room, path: str, *, key: str = "rita", **headers: str
) -> AsyncIterator[Stream]:
    told = {"Host": "localhost", "Authorization": f"Bearer {room.keys[key]}", **headers}
    stream = Stream(room.client.app, path, told)
    try:
        yield stream
    finally:
        await stream.leave()


async def in_thread(work: Any, *arguments: Any, **more: Any) -> Any:
    return await asyncio.to_thread(lambda: work(*arguments, **more))


SSE = {"Accept": "text/event-stream"}


def test_what_happens_to_holds_arrives_and_only_to_its_owner(room: Room) -> None:
    async def look() -> None:
        async with (
            streaming(room, "/holds/events") as all_of_them,
            streaming(room, "/holds/events", key="bob") as of_bob,
        ):
            for stream in (all_of_them, of_bob):
                ready = await stream.next()
                assert ready is not None and ready["event"] == "ready"
            first = await in_thread(room.held, "one")
            second = await in_thread(room.held, "two", key="bob")
            await in_thread(room.reject, first["hold_id"])
            seen = [await all_of_them.next() for _ in range(3)]
            own = await of_bob.next()
            assert [(e["event"], e["data"]["hold_id"]) for e in seen if e] == [
                ("held", first["hold_id"]),
                ("held", second["hold_id"]),
                ("rejected", first["hold_id"]),
            ]
            assert own is not None and own["data"]["route_id"] == second["id"]
            assert all_of_them.sent_headers["content-type"].startswith("text/event-stream")
            assert "risky" not in json.dumps(seen)

    room.client.run(look())


def test_a_stream_goes_on_after_the_last_event_that_came(room: Room) -> None:
    async def look() -> None:
        async with streaming(room, "/holds/events") as stream:
            await stream.next()
            first = await in_thread(room.held, "one")
            seen = await stream.next()
            assert seen is not None
        second = await in_thread(room.held, "two")
        async with streaming(room, "/holds/events", **{"Last-Event-ID": seen["id"]}) as stream:
            event = await stream.next()
        assert event is not None and event["event"] == "held"
        assert event["data"]["hold_id"] == second["hold_id"] != first["hold_id"]

    room.client.run(look())


def test_what_another_process_wrote_arrives_too(room: Room) -> None:
    async def look() -> None:
        first = await in_thread(room.held, "one")
        async with streaming(room, "/holds/events") as stream:
            await stream.next()
            await in_thread(reject_beside, room.config, first["hold_id"], room.keys["rita"])
            event = await stream.next()
        assert event is not None and event["event"] == "rejected"

    room.client.run(look())


def reject_beside(config: Path, hold_id: str, key: str) -> None:
    with opened_ledger(settings_of(config)) as ledger:
        principal = ledger.authenticate(key)
        assert principal is not None
        ledger.reject(hold_id, principal, reason="no")


def test_a_routes_stream_ends_with_the_route_and_is_204_after_that(room: Room) -> None:
    async def look() -> None:
        held = await in_thread(room.held, "one")
        path = f"/routes/{held['id']}/events"
        async with streaming(room, path, **SSE) as stream:
            names = [(await stream.next() or {})["event"] for _ in range(3)]
            await in_thread(room.reject, held["hold_id"])
            last = await stream.next()
            assert names == ["received", "decided", "held"]
            assert last is not None and last["event"] == "rejected"
            assert await stream.rest() == ["end"]
        async with streaming(room, path, **SSE, **{"Last-Event-ID": last["id"]}) as stream:
            assert await stream.next() is None
            assert stream.status == 204
        async with streaming(room, path, **SSE, **{"Last-Event-ID": "1"}) as stream:
            assert "rejected" in await stream.rest()

    room.client.run(look())


def test_a_revoked_key_gets_nothing_more(room: Room) -> None:
    async def look() -> None:
        async with streaming(room, "/holds/events") as stream:
            await stream.next()
            ledger = room.service.ledger
            (key_id,) = [key.id for key in ledger.list_keys() if key.person == "rita"]
            await in_thread(ledger.revoke_key, key_id)
            await in_thread(room.held, "secret")
            assert await stream.rest() == ["revoked"]

    room.client.run(look())


def test_a_revoked_key_gets_no_reply_it_waited_for(room: Room) -> None:
    ledger = room.service.ledger
    (key_id,) = [key.id for key in ledger.list_keys() if key.person == "ann"]

    async def look() -> int:
        path = "/route"
        headers = {"Authorization": f"Bearer {room.keys['ann']}"}
        body = {"text": "hello", "wait_s": 20}
        asked = asyncio.create_task(room.client.http.post(path, json=body, headers=headers))
        while not (await in_thread(ledger.routes))[0]:
            await asyncio.sleep(0)
        await in_thread(ledger.revoke_key, key_id)
        return (await asked).status_code

    assert room.client.run(look()) == 401


def test_seats_are_given_back_when_callers_leave(room: Room) -> None:
    async def look() -> None:
        async with streaming(room, "/holds/events") as one, streaming(room, "/holds/events") as two:
            assert await one.next() and await two.next()
            async with streaming(room, "/holds/events") as third:
                assert await third.next() is None
                assert third.status == 429
        async with streaming(room, "/holds/events") as again:
            assert await again.next()

    room.client.run(look())


def test_a_stop_ends_the_streams(room: Room) -> None:
    async def look() -> None:
        async with streaming(room, "/holds/events") as stream:
            await stream.next()
            room.client.app.state.stopping.set()
            assert await stream.rest() == []

    room.client.run(look())


@pytest.mark.parametrize("sent", ["x", "-1", "1.5", "9" * 19, "999999999", "\u0661"])
def test_an_unknown_last_event_is_422(room: Room, sent: str) -> None:
    headers = {"Last-Event-ID": sent.encode()}
    answer = room.client.request("GET", "/holds/events", key=room.keys["rita"], headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (422, "cursor-invalid")


def test_nothing_in_an_event_can_forge_another() -> None:
    written = frame("held", {"note": "x\n\nid: 9\nevent: approved\r\ndata: {}"}, number=7)
    assert written.count("\n\n") == 1 and written.endswith("\n\n")
    assert written.count("event: ") == 2 and written.splitlines()[1] == "event: held"
    assert len(written.splitlines()) == 4
