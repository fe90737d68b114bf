"""Secrets that the settings name by a variable or a file: read, bounded, never shown."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from clawmarshal.errors import Fault, SettingsError
from clawmarshal.transport.gateway import Gateway, url_fault

MAX_SECRET_BYTES = 8192
Secrets = Mapping[str, Mapping[str, "SecretPlace"]]
"""By agent id and variable."""


class SecretPlace(BaseModel):
    """Where a secret stands; one of the two."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    env: str | None = None
    """The variable of the service that holds it."""
    file: Path | None = None
    """The file that holds it, mode 0600."""


class GatewaySettings(BaseModel):
    """The Gateway, and where its token stands."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    url: str
    """``wss://HOST[:PORT]``, or ``ws://`` on loopback."""
    token_env: str | None = None
    """The variable of the service that holds the token."""
    token_file: Path | None = None
    """The file that holds the token, mode 0600."""


def read_gateway(told: GatewaySettings, *, environ: Mapping[str, str]) -> Gateway:
    """Read the token and return both.

    Raises
    ------
    SettingsError
        As `read_secret` and `Gateway`.
    """
    token = read_secret(
        "transport.gateway.token_",
        variable=told.token_env,
        file=told.token_file,
        environ=environ,
    )
    return Gateway(told.url, token or "")


def read_agent_secrets(
    secrets: Secrets, *, environ: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """Read the values of every agent's own variables.

    Raises
    ------
    SettingsError
        With every secret that cannot be read.
    """
    found: dict[str, dict[str, str]] = {}
    faults = []
    for agent_id, name, place in _places(secrets):
        key = f"transport.secrets.{agent_id}.{name}."
        try:
            value = read_secret(key, variable=place.env, file=place.file, environ=environ)
        except SettingsError as error:
            faults.append(Fault(str(error)))
        else:
            found.setdefault(agent_id, {})[name] = value or ""
    if faults:
        raise SettingsError("secrets of agents cannot be read:", faults=faults)
    return found


def secret_faults(gateway: GatewaySettings | None, secrets: Secrets) -> list[str]:
    """Say where a secret has no place, or two."""
    faults = []
    if gateway is not None and (gateway.token_env is None) == (gateway.token_file is None):
        faults.append("transport.gateway: give one of token_env and token_file")
    if gateway is not None and (fault := url_fault(gateway.url)):
        faults.append(f"transport.gateway.url {fault}")
    for agent_id, name, place in _places(secrets):
        if (place.env is None) == (place.file is None):
            faults.append(f"transport.secrets.{agent_id}.{name}: give one of env and file")
    return faults


def secrets_from(secrets: Secrets, folder: Path) -> Secrets:
    """Make the paths absolute, from a folder."""
    return {
        agent_id: {name: _from(place, folder) for name, place in places.items()}
        for agent_id, places in secrets.items()
    }


def gateway_from(gateway: GatewaySettings | None, folder: Path) -> GatewaySettings | None:
    """Make the path absolute, from a folder."""
    if gateway is None or gateway.token_file is None:
        return gateway
    return gateway.model_copy(update={"token_file": folder / gateway.token_file})


def _from(place: SecretPlace, folder: Path) -> SecretPlace:
    return place if place.file is None else SecretPlace(file=folder / place.file)


def _places(secrets: Secrets) -> Iterator[tuple[str, str, SecretPlace]]:
    for agent_id, places in secrets.items():
        for name, place in places.items():
            yield agent_id, name, place


def read_secret(
    key: str, *, variable: str | None, file: Path | None, environ: Mapping[str, str]
) -> str | None:
    """Return a secret without the blanks around it; None where neither place is named.

    Parameters
    ----------
    key
        The setting, for messages, but for ``env`` or ``file`` at its end: ``decision.key_``.

    Raises
    ------
    SettingsError
        The variable is not set, or the file is missing, too large, not text, or open to others.
        The secret itself is in no message.
    """
    if variable is not None:
        value = environ.get(variable, "").strip()
        if not value:
            raise SettingsError(f"{key}env: {variable} is not set")
        return value
    return None if file is None else _read(f"{key}file", file)


def _read(key: str, file: Path) -> str:
    try:
        # A pipe without a writer would keep us waiting; it reads as empty.
        fd = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(fd, "rb") as stream:
            is_open = bool(os.fstat(stream.fileno()).st_mode & 0o077)
            raw = stream.read(MAX_SECRET_BYTES + 1) or b""
    except OSError as error:
        raise SettingsError(f"{key} cannot be read: {error.strerror}") from error
    if is_open:
        raise SettingsError(f"{key} is open to others; make it mode 0600")
    try:
        value = raw.decode("utf-8").strip()
    except UnicodeDecodeError:
        value = ""
    if not value or len(raw) > MAX_SECRET_BYTES:
        raise SettingsError(f"{key} holds no key")
    return value
