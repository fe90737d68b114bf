"""Accepted means committed, once."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from clawmarshal.errors import ConflictError, LedgerError, NotFoundError
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import Answer, Mode, Submission
from clawmarshal.router.ledger.states import RouteState
from clawmarshal.router.message import Attachment, InboundMessage
from clawmarshal.router.route import Outcome, Reason
from tests.contracts.ledger.conftest import OpenLedger
from tests.support.clock import FakeClock
from tests.support.ledger_cases import ANNA, TERMS, decision, held, ready, submission

FULL = Submission(
    InboundMessage(
        "Where is my invoice?",
        channel="chat",
        account="main",
        sender="dora",
        conversation="room-1",
        message_id="m-1",
        revision=3,
        received_at=datetime(2026, 1, 1, 12, 30, 0, 250_000, tzinfo=UTC),
        labels=("tag:billing", "vip"),
        attachments=(Attachment("image", "a.png"), Attachment("audio")),
    ),
    "carla",
    mode=Mode.DECIDE,
    idempotency_key="k-1",
    pin="finance",
    on_uncertain="clarify",
    clarifies="rt_" + "1" * 32,
    cancel_on_disconnect=True,
    reply_target="target-1",
)


def test_accepted_message_survives_reopening(open_ledger: OpenLedger) -> None:
    first = open_ledger()
    accepted = first.accept(FULL)
    first.close()
    again = open_ledger()
    assert again.submission(accepted.route_id) == FULL
    assert again.undecided() == (accepted.route_id,)


def test_record_holds_everything_that_was_asked(ledger: Ledger, clock: FakeClock) -> None:
    record = ledger.route(ledger.accept(FULL).route_id)
    assert (record.message, record.message.digest) == (FULL.message, FULL.message.digest)
    assert (record.mode, record.pin, record.on_uncertain) == (Mode.DECIDE, "finance", "clarify")
    assert (record.clarifies, record.reply_target) == (FULL.clarifies, "target-1")
    assert (record.idempotency_key, record.cancel_on_disconnect) == ("k-1", True)
    assert (record.state, record.accepted_at) == (RouteState.RECEIVED, clock.now())
    assert not record.is_resting


def test_same_key_and_body_gives_the_same_route(ledger: Ledger) -> None:
    first = ledger.accept(submission(key="k"))
    second = ledger.accept(submission(key="k"))
    assert (first.created, first.deduplicated_by) == (True, None)
    assert (second.created, second.deduplicated_by) == (False, "key")
    assert second.route_id == first.route_id


@pytest.mark.parametrize(
    "change",
    [
        {"message": InboundMessage("Another text.", channel="chat")},
        {"message": InboundMessage("When is the tax return due?", channel="mail")},
        {"message": InboundMessage("When is the tax return due?", channel="chat", labels=("x",))},
        {
            "message": InboundMessage(
                "When is the tax return due?", channel="chat", attachments=(Attachment("image"),)
            )
        },
        {"pin": "finance"},
        {"mode": Mode.DECIDE},
        {"clarifies": "rt_" + "2" * 32},
        {"on_uncertain": "clarify"},
        {"reply_target": "elsewhere"},
    ],
    ids=lambda change: "-".join(change),
)
def test_same_key_with_another_body_is_refused(ledger: Ledger, change: dict[str, Any]) -> None:
    first = ledger.accept(submission(key="k"))
    with pytest.raises(ConflictError) as refused:
        ledger.accept(replace(submission(key="k"), **change))
    assert refused.value.code == "idempotency-mismatch"
    assert refused.value.detail["route_id"] == first.route_id
    assert len(ledger.routes()[0]) == 1


def test_time_of_receipt_does_not_make_another_body(ledger: Ledger) -> None:
    ledger.accept(FULL)
    later = replace(FULL, message=replace(FULL.message, received_at=None))
    assert ledger.accept(later).deduplicated_by == "key"


def test_keys_of_two_owners_never_meet(ledger: Ledger) -> None:
    one = ledger.accept(submission(key="k", owner="carla"))
    other = ledger.accept(submission(key="k", owner="dora"))
    assert other.created and other.route_id != one.route_id


def test_same_message_id_gives_the_same_route(ledger: Ledger) -> None:
    first = ledger.accept(submission(message_id="m", conversation="a", key="k1"))
    again = ledger.accept(submission(message_id="m", conversation="a", key="k2"))
    assert (again.route_id, again.deduplicated_by) == (first.route_id, "message_id")
    retried = ledger.accept(submission(message_id="m", conversation="a", key="k2"))
    assert (retried.route_id, retried.deduplicated_by) == (first.route_id, "key")
    with pytest.raises(ConflictError):
        ledger.accept(submission("Another text.", key="k2"))


def test_same_message_id_with_another_text_is_refused(ledger: Ledger) -> None:
    ledger.accept(submission("One.", message_id="m"))
    with pytest.raises(ConflictError, match="message id"):
        ledger.accept(submission("Two.", message_id="m"))


@pytest.mark.parametrize(
    "other",
    [{"conversation": "b"}, {"conversation": None}, {"owner": "dora"}, {"revision": 1}],
    ids=["another chat", "no chat", "another owner", "an edit"],
)
def test_same_message_id_elsewhere_is_another_message(
    ledger: Ledger, other: dict[str, Any]
) -> None:
    ledger.accept(submission(message_id="m", conversation="a"))
    again = ledger.accept(submission(**{"message_id": "m", "conversation": "a", **other}))
    assert again.created


def test_messages_without_key_or_id_are_all_accepted(ledger: Ledger) -> None:
    ids = {ledger.accept(submission()).route_id for _ in range(3)}
    assert len(ids) == 3


def test_fifty_threads_with_one_key_make_one_row(ledger: Ledger) -> None:
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda _: ledger.accept(submission(key="k")), range(50)))
    assert len({answer.route_id for answer in answers}) == 1
    assert sum(answer.created for answer in answers) == 1
    assert len(ledger.routes()[0]) == 1


def test_text_that_no_database_keeps_is_refused(ledger: Ledger) -> None:
    with pytest.raises(LedgerError) as refused:
        ledger.accept(submission(reply_target="\ud800"))
    assert refused.value.code == "text-invalid"
    assert ledger.undecided() == ()


def test_unknown_route_is_not_found(ledger: Ledger) -> None:
    with pytest.raises(NotFoundError):
        ledger.submission("rt_" + "0" * 32)


def test_undecided_skips_what_is_young(ledger: Ledger, clock: FakeClock) -> None:
    old = ledger.accept(submission()).route_id
    clock.advance(20)
    ledger.accept(submission())
    assert ledger.undecided(min_age_s=10) == (old,)


def test_conversation_counts_messages_within_its_windows(ledger: Ledger, clock: FakeClock) -> None:
    origin: dict[str, Any] = {"conversation": "a", "sender": "s"}
    ledger.accept(submission("Again.", **origin))
    clock.advance(100)
    ledger.accept(submission("Again.", **origin))
    ledger.accept(submission("Other.", **origin))
    ledger.accept(submission("Elsewhere.", conversation="b", sender="s"))
    last = ledger.accept(submission("Again.", **origin)).route_id
    ledger.accept(submission("Again.", **origin))
    view = ledger.conversation(last, window_s=60)
    assert (view.repeats, view.in_conversation, view.from_sender) == (3, 3, 4)
    assert ledger.conversation(last, window_s=60, repeat_window_s=50).repeats == 2


def test_message_without_conversation_and_sender_counts_alone(ledger: Ledger) -> None:
    ledger.accept(submission("Again."))
    last = ledger.accept(submission("Again.")).route_id
    view = ledger.conversation(last, window_s=60)
    assert (view.repeats, view.in_conversation, view.from_sender) == (1, 1, 0)


def test_conversation_is_with_the_agent_of_the_last_dispatch(ledger: Ledger) -> None:
    ready(ledger, conversation="a")
    held(ledger, conversation="a")  # nobody approved it
    last = ledger.accept(submission(conversation="a")).route_id
    later = ledger.accept(submission(conversation="a")).route_id
    ledger.record(later, decision(agent="security"), explanation={}, terms=TERMS["security"])
    assert ledger.conversation(last, window_s=60).agent == "finance"
    lone = ledger.accept(submission(conversation="b")).route_id
    assert ledger.conversation(lone, window_s=60).agent is None


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        (Outcome.DISPATCH, RouteState.READY),
        (Outcome.HOLD, RouteState.HELD),
        (Outcome.CLARIFY, RouteState.CLARIFY),
        (Outcome.DECLINE, RouteState.DECLINED),
        (Outcome.CANCELLED, RouteState.CANCELLED),
    ],
)
def test_outcome_leads_to_its_state(ledger: Ledger, outcome: Outcome, state: RouteState) -> None:
    route_id = ledger.accept(submission()).route_id
    record = ledger.record(
        route_id, decision(outcome), explanation={"policy": {"x": 1}}, terms=TERMS["finance"]
    )
    assert (record.state, record.route) == (state, decision(outcome))
    assert record.explanation == {"policy": {"x": 1}}
    assert record.is_resting is (state is not RouteState.READY)
    assert ledger.undecided() == ()


@pytest.mark.parametrize("outcome", [Outcome.DISPATCH, Outcome.HOLD])
def test_decide_mode_and_shadow_end_decided(ledger: Ledger, outcome: Outcome) -> None:
    previewed = ledger.accept(submission(mode=Mode.DECIDE)).route_id
    shadowed = ledger.accept(submission()).route_id
    for route_id, is_shadow in ((previewed, False), (shadowed, True)):
        record = ledger.record(
            route_id, decision(outcome), explanation={}, terms=None, is_shadow=is_shadow
        )
        assert (record.state, record.hold) == (RouteState.DECIDED, None)
        assert record.is_resting


def test_second_decision_changes_nothing(ledger: Ledger) -> None:
    route_id = ready(ledger)
    again = ledger.record(
        route_id, decision(Outcome.HOLD), explanation={"late": True}, terms=TERMS["finance"]
    )
    assert (again.state, again.hold, again.explanation) == (RouteState.READY, None, {})


def test_decision_after_a_cancel_changes_nothing(ledger: Ledger) -> None:
    route_id = ledger.accept(submission()).route_id
    ledger.cancel(route_id, ANNA)
    record = ledger.record(route_id, decision(), explanation={}, terms=TERMS["finance"])
    assert record.state is RouteState.CANCELLED


def test_explanation_may_hold_whatever_the_router_uses(ledger: Ledger) -> None:
    route_id = ledger.accept(submission()).route_id
    told = {"set": {"b", "a"}, "reason": Reason.RISK, "nan": float("nan"), "at": FULL, "n": 1.5}
    told["when"] = datetime(2026, 1, 1, tzinfo=UTC)
    record = ledger.record(route_id, decision(), explanation=told, terms=TERMS["finance"])
    assert record.explanation == {
        "set": ["a", "b"],
        "reason": "risk",
        "nan": None,
        "at": str(FULL),
        "n": 1.5,
        "when": "2026-01-01T00:00:00+00:00",
    }


def test_key_names_its_message_for_as_long_as_its_window(
    open_ledger: OpenLedger, clock: FakeClock
) -> None:
    ledger = open_ledger(repeat_window_s=60.0)
    first = ledger.accept(submission(key="k", message_id="m"))
    clock.advance(59)
    assert ledger.accept(submission(key="k", message_id="m")).route_id == first.route_id
    clock.advance(1)
    second = ledger.accept(submission("Another text.", key="k", message_id="m"))
    assert second.created and second.route_id != first.route_id
    clock.advance(59)
    repeat = ledger.accept(submission("Another text.", key="k", message_id="m"))
    assert repeat.route_id == second.route_id


def test_key_names_its_message_for_ever_without_a_window(ledger: Ledger, clock: FakeClock) -> None:
    first = ledger.accept(submission(key="k"))
    clock.advance(10 * 365 * 86_400)
    assert ledger.accept(submission(key="k")).route_id == first.route_id


def test_first_answer_is_the_one_that_is_kept(ledger: Ledger) -> None:
    route_id = ready(ledger)
    assert ledger.kept_answer(route_id) is None
    first, second = Answer(200, '{"a": "\u00e9"}'), Answer(200, "{}")
    assert ledger.keep_answer(route_id, first) == first
    assert ledger.keep_answer(route_id, second) == first
    assert ledger.kept_answer(route_id) == first


def test_of_many_answers_at_once_one_is_kept(ledger: Ledger) -> None:
    route_id = ready(ledger)
    with ThreadPoolExecutor(20) as pool:
        given = [Answer(200, f"[{number}]") for number in range(20)]
        kept = list(pool.map(lambda answer: ledger.keep_answer(route_id, answer), given))
    assert len({answer.body for answer in kept}) == 1
