"""``/routes``: what became of a message, why, and its audit trail."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request

from clawmarshal.api.auth import ReaderKey, ReviewKey, owner_filter, parts_of
from clawmarshal.api.bodies import read_model
from clawmarshal.api.event_views import event_view
from clawmarshal.api.schemas import ResolveBody
from clawmarshal.api.views import (
    EventPage,
    RouteDetailView,
    RoutePage,
    route_detail_view,
    route_view,
)
from clawmarshal.api.waiting import GivenUp, wait_for
from clawmarshal.router.ledger.states import RESTING, RouteState

endpoints = APIRouter()

Limit = Annotated[int, Query(ge=1, le=500)]
Cursor = Annotated[str | None, Query(min_length=1, max_length=200)]


@endpoints.get("/routes")
async def list_routes(
    request: Request,
    principal: ReaderKey,
    *,
    state: RouteState | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> RoutePage:
    """List routes, newest first; ``route`` keys see their own."""
    rows, following = await asyncio.to_thread(
        parts_of(request).records.routes,
        owner=owner_filter(principal),
        state=state,
        limit=limit,
        cursor=cursor,
    )
    return RoutePage(routes=[route_view(row) for row in rows], next=following)


@endpoints.get("/routes/{route_id}")
async def get_route(
    request: Request,
    principal: ReaderKey,
    route_id: str,
    *,
    wait_s: Annotated[float, Query(ge=0, le=600)] = 0.0,
) -> RouteDetailView:
    """Show a route with everything that explains it; with ``wait_s`` once it rests."""
    parts = parts_of(request)
    owner = owner_filter(principal)
    record = await asyncio.to_thread(parts.records.route, route_id, owner=owner)
    if wait_s > 0 and record.state not in RESTING:
        wait = parts.desk.wait(route_id, wait_s=min(wait_s, parts.max_wait_s), owner=owner)
        waited = await wait_for(request, wait)
        record = record if isinstance(waited, GivenUp) else waited
    return route_detail_view(record)


@endpoints.get("/routes/{route_id}/events")
async def get_events(
    request: Request,
    principal: ReaderKey,
    route_id: str,
    *,
    limit: Limit = 500,
    after: Annotated[int, Query(ge=0, le=2**62)] = 0,
) -> EventPage:
    """Show the audit trail of a route, oldest first; ``after`` is the last number seen."""
    found = await asyncio.to_thread(
        parts_of(request).records.events,
        route_id,
        owner=owner_filter(principal),
        after=after,
        limit=limit + 1,  # one more than is shown, to know whether there is more
    )
    shown = found[:limit]
    return EventPage(
        events=[event_view(event) for event in shown],
        next=str(shown[-1].number) if len(found) > limit else None,
    )


@endpoints.post("/routes/{route_id}/cancel")
async def cancel_route(request: Request, principal: ReaderKey, route_id: str) -> RouteDetailView:
    """Cancel what can still be cancelled; a running turn is asked to stop.

    After launch the route ends ``done`` or ``failed`` if a result was read, ``cancelled`` on the
    Gateway's word, else ``unknown``.
    """
    parts = parts_of(request)
    await asyncio.to_thread(parts.records.route, route_id, owner=owner_filter(principal))
    return route_detail_view(await asyncio.shield(parts.desk.cancel(route_id, principal)))


@endpoints.post("/routes/{route_id}/resolve")
async def resolve_route(request: Request, principal: ReviewKey, route_id: str) -> RouteDetailView:
    """Say what became of an ``unknown`` turn: it ran, it did not, run it again, or leave it."""
    parts = parts_of(request)
    body = await read_model(
        request, ResolveBody, max_bytes=64 * 1024, timeout_s=parts.body_timeout_s
    )
    record = await asyncio.shield(
        parts.desk.resolve(route_id, principal, answer=body.answer, note=body.note)
    )
    return route_detail_view(record)
