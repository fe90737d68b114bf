"""Which Gateway, with which token: the client config that we write for the CLI; pure."""

import ipaddress
import json
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from clawmarshal.errors import SettingsError

CLIENT_CONFIG = "client.json"
"""The file's name in the transport's private folder."""
MAX_TOKEN_CHARS = 4096
_URL = re.compile(r"wss?://[A-Za-z0-9.\[\]:_-]+(/[A-Za-z0-9._~/-]*)?", re.ASCII)
_TOKEN = re.compile(r"[\x21-\x7e]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Gateway:
    """Where the Gateway is, and the token that it wants.

    Raises
    ------
    SettingsError
        The address is no WebSocket address, or would carry the token over a network in the clear;
        the token is empty or holds blanks. Neither is repeated.

    Notes
    -----
    The form of the file: OpenClaw's documentation, gateway/remote, and measured with 2026.9.6.
    OpenClaw itself refuses ``ws://`` beyond loopback unless a variable allows it that we refuse.
    """

    url: str
    """``wss://HOST[:PORT]``, or ``ws://`` on loopback."""
    token: str = field(repr=False)
    """Printable ASCII without blanks."""

    def __post_init__(self) -> None:
        """Check both."""
        fault = url_fault(self.url)
        if fault is not None:
            raise SettingsError(f"transport.gateway.url {fault}")
        if not _TOKEN.fullmatch(self.token) or len(self.token) > MAX_TOKEN_CHARS:
            raise SettingsError(
                "transport.gateway: the token is not 1 to "
                f"{MAX_TOKEN_CHARS} printable ASCII characters without blanks"
            )

    def client_config(self) -> bytes:
        """Return the bytes of the file: JSON, which OpenClaw reads as JSON5."""
        remote = {"url": self.url, "token": self.token}
        return json.dumps({"gateway": {"mode": "remote", "remote": remote}}).encode()


def url_fault(url: str) -> str | None:
    """Say what is wrong with an address, without repeating it; None when nothing is."""
    if "@" in url:
        return "holds a user name or a password; the token goes into token_env or token_file"
    if not _URL.fullmatch(url):
        return "is not of the form wss://HOST[:PORT]"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return "has no usable host or port"
    if not host or port == 0:
        return "has no usable host or port"
    if parts.scheme == "ws" and not _is_loopback(host):
        return "would send the token over a network in the clear; write wss://"
    return None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
