"""What can be read back: routes, events, keys, figures."""

import hashlib
from typing import Any

import pytest
from sqlalchemy import delete, insert, update

from clawmarshal.errors import LedgerError, NotFoundError
from clawmarshal.router.ledger import schema
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import Principal
from clawmarshal.router.ledger.states import RouteState
from tests.contracts.ledger.conftest import OpenLedger
from tests.support.clock import FakeClock
from tests.support.ledger_cases import ANNA, DONE, TERMS, held, launching, ready, submission
from tests.support.tampering import unguarded

SECRET = "The vault code is 1234."


def tamper(ledger: Ledger, statement: Any) -> None:
    """Change a row behind the ledger's back."""

    def change(tx: Transaction) -> None:
        with unguarded(tx.connection):
            tx.connection.execute(statement)

    ledger._database.write(change)


def test_pages_of_routes_hold_each_once_newest_first(ledger: Ledger) -> None:
    expected = [ready(ledger, owner=name) for name in ("a", "b", "a", "a")][::-1]
    seen: list[str] = []
    cursor = None
    while True:
        page, cursor = ledger.routes(limit=3, cursor=cursor)
        seen += [route.id for route in page]
        if cursor is None:
            break
    assert seen == expected
    assert [route.id for route in ledger.routes(owner="b")[0]] == [expected[2]]


def test_routes_are_listed_by_state(ledger: Ledger) -> None:
    ready(ledger)
    hold = held(ledger)
    (found,) = ledger.routes(state="held")[0]
    assert (found.id, found.hold) == (hold.route_id, hold)


@pytest.mark.parametrize(("limit", "count"), [(0, 1), (-5, 1), (10_000, 3)])
def test_pages_have_a_sensible_size(ledger: Ledger, limit: int, count: int) -> None:
    for _ in range(3):
        ready(ledger)
    assert len(ledger.routes(limit=limit)[0]) == count


def test_route_of_another_owner_is_not_found(ledger: Ledger) -> None:
    route_id = ready(ledger, owner="carla")
    assert ledger.route(route_id, owner="carla").id == route_id
    for read in (ledger.route, ledger.events):
        with pytest.raises(NotFoundError):
            read(route_id, owner="dora")


def test_counts_name_every_state(ledger: Ledger) -> None:
    ready(ledger)
    held(ledger), held(ledger)
    counts = ledger.counts()
    assert {name for name in counts if name.startswith("routes.")} == {
        f"routes.{state}" for state in RouteState
    }
    assert (counts["routes.ready"], counts["routes.held"], counts["routes.done"]) == (1, 2, 0)
    assert counts["holds.open"] == 2


def test_every_move_is_an_event_with_its_actor(ledger: Ledger, worker: str) -> None:
    hold = held(ledger)
    ledger.approve(hold.id, ANNA, terms=TERMS["finance"], note="yes")
    order = ledger.claim(worker, terms=TERMS, max_children=1)
    assert order is not None
    ledger.started(order, 4711)
    ledger.finish(order, DONE)
    events = ledger.events(hold.route_id)
    assert [(event.kind, event.actor) for event in events] == [
        ("received", "owner:carla"),
        ("decided", "service"),
        ("held", "service"),
        ("approved", "person:anna"),
        ("ready", "service"),
        ("launching", f"worker:{worker}"),
        ("running", f"worker:{worker}"),
        ("done", f"worker:{worker}"),
    ]
    assert events[3].facts["key"] == "ck_anna"
    assert [event.number for event in events] == sorted({event.number for event in events})
    assert ledger.events(hold.route_id, after=events[5].number) == events[6:]
    assert ledger.events(hold.route_id, limit=2) == events[:2]


def test_events_hold_neither_the_text_nor_a_hash_of_it(ledger: Ledger) -> None:
    hold = held(ledger, SECRET)
    ledger.approve(hold.id, ANNA, terms=TERMS["finance"])
    told = str(ledger.events(hold.route_id))
    assert SECRET not in told
    assert hashlib.sha256(SECRET.encode()).hexdigest() not in told


def test_same_text_looks_different_in_two_chains(ledger: Ledger) -> None:
    seals = {ledger.events(ready(ledger, SECRET))[0].facts["text"] for _ in range(2)}
    assert len(seals) == 2


def test_chain_of_a_route_verifies(ledger: Ledger, worker: str) -> None:
    order = launching(ledger, worker)
    ledger.finish(order, DONE)
    check = ledger.verify_chain(order.route_id)
    assert (check.is_intact, check.events, check.fault) == (True, 6, None)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (update(schema.events).where(schema.events.c.kind == "held").values(actor="x"), "changed"),
        (update(schema.events).where(schema.events.c.kind == "held").values(facts="{}"), "changed"),
        (
            update(schema.events).where(schema.events.c.kind == "held").values(address="x"),
            "changed",
        ),
        (delete(schema.events).where(schema.events.c.kind == "decided"), "event 2 is missing"),
        (delete(schema.events), "no events"),
    ],
    ids=["actor", "facts", "address", "a missing event", "nothing left"],
)
def test_tampering_is_found(ledger: Ledger, change: Any, fault: str) -> None:
    hold = held(ledger)
    tamper(ledger, change)
    check = ledger.verify_chain(hold.route_id)
    assert not check.is_intact
    assert check.fault is not None and fault in check.fault


def test_swapped_chains_are_found(ledger: Ledger) -> None:
    one, other = held(ledger), held(ledger)
    aside = update(schema.events).values(chain="aside").where(schema.events.c.chain == one.route_id)
    tamper(ledger, aside)
    moved = update(schema.events).where(schema.events.c.chain == other.route_id)
    tamper(ledger, moved.values(chain=one.route_id))
    assert not ledger.verify_chain(one.route_id).is_intact


def test_key_opens_and_says_who_acts(ledger: Ledger) -> None:
    key = ledger.create_key("laptop", "anna", ["review", "route", "route"])
    (record,) = ledger.list_keys()
    assert ledger.authenticate(key, "10.0.0.7") == Principal(
        "anna", record.id, frozenset({"review", "route"}), "10.0.0.7"
    )
    assert (record.name, record.person, record.revoked_at) == ("laptop", "anna", None)
    assert key.startswith("cmk_") and len(key) >= 4 + 43


def test_key_is_kept_nowhere(ledger: Ledger, tmp_path: Any) -> None:
    key = ledger.create_key("laptop", "anna", ["admin"])
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or key.encode() not in path.read_bytes()


@pytest.mark.parametrize(
    ("scopes", "scope", "may"),
    [({"route"}, "route", True), ({"route"}, "review", False), ({"admin"}, "review", True)],
)
def test_principal_may_what_its_scopes_say(scopes: set[str], scope: str, may: bool) -> None:
    assert Principal("anna", "ck_1", frozenset(scopes)).may(scope) is may


@pytest.mark.parametrize("wrong", ["", "cmk_", "cmk_" + "x" * 43, "\ud800", "é"])
def test_wrong_key_opens_nothing(ledger: Ledger, wrong: str) -> None:
    ledger.create_key("laptop", "anna", ["admin"])
    assert ledger.authenticate(wrong) is None


def test_revoked_key_opens_nothing(ledger: Ledger, clock: FakeClock) -> None:
    key = ledger.create_key("laptop", "anna", ["admin"])
    (record,) = ledger.list_keys()
    revoked = ledger.revoke_key(record.id)
    assert revoked.revoked_at == clock.now()
    clock.advance(5)
    assert ledger.revoke_key(record.id) == revoked
    assert ledger.authenticate(key) is None
    with ledger._database.read() as tx:
        assert tx.connection.execute(
            schema.events.select().where(schema.events.c.chain == record.id)
        ).all()
    assert ledger.verify_chain(record.id).is_intact


def test_unknown_key_cannot_be_revoked(ledger: Ledger) -> None:
    with pytest.raises(NotFoundError):
        ledger.revoke_key("ck_" + "0" * 32)


@pytest.mark.parametrize(
    ("name", "person", "scopes", "code"),
    [
        ("a", "a", [], "scope-invalid"),
        ("a", "a", ["route", "root"], "scope-invalid"),
        (" ", "a", ["route"], "key-invalid"),
        ("a", "", ["route"], "key-invalid"),
    ],
)
def test_key_that_means_nothing_is_refused(
    ledger: Ledger, name: str, person: str, scopes: list[str], code: str
) -> None:
    with pytest.raises(LedgerError) as refused:
        ledger.create_key(name, person, scopes)
    assert refused.value.code == code
    assert ledger.list_keys() == ()


def test_listeners_hear_of_moves_after_their_commit(
    ledger: Ledger, open_ledger: OpenLedger, worker: str
) -> None:
    other = open_ledger()
    heard: list[tuple[str, RouteState]] = []

    def hear(route_id: str, state: RouteState) -> None:
        assert other.route(route_id).state in (state, RouteState.HELD)
        heard.append((route_id, state))

    unlisten = ledger.listen(hear)
    hold = held(ledger)
    assert [state for _, state in heard] == ["received", "decided", "held"]
    unlisten()
    ledger.reject(hold.id, ANNA, reason="No.")
    assert len(heard) == 3


def test_listeners_hear_nothing_of_what_failed(ledger: Ledger) -> None:
    heard: list[str] = []
    ledger.listen(lambda route_id, _: heard.append(route_id))
    with pytest.raises(LedgerError):
        ledger.accept(submission(reply_target="\ud800"))
    assert heard == []


def test_row_of_an_older_version_stays_readable(ledger: Ledger) -> None:
    route_id = ready(ledger)
    blank = update(schema.messages).values(text="\ufeff ", labels=["Not A Slug"])
    tamper(ledger, blank)
    message = ledger.route(route_id).message
    assert (message.text, message.labels) == ("\ufeff ", ("Not A Slug",))


def test_ledger_of_a_newer_version_is_refused(ledger: Ledger, open_ledger: OpenLedger) -> None:
    tamper(ledger, update(schema.version).values(version_num="9999"))
    with pytest.raises(LedgerError) as refused:
        open_ledger()
    assert refused.value.code == "ledger-newer"


def test_broken_rule_is_an_error_that_is_not_retried(ledger: Ledger) -> None:
    with pytest.raises(LedgerError) as refused:
        tamper(ledger, insert(schema.sessions).values(scope="x", agent="y", generation=None))
    assert (refused.value.code, refused.value.retryable) == ("ledger-constraint", False)


def test_listener_that_fails_undoes_nothing_and_silences_nobody(ledger: Ledger) -> None:
    heard: list[str] = []

    def fail(_route_id: str, _state: RouteState) -> None:
        raise RuntimeError("theirs")

    ledger.listen(fail)
    ledger.listen(lambda route_id, _: heard.append(route_id))
    route_id = ledger.accept(submission()).route_id
    assert heard == [route_id]
    assert ledger.route(route_id).state is RouteState.RECEIVED


def test_a_challengers_first_answer_stays_beside_the_decision(ledger: Ledger) -> None:
    waiting = ledger.accept(submission("hello")).route_id
    assert not ledger.challenged(waiting, {"agent": 1}, facts={"said": "agrees"})
    route_id = ready(ledger)
    before = ledger.route(route_id)
    assert ledger.challenged(route_id, {"agent": 1}, facts={"said": "agrees"})
    assert not ledger.challenged(route_id, {"agent": 2}, facts={"said": "differs"})
    after = ledger.route(route_id)
    assert after.explanation == {**before.explanation, "challenger": {"agent": 1}}
    assert (after.state, after.agent, after.route) == (before.state, before.agent, before.route)
    told = [
        (one.kind, {n: v for n, v in one.facts.items() if n != "explanation_digest"})
        for one in ledger.events(route_id)
    ]
    assert told[-1] == ("challenged", {"said": "agrees"})
    assert ledger.verify_chain(route_id).is_intact
