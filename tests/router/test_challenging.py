"""What the challenger says is recorded beside a decision, and neither delays nor changes it."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from clawmarshal.errors import DecisionError, DecisionUnavailableError
from clawmarshal.router.challenger import STOPPED, Challenger
from clawmarshal.router.decision import Decision, DecisionModel
from clawmarshal.router.explanation import decision_then
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import Mode, RouteRecord
from clawmarshal.router.ledger.states import RouteState
from clawmarshal.router.message import InboundMessage, Utterance
from clawmarshal.router.models.scripted import ScriptedModel
from tests.support.challengers import Blocking, Sleeping, other, second
from tests.support.rooms import Room, room, says, submission
from tests.support.turns import await_until

AWAY = DecisionUnavailableError("away", code="away")


def play(
    path: Path,
    scene: Callable[[Room], Awaitable[None]],
    *,
    challenger: DecisionModel | None,
    model: DecisionModel | None = None,
    deadline_s: float = 20.0,
    **more: bool,
) -> None:
    made = None if challenger is None else Challenger(challenger, deadline_s=deadline_s)

    async def run() -> None:
        async with asyncio.timeout(60):
            async with room(path, challenger=made, model=model, **more) as parts:  # type: ignore[arg-type]  # passed on
                await scene(parts)

    asyncio.run(run())


def kept(record: RouteRecord) -> Decision | DecisionError | None:
    told = record.explanation.get("challenger")
    return decision_then(told) if isinstance(told, dict) else None


async def challenged(parts: Room, route_id: str) -> Decision | DecisionError:
    assert await await_until(lambda: kept(parts.ledger.route(route_id)) is not None)
    answer = kept(parts.ledger.route(route_id))
    assert answer is not None
    return answer


def events(ledger: Ledger, route_id: str) -> list[dict[str, object]]:
    told = [dict(one.facts) for one in ledger.events(route_id) if one.kind == "challenged"]
    for facts in told:
        assert facts.pop("explanation_digest"), "what is kept beside it is bound to the event"
    return told


def test_its_answer_is_kept_beside_the_acting_one_and_counted(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        record, _ = await parts.desk.submit(submission(), wait_s=30)
        assert (record.state, record.agent) == (RouteState.DONE, "finance")
        answer = await challenged(parts, record.id)
        assert isinstance(answer, Decision)
        assert answer.agent.option == "personal"
        assert parts.ledger.route(record.id).agent == "finance"
        assert events(parts.ledger, record.id) == [
            {"said": "differs", "agent": "personal", "model": "second"}
        ]
        assert parts.ledger.verify_chain(record.id).is_intact
        assert parts.desk.challenged == {"agrees": 0, "differs": 1, "alone": 0, "failed": 0}

    play(tmp_path, scene, challenger=second())


def test_its_failure_is_recorded_and_counted_and_the_route_stands(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scene(parts: Room) -> None:
        for text in ("one", "two"):
            record, _ = await parts.desk.submit(submission(text), wait_s=30)
            assert (record.state, record.agent) == (RouteState.DONE, "finance")
            answer = await challenged(parts, record.id)
            assert isinstance(answer, DecisionError)
            assert answer.code == "away"
            assert events(parts.ledger, record.id) == [{"said": "failed", "error": "away"}]
        assert parts.desk.challenged["failed"] == 2

    play(tmp_path, scene, challenger=ScriptedModel(AWAY))
    told = [one.message for one in caplog.records if "challenger" in one.message]
    assert told == ["the challenger gives no usable answer: away"]


def test_an_answer_where_the_acting_model_has_none_stands_alone(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        record, _ = await parts.desk.submit(submission())
        assert (record.state, record.reason) == (RouteState.HELD, "decision_unavailable")
        assert isinstance(await challenged(parts, record.id), Decision)
        assert parts.desk.challenged["alone"] == 1
        held = parts.ledger.route(record.id)
        assert (held.state, held.agent) == (RouteState.HELD, record.agent)

    play(tmp_path, scene, challenger=second(), model=ScriptedModel(AWAY))


def test_the_same_agent_agrees(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        record, _ = await parts.desk.submit(submission(), wait_s=30)
        await challenged(parts, record.id)
        assert parts.desk.challenged["agrees"] == 1

    play(tmp_path, scene, challenger=ScriptedModel(says()))


def test_nothing_waits_for_it(tmp_path: Path) -> None:
    model = Sleeping()

    async def scene(parts: Room) -> None:
        # Done, its reply read, while the challenger still sits on the question.
        record, _ = await parts.desk.submit(submission(), wait_s=30)
        assert record.state is RouteState.DONE
        assert await await_until(model.begun.is_set)
        assert not model.ended.is_set()
        assert kept(parts.ledger.route(record.id)) is None

    play(tmp_path, scene, challenger=model)
    assert model.ended.is_set()
    assert model.closed.is_set()


def test_it_is_asked_only_once_the_decision_is_recorded(tmp_path: Path) -> None:
    seen: list[RouteState] = []
    ledgers: list[Ledger] = []

    def look(ballot: object, message: InboundMessage) -> dict[str, object]:
        (record,) = ledgers[0].routes()[0]
        seen.append(record.state)
        return other(ballot, message)  # type: ignore[arg-type]  # a ballot

    async def scene(parts: Room) -> None:
        ledgers.append(parts.ledger)
        record, _ = await parts.desk.submit(submission(mode=Mode.DECIDE))
        await challenged(parts, record.id)

    play(tmp_path, scene, challenger=ScriptedModel(look))
    assert seen == [RouteState.DECIDED]


def test_one_that_blocks_holds_nobody_up(tmp_path: Path) -> None:
    model = Blocking()

    async def scene(parts: Room) -> None:
        for _ in range(3):
            record, _ = await parts.desk.submit(submission(mode=Mode.DECIDE))
            assert record.state is RouteState.DECIDED
        model.free.set()

    play(tmp_path, scene, challenger=model, deadline_s=0.2)


def test_what_is_asked_at_a_stop_is_recorded_as_stopped(tmp_path: Path) -> None:
    model, ids = Sleeping(), []

    async def scene(parts: Room) -> None:
        record, _ = await parts.desk.submit(submission(mode=Mode.DECIDE))
        ids.append(record.id)
        assert await await_until(model.begun.is_set)

    play(tmp_path, scene, challenger=model)
    ledger = Ledger(f"sqlite:///{tmp_path}/ledger.db")
    answer = kept(ledger.route(ids[0]))
    ledger.close()
    assert isinstance(answer, DecisionError)
    assert answer.code == STOPPED


def test_a_rehearsal_asks_nobody(tmp_path: Path) -> None:
    model = Sleeping()

    async def scene(parts: Room) -> None:
        await parts.desk.dry_run(submission())

    play(tmp_path, scene, challenger=model)
    assert not model.begun.is_set()


def test_it_sees_what_the_acting_model_saw(tmp_path: Path) -> None:
    contexts: list[tuple[Utterance, ...]] = []

    def note(ballot: object, message: InboundMessage) -> dict[str, object]:
        contexts.append(message.context)
        return other(ballot, message)  # type: ignore[arg-type]  # a ballot

    async def scene(parts: Room) -> None:
        for text in ("What is the filing deadline?", "And for the next quarter?"):
            asked = submission(text, conversation="c", channel="chat")
            record, _ = await parts.desk.submit(asked, wait_s=30)
            await challenged(parts, record.id)

    play(tmp_path, scene, challenger=ScriptedModel(note))
    assert contexts[0] == ()
    assert Utterance("sender", "What is the filing deadline?") in contexts[1]


def test_without_one_nothing_is_kept_or_counted(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        record, _ = await parts.desk.submit(submission(), wait_s=30)
        assert "challenger" not in record.explanation
        assert parts.desk.challenged == {}

    play(tmp_path, scene, challenger=None)
