"""What a message said goes from every table and every byte; the record stays whole without it."""

from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect, text

from clawmarshal.errors import ConflictError
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.opening import parse
from clawmarshal.router.ledger.records import Answer
from clawmarshal.router.ledger.states import RouteState
from clawmarshal.router.route import Outcome
from clawmarshal.transport.evidence import Evidence, EvidenceCode
from clawmarshal.transport.outcome import ToolSend, TurnResult, TurnState
from tests.support.clock import FakeClock
from tests.support.ledger_cases import ANNA, TERMS, decision, held, launching, lost, submission

SAID = "xyzzy-the-text"
REPLIED = "xyzzy-the-reply"
SENT_BY = "xyzzy-the-sender"
NOTED = "xyzzy-the-note"
ENDED = TurnResult(
    TurnState.DONE,
    "ok",
    reply_text=REPLIED,
    raw_text=REPLIED,
    run_id="run-1",
    stderr_tail=f"about {SAID}",
    tool_sends=(ToolSend("telegram", "42", REPLIED),),
)


def everything(url: str) -> str:
    """Return every value of every table."""
    engine = create_engine(parse(url))
    with engine.connect() as connection:
        names = inspect(engine).get_table_names()
        rows = [connection.execute(text(f"SELECT * FROM {name}")).all() for name in names]
    engine.dispose()
    return repr(rows)


def done(ledger: Ledger) -> str:
    """Bring a route to its end, with everything that may hold what was said."""
    told = {"text": SAID, "sender": SENT_BY, "conversation": "c", "message_id": "m-1"}
    route_id = ledger.accept(submission(**told, reply_target=SENT_BY)).route_id  # type: ignore[arg-type]  # texts only
    hold = ledger.record(
        route_id, decision(Outcome.HOLD), explanation={}, terms=TERMS["finance"]
    ).hold
    assert hold is not None
    ledger.approve(hold.id, ANNA, terms=TERMS["finance"], note=NOTED)
    order = ledger.claim(ledger.register_worker("w"), terms=TERMS, max_children=8)
    assert order is not None
    ledger.started(order, 1)
    assert ledger.finish(order, ENDED)
    ledger.keep_answer(route_id, Answer(200, REPLIED))
    return route_id


def test_nothing_of_it_is_left_in_any_table(ledger: Ledger, ledger_url: str) -> None:
    route_id = done(ledger)
    before = everything(ledger_url)
    assert all(words in before for words in (SAID, REPLIED, SENT_BY, NOTED))

    record = ledger.erase(route_id, ANNA, reason="2026-17")

    assert "xyzzy" not in everything(ledger_url)
    assert (record.state, record.is_erased) == (RouteState.DONE, True)
    assert (record.message.text, record.reply_text, record.message.sender) == ("", None, None)


def test_no_byte_of_it_is_left_in_the_file_or_its_log(tmp_path: Path, clock: FakeClock) -> None:
    file = tmp_path / "bytes.db"
    ledger = Ledger(f"sqlite:///{file}", clock=clock)
    try:
        route_id = done(ledger)
        files = [part for part in tmp_path.glob("bytes.db*") if part.is_file()]
        assert any(b"xyzzy" in part.read_bytes() for part in files)
        ledger.erase(route_id, ANNA)
        for part in files:
            assert b"xyzzy" not in part.read_bytes(), part.name
    finally:
        ledger.close()


def test_the_record_is_still_whole_and_tells_of_it(ledger: Ledger, clock: FakeClock) -> None:
    route_id = done(ledger)
    clock.advance(600)
    assert ledger.seal(every_s=0) is not None
    ledger.erase(route_id, ANNA, reason="2026-17")
    found = ledger.verify()
    assert found.faults == ()
    (event,) = [event for event in ledger.events(route_id) if event.kind == "erased"]
    assert (event.actor, event.facts["reason"]) == ("person:anna", "2026-17")


def test_a_decision_that_was_changed_after_it_is_still_found(
    ledger: Ledger, ledger_url: str
) -> None:
    ledger.erase(done(ledger), ANNA)
    engine = create_engine(parse(ledger_url))
    with engine.begin() as connection:
        connection.execute(text("UPDATE routes SET decision = '{}'"))
    engine.dispose()
    assert not ledger.verify().is_intact


def test_a_second_erasure_changes_nothing(ledger: Ledger) -> None:
    route_id = done(ledger)
    first = ledger.erase(route_id, ANNA)
    assert ledger.erase(route_id, ANNA) == first
    assert [event.kind for event in ledger.events(route_id)].count("erased") == 1


def test_a_late_repeat_is_no_new_message(ledger: Ledger) -> None:
    route_id = done(ledger)
    ledger.erase(route_id, ANNA)
    told = {"text": SAID, "sender": SENT_BY, "conversation": "c", "message_id": "m-1"}
    again = ledger.accept(submission(**told, reply_target=SENT_BY))  # type: ignore[arg-type]  # texts only
    assert (again.route_id, again.created) == (route_id, False)


def test_what_still_needs_its_text_is_refused(ledger: Ledger) -> None:
    hold = held(ledger, SAID)
    with pytest.raises(ConflictError) as refused:
        ledger.erase(hold.route_id, ANNA)
    assert refused.value.code == "not-erasable"
    order = launching(ledger, ledger.register_worker("w"), conversation="d")
    with pytest.raises(ConflictError):
        ledger.erase(order.route_id, ANNA)
    ledger.reject(hold.id, ANNA, reason="no")
    assert ledger.erase(hold.route_id, ANNA).is_erased


def test_what_was_erased_is_never_launched_again(ledger: Ledger, clock: FakeClock) -> None:
    route = lost(ledger)
    ledger.erase(route.id, ANNA)
    clock.advance(3600)
    with pytest.raises(ConflictError) as refused:
        ledger.resolve(route.id, ANNA, answer="rerun")
    assert refused.value.code == "erased"
    assert ledger.resolve(route.id, ANNA, answer="ran").state is RouteState.DONE


def test_what_comes_late_brings_nothing_back(ledger: Ledger, ledger_url: str) -> None:
    worker = ledger.register_worker("paused")
    order = launching(ledger, worker)
    ledger.release_worker(worker)
    assert ledger.sweep() == (order.route_id,)
    ledger.erase(order.route_id, ANNA)

    assert not ledger.finish(order, ENDED)
    found = Evidence(EvidenceCode.ANSWERED, reply_text=REPLIED)
    ledger.attach_evidence(order.route_id, order.attempt_id, found)

    assert "xyzzy" not in everything(ledger_url)
    assert ledger.verify().is_intact
