"""Guesses: how often an address has shown keys that nobody has; right keys are never counted."""

import ipaddress

from clawmarshal.api.rates import RateLimit

PER_MINUTE = 10
_SITE_BITS = 64
"""What one caller on IPv6 has at least: all of these addresses are one guesser."""


class Guesses:
    """Count wrong keys by address, in memory and bounded.

    Parameters
    ----------
    per_minute
        How many wrong keys an address may show before it is told to wait.
    """

    def __init__(self, per_minute: int = PER_MINUTE) -> None:
        self._rate = RateLimit(per_minute)

    def wait_s(self, address: str | None) -> int:
        """Count a wrong key; return how many seconds its sender must wait, 0 for none."""
        return self._rate.wait_s(_site(address))


def _site(address: str | None) -> str:
    try:
        found = ipaddress.ip_address(address or "")
    except ValueError:
        return address or ""
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, _SITE_BITS), strict=False))
