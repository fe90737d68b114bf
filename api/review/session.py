"""Who is signed in: the cookie, the token that each form carries, and where a form came from."""

import asyncio
import hashlib
import hmac
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Depends, Request, Response

from clawmarshal.api.auth import parts_of, peer_of, proxied_person
from clawmarshal.api.origins import is_from_our_own_page
from clawmarshal.api.problems import Problem
from clawmarshal.api.review.door import ReviewDoor
from clawmarshal.router.ledger.records import Principal

COOKIE = "clawmarshal_review"
SECURE_COOKIE = "__Host-clawmarshal_review"
"""Over HTTPS: browsers take it from the host itself alone."""
MAX_TOKEN_CHARS = 64


class SignInNeededError(Exception):
    """Nobody is signed in; the page that was asked for is shown after signing in."""


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Somebody who is signed in."""

    principal: Principal
    token: str
    """The cookie's value; its hash names the sign-in."""

    @property
    def csrf(self) -> str:
        """What every form of theirs carries; made from the cookie, so that nothing is stored."""
        return hmac.new(self.token.encode(), b"clawmarshal form", hashlib.sha256).hexdigest()

    def check_form(self, sent: str | None) -> None:
        """Refuse a form that was not made for this sign-in.

        Raises
        ------
        Problem
            ``form-foreign``.
        """
        if sent is None or not hmac.compare_digest(sent.encode(), self.csrf.encode()):
            raise Problem("form-foreign", "Open the page again and answer there.")


def door_of(request: Request) -> ReviewDoor:
    """Return what the review pages work with.

    Raises
    ------
    Problem
        ``path-unknown``: this service has no review pages.
    """
    door = parts_of(request).review
    if door is None:
        raise Problem("path-unknown", "This service has no review pages.")
    return door


async def reviewer_of(request: Request) -> Reviewer:
    """Say who is signed in and may review.

    Raises
    ------
    SignInNeededError
        Nobody is, or no longer.
    Problem
        ``path-unknown``.
    """
    door, token = door_of(request), _token(request)
    principal = None
    if token is not None:
        principal = await asyncio.to_thread(door.ledger.signed_in, token, address_of(request))
    if principal is not None and principal.is_proxied:
        principal = await _still_named(request, principal)
    if token is None or principal is None or not principal.may("review"):
        raise SignInNeededError
    principal = replace(principal, trace=request.state.trace_id)
    request.app.state.key_use.used(principal.key_id, principal.address)
    request.state.key_id = principal.key_id
    return Reviewer(principal, token)


async def _still_named(request: Request, principal: Principal) -> Principal | None:
    """Return a person of a proxy only while the proxy names them, with what they may now."""
    named = await proxied_person(request)
    return named if named is not None and named.key_id == principal.key_id else None


def address_of(request: Request) -> str | None:
    """Return where a request came from."""
    return peer_of(request)


def check_origin(request: Request) -> None:
    """Refuse a form that another site sent.

    Raises
    ------
    Problem
        ``form-foreign``.
    """
    if not is_from_our_own_page(request):
        raise Problem(
            "form-foreign",
            "It came from another site. A proxy before the service must pass the Host header.",
        )


def set_cookie(request: Request, response: Response, token: str, *, lifetime_s: float) -> None:
    """Keep a token in the browser: no script reads it and no other site sends it."""
    is_secure = _is_https(request)
    response.set_cookie(
        SECURE_COOKIE if is_secure else COOKIE,
        token,
        max_age=int(lifetime_s),
        path="/" if is_secure else "/review",
        secure=is_secure,
        httponly=True,
        samesite="strict",
    )


def clear_cookie(response: Response) -> None:
    """Forget the token in the browser."""
    response.delete_cookie(COOKIE, path="/review", httponly=True, samesite="strict")
    response.delete_cookie(SECURE_COOKIE, path="/", secure=True, httponly=True, samesite="strict")


def _is_https(request: Request) -> bool:
    # Behind a proxy the service itself speaks HTTP; the browser's own word tells what it uses.
    origin = request.headers.get("origin") or ""
    return origin.lower().startswith("https://") or request.url.scheme == "https"


def _token(request: Request) -> str | None:
    for name in (SECURE_COOKIE, COOKIE):
        sent = request.cookies.get(name)
        if sent and len(sent) <= MAX_TOKEN_CHARS and sent.isascii():
            return sent
    return None


SignedIn = Annotated[Reviewer, Depends(reviewer_of)]
