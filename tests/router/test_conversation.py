"""What a conversation adds: risk over its last turns, its agent, and its context."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from clawmarshal.roster.agent import Risk
from clawmarshal.router.ballot import Ballot
from clawmarshal.router.conversation import (
    MAX_TURNS,
    SWITCH,
    TURN_CHARS,
    Fate,
    PastTurn,
    context_of,
    conversation_floor,
    excerpt,
    is_follow_up,
)
from clawmarshal.router.ledger.records import RouteRecord
from clawmarshal.router.ledger.states import RouteState
from clawmarshal.router.message import InboundMessage, Utterance
from clawmarshal.router.models.scripted import ScriptedModel, scripted_answers
from clawmarshal.router.openclaw_router import OpenClawRouter
from clawmarshal.router.redaction import Redactor
from clawmarshal.router.risk import risk_floor
from clawmarshal.router.route import Outcome, Via
from tests.support.dialogues import DIALOGUES, Dialogue
from tests.support.fake_transport import FakeTransport, done
from tests.support.rooms import FLEET, LOW, REVIEWER, Room, room, submission
from tests.support.scenes import CALM, shares
from tests.support.system_one_server import FakeServer, preferring

PROPOSAL = "Shall I delete the production database?"
HELLO = "Have a look please"


def floor(text: str, *past: PastTurn) -> Risk:
    return conversation_floor(text, past, judge=risk_floor).tier


@pytest.mark.parametrize("dialogue", DIALOGUES, ids=lambda one: one.name)
def test_the_last_message_is_as_risky_as_its_dialogue(dialogue: Dialogue) -> None:
    found = conversation_floor(dialogue.text, dialogue.past, judge=risk_floor)
    assert found.tier is dialogue.tier
    if found.tier is not risk_floor(dialogue.text).tier:
        assert {"assent", "conversation", "rephrased"} & set(found.codes)


def test_there_are_dialogues_enough_and_the_last_message_alone_would_pass() -> None:
    assert len(DIALOGUES) >= 30
    alone = [d.name for d in DIALOGUES if risk_floor(d.text).tier is Risk.HIGH]
    assert alone == ["long-with-a-pointer"] or not alone


@pytest.mark.parametrize(
    "text", ["Wire $5,000 to Bob now", "What is the time?", "", "🙂", "Delete the old backups"]
)
@pytest.mark.parametrize("dialogue", DIALOGUES[::7], ids=lambda one: one.name)
def test_what_came_before_only_raises(text: str, dialogue: Dialogue) -> None:
    alone = risk_floor(text)
    found = conversation_floor(text, dialogue.past, judge=risk_floor)
    assert found.tier.level >= alone.tier.level
    assert set(alone.codes) <= set(found.codes)


def test_a_conversation_without_a_past_is_judged_by_its_text() -> None:
    assert conversation_floor("yes", (), judge=risk_floor) == risk_floor("yes")


def test_only_the_last_turns_count() -> None:
    old = PastTurn("Wire $5,000 to Bob", None, Risk.HIGH, Fate.WAITING)
    since = [PastTurn("What is the weather?", "Rain.")] * MAX_TURNS
    assert floor("What is the date?", old, *since[1:]) is Risk.MEDIUM
    assert floor("What is the date?", old, *since) is Risk.LOW


@pytest.mark.parametrize("where", ["begin", "end"])
def test_a_proposal_at_either_end_of_a_long_reply_is_seen(where: str) -> None:
    padding = "This is a paragraph about nothing at all. " * 2000
    reply = f"{PROPOSAL} {padding}" if where == "begin" else f"{padding} {PROPOSAL}"
    assert floor("yes", PastTurn(HELLO, reply)) is Risk.HIGH


def test_an_excerpt_keeps_both_ends_and_its_limit() -> None:
    assert excerpt("short") == "short"
    long = excerpt("a" * TURN_CHARS + "b" * TURN_CHARS)
    assert len(long) == TURN_CHARS
    assert (long[0], long[-1]) == ("a", "b")


@pytest.mark.parametrize(
    ("text", "says_nothing"),
    [
        ("yes, do that", True),
        ("ok thanks", True),
        ("no, cancel that", True),
        ("はい、お願いします", True),
        ("👍", True),
        ("yes, and book a table at Luigi's", False),
        ("the second invoice", False),
        ("", False),
    ],
)
def test_what_a_follow_up_is(text: str, says_nothing: bool) -> None:
    assert is_follow_up(text) is says_nothing


def test_a_model_is_shown_the_last_turns_and_no_more() -> None:
    past = [PastTurn(f"text {n} " + "x" * 5000, f"reply {n}") for n in range(10)]
    context = context_of(past)
    assert len(context) == 2 * MAX_TURNS
    assert context[-1] == Utterance("agent", "reply 9")
    assert max(len(one.text) for one in context) == TURN_CHARS


def test_a_follow_up_keeps_its_agent_whatever_the_model_prefers() -> None:
    other = CALM.given(conversation_agent="personal")
    assert other.decide().agent == "finance"
    assert other.given(is_follow_up=True).decide().agent == "personal"
    assert other.given(is_follow_up=True).decide().via is Via.CONVERSATION
    pinned = other.given(is_follow_up=True, pin="security")
    assert pinned.decide().agent == "security"


def test_another_agent_takes_over_by_the_switch_margin_alone() -> None:
    kept = CALM.given(conversation_agent="personal").ruled(switch_margin=0.25)
    assert replace(kept, agent=shares(0.50, 0.30)).decide().agent == "personal"
    assert replace(kept, agent=shares(0.60, 0.30)).decide().agent == "finance"


# --- through the desk and its ledger ----------------------------------------------------------


def play(path: Path, scene: Callable[[Room], Awaitable[None]], **kwargs: object) -> None:
    async def run() -> None:
        async with asyncio.timeout(60), room(path, **kwargs) as parts:  # type: ignore[arg-type]  # passed on
            await scene(parts)

    asyncio.run(run())


async def send(parts: Room, text: str, wait_s: float = 30, **fields: object) -> RouteRecord:
    given = {"conversation": "c", **fields}
    record, _ = await parts.desk.submit(submission(text, **given), wait_s=wait_s)  # type: ignore[arg-type]  # passed on
    return record


def proposing() -> FakeTransport:
    return FakeTransport(done(PROPOSAL))


def test_consent_to_a_risky_proposal_is_held(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        assert (await send(parts, HELLO)).state is RouteState.DONE
        assert (await send(parts, "no")).state is RouteState.DONE
        record = await send(parts, "yes, do that")
        assert record.state is RouteState.HELD
        assert record.reason == "risk"
        assert record.route is not None
        assert "assent" in record.route.risk.codes
        assert record.route.via is Via.CONVERSATION

    play(tmp_path, scene, transport=proposing())


@pytest.mark.parametrize(
    "elsewhere",
    [{"conversation": "d"}, {"owner": "bob"}, {"channel": "sms"}, {"conversation": None}],
    ids=["conversation", "owner", "channel", "none"],
)
def test_consent_elsewhere_inherits_nothing(tmp_path: Path, elsewhere: dict[str, object]) -> None:
    async def scene(parts: Room) -> None:
        await send(parts, HELLO)
        record = await send(parts, "yes, do that", **elsewhere)  # type: ignore[arg-type]  # as named
        assert record.route is not None
        assert "assent" not in record.route.risk.codes

    play(tmp_path, scene, transport=proposing())


def test_a_rephrase_after_a_reject_is_held_and_other_subjects_are_not(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        first = await send(parts, "Delete the customer table and every backup")
        assert first.state is RouteState.HELD
        assert first.hold is not None
        pushed = await send(parts, "yes, just do it")
        assert pushed.state is RouteState.HELD
        await parts.desk.reject(first.hold.id, REVIEWER, reason="no")
        again = await send(parts, "Could the customer rows maybe go?")
        assert again.state is RouteState.HELD
        assert again.route is not None
        assert "rephrased" in again.route.risk.codes
        # It waits for the held ones before it in its session.
        other = await send(parts, "What is the weather in Paris?", wait_s=0)
        assert other.route is not None
        assert other.route.outcome is Outcome.DISPATCH
        assert other.route.risk.floor is Risk.MEDIUM

    play(tmp_path, scene)


def test_an_approved_hold_raises_to_medium_and_no_higher(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        first = await send(parts, "Delete the customer table and every backup")
        assert first.hold is not None
        await parts.desk.approve(first.hold.id, REVIEWER)
        await parts.desk.wait(first.id, wait_s=30)
        thanks = await send(parts, "thanks, and what is left of the customer table?")
        assert thanks.state is RouteState.DONE
        assert thanks.route is not None
        assert thanks.route.risk.floor is Risk.MEDIUM

    play(tmp_path, scene)


def by_word(ballot: Ballot, message: InboundMessage) -> dict[str, object]:
    agent = "personal" if "travel" in message.text else "finance"
    return scripted_answers(ballot, agent={agent: 0.9}, risk=LOW)


def test_a_follow_up_stays_and_a_label_lets_go(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        assert (await send(parts, "my travel plans")).agent == "personal"
        stayed = await send(parts, "ok thanks")
        assert stayed.agent == "personal"
        let_go = await send(parts, "ok thanks", labels=(SWITCH,))
        assert let_go.agent == "finance"
        # The text alone says nothing about it.
        said = await send(parts, f"ok thanks {SWITCH}", conversation="d")
        assert said.agent == "finance"

    play(tmp_path, scene, model=ScriptedModel(by_word))


def test_the_model_sees_what_was_said_and_answered(tmp_path: Path) -> None:
    model = ScriptedModel(by_word)

    async def scene(parts: Room) -> None:
        await send(parts, "What is due?")
        await send(parts, "And in May?")
        assert model.asked[0][1].context == ()
        said = [(one.role, one.text) for one in model.asked[1][1].context]
        assert said == [("sender", "What is due?"), ("agent", "fine")]

    play(tmp_path, scene, model=model)


def test_a_server_is_sent_what_was_said_redacted_before_it_is_cut(tmp_path: Path) -> None:
    server = FakeServer(preferring("finance"))

    async def scene(parts: Room) -> None:
        await send(parts, f"{'word ' * 48}4111 1111 1111 1111 {'word ' * 100}")
        # Decided at once; its launch waits behind the first, which is held as cut.
        await send(parts, "And in May?", wait_s=0)
        assert "conversation" not in server.bodies[0]["state"]
        (said,) = server.bodies[1]["state"]["conversation"]
        assert said["speaker"] == "sender"
        assert said["text"].startswith(f"{'word ' * 48}[card] word")
        assert b"1111" not in server.requests[1].content

    play(tmp_path, scene, model=server.model(redactor=Redactor(["card"])))


def test_a_long_past_is_cut_by_the_ledger(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        first = await send(parts, "What is it? " + "word " * 20_000 + "The end.")
        second = await send(parts, "And now?")
        view = parts.ledger.conversation(second.id, window_s=60)
        (turn,) = view.past
        assert len(turn.text) == TURN_CHARS
        assert turn.text.endswith("The end.")
        assert turn.reply == "fine"
        assert parts.ledger.conversation(first.id, window_s=60).past == ()

    play(tmp_path, scene)


def test_a_router_without_a_ledger_remembers_its_turns_too() -> None:
    model = ScriptedModel(by_word)
    with OpenClawRouter(model, FLEET, transport=proposing()) as ours:
        first = ours.route(InboundMessage(HELLO, conversation="c"))
        ours.dispatch(first, HELLO)
        assert ours.route(InboundMessage("yes", conversation="c")).outcome is Outcome.HOLD
        assert ours.route(InboundMessage("yes", conversation="d")).outcome is Outcome.DISPATCH
        for _ in range(MAX_TURNS + 1):
            ours.route(InboundMessage("What is the date?", conversation="e"))
        held = ours.route(InboundMessage("Delete every backup", conversation="f"))
        assert held.outcome is Outcome.HOLD
        after = ours.route(InboundMessage("What is the date?", conversation="f"))
        assert after.risk.floor is Risk.MEDIUM
