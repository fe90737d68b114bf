"""``verify`` and ``export``: what they say, what they exit with, and that the page's rule holds."""

import json
import re
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from clawmarshal.api.cli import main
from clawmarshal.api.opening import opened_ledger
from clawmarshal.api.settings import seal_key
from clawmarshal.router.ledger.ledger import Ledger
from tests.support.clock import FakeClock
from tests.support.ledger_cases import held, lost
from tests.support.service import configure, run_python, settings_of, wired
from tests.support.tampering import unguarded

PAGE = Path(__file__).parents[2] / "docs" / "audit.md"
Ran = Callable[..., tuple[int, str, str]]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration whose ledger has a sealed past."""
    (tmp_path / "key").write_text("a secret that signs\n")
    (tmp_path / "key").chmod(0o600)
    config = configure(tmp_path, more="audit: {key_file: key}\n")
    clock = FakeClock()
    ledger = Ledger(f"sqlite:///{tmp_path}/ledger.db", clock=clock)
    held(ledger)
    lost(ledger)
    clock.advance(600)
    assert ledger.seal(key=seal_key(settings_of(config).audit)) is not None
    ledger.close()
    return config


@pytest.fixture
def ran(config: Path, capsys: pytest.CaptureFixture[str]) -> Ran:
    def call(command: str, *more: str) -> tuple[int, str, str]:
        code = main([command, "--config", str(config), *more])
        told = capsys.readouterr()
        return code, told.out, told.err

    return call


def meddle(config: Path, statement: str) -> None:
    engine = create_engine(f"sqlite:///{config.with_name('ledger.db')}")
    with engine.begin() as connection, unguarded(connection):
        assert connection.execute(text(statement)).rowcount > 0
    engine.dispose()


def test_an_intact_record_says_so_and_names_what_to_keep(ran: Ran) -> None:
    code, out, _ = ran("verify")
    assert code == 0
    assert re.search(r"^intact: \d+ events in \d chains, 1 checkpoints, 0 events behind", out)
    (digest,) = re.findall(r"UTC ([0-9a-f]{64})$", out, re.MULTILINE)
    assert ran("verify", "--against", digest)[0] == 0
    code, out, _ = ran("verify", "--against", "f" * 64, "--json")
    told = json.loads(out)
    assert (code, told["intact"], told["newest"]["digest"]) == (1, False, digest)
    assert told["faults"][0]["where"] == "checkpoint"


def test_what_was_changed_is_named_and_the_exit_says_it(ran: Ran, config: Path) -> None:
    meddle(config, "UPDATE events SET actor = 'person:eve' WHERE kind = 'held'")
    code, out, _ = ran("verify")
    assert code == 1
    assert re.search(r"^rt_[0-9a-f]{32}: event \d was changed$", out, re.MULTILINE)
    assert "NOT INTACT" in out


def test_another_key_is_found(ran: Ran, config: Path) -> None:
    config.with_name("key").write_text("another secret")
    assert ran("verify")[0] == 1


def test_the_rule_on_the_page_verifies_an_export(ran: Ran, config: Path, tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    out = tmp_path / "trail.jsonl"
    assert ran("export", "--out", str(out))[0] == 0
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    code = f"import sys; sys.argv = ['', {str(out)!r}]\n{program}"
    ended, told, err = run_python(code)
    assert (ended, "intact; 0 events behind" in told) == (0, True), err

    lines = out.read_text().splitlines()
    for place in (0, len(lines) // 2, len(lines) - 1):
        other = lines[place].replace('"at_us": 1', '"at_us": 2', 1)
        assert other != lines[place]
        out.write_text("\n".join([*lines[:place], other, *lines[place + 1 :]]))
        assert run_python(code)[0] != 0, lines[place]


def test_an_export_has_no_text_and_overwrites_nothing(ran: Ran, tmp_path: Path) -> None:
    code, out, _ = ran("export")
    assert code == 0
    assert "Wire the money" not in out
    assert len(out.splitlines()) > 5
    assert len(ran("export", "--after", "3")[1].splitlines()) == len(out.splitlines()) - 3
    there = tmp_path / "there"
    there.write_text("mine")
    code, _, err = ran("export", "--out", str(there))
    assert (code, there.read_text()) == (1, "mine")
    assert "cannot be written" in err


def test_a_running_service_seals_by_itself(tmp_path: Path) -> None:
    config = configure(tmp_path)
    with wired(config) as (client, service):
        client.run(service.sealing.look())
        assert service.ledger.verify().checkpoints == 0, "nothing is settled yet"
    with opened_ledger(settings_of(config)) as ledger:
        assert ledger.verify().is_intact


def test_a_key_that_cannot_be_read_stops_the_start(tmp_path: Path) -> None:
    config = configure(tmp_path, more="audit: {key_file: none}\n")
    code, _, err = run_python(
        f"import sys; from clawmarshal.api.cli import main; "
        f"sys.exit(main(['serve', '--config', {str(config)!r}]))"
    )
    assert code == 1
    assert "audit.key_file" in err
