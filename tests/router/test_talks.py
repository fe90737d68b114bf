"""Scripted conversations, played to a desk with its ledger and to a router without one."""

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from clawmarshal.router.ballot import Ballot
from clawmarshal.router.conversation import MAX_TURNS
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.projection import MAX_TURN_CHARS
from clawmarshal.router.models.scripted import ScriptedModel, scripted_answers
from clawmarshal.router.openclaw_router import OpenClawRouter
from clawmarshal.router.policy import Policy
from clawmarshal.router.route import Route
from tests.support.fake_transport import FakeTransport, done
from tests.support.rooms import FLEET, room, submission
from tests.support.system_one_server import FakeServer, preferring
from tests.support.talks import PINNING, TALKS, TRIP, Talk

Play = Callable[[Talk, Path], Sequence[Route]]
POLICY = Policy(max_messages=1000)


def model_of(talk: Talk) -> ScriptedModel:
    lines = {line.text: line for line in talk.lines}

    def scene(ballot: Ballot, message: InboundMessage) -> dict[str, object]:
        line = lines[message.text]
        return scripted_answers(ballot, agent=dict(line.says), risk=dict(line.risk))

    return ScriptedModel(scene)


def at_a_desk(talk: Talk, path: Path) -> Sequence[Route]:
    async def play() -> list[Route]:
        routes: list[Route] = []
        transport = FakeTransport(done(talk.reply))
        async with (
            asyncio.timeout(60),
            room(path, model=model_of(talk), policy=POLICY, transport=transport) as parts,
        ):
            for line in talk.lines:
                given = submission(
                    line.text, conversation=line.conversation, labels=line.labels, pin=line.pin
                )
                # What follows a held message waits behind it.
                is_free = all(route.routable for route in routes)
                record, _ = await parts.desk.submit(given, wait_s=30 if is_free else 0)
                assert record.route is not None
                routes.append(record.route)
        return routes

    return asyncio.run(play())


def at_a_router(talk: Talk, path: Path) -> Sequence[Route]:
    routes = []
    transport = FakeTransport(done(talk.reply))
    with OpenClawRouter(model_of(talk), FLEET, policy=POLICY, transport=transport) as ours:
        for line in talk.lines:
            message = InboundMessage(line.text, conversation=line.conversation, labels=line.labels)
            routes.append(ours.route(message, pin=line.pin))
            if routes[-1].routable:
                ours.dispatch(routes[-1], line.text)
    return routes


@pytest.mark.parametrize("play", [at_a_desk, at_a_router])
@pytest.mark.parametrize("talk", TALKS, ids=lambda talk: talk.name)
def test_each_line_of_a_conversation_goes_where_it_must(
    talk: Talk, play: Play, tmp_path: Path
) -> None:
    found = [
        (route.agent, str(route.via), "dispatch" if route.routable else str(route.reason))
        for route in play(talk, tmp_path)
    ]
    assert found == [(line.agent, line.via, line.outcome) for line in talk.lines]


def test_a_server_is_shown_a_bounded_past_as_evidence_alone() -> None:
    server = FakeServer(preferring("personal"))
    texts = [PINNING, *(f"text {number} " + "word " * 300 for number in range(9)), TRIP.text]
    with OpenClawRouter(server.model(), FLEET, policy=POLICY) as ours:
        for text in texts:
            ours.route(InboundMessage(text, conversation="c"))
    second, last = server.bodies[1], server.bodies[-1]
    assert [turn["text"] for turn in second["state"]["conversation"]] == [PINNING]
    # It is told as what somebody said, and stands in no question and no option.
    assert "pinned to vault" not in json.dumps({**second, "state": None})
    said = last["state"]["conversation"]
    assert len(said) == MAX_TURNS
    assert [turn["text"][:6] for turn in said] == [f"text {number}" for number in range(3, 9)]
    assert max(len(turn["text"]) for turn in said) <= MAX_TURN_CHARS


def test_there_are_talks_enough() -> None:
    assert len(TALKS) >= 10
    assert len({talk.name for talk in TALKS}) == len(TALKS)
