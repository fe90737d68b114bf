"""The real OpenClaw when it is hit: CLI and Gateway killed, Gateway frozen, model broken."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clawmarshal.errors import NotLaunchedError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.transport.openclaw import OpenClawTransport
from clawmarshal.transport.outcome import TurnResult, TurnState
from tests.support.openclaw_lab import Lab, running_lab
from tests.support.turns import (
    Watcher,
    attempt_folders,
    await_until,
    is_alive,
    make_turn,
    wait_until,
)

pytestmark = pytest.mark.openclaw

PERSONAL = AgentSpec("personal", "Calendar, travel, errands.")
SECURITY = AgentSpec("security", "Phishing, access, incidents.")
LOCKED = {
    "      mock: {\n": '      locked: {\n        baseUrl: "http://127.0.0.1:18080/v1",\n'
    '        apiKey: "mock-key",\n        api: "openai-completions",\n        models: [\n'
    '          { id: "echo-security", name: "Mock", reasoning: false, input: ["text"],\n'
    "            cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },\n"
    "            contextWindow: 200000, maxTokens: 8192 },\n        ],\n      },\n      mock: {\n",
    "mock/echo-security": "locked/echo-security",
}
"""Security has a provider of its own: OpenClaw keeps a whole provider waiting after a 401."""


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    """Run a Gateway that these tests may ill-treat."""
    with running_lab(LOCKED) as made:
        yield made


@pytest.fixture
def margin_s() -> float:
    """Wide: no slow machine makes one of our deadlines of it."""
    return 60


@pytest.fixture
def transport(lab: Lab, tmp_path: Path, margin_s: float) -> Iterator[OpenClawTransport]:
    made = OpenClawTransport(
        lab.command,
        openclaw_config=lab.client_config,
        directory=tmp_path,
        tmpdir=lab.folder,
        margin_s=margin_s,
        grace_s=2,
    )
    yield made
    assert not list(attempt_folders(tmp_path))
    asyncio.run(made.close())
    assert not list(tmp_path.iterdir())


def key(number: int) -> str:
    return f"cm-{number:016x}"


def launch(transport: OpenClawTransport, text: str, number: int, **more: object) -> TurnResult:
    turn = make_turn(text, key=key(number), **more)  # type: ignore[arg-type]  # passed on as given
    return asyncio.run(transport.launch(turn))


def hit(
    transport: OpenClawTransport,
    lab: Lab,
    text: str,
    *,
    number: int,
    strike: Callable[[int], None],
    timeout_s: int = 60,
) -> TurnResult:
    """Launch a turn, strike once the model has it, and return what it came to."""

    async def run() -> TurnResult:
        watcher = Watcher()
        turn = make_turn(text, key=key(number), timeout_s=timeout_s)
        task = asyncio.create_task(transport.launch(turn, watcher))
        word = text.split()[0]
        assert await await_until(lambda: lab.outcomes(word) == ["begun"], timeout_s=40)
        await asyncio.to_thread(strike, watcher.pids[0])
        return await task

    return asyncio.run(run())


def test_killed_cli_is_unknown_and_its_run_goes_on(transport: OpenClawTransport, lab: Lab) -> None:
    result = hit(transport, lab, "killed [[slow=3]]", number=1, strike=lambda pid: os.kill(pid, 9))

    assert (result.state, result.code, result.signal) == (TurnState.UNKNOWN, "killed", 9), result
    assert wait_until(lambda: lab.outcomes("killed") == ["begun", "done"], timeout_s=20)


def test_terminated_cli_is_unknown_and_its_run_is_aborted(
    transport: OpenClawTransport, lab: Lab
) -> None:
    result = hit(
        transport,
        lab,
        "terminated [[slow=60]]",
        number=2,
        strike=lambda pid: os.kill(pid, signal.SIGTERM),
    )

    assert (result.state, result.exit_code) == (TurnState.UNKNOWN, 143), result
    assert wait_until(
        lambda: lab.outcomes("terminated") == ["begun", "client-disconnected"], timeout_s=20
    )


def test_frozen_gateway_is_unknown_although_no_process_is_left(
    transport: OpenClawTransport, lab: Lab
) -> None:
    assert lab.gateway is not None
    frozen = lab.gateway.pid

    def freeze_and_call_off(_: int) -> None:
        os.kill(frozen, signal.SIGSTOP)
        assert transport.stop("at_1")

    try:
        result = hit(transport, lab, "frozen [[slow=4]]", number=3, strike=freeze_and_call_off)
    finally:
        os.kill(frozen, signal.SIGCONT)

    assert (result.state, result.code) == (TurnState.UNKNOWN, "stopped"), result
    assert not is_alive(result.pid or 0) and not result.cancel_unconfirmed
    assert wait_until(lambda: len(lab.outcomes("frozen")) == 2, timeout_s=30)


def test_gateway_killed_in_mid_turn_is_unknown_and_the_next_one_answers(
    transport: OpenClawTransport, lab: Lab
) -> None:
    result = hit(
        transport, lab, "orphaned [[slow=60]]", number=4, strike=lambda _: lab.kill_gateway()
    )
    down = launch(transport, "while it is down", 5)
    lab.start_gateway()
    after = launch(transport, "after the restart", 6)

    assert (result.state, result.code) == (TurnState.UNKNOWN, "failed-after-acceptance"), result
    assert result.run_id
    assert (down.state, down.code) == (TurnState.FAILED_NOT_RUN, "gateway-down"), down
    assert after.state is TurnState.DONE, after


@pytest.mark.parametrize("margin_s", [1.0], ids=[""])
@pytest.mark.parametrize("fault", ["[[fail=500]]", "[[drop]]"], ids=["http-500", "hangs-up"])
def test_broken_model_is_tried_until_our_deadline_and_unknown(
    transport: OpenClawTransport, lab: Lab, fault: str
) -> None:
    """Left alone, OpenClaw tries for 80 to 90 seconds, whatever ``--timeout`` says."""
    for number, timeout_s in enumerate((3, 12, 48)):  # a slow machine asks the model later
        result = launch(
            transport, f"broken {fault}", 32 + 3 * len(fault) + number, timeout_s=timeout_s
        )

        assert (result.state, result.code) == (TurnState.UNKNOWN, "deadline"), result
        if lab.outcomes(fault):
            return
    pytest.fail("the model was never asked")


def test_refused_key_is_unknown_and_so_is_the_pause_behind_it(
    transport: OpenClawTransport,
) -> None:
    refused = launch(transport, "x [[fail=401]]", 48, agent=SECURITY, timeout_s=60)
    paused = launch(transport, "x", 49, agent=SECURITY, timeout_s=60)

    for result in (refused, paused):
        assert (result.state, result.code) == (TurnState.UNKNOWN, "failed-after-acceptance"), result
        assert result.run_id


@pytest.mark.parametrize("text", ["/reset", "/compact now", "/stop"], ids=lambda t: t.strip("/"))
def test_command_behind_the_first_line_is_plain_text(
    transport: OpenClawTransport, text: str
) -> None:
    result = launch(transport, text, 64 + len(text))

    assert result.state is TurnState.DONE, result
    assert result.reply_text is not None and text in result.reply_text


def test_bound_that_node_cannot_start_in_is_told_before_any_message(
    lab: Lab, tmp_path: Path
) -> None:
    made = OpenClawTransport(
        lab.command, openclaw_config=lab.client_config, directory=tmp_path, child_memory_mb=512
    )

    async def run() -> None:
        with pytest.raises(NotLaunchedError) as caught:
            await made.probe()
        assert caught.value.code == "cli-silent"
        await made.close()

    asyncio.run(run())
