"""File and environment -> Settings; the only reader of os.environ."""

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationError, WrapValidator

from clawmarshal.api.decision_settings import (
    DecisionSettings,
    Section,
    SystemOneServer,
    decision_faults,
)
from clawmarshal.api.faults import Source, read_source, unknown_keys, validation_faults
from clawmarshal.api.imports import is_import_path
from clawmarshal.api.overrides import merged, overrides_in
from clawmarshal.api.proxied import networks_of
from clawmarshal.api.secrets import (
    GatewaySettings,
    SecretPlace,
    gateway_from,
    read_agent_secrets,
    read_gateway,
    read_secret,
    secret_faults,
    secrets_from,
)
from clawmarshal.errors import Fault, LedgerError, SettingsError
from clawmarshal.roster.agent import Risk
from clawmarshal.router.message import DEFAULT_TEXT_BYTES, MAX_TEXT_BYTES
from clawmarshal.router.thresholds import Policy
from clawmarshal.transport.gateway import Gateway

OPENCLAW_COMMAND = "CLAWMARSHAL_OPENCLAW_COMMAND"
"""Where the quick start finds a real OpenClaw: absolute parts, separated by blanks."""
OPENCLAW_CONFIG = "CLAWMARSHAL_OPENCLAW_CONFIG"
"""The client configuration that goes with `OPENCLAW_COMMAND`."""
SQLITE = "sqlite:///"
POSTGRESQL = "postgresql://"


def _is_ledger(value: str) -> str:
    if value.startswith(SQLITE) and len(value) > len(SQLITE) and "?" not in value:
        return value
    if not value.startswith(POSTGRESQL):
        raise ValueError("write sqlite:///FILE or postgresql://HOST/NAME")
    # Imported here: the database's library takes a while, and a file's address needs none of it.
    from clawmarshal.router.ledger.opening import parse

    try:
        parsed = parse(value)
    except LedgerError as error:
        raise ValueError(str(error)) from None
    if parsed.password:
        raise ValueError(
            "the password does not belong here; give it in PGPASSWORD, in ~/.pgpass, or in a file "
            "of that form named by ?passfile="
        )
    return value


def _checked_policy(value: object, check: Callable[[object], Policy]) -> Policy:
    try:
        return check(value)
    except SettingsError as error:
        raise ValueError("; ".join(fault.message for fault in error.faults)) from None


def _checked_addresses(value: list[str]) -> list[str]:
    networks_of(value)
    return value


Scope = Literal["route", "pin", "review", "admin"]


class TrustedProxySettings(Section):
    """A reverse proxy whose word about who is asking is believed."""

    addresses: Annotated[list[str], AfterValidator(_checked_addresses)] = Field(
        default_factory=list
    )
    """From where: addresses or networks of the socket's peer; nobody is believed where empty."""
    header: str = Field(default="X-Forwarded-User", pattern=r"^[A-Za-z0-9-]{1,64}$")
    """Where the name stands; the proxy must take it out of what its own callers send."""
    scopes: list[Scope] = Field(default_factory=lambda: list[Scope](["review"]))
    """What everybody whom it names may do."""


class ServerSettings(Section):
    """Where the service listens."""

    host: str = Field(default="127.0.0.1", min_length=1)
    port: int = Field(default=8484, ge=0, le=65535)
    allowed_hosts: list[str] = Field(default_factory=list)
    """Names besides loopback that may stand in ``Host``; ``*`` for any."""
    stop_s: float = Field(default=20.0, gt=0, le=3600)
    """Seconds a stop may take before what still runs is cut off."""
    session_s: float = Field(default=604_800.0, ge=60, le=31_536_000)
    """Seconds that a sign-in on the review pages lasts."""
    watch_s: float = Field(default=5.0, ge=0, le=3600)
    """Seconds between two looks at whether configuration or roster changed; 0 never looks."""
    max_connections: int = Field(default=2000, ge=1, le=1_000_000)
    """More are answered 503 and closed."""
    trusted_proxy: TrustedProxySettings = TrustedProxySettings()
    open_on_loopback: bool = False
    """True lets peers on loopback use ``/v1/systemone`` without a key; nothing else."""


class TransportSettings(Section):
    """How agents are launched."""

    command: list[str] = Field(default_factory=list)
    """Absolute parts: an executable, or node and openclaw.mjs."""
    stand_in: bool = False
    """Launch the labelled stand-in instead of OpenClaw; for trying things out."""
    openclaw_config: Path | None = None
    gateway: GatewaySettings | None = None
    """In place of ``openclaw_config``: the client configuration is written by us."""
    secrets: dict[str, dict[str, SecretPlace]] = Field(default_factory=dict)
    """By agent id: variables of that agent's child alone, and where their values stand."""
    timeout_s: int = Field(default=600, ge=1, le=3600)
    margin_s: float = Field(default=8.0, ge=0, le=600)
    """Seconds the CLI has beyond its own timeout before it is told to stop."""
    grace_s: float = Field(default=3.0, ge=0, le=60)
    """Seconds from being told to stop until it is killed."""
    directory: Path | None = None
    """Where a private folder, mode 0700, is made for what crosses to the CLI."""
    needs_tmpfs: bool = False
    """Refuse a directory that is on a disk; ``/dev/shm`` where none is named."""
    tmpdir: Path | None = None
    """``TMPDIR`` of the child; keeps Node's compile cache private and reusable."""
    tz: str | None = None
    """``TZ`` of the child: the time the agent is told."""
    max_text_bytes: int = Field(default=DEFAULT_TEXT_BYTES, ge=1, le=MAX_TEXT_BYTES)
    reply_cap_bytes: int = Field(default=1024 * 1024, ge=1024, le=64 * 1024 * 1024)
    child_memory_mb: int = Field(default=4096, ge=0, le=1024 * 1024)
    """MiB of address space of each process of a child; 0 for no bound."""
    max_children: int = Field(default=2, ge=1, le=64)
    """How many turns run at once."""
    agents: list[str] = Field(default_factory=list)
    """The agents whose OpenClaw this host reaches; with no `tags` either, all."""
    tags: list[str] = Field(default_factory=list)
    """The agents with any of these tags are reached too."""


class FleetSettings(Section):
    """How the live fleet is watched."""

    refresh_s: float = Field(default=300.0, ge=15, le=86400)
    """Seconds between two looks at the agents that the Gateway knows."""


class HoldSettings(Section):
    """What is asked of reviewers, and how long a hold waits; nothing and for ever by default."""

    expire_after_s: dict[Risk, Annotated[float, Field(gt=0)]] = Field(default_factory=dict)
    """Per risk, seconds after which an open hold expires."""
    two_reviewers: list[Risk] = Field(default_factory=list)
    """Risks for which two distinct people must approve."""
    no_self_review: bool = False
    """Nobody approves what they sent themselves."""
    claim_required: bool = False
    """Only who has claimed a hold may answer it."""
    grace_s: float = Field(default=0.0, ge=0, le=86_400)
    """Seconds in which an approval can still be cancelled before anything is launched."""


class AuditSettings(Section):
    """How the record is sealed."""

    checkpoint_s: float = Field(default=3600.0, ge=60, le=31_536_000)
    """Seconds between two checkpoints over all events."""
    key_env: str | None = None
    """The variable that holds a secret with which checkpoints are signed."""
    key_file: Path | None = None
    """The file that holds it, in place of a variable; mode 0600, not beside the ledger."""


class LimitSettings(Section):
    """What a caller may ask of the service."""

    body_timeout_s: float = Field(default=30.0, gt=0, le=600)
    head_timeout_s: float = Field(default=15.0, gt=0, le=600)
    """Seconds until a request's head must be there, and what is left of a body nobody reads."""
    stall_s: float = Field(default=30.0, gt=0, le=600)
    """Seconds that a caller may leave an answer unread; then the connection is cut."""
    max_wait_s: float = Field(default=600.0, ge=0, le=600)
    waits_per_key: int = Field(default=1000, ge=1, le=100_000)
    """How many waits and streams each key may keep open; more are 429."""
    guesses_per_minute: int = Field(default=10, ge=1, le=1_000_000)
    """Unknown keys in any minute, by address; more are 429. A known key is never counted."""
    requests_per_minute: int | None = Field(default=None, ge=1, le=1_000_000)
    """Requests in any minute, by key; more are 429. No limit where None."""
    ready_age_s: float = Field(default=86400.0, gt=0)
    """A route that waited longer than this for its launch expires."""
    repeat_window_s: float | None = Field(default=None, ge=60)
    """How long an ``Idempotency-Key`` or message id makes a repeat; for ever where None."""
    lease_s: float = Field(default=30.0, ge=1, le=600)
    """Seconds a launch stays its worker's without a heartbeat, which comes three times as often."""
    ledger_busy_s: float = Field(default=10.0, gt=0, le=60)
    """Seconds a request waits for others who write into the ledger; then it is answered 503."""
    systemone_per_minute: int = Field(default=600, ge=1, le=1_000_000)
    """Requests to ``/v1/systemone`` and ``/v1/models`` in any minute, by key; more are 429."""


class Settings(Section):
    """Everything ``serve`` is told; only the first four are required."""

    server: ServerSettings
    roster: Path
    ledger: Annotated[str, AfterValidator(_is_ledger)]
    transport: TransportSettings
    decision: DecisionSettings = DecisionSettings()
    policy: Annotated[Policy, WrapValidator(_checked_policy)] = Policy()
    mode: Literal["enforce", "shadow"] = "enforce"
    fleet: FleetSettings = FleetSettings()
    holds: HoldSettings = HoldSettings()
    audit: AuditSettings = AuditSettings()
    limits: LimitSettings = LimitSettings()

    @property
    def ledger_file(self) -> Path | None:
        """The ledger's file; None where it is on a server."""
        is_file = self.ledger.startswith(SQLITE)
        return Path(self.ledger.removeprefix(SQLITE)) if is_file else None


def load_settings(path: Path, *, environ: Mapping[str, str] | None = None) -> Settings:
    """Read a configuration file and what the environment overrides.

    Parameters
    ----------
    path
        A YAML file; relative paths in it start at its folder.
    environ
        Overrides as ``CLAWMARSHAL_SECTION__KEY``; the process's own where None.

    Raises
    ------
    SettingsError
        Every fault at once, each with its key, its place and the mend.
    """
    source = read_source(path)
    faults = list(source.faults)
    found = os.environ if environ is None else environ
    overrides = overrides_in(found, Settings.model_fields, faults)
    values = merged(source.values, overrides)
    faults += unknown_keys(values, Settings, source=source)
    settings = None
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        faults += validation_faults(error, source=source)
    if settings is not None:
        faults += _transport_faults(settings.transport, source)
        told = decision_faults(settings.decision)
        faults += [source.fault(fault, "decision", *place) for fault, place in told]
    if faults or settings is None:
        listed = sorted(faults, key=lambda fault: (fault.line or sys.maxsize, fault.column or 0))
        raise SettingsError(f"{path.name} cannot be used:", faults=listed)
    return _resolved(settings, path.resolve().parent)


def configured_openclaw(environ: Mapping[str, str] | None = None) -> tuple[list[str], Path] | None:
    """Return the command and client configuration of a real OpenClaw, if the environment names it.

    Raises
    ------
    SettingsError
        Only one of the two variables is set.
    """
    source = os.environ if environ is None else environ
    command, config = source.get(OPENCLAW_COMMAND, ""), source.get(OPENCLAW_CONFIG, "")
    if bool(command.strip()) != bool(config.strip()):
        raise SettingsError(f"set both {OPENCLAW_COMMAND} and {OPENCLAW_CONFIG}, or neither")
    return (command.split(), Path(config)) if command.strip() else None


def person_of_process(environ: Mapping[str, str] | None = None) -> str:
    """Name the person at the terminal, for the audit record."""
    source = os.environ if environ is None else environ
    return source.get("SUDO_USER") or source.get("LOGNAME") or source.get("USER") or "local"


def decision_key(
    server: SystemOneServer, *, place: str = "decision", environ: Mapping[str, str] | None = None
) -> str | None:
    """Read the key of a decision server; None where the settings name none.

    Parameters
    ----------
    place
        Where the settings name the server, for errors.

    Raises
    ------
    SettingsError
        The variable is not set, or the file is missing, too large, not text, or open to others.
        The key itself is in no message.
    """
    source = os.environ if environ is None else environ
    value = read_secret(
        f"{place}.key_", variable=server.key_env, file=server.key_file, environ=source
    )
    if value is not None and not value.isascii():
        raise SettingsError(f"{place}.key_file holds no key")
    return value


def seal_key(audit: AuditSettings, *, environ: Mapping[str, str] | None = None) -> bytes | None:
    """Read the secret that signs checkpoints; None where the settings name none.

    Raises
    ------
    SettingsError
        The variable is not set, or the file is missing, too large, not text, or open to others.
        The secret itself is in no message.
    """
    source = os.environ if environ is None else environ
    value = read_secret("audit.key_", variable=audit.key_env, file=audit.key_file, environ=source)
    return None if value is None else value.encode()


def gateway_of(
    transport: TransportSettings, *, environ: Mapping[str, str] | None = None
) -> Gateway | None:
    """Return the Gateway and its token; None where the settings name none.

    Raises
    ------
    SettingsError
        The token cannot be read, or the address cannot be used.
    """
    source = os.environ if environ is None else environ
    return None if transport.gateway is None else read_gateway(transport.gateway, environ=source)


def secrets_of(
    transport: TransportSettings, *, environ: Mapping[str, str] | None = None
) -> dict[str, dict[str, str]]:
    """Return the values of each agent's own variables.

    Raises
    ------
    SettingsError
        Some cannot be read.
    """
    source = os.environ if environ is None else environ
    return read_agent_secrets(transport.secrets, environ=source)


def values_of(names: Iterable[str], *, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables of this process that agents list by name; the others stay out."""
    source = os.environ if environ is None else environ
    return {name: source[name] for name in names if name in source}


def _transport_faults(transport: TransportSettings, source: Source) -> list[Fault]:
    faults = []
    if transport.stand_in and transport.command:
        faults.append("transport: give command or stand_in, not both")
    elif not transport.stand_in and not transport.command:
        faults.append(
            "transport.command is missing; write the absolute path of openclaw (or of node and "
            "openclaw.mjs), or stand_in: true to try things out"
        )
    elif transport.command and transport.openclaw_config is None and transport.gateway is None:
        faults.append(
            "transport.openclaw_config is missing; name the client configuration that holds the "
            "Gateway's address and token, or give both as transport.gateway"
        )
    if transport.gateway is not None and transport.openclaw_config is not None:
        faults.append("transport: give openclaw_config or gateway, not both")
    faults += secret_faults(transport.gateway, transport.secrets)
    return [source.fault(fault, "transport") for fault in faults]


def _resolved(settings: Settings, folder: Path) -> Settings:
    """Make every path absolute, from the folder of the file."""
    transport = settings.transport
    paths = {
        name: folder / value
        for name in ("openclaw_config", "directory", "tmpdir")
        if (value := getattr(transport, name)) is not None
    }
    secrets = {
        "gateway": gateway_from(transport.gateway, folder),
        "secrets": secrets_from(transport.secrets, folder),
    }
    return settings.model_copy(
        update={
            "roster": folder / settings.roster,
            "ledger": _absolute_ledger(settings.ledger, folder),
            "transport": transport.model_copy(update={**paths, **secrets}),
            "decision": _decision_from(settings.decision, folder),
            "audit": _audit_from(settings.audit, folder),
        }
    )


def _decision_from(decision: DecisionSettings, folder: Path) -> DecisionSettings:
    paths: dict[str, object] = {
        name: folder / value
        for name in ("key_file", "head")
        if (value := getattr(decision, name)) is not None
    }
    if decision.encoder is not None and not is_import_path(decision.encoder):
        paths["encoder"] = str(folder / decision.encoder)
    server = decision.challenger_server
    if server is not None and server.key_file is not None:
        own = server.model_copy(update={"key_file": folder / server.key_file})
        return decision.model_copy(update={**paths, "challenger_server": own})
    return decision.model_copy(update=paths)


def _audit_from(audit: AuditSettings, folder: Path) -> AuditSettings:
    file = audit.key_file
    return audit if file is None else audit.model_copy(update={"key_file": folder / file})


def _absolute_ledger(url: str, folder: Path) -> str:
    if not url.startswith(SQLITE):
        return url
    return SQLITE + str(folder / url.removeprefix(SQLITE))
