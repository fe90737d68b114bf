"""Read-only calls: bounded, whole or nothing, and never a turn."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmarshal.errors import NotLaunchedError
from clawmarshal.transport.command import ReadOnly
from clawmarshal.transport.evidence import EvidenceCode, LostTurn
from clawmarshal.transport.look_up import Answer, look_up
from clawmarshal.transport.look_ups import LookUps
from clawmarshal.transport.process import Spawner
from tests.support.fake_openclaw import write_fake
from tests.support.live_fleet import ENTRIES, agents_document, config_document

AGENTS = json.dumps(agents_document(*ENTRIES)).encode()
CONFIG = json.dumps(config_document()).encode()
RUN = "0f1303cc-0000-4000-8000-f8099a37541b"
LOST = LostTurn("finance", "cm-" + "a" * 16, None, {"What is due?"}, 1_000_000)
HISTORY = json.dumps(
    {
        "messages": [
            {
                "role": "user",
                "content": "What is due?",
                "timestamp": 1_000_000,
                "idempotencyKey": f"{RUN}:user",
            }
        ]
    }
).encode()
Says = Callable[[str], Answer]


def whole(stdout: bytes) -> Answer:
    return Answer(0, stdout, b"", is_whole=True)


HUNG = Answer(None, AGENTS[:10], b"", is_whole=False)


class Gateway:
    """Answers by the method that is called, and remembers what was asked."""

    def __init__(self, **answers: Answer | None) -> None:
        self.answers = answers
        self.asked: list[tuple[str, ...]] = []
        self.look_ups = LookUps(("/node", "/openclaw.mjs"), self.look_up)

    async def look_up(self, argv: tuple[str, ...]) -> Answer:
        """Answer one call, or refuse to start."""
        self.asked.append(argv[2:])
        answer = self.answers[argv[4].replace(".", "_")]
        if answer is None:
            raise NotLaunchedError("no spawner", code="spawner-lost")
        return answer


def test_fleet_is_asked_for_in_two_closed_calls() -> None:
    gateway = Gateway(agents_list=whole(AGENTS), config_get=whole(CONFIG))
    fleet = asyncio.run(gateway.look_ups.live_fleet())
    assert fleet is not None
    assert fleet.ids == set(ENTRIES)
    assert fleet.agents is not None
    assert gateway.asked == [
        ("gateway", "call", "agents.list", "--json"),
        ("gateway", "call", "config.get", "--json"),
    ]


@pytest.mark.parametrize("answer", [HUNG, None, Answer(1, AGENTS, b"", True)], ids=repr)
def test_call_that_does_not_end_well_is_an_unknown_fleet(answer: Answer | None) -> None:
    gateway = Gateway(agents_list=answer, config_get=whole(CONFIG))
    assert asyncio.run(gateway.look_ups.live_fleet()) is None
    assert asyncio.run(gateway.look_ups.fleet()) is None


@pytest.mark.parametrize("answer", [HUNG, None], ids=repr)
def test_without_the_configuration_the_ids_are_known(answer: Answer | None) -> None:
    gateway = Gateway(agents_list=whole(AGENTS), config_get=answer)
    fleet = asyncio.run(gateway.look_ups.live_fleet())
    assert fleet is not None
    assert fleet.ids == set(ENTRIES)
    assert fleet.agents is None


def test_evidence_is_asked_for_by_session_and_then_by_the_run_it_names() -> None:
    waited = json.dumps({"status": "error", "endedAt": 5}).encode()
    gateway = Gateway(chat_history=whole(HISTORY), agent_wait=whole(waited))
    found = asyncio.run(gateway.look_ups.evidence(LOST))
    assert (found.code, found.run_id) == (EvidenceCode.ENDED, RUN)
    history, wait = gateway.asked
    session = '"sessionKey":"agent:finance:cm-aaaaaaaaaaaaaaaa"'
    assert history[2:] == ("chat.history", f'--params={{"limit":50,{session}}}', "--json")
    assert wait[3].startswith(f'--params={{"runId":"{RUN}"')


@pytest.mark.parametrize("answer", [HUNG, None, Answer(1, HISTORY, b"", True)], ids=repr)
def test_evidence_that_cannot_be_asked_for_is_not_reachable(answer: Answer | None) -> None:
    gateway = Gateway(chat_history=answer)
    found = asyncio.run(gateway.look_ups.evidence(LOST))
    assert (found.code, found.reply_text) == (EvidenceCode.NOT_REACHABLE, None)


@pytest.mark.parametrize("answer", [HUNG, None, whole(b"<html>")], ids=repr)
def test_run_that_cannot_be_asked_about_leaves_what_the_transcript_says(
    answer: Answer | None,
) -> None:
    gateway = Gateway(chat_history=whole(HISTORY), agent_wait=answer)
    assert asyncio.run(gateway.look_ups.evidence(LOST)).code is EvidenceCode.ARRIVED


def test_turn_that_no_argv_can_name_is_not_reachable() -> None:
    gateway = Gateway()
    strange = LostTurn("--deliver", "main", None, {"x"}, 0)
    found = asyncio.run(gateway.look_ups.evidence(strange))
    assert (found.code, gateway.asked) == (EvidenceCode.NOT_REACHABLE, [])


def test_call_that_hangs_is_ended_and_not_whole(tmp_path: Path) -> None:
    fake = write_fake(tmp_path, version="OpenClaw 2026.9.6")
    text = fake.path.read_text().replace("argv = sys.argv[1:]", "while True: time.sleep(1)")
    fake.path.write_text(text)
    spawner = Spawner()
    argv = (str(fake.path), *ReadOnly.AGENTS.value)

    async def ask() -> Answer:
        return await look_up(
            spawner, argv, environment={}, cwd=str(tmp_path), memory_bytes=0, deadline_s=0.5
        )

    try:
        answer = asyncio.run(ask())
    finally:
        spawner.close()
    assert (answer.is_whole, answer.exit_code) == (False, None)
