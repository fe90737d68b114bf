"""The edges: logs, health, problems nobody foresaw, bodies that stall, what a terminal sees."""

import asyncio
import io
import json
import logging
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse

from clawmarshal.api.app import create_app
from clawmarshal.api.bodies import read_bytes
from clawmarshal.api.commands.terminal import Progress, fields, note, say, table
from clawmarshal.api.health import ServiceHealth
from clawmarshal.api.logs import JsonLines
from clawmarshal.api.problems import PROBLEMS, Problem, of_error, response
from clawmarshal.errors import ClawmarshalError, ConflictError, LedgerUnavailableError
from clawmarshal.roster.openclaw import LiveAgent, LiveFleet
from clawmarshal.router.fleet import FleetWatch
from clawmarshal.router.ledger.records import Queue
from tests.support.asgi import AppClient, served
from tests.support.fake_desk import ROSTER, FakeDesk, fake_parts

Message = MutableMapping[str, Any]


def record_of(message: str, **more: Any) -> logging.LogRecord:
    return logging.LogRecord("clawmarshal.x", logging.WARNING, "f.py", 1, message, (), **more)


def test_a_log_line_is_one_json_object() -> None:
    line = json.loads(JsonLines().format(record_of("two\nlines", exc_info=None)))
    assert line.keys() == {"at", "level", "logger", "event", "words"}
    assert (line["level"], line["logger"], line["words"]) == (
        "warning",
        "clawmarshal.x",
        "two\nlines",
    )


def test_a_logged_exception_keeps_its_kind_and_place_and_loses_its_words() -> None:
    try:
        raise ValueError("sesame")
    except ValueError:
        written = JsonLines().format(record_of("failed", exc_info=sys.exc_info()))
    line = json.loads(written)
    assert line["error"] == "ValueError"
    assert line["where"][0].startswith("test_a_logged_exception")
    assert "sesame" not in written


@pytest.mark.parametrize(
    ("error", "code", "status"),
    [
        (ClawmarshalError("x", code="never-heard-of"), "internal", 500),
        (ConflictError("x", code="never-heard-of"), "conflict", 409),
        (LedgerUnavailableError("x"), "ledger-unavailable", 503),
    ],
)
def test_a_code_without_a_row_gets_that_of_its_class(
    error: ClawmarshalError, code: str, status: int
) -> None:
    problem = of_error(error)
    assert (problem.code, PROBLEMS[problem.code].status) == (code, status)


def test_a_problem_shows_the_first_line_of_an_error_only() -> None:
    assert of_error(ConflictError("one\n  two")).detail == "one"


def test_the_words_of_an_unmapped_error_stay_inside() -> None:
    assert "sesame" not in of_error(ClawmarshalError("sesame")).detail


class Part:
    """Stands for whatever `ServiceHealth` looks at."""

    label = "stand-in"
    running = ("rt_1",)

    def __init__(self) -> None:
        self.last_error: str | None = None
        self.away = False

    def queue(self) -> Queue:
        if self.away:
            raise LedgerUnavailableError("away")
        return Queue(waiting=3, oldest_s=1.26)


@pytest.fixture
def part() -> Part:
    return Part()


@pytest.fixture
def health(part: Part) -> ServiceHealth:
    fake: Any = part
    return ServiceHealth(
        fake, fake, FleetWatch(None), fake, roster=ROSTER, model="m", mode="enforce"
    )


def _go_away(part: Part, health: ServiceHealth) -> None:
    part.away = True


def _stop(part: Part, health: ServiceHealth) -> None:
    health.is_stopping = True


def _lose_cli(part: Part, health: ServiceHealth) -> None:
    health.transport_fault = "cli-silent"


def _break_dispatcher(part: Part, health: ServiceHealth) -> None:
    part.last_error = "dispatcher-error"


def _leave_undecided(part: Part, health: ServiceHealth) -> None:
    health.undecided = lambda: {"rt_1"}


@pytest.mark.parametrize(
    ("happen", "reason"),
    [
        (_leave_undecided, "undecided"),
        (_go_away, "ledger-unavailable"),
        (_stop, "stopping"),
        (_lose_cli, "cli-silent"),
        (_break_dispatcher, "dispatcher"),
    ],
)
def test_each_part_that_fails_is_a_reason(
    part: Part, health: ServiceHealth, happen: Callable[[Part, ServiceHealth], None], reason: str
) -> None:
    assert asyncio.run(health.readiness()).ready
    happen(part, health)
    state = asyncio.run(health.readiness())
    assert (state.ready, state.reasons) == (False, (reason,))


def test_the_queue_is_told_while_the_ledger_answers(part: Part, health: ServiceHealth) -> None:
    told = asyncio.run(health.readiness()).details
    assert (told["turns_waiting"], told["oldest_wait_s"]) == (3, 1.3)
    part.away = True
    assert asyncio.run(health.readiness()).details["turns_waiting"] is None


def test_agents_missing_from_a_known_fleet_are_named(part: Part, health: ServiceHealth) -> None:
    assert asyncio.run(health.readiness()).details["missing_agents"] == []
    health._fleet.own = frozenset({"finance"})
    details = asyncio.run(health.readiness()).details
    assert (details["fleet"], details["missing_agents"]) == ("known", ["security"])


def test_drift_is_told_while_it_is_wholly_known(health: ServiceHealth) -> None:
    fleet = health._fleet
    assert asyncio.run(health.readiness()).details["drift"] is None
    fleet.live = LiveFleet(frozenset({"finance"}), None)
    assert asyncio.run(health.readiness()).details["drift"] is None
    fleet.live = LiveFleet(frozenset({"finance", "new"}), (LiveAgent("finance"), LiveAgent("new")))
    fleet.unasked = frozenset({"new"})
    state = asyncio.run(health.readiness())
    assert state.ready
    assert state.details["drift"] == [
        {"code": "unlisted", "agent": "new"},
        {"code": "missing", "agent": "security"},
    ]
    assert state.details["unasked_agents"] == ["new"]


@pytest.fixture
def client() -> Iterator[AppClient]:
    app = create_app(fake_parts(FakeDesk()))
    _add_odd_endpoints(app)
    with served(app) as client:
        yield client


def _add_odd_endpoints(app: FastAPI) -> None:
    @app.get("/breaks-off")
    async def breaks_off() -> StreamingResponse:
        async def stream() -> Any:
            yield b"begun"
            raise ValueError("sesame")

        return StreamingResponse(stream())

    @app.post("/reads")
    async def reads(request: Request) -> JSONResponse:
        body = await read_bytes(request, max_bytes=10, timeout_s=0.05)
        return JSONResponse({"size": len(body)})


def test_an_answer_that_breaks_off_is_logged_without_words(
    client: AppClient, caplog: pytest.LogCaptureFixture
) -> None:
    client.request("GET", "/breaks-off")
    assert "ValueError" in caplog.text
    assert "sesame" not in "".join(r.getMessage() for r in caplog.records if "api" in r.name)


def exchange(
    client: AppClient, *messages: Message, stalls: bool = False, length: bytes = b""
) -> Mapping[str, Any]:
    """Post a body message by message; return how the answer began."""
    sent: list[Message] = []
    left = list(messages)

    async def receive() -> Message:
        if left:
            return left.pop(0)
        if stalls:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/reads",
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"content-length", length)],
    }
    client.run(asyncio.wait_for(client.app(scope, receive, send), 10))
    return sent[0]


def part_of_body(raw: bytes, *, more: bool = True) -> Message:
    return {"type": "http.request", "body": raw, "more_body": more}


def test_a_body_in_parts_is_put_together(client: AppClient) -> None:
    begun = exchange(client, part_of_body(b"12345"), part_of_body(b"67890", more=False))
    assert begun["status"] == 200


def test_a_body_that_stalls_is_408_and_the_connection_ends(client: AppClient) -> None:
    begun = exchange(client, part_of_body(b"1"), stalls=True)
    assert begun["status"] == 408
    assert (b"connection", b"close") in begun["headers"]


def test_a_caller_who_leaves_in_mid_body_is_400(client: AppClient) -> None:
    assert exchange(client, part_of_body(b"1"))["status"] == 400


def test_the_rest_of_a_body_that_is_too_large_is_read_and_dropped(client: AppClient) -> None:
    parts = [part_of_body(b"x" * 8) for _ in range(4)]
    begun = exchange(client, *parts, part_of_body(b"", more=False))
    assert begun["status"] == 413


def test_a_body_without_end_is_not_read_for_ever(client: AppClient) -> None:
    parts = [part_of_body(b"x" * (32 * 1024 * 1024)) for _ in range(6)]
    assert exchange(client, *parts, stalls=True)["status"] == 413


def test_a_body_that_is_announced_as_endless_is_not_read_at_all(client: AppClient) -> None:
    assert exchange(client, stalls=True, length=b"999999999999")["status"] == 413


def test_a_large_body_that_stalls_is_413_all_the_same(client: AppClient) -> None:
    assert exchange(client, part_of_body(b"x" * 99), stalls=True)["status"] == 413


def test_a_problem_keeps_its_headers() -> None:
    answer = response(Problem("media-type", "x", headers={"X-A": "b"}))
    assert (answer.status_code, answer.headers["x-a"]) == (415, "b")


HOSTILE = "a\x1b]0;title\x07b\x1b[31mc\u202ed\x00"


def test_nothing_drives_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    say(HOSTILE)
    note(HOSTILE)
    table([(HOSTILE, "x\ny")], headings=("one", "two"))
    fields({"name": HOSTILE, "none": None})
    captured = capsys.readouterr()
    for text in (captured.out, captured.err):
        assert not {"\x1b", "\x07", "\x00", "\u202e"} & set(text)
    assert captured.err == "abcd\n"
    assert captured.out.splitlines()[1:] == ["one   two", "abcd  x y", "name  abcd", "none  -"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_a_terminal_only() -> None:
    shown, piped = Terminal(), io.StringIO()
    for stream in (shown, piped):
        progress = Progress(400, what="decided", stream=stream)
        for done in range(1, 401):
            progress.step(done)
    assert piped.getvalue() == ""
    assert shown.getvalue().endswith("\r400/400 decided\n")
    assert shown.getvalue().count("\r") == 200
