"""The durable flow: accepted once, decided, launched once, and answered by people."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clawmarshal.errors import (
    AcceptedUnreadError,
    ConflictError,
    DecisionUnavailableError,
    LedgerUnavailableError,
    NotFoundError,
    UnknownAgentError,
)
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.roster.roster import Roster
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import HoldRecord, Mode, RouteRecord
from clawmarshal.router.ledger.states import HoldState, RouteState
from clawmarshal.router.models.scripted import ScriptedModel
from clawmarshal.router.policy import Policy
from clawmarshal.router.route import Route
from clawmarshal.transport.outcome import TurnState
from tests.support.fake_transport import FakeTransport, ending
from tests.support.rooms import FLEET, HIGH, MEDIUM, REVIEWER, SAFE, Room, room, says, submission


def play(path: Path, scene: Callable[[Room], Awaitable[None]], **kwargs: object) -> None:
    async def run() -> None:
        async with asyncio.timeout(60), room(path, **kwargs) as parts:  # type: ignore[arg-type]  # passed on
            await scene(parts)

    asyncio.run(run())


async def held(parts: Room, **fields: object) -> tuple[RouteRecord, HoldRecord]:
    record, _ = await parts.desk.submit(submission(**fields))  # type: ignore[arg-type]  # passed on
    assert record.state is RouteState.HELD
    assert record.hold is not None
    return record, record.hold


async def done(parts: Room, route_id: str) -> RouteRecord:
    return await parts.desk.wait(route_id, wait_s=30)


def test_a_sure_and_harmless_message_is_launched_once(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        record, repeat = await parts.desk.submit(submission(), wait_s=30)
        assert (record.state, record.agent, record.reply_text) == (
            RouteState.DONE,
            "finance",
            "fine",
        )
        assert repeat is None
        assert [turn.text for turn in parts.transport.turns] == [SAFE]

    play(tmp_path, scene)


def test_a_repeat_with_its_key_gets_the_first_route_and_launches_nothing(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        wanted = submission(idempotency_key="k")
        first, second = await asyncio.gather(
            parts.desk.submit(wanted, wait_s=30), parts.desk.submit(wanted, wait_s=30)
        )
        assert first[0].id == second[0].id
        assert {first[1], second[1]} == {None, "key"}
        assert len(parts.transport.turns) == 1

    play(tmp_path, scene)


def test_a_risky_message_waits_and_runs_once_when_approved(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        record, hold = await held(parts)
        assert hold.reason == "risk"
        assert parts.transport.turns == []
        answers = await asyncio.gather(*(parts.desk.approve(hold.id, REVIEWER) for _ in range(5)))
        assert {answer.id for answer in answers} == {hold.id}
        assert (await done(parts, record.id)).state is RouteState.DONE
        assert len(parts.transport.turns) == 1

    play(tmp_path, scene, model=ScriptedModel(says(risk=HIGH)))


def test_a_rejected_message_never_runs(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        record, hold = await held(parts)
        await parts.desk.reject(hold.id, REVIEWER, reason="no")
        with pytest.raises(ConflictError) as caught:
            await parts.desk.approve(hold.id, REVIEWER)
        assert caught.value.winner is not None
        assert caught.value.winner["decision"] == "reject"
        assert (await done(parts, record.id)).state is RouteState.REJECTED
        assert parts.transport.turns == []

    play(tmp_path, scene, model=ScriptedModel(says(risk=HIGH)))


def test_the_suggestion_may_be_overruled(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        record, hold = await held(parts)
        assert hold.suggestion == "finance"
        await parts.desk.approve(hold.id, REVIEWER, agent="personal")
        assert (await done(parts, record.id)).agent == "personal"

    play(tmp_path, scene, model=ScriptedModel(says(risk=HIGH)))


def test_a_gate_that_fires_only_for_the_new_agent_must_be_shown_first(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        record, hold = await held(parts)
        assert hold.reason == "uncertain"
        with pytest.raises(ConflictError) as caught:
            await parts.desk.approve(hold.id, REVIEWER, agent="vault")
        assert caught.value.code == "gates-changed"
        offered = caught.value.detail["digest"]
        with pytest.raises(ConflictError):
            await parts.desk.approve(hold.id, REVIEWER, agent="vault", digest="another")
        assert (await parts.desk.wait(record.id, wait_s=0)).state is RouteState.HELD
        answer = await parts.desk.approve(hold.id, REVIEWER, agent="vault", digest=str(offered))
        assert [gate["reason"] for gate in answer.gates] == ["uncertain", "risk"]
        assert (await done(parts, record.id)).agent == "vault"

    # The vault's limit is the stricter one: it would fire already for a message that may be its.
    unsure = says(share=0.4, risk=MEDIUM, personal=0.37, vault=0.01, none_of_these=0.22)
    play(tmp_path, scene, model=ScriptedModel(unsure))


def test_a_hold_without_an_agent_needs_one(tmp_path: Path) -> None:
    roster = Roster([AgentSpec("desk", "Paper.", bindings=())])

    async def scene(parts: Room) -> None:
        record, hold = await held(parts, labels=("tag:nobody",))
        assert hold.suggestion is None
        with pytest.raises(ConflictError) as caught:
            await parts.desk.approve(hold.id, REVIEWER)
        assert caught.value.code == "agent-required"
        await parts.desk.approve(hold.id, REVIEWER, agent="desk")
        assert (await done(parts, record.id)).agent == "desk"

    play(tmp_path, scene, roster=roster, model=ScriptedModel(says("none_of_these")))


def test_an_approval_for_nobody_we_know_is_refused(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        _, hold = await held(parts)
        with pytest.raises(UnknownAgentError):
            await parts.desk.approve(hold.id, REVIEWER, agent="finanse")

    play(tmp_path, scene, model=ScriptedModel(says(risk=HIGH)))


def test_an_agent_that_is_known_to_be_missing_cannot_be_approved(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        _, hold = await held(parts)
        parts.source.agents = frozenset({"personal"})
        await parts.fleet.refresh()
        with pytest.raises(ConflictError) as caught:
            await parts.desk.approve(hold.id, REVIEWER)
        assert caught.value.code == "not-waivable"
        await parts.desk.approve(hold.id, REVIEWER, agent="personal")

    play(tmp_path, scene, model=ScriptedModel(says(risk=HIGH)))


def test_what_cannot_be_shown_cannot_be_approved(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        _, hold = await held(parts, text="pay \u202eeuros 5\u202c now")
        with pytest.raises(ConflictError) as caught:
            await parts.desk.approve(hold.id, REVIEWER)
        assert caught.value.code == "not-waivable"

    play(tmp_path, scene)


def test_a_changed_template_voids_what_was_shown(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        _, hold = await held(parts)
        parts.transport.templates["finance"] = {"argv": ["another"]}
        with pytest.raises(ConflictError) as caught:
            await parts.desk.approve(hold.id, REVIEWER)
        assert caught.value.code == "digest-changed"
        digest = str(caught.value.detail["digest"])
        answer = await parts.desk.approve(hold.id, REVIEWER, digest=digest)
        assert answer.state is HoldState.APPROVED

    play(tmp_path, scene, model=ScriptedModel(says(risk=HIGH)))


def test_a_model_without_answer_holds_and_a_person_may_still_send_it(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        record, hold = await held(parts, pin="finance")
        assert hold.reason == "decision_unavailable"
        await parts.desk.approve(hold.id, REVIEWER)
        assert (await done(parts, record.id)).state is RouteState.DONE

    play(tmp_path, scene, model=ScriptedModel(DecisionUnavailableError("away")))


@pytest.mark.parametrize(
    ("mode", "is_shadow"), [(Mode.DECIDE, False), (Mode.DISPATCH, True)], ids=["decide", "shadow"]
)
@pytest.mark.parametrize("risk", [MEDIUM, HIGH], ids=["fine", "risky"])
def test_deciding_alone_ends_decided(
    tmp_path: Path, mode: Mode, is_shadow: bool, risk: dict[str, float]
) -> None:
    async def scene(parts: Room) -> None:
        record, _ = await parts.desk.submit(submission(mode=mode), wait_s=30)
        assert record.state is RouteState.DECIDED
        assert record.hold is None
        assert parts.transport.turns == []

    play(tmp_path, scene, is_shadow=is_shadow, model=ScriptedModel(says(risk=risk)))


def test_a_dry_run_leaves_no_row(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        said = await parts.desk.dry_run(submission(mode=Mode.DRY_RUN))
        assert (said["outcome"], said["agent"]) == ("dispatch", "finance")
        assert parts.ledger.routes() == ((), None)
        with pytest.raises(UnknownAgentError):
            await parts.desk.dry_run(submission(pin="nobody"))

    play(tmp_path, scene)


def test_a_pin_nobody_has_is_refused_before_acceptance(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        with pytest.raises(UnknownAgentError):
            await parts.desk.submit(submission(pin="nobody"))
        assert parts.ledger.routes() == ((), None)

    play(tmp_path, scene)


def test_only_an_own_route_that_asked_can_be_clarified(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        asked, _ = await parts.desk.submit(submission(on_uncertain="clarify"))
        assert asked.state is RouteState.CLARIFY
        answered, _ = await parts.desk.submit(submission("The tax one.", clarifies=asked.id))
        assert answered.clarifies == asked.id
        for wrong in (
            submission("x", clarifies=asked.id, owner="bob"),
            submission("x", clarifies="rt_nothing"),
        ):
            with pytest.raises(NotFoundError):
                await parts.desk.submit(wrong)
        with pytest.raises(ConflictError) as caught:
            await parts.desk.submit(submission("x", clarifies=answered.id))
        assert caught.value.code == "not-clarifying"

    play(tmp_path, scene, model=ScriptedModel(says(share=0.4)))


def test_a_conversation_keeps_its_agent_through_a_short_follow_up(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        await parts.desk.submit(submission(conversation="c"), wait_s=30)
        record, _ = await parts.desk.submit(
            submission("Yes, do that.", conversation="c"), wait_s=30
        )
        assert record.agent == "finance"
        assert record.route is not None
        assert record.route.via == "conversation"

    play(tmp_path, scene, model=ScriptedModel(says(), says(share=0.3)))


def test_the_third_copy_within_a_conversation_is_held(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        for _ in range(2):
            await parts.desk.submit(submission(conversation="c"), wait_s=30)
        _, hold = await held(parts, conversation="c")
        assert hold.reason == "loop"

    play(tmp_path, scene)


def test_a_held_message_can_be_cancelled_and_then_not_approved(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        record, hold = await held(parts)
        assert (await parts.desk.cancel(record.id, REVIEWER)).state is RouteState.CANCELLED
        with pytest.raises(ConflictError):
            await parts.desk.approve(hold.id, REVIEWER)

    play(tmp_path, scene, model=ScriptedModel(says(risk=HIGH)))


def test_cancelling_a_running_turn_stops_it_and_its_end_is_unknown(tmp_path: Path) -> None:
    transport = FakeTransport(is_holding=True)

    async def scene(parts: Room) -> None:
        record, _ = await parts.desk.submit(submission())
        await transport.arrived()
        await parts.desk.cancel(record.id, REVIEWER)
        assert (await done(parts, record.id)).state is RouteState.UNKNOWN
        assert len(transport.stopped_turns) == 1

    play(tmp_path, scene, transport=transport)


def test_an_unknown_is_settled_by_a_person(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        record, _ = await parts.desk.submit(submission(), wait_s=30)
        assert (record.state, record.ran) == (RouteState.UNKNOWN, None)
        settled = await parts.desk.resolve(record.id, REVIEWER, answer="ran", note="seen")
        assert settled.state is RouteState.DONE

    play(tmp_path, scene, transport=FakeTransport(ending(TurnState.UNKNOWN, "lost")))


def test_what_certainly_did_not_run_may_be_run_again_by_a_person(tmp_path: Path) -> None:
    transport = FakeTransport(ending(TurnState.FAILED_NOT_RUN, "gateway-down"))

    async def scene(parts: Room) -> None:
        record, _ = await parts.desk.submit(submission(), wait_s=30)
        assert (record.state, record.ran) == (RouteState.FAILED, False)
        transport.answer = FakeTransport().answer
        await parts.desk.resolve(record.id, REVIEWER, answer="rerun")
        again = await done(parts, record.id)
        assert again.state is RouteState.DONE
        first, second = transport.turns
        assert first.session_key != second.session_key

    play(tmp_path, scene, transport=transport)


def test_waiting_ends_with_the_time_or_with_another_owner(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        record, _ = await held(parts)
        assert (await parts.desk.wait(record.id, wait_s=0)).state is RouteState.HELD
        with pytest.raises(NotFoundError):
            await parts.desk.wait(record.id, wait_s=0, owner="bob")

    play(tmp_path, scene, model=ScriptedModel(says(risk=HIGH)))


def test_what_a_dead_service_accepted_is_decided_by_the_next(tmp_path: Path) -> None:
    ledger = Ledger(f"sqlite:///{tmp_path}/ledger.db")
    left = ledger.accept(submission()).route_id
    ledger.close()

    async def scene(parts: Room) -> None:
        assert (await done(parts, left)).state is RouteState.DONE

    play(tmp_path, scene)


def test_a_caller_that_leaves_after_acceptance_changes_nothing(tmp_path: Path) -> None:
    transport = FakeTransport(is_holding=True)

    async def scene(parts: Room) -> None:
        call = asyncio.create_task(parts.desk.submit(submission(idempotency_key="k"), wait_s=30))
        await transport.arrived()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        transport.release()
        record, repeat = await parts.desk.submit(submission(idempotency_key="k"), wait_s=30)
        assert (record.state, repeat) == (RouteState.DONE, "key")
        assert len(transport.turns) == 1

    play(tmp_path, scene, transport=transport)


def test_terms_say_who_is_available(tmp_path: Path) -> None:
    roster = Roster([*FLEET, AgentSpec("away", "Nothing now.", enabled=False, timeout_s=7)])

    async def scene(parts: Room) -> None:
        terms = parts.desk.terms()
        assert [name for name in terms if not terms[name].available] == ["away"]
        assert (terms["away"].timeout_s, terms["finance"].timeout_s) == (7, 600)
        parts.source.agents = frozenset({"finance"})
        await parts.fleet.refresh()
        now = parts.desk.terms()
        assert [name for name in now if now[name].available] == ["finance"]

    play(tmp_path, scene, roster=roster)


def test_a_neutralised_text_is_what_the_agent_gets(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        await parts.desk.submit(submission("/new what is due?"), wait_s=30)
        (turn,) = parts.transport.turns
        assert not turn.text.lstrip().startswith("/")
        assert "what is due?" in turn.text

    play(tmp_path, scene, policy=Policy(directives="neutralise"))  # type: ignore[arg-type]  # words are taken


def test_policy_is_part_of_what_an_approval_is_bound_to(tmp_path: Path) -> None:
    digests = []

    async def scene(parts: Room) -> None:
        digests.append(parts.desk.terms()["finance"].template_digest)

    for number, directives in enumerate(("hold", "neutralise")):
        (folder := tmp_path / str(number)).mkdir()
        play(folder, scene, policy=replace(Policy(), directives=directives))  # type: ignore[arg-type]  # words are taken
    assert digests[0] != digests[1]


class Troubled(Ledger):
    """A ledger some of whose methods fail for a while."""

    failing: dict[str, Exception]

    def _check(self, name: str) -> None:
        if name in self.failing:
            raise self.failing[name]

    def record(self, route_id: str, route: Route, **more: Any) -> RouteRecord:
        self._check("record")
        return super().record(route_id, route, **more)

    def route(self, route_id: str, *, owner: str | None = None) -> RouteRecord:
        self._check("route")
        return super().route(route_id, owner=owner)

    def undecided(self, *, min_age_s: float = 0.0) -> tuple[str, ...]:
        self._check("undecided")
        return super().undecided(min_age_s=min_age_s)


def trouble(parts: Room, **failing: Exception) -> dict[str, Exception]:
    parts.ledger.__class__ = Troubled
    assert isinstance(parts.ledger, Troubled)
    parts.ledger.failing = failing
    return parts.ledger.failing


@pytest.mark.parametrize(
    "error",
    [LedgerUnavailableError("away"), ConflictError("moved", code="route-moved"), KeyError("bug")],
    ids=lambda error: type(error).__name__,
)
def test_what_cannot_be_decided_now_is_accepted_shown_and_decided_later(
    tmp_path: Path, error: Exception
) -> None:
    async def scene(parts: Room) -> None:
        failing = trouble(parts, record=error, undecided=error)
        record, _ = await parts.desk.submit(submission())
        assert record.state is RouteState.RECEIVED
        assert parts.desk.undecided == {record.id}
        failing.clear()
        assert (await done(parts, record.id)).state is RouteState.DONE
        assert parts.desk.undecided == frozenset()
        assert len(parts.transport.turns) == 1

    play(tmp_path, scene, housekeeping_s=0.05)


def test_an_accepted_message_that_cannot_be_read_is_never_called_refused(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        failing = trouble(parts, route=LedgerUnavailableError("away"))
        with pytest.raises(AcceptedUnreadError) as caught:
            await parts.desk.submit(submission(), wait_s=5)
        assert not caught.value.retryable
        failing.clear()
        assert (await done(parts, caught.value.route_id)).state is RouteState.DONE

    play(tmp_path, scene)


def test_a_start_does_not_wait_for_what_was_left_behind(tmp_path: Path) -> None:
    ledger = Ledger(f"sqlite:///{tmp_path}/ledger.db")
    left = [ledger.accept(submission(conversation=str(n))).route_id for n in range(20)]
    ledger.close()

    async def scene(parts: Room) -> None:
        assert parts.desk.undecided == set(left)
        for route_id in left:
            assert (await done(parts, route_id)).state is RouteState.DONE

    play(tmp_path, scene)


def test_a_waiter_hears_of_what_another_process_moved(tmp_path: Path) -> None:
    async def scene(parts: Room) -> None:
        record, _ = await parts.desk.submit(submission())
        assert record.state is RouteState.READY
        waiting = asyncio.create_task(parts.desk.wait(record.id, wait_s=30))
        other = Ledger(f"sqlite:///{tmp_path}/ledger.db")
        other.cancel(record.id, REVIEWER)
        other.close()
        async with asyncio.timeout(10):
            assert (await waiting).state is RouteState.CANCELLED

    play(tmp_path, scene, dispatches=False)


def test_those_who_wait_ask_the_ledger_together(tmp_path: Path) -> None:
    transport, asked = FakeTransport(is_holding=True), []

    class Counting(Ledger):
        def route(self, route_id: str, *, owner: str | None = None) -> RouteRecord:
            asked.append(route_id)
            return super().route(route_id, owner=owner)

        def resting(self, route_ids: Sequence[str]) -> tuple[str, ...]:
            found = super().resting(route_ids)
            looks.append(found)
            return found

    looks: list[tuple[str, ...]] = []

    async def scene(parts: Room) -> None:
        record, _ = await parts.desk.submit(submission())
        await transport.arrived()
        parts.ledger.__class__ = Counting
        waiters = [asyncio.create_task(parts.desk.wait(record.id, wait_s=30)) for _ in range(50)]
        async with asyncio.timeout(20):
            while len(looks) < 3:
                await asyncio.sleep(0.01)
        assert len(asked) <= 100  # the first look of each, and one at the news of its start
        transport.release()
        assert {record.state for record in await asyncio.gather(*waiters)} == {RouteState.DONE}

    play(tmp_path, scene, transport=transport)
