"""``/review/sign-in`` and ``/review/sign-out``: in with a key, out for good."""

import asyncio
import logging
import re

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from clawmarshal.api.auth import MAX_KEY_CHARS, parts_of, proxied_person
from clawmarshal.api.review.forms import answered_form, one, read_form
from clawmarshal.api.review.page_route import PageRoute
from clawmarshal.api.review.pages import HEADERS, page
from clawmarshal.api.review.session import (
    SignedIn,
    address_of,
    clear_cookie,
    door_of,
    set_cookie,
)

endpoints = APIRouter(route_class=PageRoute, include_in_schema=False)
logger = logging.getLogger("clawmarshal.api")

THERE = re.compile(r"/review(?:[/?][A-Za-z0-9_./?=&%+~-]*)?", re.ASCII)
"""Where signing in may lead: our own pages, never an address of somebody else."""
UNKNOWN = "This key is not known. Paste the whole key; it begins with cmk_."
NOT_NAMED = "The proxy names nobody who may review. Sign in with a key."
NO_SCOPE = "This key may not review. Use one with the scope review."


@endpoints.get("/review/sign-in")
async def show_sign_in(request: Request) -> Response:
    """Ask for a key, or for the word of whoever the proxy names."""
    door_of(request)
    named = await proxied_person(request)
    return page("sign_in", reviewer=None, there="/review", fault=None, named=named)


@endpoints.post("/review/sign-in")
async def sign_in(request: Request) -> Response:
    """Check a key and keep who is behind it in a cookie."""
    door = door_of(request)
    fields = await read_form(request)
    key = (one(fields, "key", max_chars=MAX_KEY_CHARS) or "").strip()
    there = one(fields, "there", max_chars=2000) or ""
    there = there if THERE.fullmatch(there) else "/review"
    address = address_of(request)
    if one(fields, "proxied") is not None:
        return await _sign_in_named(request, there)
    principal, token = None, None
    if key.isascii() and key.isprintable():
        principal, token = await asyncio.to_thread(
            door.ledger.sign_in, key, scope="review", address=address, lifetime_s=door.session_s
        )
    if token is not None:
        return _in(request, there, token)
    if principal is not None:
        return page("sign_in", reviewer=None, status=403, there=there, fault=NO_SCOPE)
    # Counted only where the key was wrong, so that nobody can lock a reviewer out.
    wait_s = parts_of(request).guesses.wait_s(address)
    logger.warning("a sign-in with an unknown key from %s", address)
    if wait_s:
        fault = f"Too many unknown keys from your address. Wait {wait_s} s."
        headers = {"Retry-After": str(wait_s)}
        return page("sign_in", reviewer=None, status=429, headers=headers, there=there, fault=fault)
    return page("sign_in", reviewer=None, status=401, there=there, fault=UNKNOWN)


async def _sign_in_named(request: Request, there: str) -> Response:
    """Sign in whom a trusted proxy names."""
    door, principal = door_of(request), await proxied_person(request)
    if principal is None or not principal.may("review"):
        return page("sign_in", reviewer=None, status=403, there=there, fault=NOT_NAMED)
    token = await asyncio.to_thread(door.ledger.sign_in_as, principal, lifetime_s=door.session_s)
    return _in(request, there, token)


def _in(request: Request, there: str, token: str) -> Response:
    answer = RedirectResponse(there, 303, headers=dict(HEADERS))
    set_cookie(request, answer, token, lifetime_s=door_of(request).session_s)
    return answer


@endpoints.post("/review/sign-out")
async def sign_out(request: Request, reviewer: SignedIn) -> Response:
    """End the sign-in: a copy of the cookie is worth nothing afterwards."""
    await answered_form(request, reviewer)
    ledger = door_of(request).ledger
    await asyncio.to_thread(ledger.sign_out, reviewer.token, reviewer.principal)
    answer = RedirectResponse("/review/sign-in", 303, headers=dict(HEADERS))
    clear_cookie(answer)
    return answer
