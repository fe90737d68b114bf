"""The Gateway's token lies in one private file, made by us, and nowhere else."""

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from clawmarshal.errors import NotLaunchedError, SettingsError
from clawmarshal.transport.gateway import MAX_TOKEN_CHARS, Gateway
from clawmarshal.transport.openclaw import OpenClawTransport
from clawmarshal.transport.outcome import TurnState
from tests.support.fake_openclaw import write_fake
from tests.support.openclaw_lab import Lab
from tests.support.turns import make_turn

TOKEN = "gw-planted-8f3c1d77"
HERE = Gateway("ws://127.0.0.1:18789", TOKEN)


@pytest.mark.parametrize(
    "url",
    ["ws://127.0.0.1:1", "ws://localhost:18789", "ws://[::1]:18789/", "wss://desk.example",
     "wss://10.0.0.7:18789/gateway"],
)  # fmt: skip
def test_address_that_keeps_the_token_private_is_taken(url: str) -> None:
    assert json.loads(Gateway(url, TOKEN).client_config()) == {
        "gateway": {"mode": "remote", "remote": {"url": url, "token": TOKEN}}
    }


BAD_URLS = {
    "http://127.0.0.1:1": "form",
    "127.0.0.1:18789": "form",
    "": "form",
    "wss://": "form",
    "wss://a b": "form",
    "wss://desk.example\n": "form",
    "wss://desk.example?token=x": "form",
    "wss://desk.example#x": "form",
    "wss://dësk.example": "form",
    'wss://desk.example"': "form",
    "wss://user:pw@desk.example": "user name",
    "wss://desk.example:99999": "port",
    "wss://desk.example:0": "port",
    "wss://:18789": "port",
    "wss://[::1": "port",
    "ws://desk.example": "in the clear",
    "ws://10.0.0.7:18789": "in the clear",
    "ws://127.0.0.1.example": "in the clear",
    "ws://0.0.0.0:1": "in the clear",
}


@pytest.mark.parametrize(("url", "words"), BAD_URLS.items())
def test_other_address_is_refused_and_not_repeated(url: str, words: str) -> None:
    with pytest.raises(SettingsError, match=words) as caught:
        Gateway(url, TOKEN)

    assert TOKEN not in str(caught.value) and (len(url) < 8 or url not in str(caught.value))


@pytest.mark.parametrize("token", ["", " ", "a b", "a\n", "é", "x" * (MAX_TOKEN_CHARS + 1)])
def test_token_of_another_form_is_refused(token: str) -> None:
    with pytest.raises(SettingsError, match="token"):
        Gateway(HERE.url, token)


def test_token_is_in_no_description() -> None:
    assert TOKEN not in repr(HERE)


@pytest.fixture
def turns(tmp_path: Path) -> Path:
    (tmp_path / "turns").mkdir(mode=0o700)
    (tmp_path / "cli").mkdir(mode=0o700)
    return tmp_path / "turns"


def made(turns: Path, **more: Any) -> tuple[OpenClawTransport, Any]:
    """Make a transport whose CLI notes what its client config holds."""
    body = (
        "path = os.environ['OPENCLAW_CONFIG_PATH']\n"
        "note('configs', [path, mode(path), open(path).read()])\nsay(document())"
    )
    fake = write_fake(turns.parent / "cli", body)
    return OpenClawTransport(fake.command, directory=turns, gateway=HERE, **more), fake


def config_of(turns: Path) -> Path:
    (path,) = turns.glob("clawmarshal-turns-*/client.json")
    return path


def test_config_is_private_from_the_start_and_gone_at_the_end(turns: Path) -> None:
    before = os.umask(0)
    try:
        transport, _ = made(turns)
    finally:
        os.umask(before)

    path = config_of(turns)
    assert path.lstat().st_mode & 0o7777 == 0o600
    assert path.parent.lstat().st_mode & 0o7777 == 0o700
    assert path.read_bytes() == HERE.client_config()
    asyncio.run(transport.close())
    assert not list(turns.iterdir())


def test_config_is_gone_when_the_transport_is_forgotten(turns: Path) -> None:
    transport, _ = made(turns)
    assert config_of(turns)
    del transport

    assert not list(turns.iterdir())


def test_child_finds_the_token_in_the_file_alone(turns: Path) -> None:
    async def run() -> None:
        transport, fake = made(turns)
        assert (await transport.launch(make_turn())).state is TurnState.DONE
        (seen,) = fake.launches()
        ((path, mode, text),) = fake.notes("configs")
        assert (mode, text.encode()) == ("0o600", HERE.client_config())
        assert path == str(config_of(turns))
        assert TOKEN not in json.dumps(seen)
        assert TOKEN not in json.dumps(transport.template(make_turn().agent))
        await transport.close()

    asyncio.run(run())


def _remove(path: Path) -> None:
    path.unlink()


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:10])


def _open(path: Path) -> None:
    path.chmod(0o644)


def _redirect(path: Path) -> None:
    other = path.parents[1] / "other.json"
    other.write_text("{}")
    path.unlink()
    path.symlink_to(other)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "x").touch()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _all(path: Path) -> None:
    shutil.rmtree(path.parent)


@pytest.mark.parametrize("harm", [_remove, _cut, _open, _redirect, _folder, _pipe, _all])
def test_config_that_was_lost_or_changed_is_written_again(turns: Path, harm: Any) -> None:
    async def run() -> None:
        transport, fake = made(turns)
        await transport.probe()
        harm(config_of(turns))
        assert (await transport.launch(make_turn())).state is TurnState.DONE
        ((_, mode, text),) = fake.notes("configs")
        assert (mode, text.encode()) == ("0o600", HERE.client_config())
        assert not config_of(turns).is_symlink()
        await transport.close()

    asyncio.run(run())
    assert not [path for path in turns.glob("*/*") if path.name == "client.json"]


def test_two_configs_are_one_too_many(turns: Path) -> None:
    (turns.parent / "c").touch(mode=0o600)

    with pytest.raises(SettingsError, match="not both"):
        made(turns, openclaw_config=turns.parent / "c")
    assert not list(turns.iterdir())


def test_cli_that_prints_the_token_is_masked(turns: Path) -> None:
    body = f"print('log {TOKEN}'); sys.stderr.write('auth {TOKEN} refused'); sys.exit(1)"
    fake = write_fake(turns.parent / "cli", body)

    async def run() -> None:
        transport = OpenClawTransport(fake.command, directory=turns, gateway=HERE)
        result = await transport.launch(make_turn())
        assert TOKEN not in repr(result)
        assert "[masked]" in result.noise and "[masked]" in result.stderr_tail
        await transport.close()

    asyncio.run(run())


def _on(lab: Lab, folder: Path, token: str) -> OpenClawTransport:
    address = f"ws://127.0.0.1:{lab.gateway_port}"
    return OpenClawTransport(
        lab.command,
        gateway=Gateway(address, token),
        directory=folder,
        tmpdir=lab.folder,
        margin_s=60,
    )


@pytest.mark.openclaw
def test_real_gateway_takes_the_right_token(openclaw_lab: Lab, tmp_path: Path) -> None:
    right = json.loads(openclaw_lab.client_config.read_text().split("token: ")[1].split(" }")[0])

    async def run() -> None:
        transport = _on(openclaw_lab, tmp_path, right)
        result = await transport.launch(make_turn("by token", key="cm-" + "7" * 32, timeout_s=60))
        assert (result.state, result.code) == (TurnState.DONE, "ok"), result
        assert "finance" in (await transport.fleet() or ())
        await transport.close()

    asyncio.run(run())


@pytest.mark.openclaw
def test_real_gateway_refuses_a_wrong_token_and_nothing_ran(
    openclaw_lab: Lab, tmp_path: Path
) -> None:
    async def run() -> None:
        transport = _on(openclaw_lab, tmp_path, TOKEN)
        result = await transport.launch(make_turn("never-seen", key="cm-" + "8" * 32, timeout_s=60))
        assert (result.state, result.code) == (
            TurnState.FAILED_NOT_RUN,
            "gateway-unauthorized",
        ), result
        assert TOKEN not in repr(result)
        assert not openclaw_lab.outcomes("never-seen")
        assert await transport.fleet() is None
        await transport.close()

    asyncio.run(run())


def test_folder_that_cannot_hold_the_config_is_no_launch(turns: Path) -> None:
    async def run() -> None:
        transport, _ = made(turns)
        await transport.probe()
        shutil.rmtree(turns)
        with pytest.raises(NotLaunchedError) as caught:
            await transport.probe()
        assert caught.value.code == "no-message-file"
        await transport.close()

    asyncio.run(run())
