"""Evidence of lost turns: appended to the trail, shown with the route, and never a move."""

import pytest

from clawmarshal.errors import NotFoundError
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import RouteRecord
from clawmarshal.router.ledger.states import RouteState
from clawmarshal.transport.evidence import Evidence, EvidenceCode
from tests.support.clock import FakeClock
from tests.support.ledger_cases import ANNA, DONE, TERMS, launching, lost

ANSWERED = Evidence(
    EvidenceCode.ANSWERED, "run-0001", "run-id", "The answer\x00\ud800.", {"reply_chars": 11}
)
NOTHING = Evidence(EvidenceCode.NOTHING_FOUND, facts={"in_transcript": False})


def attach(ledger: Ledger, route: RouteRecord, found: Evidence) -> RouteRecord:
    ledger.attach_evidence(route.id, route.attempts[-1].id, found)
    return ledger.route(route.id)


@pytest.mark.parametrize("found", [ANSWERED, NOTHING], ids=lambda found: found.code)
def test_evidence_changes_no_state(ledger: Ledger, found: Evidence) -> None:
    before = lost(ledger)
    after = attach(ledger, before, found)
    assert (after.state, after.ran, after.reply_text) == (RouteState.UNKNOWN, None, None)
    assert after.updated_at == before.updated_at
    assert after.attempts[-1].state == before.attempts[-1].state
    assert ledger.verify_chain(before.id).is_intact


def test_evidence_is_shown_oldest_first_with_who_looked(ledger: Ledger) -> None:
    route = lost(ledger)
    attach(ledger, route, NOTHING)
    ledger.attach_evidence(route.id, route.attempts[-1].id, ANSWERED, principal=ANNA)
    shown = ledger.route(route.id).evidence
    assert [(e.actor, e.facts["code"]) for e in shown] == [
        ("service", "nothing-found"),
        ("person:anna", "answered"),
    ]
    assert ledger.routes()[0][0].evidence == shown


def test_events_hold_no_text_and_the_answer_stands_beside_the_attempt(ledger: Ledger) -> None:
    after = attach(ledger, lost(ledger), ANSWERED)
    assert "answer" not in str(after.evidence[0].facts).replace("answered", "")
    assert len(str(after.evidence[0].facts["reply_seal"])) == 64
    late = after.attempts[-1].late_evidence
    assert late is not None
    assert (late["reply_text"], late["source"]) == ("The answer\ufffd?.", "gateway")


def test_what_a_late_worker_saw_is_never_replaced(ledger: Ledger, clock: FakeClock) -> None:
    order = launching(ledger, ledger.register_worker("slow"))
    clock.advance(3600)
    ledger.sweep()
    assert ledger.finish(order, DONE) is False
    before = ledger.route(order.route_id).attempts[-1].late_evidence
    after = attach(ledger, ledger.route(order.route_id), ANSWERED)
    assert after.attempts[-1].late_evidence == before
    assert before is not None


def test_only_unknown_routes_are_lost(ledger: Ledger, worker: str) -> None:
    order = launching(ledger, worker)
    assert ledger.lost(order.route_id) is None
    ledger.finish(order, DONE)
    assert ledger.lost(order.route_id) is None
    gone = lost(ledger, conversation="c")
    found = ledger.lost(gone.id)
    assert found is not None
    assert (found.attempt_id, found.agent) == (gone.attempts[-1].id, "finance")
    assert found.session_key == gone.attempts[-1].session_key
    assert found.text == gone.message.text
    with pytest.raises(NotFoundError):
        ledger.lost("rt_" + "0" * 32)


def test_evidence_needs_an_attempt_of_the_route(ledger: Ledger) -> None:
    one, other = lost(ledger), lost(ledger, conversation="c")
    with pytest.raises(NotFoundError):
        ledger.attach_evidence(one.id, other.attempts[-1].id, NOTHING)
    assert ledger.route(one.id).evidence == ()


def test_what_was_never_searched_is_listed_newest_first(ledger: Ledger, clock: FakeClock) -> None:
    first, second = lost(ledger), lost(ledger, conversation="c")
    assert ledger.unsearched() == (second.id, first.id)
    assert ledger.unsearched(limit=1) == (second.id,)
    attach(ledger, second, NOTHING)
    assert ledger.unsearched() == (first.id,)

    # A later launch of the same route that is lost, too, has not been searched for.
    clock.advance(3600)
    ledger.resolve(second.id, ANNA, answer="rerun")
    worker = ledger.register_worker("doomed")
    assert ledger.claim(worker, terms=TERMS, max_children=8) is not None
    ledger.release_worker(worker)
    ledger.sweep()
    assert ledger.unsearched() == (second.id, first.id)


def test_evidence_of_a_route_that_a_person_resolved_is_kept(ledger: Ledger) -> None:
    route = lost(ledger)
    ledger.resolve(route.id, ANNA, answer="not_run")
    after = attach(ledger, route, ANSWERED)
    assert (after.state, len(after.evidence)) == (RouteState.FAILED, 1)
