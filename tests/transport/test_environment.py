"""The child's environment is built from nothing, and some names never get in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmarshal.errors import NotLaunchedError
from clawmarshal.transport.environment import (
    PUBLISHED,
    REFUSED,
    child_environment,
    name_fault,
    value_fault,
)


def test_nothing_listed_gives_the_fixed_five() -> None:
    assert child_environment(config_path="/c", state_dir="/s", home="/h") == {
        "OPENCLAW_CONFIG_PATH": "/c",
        "OPENCLAW_STATE_DIR": "/s",
        "HOME": "/h",
        "OPENCLAW_NO_RESPAWN": "1",
        "LANG": "C.UTF-8",
    }


def test_published_table_names_every_variable_and_why() -> None:
    full = child_environment(config_path="/c", state_dir="/s", home="/h", tmpdir="/t", tz="UTC")

    assert list(full) == [variable.name for variable in PUBLISHED]
    assert all(row.origin and row.reason and row.evidence for row in PUBLISHED)
    assert all(row.names and row.reason and row.evidence for row in REFUSED)


def test_only_listed_values_are_taken() -> None:
    environment = child_environment(
        config_path=None, state_dir="/s", home="/h", names=["A"], values={"A": "1", "B": "2"}
    )

    assert environment["A"] == "1"
    assert "B" not in environment
    assert "OPENCLAW_CONFIG_PATH" not in environment


DANGEROUS = """NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED
    NODE_V8_COVERAGE LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES SSL_CERT_FILE SSL_CERT_DIR
    OPENCLAW_GATEWAY_URL
    OPENCLAW_GATEWAY_TOKEN OPENCLAW_GATEWAY_PORT OPENCLAW_CONTAINER OPENCLAW_SHELL OPENCLAW_PROFILE
    OPENCLAW_HOME OPENCLAW_STATE_DIR OPENCLAW_CONFIG_PATH OPENCLAW_LOAD_SHELL_ENV OPENCLAW_AGENT
    OPENCLAW_BUNDLED_PLUGINS_DIR OPENCLAW_PREPEND_PATH OPENCLAW_RAW_STREAM OPENCLAW_DEBUG_X
    OPENCLAW_NO_RESPAWN OPENCLAW_ALLOW_INSECURE_PRIVATE_WS OPENCLAW_SHOW_SECRETS CLAWDBOT_X
    HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY PROXY PYTHONPATH PYTHONSTARTUP PYTHON
    BASH_ENV ENV SHELLOPTS PATH HOME TMPDIR LANG LC_ALL VITEST DEBUG GCONV_PATH IFS
    CLAWMARSHAL_SERVER__PORT NPM_CONFIG_PREFIX ELECTRON_RUN_AS_NODE""".split()

BY_SUDO = """IFS CDPATH LOCALDOMAIN RES_OPTIONS HOSTALIASES NLSPATH PATH_LOCALE LD_X _RLD_LIST
    SHLIB_PATH LDR_PRELOAD LIBPATH AUTHSTATE DYLD_X KRB5_CONFIG KRB5_KTNAME TERMINFO TERMINFO_DIRS
    TERMPATH TERMCAP ENV BASH_ENV PS4 GLOBIGNORE BASHOPTS SHELLOPTS JAVA_TOOL_OPTIONS PERLIO_DEBUG
    PERLLIB PERL5LIB PERL5OPT PERL5DB FPATH NULLCMD READNULLCMD ZDOTDIR TMPPREFIX PYTHONHOME
    PYTHONPATH PYTHONINSPECT PYTHONUSERBASE RUBYLIB RUBYOPT""".split()
"""What sudo takes away whatever it is told (sudo -V, "Environment variables to remove")."""


@pytest.mark.parametrize("name", sorted({*DANGEROUS, *BY_SUDO}))
@pytest.mark.parametrize("fold", [str.upper, str.lower, str.title], ids=["upper", "lower", "title"])
def test_dangerous_name_is_refused_in_any_case(name: str, fold: object) -> None:
    assert callable(fold)
    assert "is refused: " in (name_fault(fold(name)) or "")


@pytest.mark.parametrize("name", [row.name for row in PUBLISHED])
def test_variable_of_ours_cannot_be_listed(name: str) -> None:
    assert name_fault(name) is not None


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "BANK_TOKEN", "X1", "_A", "ANTHROPIC_BASE_URL"])
def test_plain_name_may_be_listed(name: str) -> None:
    assert name_fault(name) is None


@pytest.mark.parametrize("name", ["", "A=B", "1A", "A B", "A\n", "É", None], ids=repr)
def test_what_is_no_name_is_refused(name: str) -> None:
    assert name_fault(name) is not None


@pytest.mark.parametrize(
    "value",
    [
        *("a\nb", "a\0", "\x1b[0m", "\x85", "\u2028", "\ud800", "() { :; }; id", " (){x"),
        *("()", "( ) {", "\t() { :;}", "x" * 40_000, "é" * 20_000, 1, None),
    ],
    ids=lambda value: repr(value)[:12],
)
def test_bad_value_is_refused_without_being_shown(value: object) -> None:
    fault = value_fault("KEY", value)

    assert fault is not None
    assert not isinstance(value, str) or value not in fault


@pytest.mark.parametrize(
    "zone", ["../../etc/shadow", "/etc/shadow", ":/etc/shadow", "a b", "", "x" * 65, "Ünited"]
)
def test_time_zone_that_names_a_file_is_refused(zone: str) -> None:
    assert value_fault("TZ", zone) == "TZ is not the name of a time zone"


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "CET-1CEST,M3.5.0,M10.5.0/3", "<+03>-3"])
def test_time_zone_is_taken(zone: str) -> None:
    assert value_fault("TZ", zone) is None


@pytest.mark.parametrize("name", ["config_path", "state_dir", "home", "tmpdir"])
def test_path_of_ours_must_be_absolute(name: str) -> None:
    told: dict[str, str] = {"config_path": "/c", "state_dir": "/s", "home": "/h", name: "x"}

    with pytest.raises(NotLaunchedError, match="absolute"):
        child_environment(**told)  # type: ignore[arg-type]  # names as keys


def test_refused_name_is_refused_at_launch_too() -> None:
    with pytest.raises(NotLaunchedError) as caught:
        child_environment(
            config_path="/c",
            state_dir="/s",
            home="/h",
            names=["NODE_OPTIONS"],
            values={"NODE_OPTIONS": "--require x"},
        )

    assert caught.value.code == "environment-refused"
    assert "--require" not in str(caught.value)


def test_fixed_values_are_checked_like_others() -> None:
    with pytest.raises(NotLaunchedError):
        child_environment(config_path="/c\nX=1", state_dir="/s", home="/h")


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=20), max_size=4))
def test_no_listing_changes_the_fixed_variables(values: dict[str, str]) -> None:
    plain = child_environment(config_path="/c", state_dir="/s", home="/h")
    try:
        environment = child_environment(
            config_path="/c", state_dir="/s", home="/h", names=values, values=values
        )
    except NotLaunchedError:
        return
    assert environment == plain | values
