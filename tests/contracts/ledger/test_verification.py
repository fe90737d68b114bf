"""The record is found to be intact, and whatever is done to it by hand is found."""

import hashlib
import hmac
import json
from collections.abc import Callable

import pytest
from sqlalchemy import Table, create_engine, text

from clawmarshal.router.ledger import schema
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.opening import parse
from clawmarshal.router.ledger.verification import Verification
from tests.contracts.ledger.conftest import OpenLedger
from tests.support.clock import FakeClock
from tests.support.ledger_cases import ANNA, BELA, DONE, TERMS, held, launching, lost
from tests.support.tampering import unguarded

KEY = b"k" * 32
Tamper = Callable[[str], None]


@pytest.fixture
def filled(ledger: Ledger, clock: FakeClock) -> Ledger:
    """A ledger with routes that ended in several ways, all of it sealed."""
    worker = ledger.register_worker("w")
    for name in "ab":
        order = launching(ledger, worker, conversation=name)
        ledger.started(order, 42)
        ledger.finish(order, DONE)
    hold = held(ledger)
    ledger.approve(hold.id, ANNA, terms=TERMS["finance"])
    ledger.reject(held(ledger, "Another.").id, BELA, reason="No.")
    lost(ledger)
    clock.advance(600)
    assert ledger.seal(key=KEY) is not None
    return ledger


@pytest.fixture
def by_hand(filled: Ledger, ledger_url: str) -> Tamper:
    """Run SQL as whoever owns the database could: the triggers are off for as long."""

    def run(statement: str) -> None:
        engine = create_engine(parse(ledger_url))
        with engine.begin() as connection, unguarded(connection):
            changed = connection.execute(text(statement)).rowcount
            assert changed > 0, "nothing was tampered with"
        engine.dispose()

    return run


def looked(ledger: Ledger, **more: object) -> Verification:
    return ledger.verify(key=KEY, **more)  # type: ignore[arg-type]  # by name


def test_what_was_written_is_intact(filled: Ledger) -> None:
    seen: list[int] = []
    found = looked(filled, progress=seen.append)
    assert found.faults == ()
    assert found.is_intact
    assert (found.checkpoints, found.unsealed) == (1, 0)
    assert found.chains >= 5
    assert seen[-1] == found.events > 20


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("UPDATE events SET facts = '{}' WHERE number = 2", "was changed"),
        ("UPDATE events SET actor = 'person:eve' WHERE kind = 'approved'", "was changed"),
        ("UPDATE events SET address = '10.0.0.1' WHERE number = 3", "was changed"),
        ("UPDATE events SET kind = 'done' WHERE kind = 'unknown'", "was changed"),
        ("UPDATE events SET at = at + 1 WHERE number = 4", "was changed"),
        ("DELETE FROM events WHERE ordinal = 2 AND kind = 'decided'", "is missing"),
        ("UPDATE events SET ordinal = ordinal + 100 WHERE ordinal = 2", "is missing"),
        ("DELETE FROM events WHERE kind = 'rejected'", "events, and"),
        ("UPDATE routes SET state = 'done' WHERE state = 'unknown'", "stands as"),
        ("UPDATE routes SET reply_text = 'other' WHERE state = 'done'", "its reply"),
        ("UPDATE messages SET text = 'other'", "its text"),
        ("UPDATE holds SET person = 'eve' WHERE decision = 'approve'", "its answer"),
        ("UPDATE holds SET decision = 'approve' WHERE decision = 'reject'", "its answer"),
        ("UPDATE checkpoints SET covered = covered + 1", "it was changed"),
        ("UPDATE checkpoints SET seal = NULL", "its seal"),
        ("DELETE FROM checkpoints", None),
    ],
)
def test_whatever_is_changed_by_hand_is_found(
    filled: Ledger, by_hand: Tamper, statement: str, says: str | None
) -> None:
    kept = filled.verify().newest
    assert kept is not None
    by_hand(statement)
    found = looked(filled, against=kept.digest)
    assert not found.is_intact
    if says is not None:
        assert says in " ".join(wrong.what for wrong in found.faults)


@pytest.mark.parametrize("column", ["decision", "explanation"])
def test_another_decision_is_found(filled: Ledger, by_hand: Tamper, column: str) -> None:
    by_hand(f"UPDATE routes SET {column} = '{json.dumps({'a': 1})}' WHERE {column} IS NOT NULL")
    assert f"its {column}" in " ".join(wrong.what for wrong in looked(filled).faults)


def test_a_route_that_was_removed_whole_is_missed(filled: Ledger, by_hand: Tamper) -> None:
    route_id = filled.routes()[0][0].id
    by_hand(f"DELETE FROM events WHERE chain = '{route_id}'")
    faults = [(wrong.where, wrong.what) for wrong in looked(filled).faults]
    assert any(where.startswith("checkpoint") and "are there" in what for where, what in faults)


def test_a_history_that_was_written_anew_differs_from_what_was_kept(
    filled: Ledger, by_hand: Tamper, clock: FakeClock
) -> None:
    kept = filled.verify().newest
    assert kept is not None
    assert looked(filled, against=kept.digest).is_intact
    by_hand("DELETE FROM checkpoints")
    clock.advance(1)
    assert filled.seal(key=KEY) is not None
    assert looked(filled).is_intact
    assert "none with the digest" in looked(filled, against=kept.digest).faults[0].what


def test_seal_by_another_key_is_found(filled: Ledger) -> None:
    assert not filled.verify(key=b"another").is_intact


@pytest.mark.parametrize("table", [schema.events, schema.checkpoints], ids=lambda t: t.name)
@pytest.mark.parametrize("deed", ["UPDATE {} SET digest = ''", "DELETE FROM {}"])
def test_the_database_refuses_to_change_what_is_only_appended(
    filled: Ledger, ledger_url: str, table: Table, deed: str
) -> None:
    engine = create_engine(parse(ledger_url))
    with engine.connect() as connection, pytest.raises(Exception, match="only ever appended"):
        connection.execute(text(deed.format(table.name)))
    engine.dispose()
    assert looked(filled).is_intact


def test_checkpoints_chain_and_leave_what_is_not_settled(
    open_ledger: OpenLedger, clock: FakeClock
) -> None:
    ledger = open_ledger()
    held(ledger)
    assert ledger.seal(every_s=0) is None
    clock.advance(121)
    first = ledger.seal(every_s=0)
    held(ledger, "Another.")
    assert first is not None and ledger.seal(every_s=0) is None
    clock.advance(121)
    assert ledger.seal(every_s=3600) is None
    second = ledger.seal(every_s=60)
    assert second is not None and second.through > first.through
    assert ledger.verify().checkpoints == 2
    held(ledger, "A third.")
    found = ledger.verify()
    assert (found.is_intact, found.unsealed > 0) == (True, True)


def test_two_services_that_seal_at_once_make_one_checkpoint(
    open_ledger: OpenLedger, clock: FakeClock
) -> None:
    one, two = open_ledger(), open_ledger()
    held(one)
    clock.advance(121)
    made = [one.seal(every_s=0), two.seal(every_s=0)]
    assert [bool(each) for each in made] == [True, False]
    assert one.verify().is_intact


def test_an_export_can_be_verified_without_this_program(filled: Ledger) -> None:
    lines = [json.loads(json.dumps(line)) for line in filled.export()]
    heads: dict[str, str] = {}
    running, count, previous = hashlib.sha256(), 0, "0" * 64

    def canon(parts: list[object]) -> bytes:
        return json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()

    for line in lines:
        if "checkpoint" in line:
            parts = [previous, line["at_us"], line["checkpoint"], count, running.hexdigest()]
            assert hashlib.sha256(canon(parts)).hexdigest() == line["digest"]
            assert hmac.new(KEY, line["digest"].encode(), "sha256").hexdigest() == line["seal"]
            running, count, previous = hashlib.sha256(), 0, line["digest"]
            continue
        names = ("chain", "ordinal", "at_us", "actor", "address", "kind", "facts")
        parts = [heads.get(line["chain"], "0" * 64), *(line[name] for name in names)]
        assert hashlib.sha256(canon(parts)).hexdigest() == line["digest"]
        heads[line["chain"]] = line["digest"]
        running.update(f"{line['number']}:{line['digest']}\n".encode())
        count += 1
    assert count == 0, "the last line is the checkpoint"


def test_an_export_goes_on_where_another_ended(filled: Ledger) -> None:
    whole = list(filled.export())
    numbers = [line["number"] for line in whole if "number" in line]
    half = numbers[len(numbers) // 2]
    assert isinstance(half, int)
    parts = [*filled.export(through=half), *filled.export(after=half)]
    assert parts == whole


def test_a_challenger_s_answer_is_bound_too(ledger: Ledger) -> None:
    hold = held(ledger)
    assert ledger.challenged(hold.route_id, {"agent": "x"}, facts={"said": "agrees"})
    assert ledger.verify().is_intact
