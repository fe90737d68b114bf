"""Who is asking: bearer keys, scopes, owners, and the host names that are served."""

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Annotated

from fastapi import Depends, Request

from clawmarshal.api.origins import is_from_our_own_page
from clawmarshal.api.ports import Parts
from clawmarshal.api.problems import Problem
from clawmarshal.api.proxied import UnusableIdentityError
from clawmarshal.errors import LedgerUnavailableError
from clawmarshal.router.ledger.records import Principal

SCOPES = ("route", "pin", "review", "admin")
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
MAX_KEY_CHARS = 256
CHALLENGE = 'Bearer realm="clawmarshal"'
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def parts_of(request: Request) -> Parts:
    """Return the parts of the application that serves a request."""
    parts: Parts = request.app.state.parts
    return parts


async def principal_of(request: Request) -> Principal | None:
    """Say who is behind a request; None with neither a key nor a trusted proxy's word.

    Raises
    ------
    Problem
        ``key-unknown``: the header is not one bearer key that the ledger knows;
        ``too-many-guesses``: and the address has shown many such; ``too-many-requests``;
        ``identity-invalid``, ``form-foreign``: what a trusted proxy passed on.
    """
    sent = request.headers.getlist("authorization")
    principal = await (_keyed(request, sent) if sent else _proxied(request))
    if principal is None:
        return None
    principal = replace(principal, trace=getattr(request.state, "trace_id", None))
    request.state.key_id = principal.key_id
    _note(request, principal)
    return principal


def _note(request: Request, principal: Principal) -> None:
    """Count a request of a key, and note its use."""
    parts = parts_of(request)
    request.app.state.key_use.used(principal.key_id, principal.address)
    wait_s = 0 if parts.rate is None else parts.rate.wait_s(principal.key_id)
    if wait_s:
        raise Problem(
            "too-many-requests",
            f"Wait {wait_s} s; the limit is limits.requests_per_minute.",
            headers={"Retry-After": str(wait_s)},
        )


async def _keyed(request: Request, sent: Sequence[str]) -> Principal:
    scheme, _, key = sent[0].partition(" ")
    key = key.strip()
    usable = len(sent) == 1 and scheme.lower() == "bearer" and 0 < len(key) <= MAX_KEY_CHARS
    principal = None
    if usable and key.isascii() and key.isprintable():
        records = parts_of(request).records
        principal = await asyncio.to_thread(records.authenticate, key, peer_of(request))
    if principal is None:
        raise _unknown(request)
    return principal


def _unknown(request: Request) -> Problem:
    """Count a wrong key. A right one is never counted, so nobody can lock another one out."""
    wait_s = parts_of(request).guesses.wait_s(peer_of(request))
    if wait_s:
        return Problem(
            "too-many-guesses",
            f"Wait {wait_s} s, or send a known key.",
            headers={"Retry-After": str(wait_s)},
        )
    return Problem(
        "key-unknown",
        "Send one known key as 'Authorization: Bearer KEY'.",
        headers={"WWW-Authenticate": f'{CHALLENGE}, error="invalid_token"'},
    )


async def _proxied(request: Request) -> Principal | None:
    """Return whom a trusted proxy names; only pages of ours may have them change anything."""
    principal = await proxied_person(request)
    is_change = request.method not in SAFE_METHODS
    if principal is not None and is_change and not is_from_our_own_page(request):
        raise Problem("form-foreign", "Behind the proxy, other sites and programs need a key.")
    return principal


async def proxied_person(request: Request) -> Principal | None:
    """Return whom a trusted proxy names; None where it names nobody, or is not trusted.

    Raises
    ------
    Problem
        ``identity-invalid``: it names two, or what is no name, or somebody who is barred.
    """
    parts = parts_of(request)
    if parts.proxy is None:
        return None
    address, scopes = peer_of(request), parts.proxy.scopes
    try:
        person = parts.proxy.person(address, request.headers.getlist(parts.proxy.header))
    except UnusableIdentityError:
        raise Problem("identity-invalid", "The proxy must send one name.") from None
    if person is None:
        return None
    records = parts.records
    found = await asyncio.to_thread(records.proxied, person, scopes, address)
    if found is None:
        await asyncio.to_thread(records.meet_proxied, person, scopes)
        found = await asyncio.to_thread(records.proxied, person, scopes, address)
    if found is None:
        raise Problem("identity-invalid", "This person is barred.")
    return found


async def check_still_valid(request: Request, principal: Principal) -> None:
    """Refuse an answer to a key that was revoked while its request waited.

    Raises
    ------
    Problem
        ``key-unknown``.
    """
    records = parts_of(request).records
    try:
        is_alive = await asyncio.to_thread(records.key_is_alive, principal.key_id)
    except LedgerUnavailableError:
        return  # nobody could revoke it either
    if not is_alive:
        raise Problem("key-unknown", "The key ended while the request waited.")


def peer_of(request: Request) -> str | None:
    """Return the address of the socket's peer; never what a header says."""
    return request.client.host if request.client else None


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
