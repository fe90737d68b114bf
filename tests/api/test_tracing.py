"""W3C trace context: read strictly, sent on, and kept with what a request had done."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from clawmarshal.api.app import create_app
from clawmarshal.api.logs import JsonLines
from clawmarshal.api.tracing import trace_of
from tests.support.asgi import served
from tests.support.fake_desk import FakeDesk, fake_parts
from tests.support.keys import key_for
from tests.support.service import configure, wired

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"
SENT = f"00-{TRACE}-{PARENT}-01"


def test_a_trace_goes_on_under_a_span_of_ours() -> None:
    trace = trace_of([SENT])
    assert (trace.trace_id, trace.parent_id, trace.is_sampled) == (TRACE, PARENT, True)
    assert trace.span_id != PARENT
    assert trace.header == f"00-{TRACE}-{trace.span_id}-01"
    assert trace_of([trace.header]).parent_id == trace.span_id


@pytest.mark.parametrize(
    "sent",
    [
        [],
        [""],
        ["x"],
        [SENT, SENT],
        [SENT.upper()],
        [f"ff-{TRACE}-{PARENT}-01"],
        [f"00-{'0' * 32}-{PARENT}-01"],
        [f"00-{TRACE}-{'0' * 16}-01"],
        [SENT + "-more"],
        [f"00-{TRACE}-{PARENT}-1"],
        [f"00-{TRACE[:-1]}-{PARENT}-01"],
        [f"00-{TRACE}-{PARENT}-01\u0661"],
    ],
    ids=str,
)
def test_what_cannot_be_read_begins_a_new_trace(sent: Sequence[str]) -> None:
    trace = trace_of(sent)
    assert trace.trace_id != TRACE and len(trace.trace_id) == 32
    assert (trace.parent_id, trace.is_sampled) == (None, False)


@pytest.mark.parametrize("sent", [f"01-{TRACE}-{PARENT}-01", f"cc-{TRACE}-{PARENT}-03-later"])
def test_a_later_version_is_read_as_far_as_it_is_known(sent: str) -> None:
    trace = trace_of([sent])
    assert (trace.trace_id, trace.parent_id, trace.is_sampled) == (TRACE, PARENT, True)
    assert trace.header.startswith("00-")


def test_it_stands_in_the_answer_and_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="clawmarshal.access")
    with served(create_app(fake_parts(FakeDesk()))) as client:
        answer = client.request("GET", "/livez", headers={"traceparent": SENT})
    assert answer.headers["traceparent"].startswith(f"00-{TRACE}-")
    (line,) = [json.loads(JsonLines().format(record)) for record in caplog.records]
    assert (line["trace_id"], line["parent_id"]) == (TRACE, PARENT)
    assert answer.headers["traceparent"].split("-")[2] == line["span_id"]


def test_it_is_kept_with_what_people_had_done_and_makes_no_message_another(tmp_path: Path) -> None:
    config = configure(tmp_path)
    key = key_for(config, "route", "review")
    with wired(config) as (client, _):
        body = {"text": "risky business", "wait_s": 20, "message_id": "m-1"}
        held, again = (
            client.request("POST", "/route", key=key, json=body, headers=headers)
            for headers in ({"traceparent": SENT}, {})
        )
        assert held.json()["id"] == again.json()["id"]
        hold = held.json()["hold_id"]
        other = f"00-{'a' * 32}-{PARENT}-01"
        rejected = client.request(
            "POST",
            f"/holds/{hold}/reject",
            key=key,
            json={"reason": "no"},
            headers={"traceparent": other},
        )
        assert rejected.status_code == 200
        events = client.request("GET", f"/routes/{held.json()['id']}/events", key=key).json()
    traces = {event["kind"]: event["facts"].get("trace") for event in events["events"]}
    assert (traces["received"], traces["rejected"]) == (TRACE, "a" * 32)
