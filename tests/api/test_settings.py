"""The configuration: every fault at once, with its key, its place and the mend."""

from pathlib import Path

import pytest

from clawmarshal.api.settings import (
    configured_openclaw,
    load_settings,
    person_of_process,
    values_of,
)
from clawmarshal.errors import SettingsError
from tests.support.service import configure

MINIMAL = """\
server: {}
roster: fleet.yaml
ledger: sqlite:///ledger.db
transport: {command: [/opt/openclaw], openclaw_config: client.json5}
"""
NO_VARIABLES: dict[str, str] = {}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "clawmarshal.yaml"


def faults_of(config: Path, text: str, environ: dict[str, str] | None = None) -> list[str]:
    config.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load_settings(config, environ=environ or NO_VARIABLES)
    return [str(fault) for fault in caught.value.faults] or [str(caught.value)]


def test_four_keys_are_enough_and_nothing_stricter_is_on(config: Path) -> None:
    config.write_text(MINIMAL, encoding="utf-8")
    settings = load_settings(config, environ=NO_VARIABLES)
    assert (settings.server.host, settings.server.port) == ("127.0.0.1", 8484)
    assert (settings.decision.model, settings.decision.deadline_s) == ("offline", 4.0)
    assert settings.decision.fallback is None
    assert (settings.mode, settings.policy.min_probability) == ("enforce", 0.5)


def test_relative_paths_start_at_the_file(config: Path) -> None:
    config.write_text(MINIMAL, encoding="utf-8")
    settings = load_settings(config, environ=NO_VARIABLES)
    folder = config.parent
    assert settings.roster == folder / "fleet.yaml"
    assert settings.ledger == f"sqlite:///{folder}/ledger.db"
    assert settings.ledger_file == folder / "ledger.db"
    assert settings.transport.openclaw_config == folder / "client.json5"


def test_an_absolute_ledger_stays_where_it_is(config: Path) -> None:
    config.write_text(MINIMAL.replace("sqlite:///ledger.db", "sqlite:////srv/l.db"))
    settings = load_settings(config, environ=NO_VARIABLES)
    assert (settings.ledger, settings.ledger_file) == ("sqlite:////srv/l.db", Path("/srv/l.db"))


def test_the_environment_overrides_every_section(config: Path) -> None:
    config.write_text(MINIMAL, encoding="utf-8")
    environ = {
        "CLAWMARSHAL_SERVER__PORT": "9000",
        "CLAWMARSHAL_SERVER__ALLOWED_HOSTS": '["desk.example"]',
        "CLAWMARSHAL_MODE": "shadow",
        "CLAWMARSHAL_LEDGER": "sqlite:///other.db",
        "CLAWMARSHAL_POLICY__MIN_PROBABILITY": "0.75",
        "CLAWMARSHAL_POLICY__ON_NO_MATCH": "decline",
        "CLAWMARSHAL_DECISION__DEADLINE_S": "1.5",
        "CLAWMARSHAL_TEST_FULL": "1",
        "PATH": "/bin",
    }
    settings = load_settings(config, environ=environ)
    assert (settings.server.port, settings.mode) == (9000, "shadow")
    assert settings.server.allowed_hosts == ["desk.example"]
    assert settings.ledger_file == config.parent / "other.db"
    assert (settings.policy.min_probability, settings.policy.on_no_match) == (0.75, "decline")
    assert settings.decision.deadline_s == 1.5


def test_the_process_environment_is_read_by_default(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text(MINIMAL, encoding="utf-8")
    monkeypatch.setenv("CLAWMARSHAL_SERVER__PORT", "9001")
    assert load_settings(config).server.port == 9001


@pytest.mark.parametrize(
    "name", ["CLAWMARSHAL_SEVER__PORT", "CLAWMARSHAL_SERVER__PRT", "CLAWMARSHAL_SERVER__PORT__X"]
)
def test_a_variable_that_names_no_setting_is_a_fault(config: Path, name: str) -> None:
    (fault,) = faults_of(config, MINIMAL, {name: "1"})
    assert "no setting" in fault


def test_every_fault_is_told_at_once_with_its_place(config: Path) -> None:
    text = """\
servr: {}
server: {prt: 9, port: 99999}
roster: fleet.yaml
ledger: mysql://db
transport: {comand: [/opt/openclaw]}
policy: {min_probability: high, min_margn: 1}
mode: dry
"""
    assert faults_of(config, text) == [
        "line 1, column 1: servr is no setting; did you mean server?",
        "line 2, column 10: server.prt is no setting; did you mean port?",
        "line 2, column 24: server.port: input should be less than or equal to 65535",
        "line 4, column 9: ledger: write sqlite:///FILE or postgresql://HOST/NAME",
        "line 5, column 13: transport.comand is no setting; did you mean command?",
        "line 6, column 27: policy.min_probability: input should be a valid number, unable to "
        "parse string as a number",
        "line 6, column 33: policy.min_margn is no setting; did you mean min_margin?",
        "line 7, column 7: mode: input should be 'enforce' or 'shadow'",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        (" \n\n", "is empty"),
        ("# nothing\n", "is empty"),
        ("[]", "is not a mapping"),
        ("a: [", "is not YAML"),
        ("server: {}\nserver: {}\n", "stands twice"),
        ("server: {}\n", "roster is missing"),
        (MINIMAL + "limits: {max_wait_s: 601}\n", "limits.max_wait_s"),
        (MINIMAL + "decision: {model: offlin}\n", "decision.model: write offline"),
        (MINIMAL + "policy: {min_probability: 3}\n", "min_probability is a number between"),
        (MINIMAL + "policy: []\n", "policy"),
        (MINIMAL.replace("{command: [/opt/openclaw], openclaw_config: client.json5}", "{}"),
         "transport.command is missing"),
        (MINIMAL.replace(", openclaw_config: client.json5", ""),
         "transport.openclaw_config is missing"),
        (MINIMAL.replace("{command:", "{stand_in: true, command:"), "not both"),
        (MINIMAL.replace("sqlite:///ledger.db", "sqlite:///"), "ledger: write sqlite"),
        (MINIMAL.replace("sqlite:///ledger.db", "sqlite:///l.db?mode=ro"), "ledger: write sqlite"),
    ],
)  # fmt: skip
def test_each_fault_names_its_key(config: Path, text: str, words: str) -> None:
    assert words in " ".join(faults_of(config, text))


def test_a_missing_file_is_said_with_the_mend(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"no file .*--config"):
        load_settings(tmp_path / "nothing.yaml")


def test_a_folder_is_no_configuration(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings(tmp_path)


@pytest.mark.parametrize(
    ("raw", "words"), [(b"server: \xff", "not UTF-8"), (b"#" * (1024 * 1024 + 1), "larger than")]
)
def test_bytes_that_are_no_configuration(config: Path, raw: bytes, words: str) -> None:
    config.write_bytes(raw)
    with pytest.raises(SettingsError, match=words):
        load_settings(config, environ=NO_VARIABLES)


def test_a_real_openclaw_is_found_in_the_environment_whole_or_not_at_all() -> None:
    both = {
        "CLAWMARSHAL_OPENCLAW_COMMAND": "/n/node /o/openclaw.mjs",
        "CLAWMARSHAL_OPENCLAW_CONFIG": "/o/client.json5",
    }
    command = ["/n/node", "/o/openclaw.mjs"]
    assert configured_openclaw(both) == (command, Path("/o/client.json5"))
    assert configured_openclaw({}) is None
    with pytest.raises(SettingsError, match="set both"):
        configured_openclaw({"CLAWMARSHAL_OPENCLAW_COMMAND": "/n/node"})


@pytest.mark.parametrize(
    ("environ", "person"),
    [({"SUDO_USER": "ann", "USER": "root"}, "ann"), ({"USER": "bob"}, "bob"), ({}, "local")],
)
def test_the_person_at_the_terminal_is_named(environ: dict[str, str], person: str) -> None:
    assert person_of_process(environ) == person


def test_agents_get_only_the_variables_they_list() -> None:
    environ = {"A": "1", "SECRET": "2"}
    assert values_of(["A", "B"], environ=environ) == {"A": "1"}


def test_the_example_is_a_configuration_and_says_the_defaults() -> None:
    example = Path(__file__).parents[2] / "examples" / "clawmarshal.yaml"
    settings = load_settings(example, environ=NO_VARIABLES)
    assert settings.transport.stand_in
    assert settings.roster.is_file()
    config_free = type(settings).model_fields
    assert settings.policy == config_free["policy"].default
    assert settings.decision == config_free["decision"].default


def test_an_encoder_is_found_from_the_folder_of_the_file(tmp_path: Path) -> None:
    config = configure(tmp_path)
    text = config.read_text(encoding="utf-8")
    own = text.replace("{model: lexical}", "{model: offline, encoder: tiny.onnx}")
    config.write_text(own, encoding="utf-8")
    assert load_settings(config, environ={}).decision.encoder == str(tmp_path / "tiny.onnx")
    config.write_text(own.replace("tiny.onnx", "'own:Tiny'"), encoding="utf-8")
    assert load_settings(config, environ={}).decision.encoder == "own:Tiny"
    unfit = text.replace("{model: lexical}", "{model: lexical, encoder: tiny.onnx}")
    config.write_text(unfit, encoding="utf-8")
    with pytest.raises(SettingsError, match=r"decision\.encoder is for model: offline"):
        load_settings(config, environ={})
