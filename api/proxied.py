"""ProxyTrust: who a reverse proxy says is asking, believed from listed addresses only."""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass

MAX_NAME_CHARS = 200
_NAME = re.compile(rf"[\x21-\x7e](?:[\x20-\x7e]{{0,{MAX_NAME_CHARS - 2}}}[\x21-\x7e])?", re.ASCII)
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class UnusableIdentityError(Exception):
    """A trusted proxy sent a name twice, or one that is no name."""


@dataclass(frozen=True, slots=True)
class ProxyTrust:
    """Believe one header of peers that are listed."""

    networks: tuple[Network, ...]
    """From where the header is believed: the address of the socket's peer, nothing that is sent."""
    header: str
    """Lower-case; the proxy must take it out of what its own callers send."""
    scopes: frozenset[str]
    """What everybody whom it names may do."""

    def trusts(self, address: str | None) -> bool:
        """Tell whether a socket's peer is one of those that are believed."""
        if address is None:
            return False
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            return False
        mapped = getattr(found, "ipv4_mapped", None)
        return any((mapped or found) in network for network in self.networks)

    def person(self, address: str | None, sent: Sequence[str]) -> str | None:
        """Return who is named; None where nobody is, or the peer is not believed.

        Parameters
        ----------
        sent
            The values of every header of that name.

        Raises
        ------
        UnusableIdentityError
            The peer is believed, and what it says is no one name.
        """
        if not sent or not self.trusts(address):
            return None
        if len(sent) > 1 or not _NAME.fullmatch(sent[0]):
            raise UnusableIdentityError
        return sent[0]


def networks_of(addresses: Sequence[str]) -> tuple[Network, ...]:
    """Read addresses and networks.

    Raises
    ------
    ValueError
        One is neither, or is everywhere.
    """
    found: list[Network] = []
    for address in addresses:
        network = ipaddress.ip_network(address)
        if network.prefixlen == 0:
            raise ValueError(f"{address} is everybody; list the proxy's own address")
        found.append(network)
    return tuple(found)
