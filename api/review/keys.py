"""``/review/keys``: who may use the service; for those with the scope admin."""

import asyncio
from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from clawmarshal.api.auth import scope_missing
from clawmarshal.api.review.forms import answered_form
from clawmarshal.api.review.page_route import PageRoute
from clawmarshal.api.review.pages import HEADERS, page
from clawmarshal.api.review.session import Reviewer, SignedIn, door_of

endpoints = APIRouter(route_class=PageRoute, include_in_schema=False)


@endpoints.get("/review/keys")
async def show_keys(request: Request, reviewer: SignedIn) -> Response:
    """List the keys, never the keys themselves; those that are in force come first."""
    _check_admin(reviewer)
    records = await asyncio.to_thread(door_of(request).ledger.list_keys)
    ordered = sorted(records, key=lambda record: record.revoked_at is not None)
    return page("keys", reviewer=reviewer, keys=ordered, now=datetime.now(UTC))


@endpoints.post("/review/keys/{key_id}/revoke")
async def revoke(request: Request, reviewer: SignedIn, key_id: str) -> Response:
    """End a key for good, and every sign-in with it."""
    _check_admin(reviewer)
    await answered_form(request, reviewer)
    await asyncio.to_thread(door_of(request).ledger.revoke_key, key_id)
    return RedirectResponse("/review/keys", 303, headers=dict(HEADERS))


def _check_admin(reviewer: Reviewer) -> None:
    if not reviewer.principal.may("admin"):
        raise scope_missing("admin")
