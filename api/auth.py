"""Who is asking: bearer keys, scopes, owners, and the host names that are served."""

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request

from clawmarshal.api.ports import Parts
from clawmarshal.api.problems import Problem
from clawmarshal.router.ledger.records import Principal

SCOPES = ("route", "pin", "review", "admin")
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
MAX_KEY_CHARS = 256
CHALLENGE = 'Bearer realm="clawmarshal"'


def parts_of(request: Request) -> Parts:
    """Return the parts of the application that serves a request."""
    parts: Parts = request.app.state.parts
    return parts


async def principal_of(request: Request) -> Principal | None:
    """Say who is behind a request; None without an ``Authorization`` header.

    Raises
    ------
    Problem
        ``key-unknown``: the header is not one bearer key that the ledger knows.
    """
    sent = request.headers.getlist("authorization")
    if not sent:
        return None
    scheme, _, key = sent[0].partition(" ")
    key = key.strip()
    usable = len(sent) == 1 and scheme.lower() == "bearer" and 0 < len(key) <= MAX_KEY_CHARS
    principal = None
    if usable and key.isascii() and key.isprintable():
        address = request.client.host if request.client else None
        records = parts_of(request).records
        principal = await asyncio.to_thread(records.authenticate, key, address)
    if principal is None:
        raise Problem(
            "key-unknown",
            "Send one known key as 'Authorization: Bearer KEY'.",
            headers={"WWW-Authenticate": f'{CHALLENGE}, error="invalid_token"'},
        )
    request.state.key_id = principal.key_id
    return principal


def needs(*scopes: str) -> Callable[[Request], Awaitable[Principal]]:
    """Make a dependency that lets in a key with any of these scopes.

    Raises
    ------
    Problem
        ``key-missing``, ``key-unknown`` (401) or ``scope-missing`` (403).
    """

    async def check(request: Request) -> Principal:
        principal = await principal_of(request)
        if principal is None:
            raise Problem(
                "key-missing",
                "Send a key as 'Authorization: Bearer KEY'; 'clawmarshal keys create' makes one.",
                headers={"WWW-Authenticate": CHALLENGE},
            )
        if not any(principal.may(scope) for scope in scopes):
            raise scope_missing(*scopes)
        return principal

    return check


def scope_missing(*scopes: str) -> Problem:
    """Say which scope a key would need."""
    return Problem(
        "scope-missing",
        f"This needs a key with the scope {' or '.join(scopes)}.",
        members={"scopes": list(scopes)},
    )


def owner_filter(principal: Principal) -> str | None:
    """Return whose rows a principal may see; None for everybody's."""
    return None if principal.may("review") else principal.person


def is_allowed_host(host: str | None, allowed: frozenset[str]) -> bool:
    """Tell whether a ``Host`` header names this service.

    Guards against DNS rebinding: a page of another site that resolves to our address sends its
    own name. An IP address is never such a name, but only loopback ones pass unasked; others
    pass when the service is bound to more than loopback (``ip`` among the allowed).

    Parameters
    ----------
    host
        The header, with or without a port.
    allowed
        Lower-case names without ports; ``*`` lets any pass, ``ip`` any IP address.
    """
    if host is None:
        return False
    name = _name_of(host.strip().lower())
    if name in allowed or "*" in allowed:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return "ip" in allowed


def _name_of(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host


ReaderKey = Annotated[Principal, Depends(needs("route", "review"))]
"""A key that may read: its own rows with ``route``, all of them with ``review``."""
RouteKey = Annotated[Principal, Depends(needs("route"))]
ReviewKey = Annotated[Principal, Depends(needs("review"))]
AdminKey = Annotated[Principal, Depends(needs("admin"))]
