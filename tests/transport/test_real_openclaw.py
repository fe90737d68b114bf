"""The transport over the real OpenClaw CLI, a real Gateway and a mock model."""

import asyncio
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from clawmarshal.roster.agent import AgentSpec
from clawmarshal.transport.openclaw import OpenClawTransport
from clawmarshal.transport.outcome import Turn, TurnResult, TurnState
from tests.support.openclaw_lab import Lab, free_port
from tests.support.turns import (
    FINANCE,
    Watcher,
    attempt_folders,
    await_until,
    is_alive,
    make_turn,
    wait_until,
)

pytestmark = pytest.mark.openclaw

PERSONAL = AgentSpec("personal", "Calendar, travel, errands.")


class Config:
    """The client config of these tests; the CLI reads it anew for each turn."""

    def __init__(self, lab: Lab, folder: Path) -> None:
        self.path = folder / "client.json5"
        self._text = lab.client_config.read_text()
        self.path.touch(0o600)
        self.path.write_text(self._text)

    @contextmanager
    def changed(self, changes: Mapping[str, str]) -> Iterator[None]:
        text = self._text
        for old, new in changes.items():
            assert old in text, old
            text = text.replace(old, new)
        self.path.write_text(text)
        try:
            yield
        finally:
            self.path.write_text(self._text)


@pytest.fixture(scope="module")
def config(openclaw_lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Config:
    return Config(openclaw_lab, tmp_path_factory.mktemp("config"))


@pytest.fixture(scope="module")
def transport(
    openclaw_lab: Lab, config: Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OpenClawTransport]:
    directory = tmp_path_factory.mktemp("turns")
    made = OpenClawTransport(
        openclaw_lab.command,
        openclaw_config=config.path,
        directory=directory,
        tmpdir=openclaw_lab.folder,
        margin_s=30,
    )
    yield made
    assert not list(attempt_folders(directory))
    asyncio.run(made.close())
    assert not list(directory.iterdir())


def key(number: int) -> str:
    return f"cm-{number:016x}"


def launch(transport: OpenClawTransport, turn: Turn) -> TurnResult:
    return asyncio.run(transport.launch(turn))


def test_finance_turn_is_answered_by_finance(transport: OpenClawTransport) -> None:
    result = launch(transport, make_turn(key="cm-" + "1" * 16))

    assert result.state is TurnState.DONE, result
    assert result.reply_text is not None and "[echo-finance] echo" in result.reply_text
    assert "What is my budget?" in result.reply_text
    assert (result.exit_code, result.cli_version, result.cancel_unconfirmed) == (
        0,
        "2026.9.6",
        False,
    )
    assert result.run_id
    assert not is_alive(result.pid or 0)


@pytest.mark.timeout(300)
def test_four_turns_at_once_each_get_their_own_answer(transport: OpenClawTransport) -> None:
    agents = (FINANCE, PERSONAL, FINANCE, PERSONAL)
    # An agent in its first turn is slow, and is not what is asked.
    for number, agent in enumerate((FINANCE, PERSONAL)):
        warm = launch(transport, make_turn("warm", agent=agent, key=key(14 + number), timeout_s=60))
        assert warm.state is TurnState.DONE, warm

    async def run() -> list[TurnResult]:
        turns = [
            make_turn(f"word{n}", agent=agent, key=key(16 + n), attempt_id=f"at_{n}", timeout_s=60)
            for n, agent in enumerate(agents)
        ]
        return await asyncio.gather(*map(transport.launch, turns))

    results = asyncio.run(run())

    ends = [(r.state, r.code, r.exit_code, r.detail, r.stderr_tail, r.facts) for r in results]
    assert [result.state for result in results] == [TurnState.DONE] * 4, ends
    for number, (agent, result) in enumerate(zip(agents, results, strict=True)):
        reply = result.reply_text or ""
        assert f"[echo-{agent.id}]" in reply and f"word{number}" in reply
        assert not is_alive(result.pid or 0)


def test_running_child_shows_closed_argv_and_environment(
    transport: OpenClawTransport, openclaw_lab: Lab
) -> None:
    async def run() -> tuple[TurnResult, list[bytes], list[bytes]]:
        watcher = Watcher()
        turn = make_turn("secretword [[slow=1]]", key="cm-" + "2" * 16)
        task = asyncio.create_task(transport.launch(turn, watcher))
        await asyncio.wait_for(watcher.heard.wait(), 20)
        proc = Path("/proc", str(watcher.pids[0]))
        argv = (proc / "cmdline").read_bytes().split(b"\0")[:-1]
        environ = (proc / "environ").read_bytes().split(b"\0")
        return await task, argv, [line for line in environ if line]

    result, argv, environ = asyncio.run(run())

    assert result.state is TurnState.DONE, result
    assert [os.fsdecode(part) for part in argv[:3]] == [*openclaw_lab.command, "agent"]
    assert [part.partition(b"=")[0] for part in argv[3:]] == [
        b"--agent",
        b"--session-key",
        b"--message-file",
        b"--timeout",
        b"--json",
    ]
    assert b"secretword" not in b" ".join(argv + environ)
    assert {line.partition(b"=")[0] for line in environ} == {
        b"OPENCLAW_CONFIG_PATH",
        b"OPENCLAW_STATE_DIR",
        b"HOME",
        b"OPENCLAW_NO_RESPAWN",
        b"LANG",
        b"TMPDIR",
    }


def test_called_off_turn_is_cancelled_on_the_gateways_word(
    transport: OpenClawTransport, openclaw_lab: Lab
) -> None:
    async def run() -> TurnResult:
        turn = make_turn("stopme [[slow=60]]", key="cm-" + "3" * 16, attempt_id="at_off")
        task = asyncio.create_task(transport.launch(turn))
        assert await await_until(lambda: openclaw_lab.outcomes("stopme") == ["begun"], timeout_s=30)
        assert transport.stop("at_off")
        return await task

    result = asyncio.run(run())

    assert (result.state, result.code) == (TurnState.CANCELLED, "cancelled"), result
    assert result.run_id
    assert not is_alive(result.pid or 0)
    assert wait_until(
        lambda: openclaw_lab.outcomes("stopme") == ["begun", "client-disconnected"], timeout_s=20
    )


def test_sigterm_from_outside_is_unknown(transport: OpenClawTransport) -> None:
    async def run() -> TurnResult:
        watcher = Watcher()
        turn = make_turn("killme [[slow=20]]", key="cm-" + "4" * 16)
        task = asyncio.create_task(transport.launch(turn, watcher))
        await asyncio.wait_for(watcher.heard.wait(), 20)
        os.kill(watcher.pids[0], signal.SIGTERM)
        return await task

    result = asyncio.run(run())

    assert result.state is TurnState.UNKNOWN, result


def test_turn_past_its_timeout_failed_and_ran(transport: OpenClawTransport) -> None:
    turn = make_turn("x [[slow=9]]", key="cm-" + "5" * 16, timeout_s=2)

    result = launch(transport, turn)

    assert (result.state, result.code) == (TurnState.FAILED_RAN, "turn-timeout"), result
    assert result.exit_code == 1


def test_refused_by_the_provider_is_unknown(transport: OpenClawTransport) -> None:
    turn = make_turn("x [[fail=400]]", key="cm-" + "6" * 16)

    result = launch(transport, turn)

    assert (result.state, result.code) == (TurnState.UNKNOWN, "failed-after-acceptance"), result
    assert result.run_id


def test_unknown_agent_certainly_did_not_run(transport: OpenClawTransport) -> None:
    turn = make_turn(agent=AgentSpec("nosuch", "Nothing at all."), key="cm-" + "7" * 16)

    result = launch(transport, turn)

    assert (result.state, result.code) == (TurnState.FAILED_NOT_RUN, "unknown-agent"), result


def test_gateway_that_is_down_certainly_did_not_run(
    transport: OpenClawTransport, config: Config, openclaw_lab: Lab
) -> None:
    with config.changed({f":{openclaw_lab.gateway_port}": f":{free_port()}"}):
        result = launch(transport, make_turn())
        fleet = asyncio.run(transport.fleet())

    assert (result.state, result.code) == (TurnState.FAILED_NOT_RUN, "gateway-down"), result
    assert fleet is None


def test_wrong_token_certainly_did_not_run(transport: OpenClawTransport, config: Config) -> None:
    with config.changed({"lab-token-not-a-secret": "another-token"}):
        result = launch(transport, make_turn())

    assert (result.state, result.code) == (TurnState.FAILED_NOT_RUN, "gateway-unauthorized"), result
    assert "another-token" not in repr(result)


def test_broken_client_config_certainly_did_not_run(
    transport: OpenClawTransport, config: Config
) -> None:
    with config.changed({"gateway: {": "gateway: "}):
        result = launch(transport, make_turn())

    assert (result.state, result.code) == (TurnState.FAILED_NOT_RUN, "config-invalid"), result


def test_slash_text_behind_the_first_line_is_plain_text(transport: OpenClawTransport) -> None:
    result = launch(transport, make_turn("/new", key="cm-" + "8" * 16))

    assert result.state is TurnState.DONE, result
    assert result.reply_text is not None and "/new" in result.reply_text


def test_fleet_names_the_three_agents(transport: OpenClawTransport) -> None:
    async def run() -> frozenset[str] | None:
        return await transport.fleet()

    assert asyncio.run(run()) == frozenset({"finance", "personal", "security"})


def test_reply_with_terminal_codes_is_cleaned(transport: OpenClawTransport) -> None:
    reply = "\x1b[31mred\x1b[0m \u202ertl\u202c zero\u200bwidth"
    turn = make_turn(f"[[raw={reply}]]", key="cm-" + "a" * 16)

    result = launch(transport, turn)

    assert (result.state, result.reply_text) == (TurnState.DONE, "red rtl zerowidth"), result
    assert result.raw_text is not None and "\u202e" in result.raw_text
