"""Serving and the quick start in this process: the address, the stop, the folder."""

import logging
import signal
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from clawmarshal.api.opening import opened_ledger
from clawmarshal.api.quickstart import prepare, print_keys
from clawmarshal.api.server import serve_settings
from clawmarshal.api.wiring import Service
from clawmarshal.errors import SettingsError
from tests.support.fake_openclaw import write_fake
from tests.support.service import configure, settings_of

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "clawmarshal.yaml"


@pytest.fixture(autouse=True)
def kept_logging() -> Iterator[None]:
    """Put back what a service changes for its whole process."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    ours = logging.getLogger("clawmarshal").level
    yield
    logging.captureWarnings(False)
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.getLogger("clawmarshal").setLevel(ours)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["TERM", "INT"])
def test_it_says_its_address_once_it_answers_and_stops_when_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    started: list[Service] = []

    def stop(service: Service) -> None:
        started.append(service)
        signal.raise_signal(number)

    serve_settings(settings_of(configure(tmp_path)), port=0, on_started=stop)
    assert capsys.readouterr().out.startswith("address: http://127.0.0.1:")
    (service,) = started
    assert service.health.is_stopping


def test_an_ipv6_address_is_written_as_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = configure(tmp_path)
    config.write_text(config.read_text().replace("{port: 0}", "{host: '::1', port: 0}"))
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        with pytest.raises(SettingsError, match=r"server\.port"):
            serve_settings(settings_of(config))
        return
    serve_settings(settings_of(config), on_started=lambda _: signal.raise_signal(signal.SIGTERM))
    assert capsys.readouterr().out.startswith("address: http://[::1]:")


def test_a_port_in_use_is_said_before_anything_is_loaded(tmp_path: Path) -> None:
    config = configure(tmp_path)
    (tmp_path / "fleet.yaml").unlink()
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(SettingsError, match=r"server\.port.*--port"):
            serve_settings(settings_of(config), port=other.getsockname()[1])


def test_a_host_that_is_not_ours_is_said(tmp_path: Path) -> None:
    config = configure(tmp_path)
    config.write_text(config.read_text().replace("{port: 0}", "{host: 192.0.2.7, port: 0}"))
    with pytest.raises(SettingsError, match=r"192\.0\.2\.7"):
        serve_settings(settings_of(config))


def test_the_quick_start_makes_a_folder_for_its_owner_and_keeps_edits(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    settings = prepare(folder, example=EXAMPLE)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert settings.transport.stand_in
    assert settings.roster == folder / "fleet18.yaml"
    assert settings.ledger_file == folder / "ledger.db"
    config = folder / "clawmarshal.yaml"
    config.write_text(config.read_text().replace("min_margin: 0.05", "min_margin: 0.25"))
    assert prepare(folder, example=tmp_path / "gone.yaml").policy.min_margin == 0.25


def test_the_quick_start_launches_what_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAWMARSHAL_OPENCLAW_COMMAND", "/n/node /o/openclaw.mjs")
    monkeypatch.setenv("CLAWMARSHAL_OPENCLAW_CONFIG", "/o/client.json5")
    transport = prepare(tmp_path / "run", example=EXAMPLE).transport
    assert transport.command == ["/n/node", "/o/openclaw.mjs"]
    assert transport.openclaw_config == Path("/o/client.json5")
    assert not transport.stand_in


def test_a_quick_start_that_cannot_begin_says_why(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no example configuration"):
        prepare(tmp_path / "run", example=tmp_path / "gone.yaml")
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match="cannot be used"):
        prepare(tmp_path / "file", example=EXAMPLE)


def test_fresh_keys_end_those_of_the_last_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cli = write_fake(tmp_path)
    told: list[str] = []

    def ask(service: Service) -> None:
        for _ in range(2):
            print_keys(service.ledger)
            told.append(capsys.readouterr().out)
        signal.raise_signal(signal.SIGTERM)

    config = configure(tmp_path, command=cli.command)
    serve_settings(settings_of(config), on_started=ask)
    lines = [line for text in told for line in text.splitlines() if "key: " in line]
    assert [line.partition(": ")[0] for line in lines] == ["route key", "review key"] * 2
    with opened_ledger(settings_of(config)) as ledger:
        known = [ledger.authenticate(line.partition(": ")[2]) is not None for line in lines]
        scopes = [sorted(key.scopes) for key in ledger.list_keys()]
    assert known == [False, False, True, True]
    assert scopes == [["route"], ["review"]] * 2


def test_the_port_is_free_again_once_the_service_has_stopped(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def stop(_: Service) -> None:
        signal.raise_signal(signal.SIGTERM)

    serve_settings(settings_of(configure(tmp_path)), port=port, on_started=stop)
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/livez", trust_env=False)
