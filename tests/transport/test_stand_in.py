"""The stand-in answers like the CLI, says that it is none, and repeats nothing."""

import asyncio
from pathlib import Path

import pytest

from clawmarshal.transport import stand_in
from clawmarshal.transport.openclaw import OpenClawTransport
from clawmarshal.transport.outcome import TurnResult, TurnState
from clawmarshal.transport.stand_in import stand_in_command
from tests.support.turns import KEY, make_turn

TURN = ["agent", "--agent=finance", f"--session-key={KEY}"]


def test_stand_in_answers_through_the_transport(tmp_path: Path) -> None:
    async def run() -> tuple[TurnResult, str, frozenset[str] | None]:
        transport = OpenClawTransport(stand_in_command(), directory=tmp_path)
        try:
            result = await transport.launch(make_turn("my secret text"))
            return result, transport.label, await transport.fleet()
        finally:
            await transport.close()

    result, label, fleet = asyncio.run(run())

    assert (result.state, result.cli_version) == (TurnState.DONE, "2026.9.6")
    assert result.reply_text is not None and result.reply_text.startswith("[stand-in] ")
    assert "finance" in result.reply_text and "secret" not in repr(result)
    assert label.startswith("stand-in")
    assert fleet is None


def call(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str]:
    code = stand_in.main(list(argv))
    return code, capsys.readouterr().out


def test_version_and_help_are_labelled(capsys: pytest.CaptureFixture[str]) -> None:
    assert "stand-in" in call(capsys, "--version")[1]
    assert "stand-in" in call(capsys, "agent", "--help")[1]
    assert call(capsys, "gateway", "call", "agents.list", "--json") == (0, "{}\n")


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["agent"],
        [*TURN, "--message-file=/x", "--timeout=1", "--json", "--deliver"],
        [*TURN, "--message-file=/nosuch", "--timeout=1", "--json"],
    ],
    ids=["nothing", "bare", "another-flag", "no-file"],
)
def test_anything_else_fails_like_the_cli(
    capsys: pytest.CaptureFixture[str], argv: list[str]
) -> None:
    code, out = call(capsys, *argv)

    assert code == 1
    assert '"ok": false' in out


def test_file_that_is_not_utf8_fails_like_the_cli(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "m").write_bytes(b"\xff")

    code, out = call(capsys, *TURN, f"--message-file={tmp_path / 'm'}", "--timeout=1", "--json")

    assert code == 1 and "UTF-8" in out
