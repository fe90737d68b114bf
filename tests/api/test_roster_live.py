"""``roster import`` and ``roster diff``: files, exit codes, and what is never said."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from clawmarshal.api.cli import main
from clawmarshal.roster.loader import load_roster
from tests.support.fake_openclaw import FakeOpenClaw, write_fake
from tests.support.live_fleet import (
    ENTRIES,
    SECRET,
    agents_document,
    calls,
    config_document,
    known_calls,
)
from tests.support.service import configure

Said = Callable[..., tuple[int, str, str]]


@pytest.fixture
def said(capfd: pytest.CaptureFixture[str]) -> Said:
    """Run a command in this process; return exit code and both outputs, children's included."""

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        captured = capfd.readouterr()
        assert SECRET not in captured.out + captured.err
        return code, captured.out, captured.err

    return call


def prepared(
    folder: Path, answers: Mapping[str, str], *, is_new: bool = False
) -> tuple[Path, FakeOpenClaw]:
    """Write a configuration with a scripted CLI."""
    fake = write_fake(folder, calls=answers)
    config = configure(folder, command=fake.command)
    if is_new:
        (folder / "fleet.yaml").unlink()
    return config, fake


def test_import_makes_a_roster_that_check_accepts_and_diff_finds_the_same(
    said: Said, tmp_path: Path
) -> None:
    config, fake = prepared(tmp_path, known_calls(), is_new=True)
    roster = tmp_path / "fleet.yaml"

    code, out, err = said("roster", "import", "-c", str(config))
    assert (code, "added finance, security" in out) == (0, True)
    assert "agents.entries.security.tools.deny" in err
    assert said("roster", "check", str(roster))[0] == 0
    assert said("roster", "diff", "-c", str(config))[0] == 0
    assert SECRET not in roster.read_text()
    assert {tuple(call) for call in fake.notes("calls")} == {
        ("agents.list", "--json"),
        ("config.get", "--json"),
    }
    assert fake.launches() == []


def test_import_keeps_what_the_operator_wrote_and_says_so(said: Said, tmp_path: Path) -> None:
    entries = {**ENTRIES, "finance": {"description": "Other words."}, "ops": {"name": "Ops"}}
    config, _ = prepared(tmp_path, calls(agents_document(*entries), config_document(entries)))
    roster = tmp_path / "fleet.yaml"
    before = roster.read_text()

    code, out, err = said("roster", "import", "-c", str(config))

    assert code == 0
    assert roster.read_text().startswith(before)
    assert "kept: finance: the descriptions differ; OpenClaw says 'Other words.'" in out
    assert "ops: OpenClaw has no description" in err
    assert load_roster(roster)["ops"].enabled is False
    assert sorted(p.name for p in tmp_path.glob("fleet*")) == ["fleet.yaml"]


def test_force_says_what_it_replaces_and_keeps_a_copy(said: Said, tmp_path: Path) -> None:
    entries = {"finance": {"description": "Other words."}, "security": {}}
    config, _ = prepared(tmp_path, calls(agents_document(*entries), config_document(entries)))
    roster = tmp_path / "fleet.yaml"
    roster.write_text("# mine\n" + roster.read_text())
    roster.chmod(0o640)
    before = roster.read_text()

    code, out, _ = said("roster", "import", "--force", "-c", str(config))

    assert code == 0
    assert "replaced: finance: the descriptions differ; the file said 'Invoices" in out
    assert "comments are gone" in out
    assert (tmp_path / "fleet.yaml.before-import-1").read_text() == before
    assert load_roster(roster)["finance"].description == "Other words."
    assert roster.stat().st_mode & 0o777 == 0o640


def test_dry_run_and_import_without_a_file_write_nothing(
    said: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, fake = prepared(tmp_path, known_calls(), is_new=True)
    code, out, _ = said("roster", "import", "--dry-run", "-c", str(config))
    assert (code, "would add finance, security" in out) == (0, True)

    monkeypatch.setenv("CLAWMARSHAL_OPENCLAW_COMMAND", " ".join(fake.command))
    monkeypatch.setenv("CLAWMARSHAL_OPENCLAW_CONFIG", str(tmp_path / "client.json5"))
    code, out, _ = said("roster", "import")
    assert (code, out.startswith("agents:\n  - id: ")) == (0, True)
    assert not list(tmp_path.glob("fleet*"))


def test_import_goes_through_a_link_to_the_file_behind_it(said: Said, tmp_path: Path) -> None:
    config, _ = prepared(tmp_path, known_calls(), is_new=True)
    link, target = tmp_path / "fleet.yaml", tmp_path / "real.yaml"
    target.write_text("agents:\n  - id: a\n    description: Remit of a.\n")
    link.symlink_to(target)
    assert said("roster", "import", "-c", str(config))[0] == 0
    assert link.is_symlink()
    assert len(load_roster(target)) == 3


MALFORMED = {
    "nothing": "",
    "blank": "print()",
    "half": "print(json.dumps({'agents': [{'id': 'finance'}]})[:20])",
    "html": "print('<html><body>502 Bad Gateway</body></html>')",
    "wrong-shape": "print('[1, 2, 3]')",
    "another-version": "print(json.dumps([{'id': 'main', 'isDefault': True}]))",
    "no-agents": "print(json.dumps({'agents': []}))",
    "an-agent-without-id": "print(json.dumps({'agents': [{'id': 'finance'}, {}]}))",
    "exit-1": "print(json.dumps({'agents': [{'id': 'finance'}]})); sys.exit(1)",
    "gateway-down": "fail('Gateway not reachable at ws://127.0.0.1:9 (ECONNREFUSED).')",
    "20-mb": "os.write(1, b'{\"agents\": [\"') or [os.write(1, b'x' * 65536) for _ in range(320)]",
    "two-documents": "print('{}'); print('{}')",
    "invalid-utf-8": "os.write(1, b'\\xff\\xfe\\x00')",
    "dies": "os.kill(os.getpid(), 9)",
}


@pytest.mark.parametrize("answer", MALFORMED.values(), ids=MALFORMED)
def test_answer_that_is_not_understood_means_fleet_unknown(
    said: Said, tmp_path: Path, answer: str
) -> None:
    config, _ = prepared(tmp_path, {**known_calls(), "agents.list": answer})
    before = (tmp_path / "fleet.yaml").read_text()

    code, _, err = said("roster", "diff", "-c", str(config))
    assert (code, "fleet unknown" in err) == (2, True)
    code, _, err = said("roster", "import", "--force", "-c", str(config))
    assert (code, "fleet unknown" in err) == (1, True)
    assert (tmp_path / "fleet.yaml").read_text() == before


@pytest.mark.parametrize(
    "answer",
    [MALFORMED["half"], MALFORMED["html"], MALFORMED["gateway-down"], MALFORMED["20-mb"]],
    ids=["half", "html", "gateway-down", "20-mb"],
)
def test_without_the_configuration_only_a_difference_of_ids_is_told(
    said: Said, tmp_path: Path, answer: str
) -> None:
    config, _ = prepared(tmp_path, {**known_calls(), "config.get": answer})
    code, out, _ = said("roster", "diff", "-c", str(config), "--json")
    assert (code, json.loads(out)["same"]) == (2, None)
    assert said("roster", "import", "-c", str(config))[0] == 1

    (tmp_path / "fleet.yaml").write_text("agents:\n  - id: ops\n    description: Servers.\n")
    code, out, _ = said("roster", "diff", "-c", str(config), "--json")
    assert code == 1
    assert {d["code"] for d in json.loads(out)["differences"]} == {"missing", "unlisted"}


def test_diff_says_what_differs(said: Said, tmp_path: Path) -> None:
    entries = {**ENTRIES, "finance": {"description": "Other\x1b[2J words."}}
    config, _ = prepared(tmp_path, calls(agents_document(*entries), config_document(entries)))
    code, out, _ = said("roster", "diff", "-c", str(config))
    assert code == 1
    assert "finance: the descriptions differ" in out
    assert "'Other words.'" in out


@pytest.mark.parametrize("text", ["agents: [", None], ids=["broken", "missing"])
def test_roster_that_cannot_be_read_is_unknown_too(
    said: Said, tmp_path: Path, text: str | None
) -> None:
    config, _ = prepared(tmp_path, known_calls())
    roster = tmp_path / "fleet.yaml"
    roster.unlink() if text is None else roster.write_text(text)
    assert said("roster", "diff", "-c", str(config))[0] == 2
    if text is not None:
        assert said("roster", "import", "-c", str(config))[0] == 1
        assert roster.read_text() == text


def test_diff_needs_a_roster(said: Said) -> None:
    assert said("roster", "diff")[0] == 2


def test_stand_in_has_no_fleet_to_tell(said: Said, tmp_path: Path) -> None:
    code, _, err = said("roster", "diff", "-c", str(configure(tmp_path)))
    assert (code, "fleet unknown" in err) == (2, True)
