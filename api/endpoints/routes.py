"""``/routes``: what became of a message, why, and its audit trail."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from clawmarshal.api.auth import (
    AdminKey,
    ReaderKey,
    ReviewKey,
    check_still_valid,
    owner_filter,
    parts_of,
)
from clawmarshal.api.bodies import read_model
from clawmarshal.api.cursors import opened, sealed
from clawmarshal.api.event_views import event_view
from clawmarshal.api.queries import After, Limit, RouteListing, Words, last_event_id
from clawmarshal.api.schemas import EraseBody, ResolveBody
from clawmarshal.api.streams import ENDED, RouteTrail, stream, wants_stream
from clawmarshal.api.views import (
    EventPage,
    RouteDetailView,
    RoutePage,
    route_detail_view,
    route_view,
)
from clawmarshal.api.waiting import GivenUp, wait_for
from clawmarshal.router.ledger.records import Principal
from clawmarshal.router.ledger.states import RESTING

endpoints = APIRouter()


@endpoints.get("/routes")
async def list_routes(
    request: Request,
    principal: ReaderKey,
    *,
    listing: Annotated[RouteListing, Query()],
) -> RoutePage:
    """List routes, newest first; ``route`` keys see their own.

    ``next`` goes on where a page ends, with the same filters.
    """
    owner = owner_filter(principal)
    belongs = ("routes", owner, *listing.marks)
    rows, following = await asyncio.to_thread(
        parts_of(request).records.routes,
        owner=owner,
        wanted=listing.wanted(),
        limit=listing.limit,
        cursor=opened(listing.cursor, *belongs),
    )
    return RoutePage(routes=[route_view(row) for row in rows], next=sealed(following, *belongs))


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
        with parts.seats.take(principal.key_id):
            wait = parts.desk.wait(route_id, wait_s=min(wait_s, parts.max_wait_s), owner=owner)
            waited = await wait_for(request, wait)
        await check_still_valid(request, principal)
        record = record if isinstance(waited, GivenUp) else waited
    return route_detail_view(record)


@endpoints.get("/routes/{route_id}/events", response_model=EventPage)
async def get_events(
    request: Request,
    principal: ReaderKey,
    route_id: str,
    *,
    limit: Limit = 500,
    after: After = 0,
    kind: Annotated[Words | None, Query()] = None,
) -> EventPage | Response:
    """Show the audit trail of a route, oldest first; ``after`` is the last number seen.

    With ``Accept: text/event-stream`` it is a stream of them, resumed by ``Last-Event-ID``, that
    ends with an event ``end`` once the route has ended; after that a resumption is 204.
    """
    records, owner = parts_of(request).records, owner_filter(principal)
    if wants_stream(request):
        return await _stream_events(request, principal, route_id, after=after)
    found = await asyncio.to_thread(
        records.events,
        route_id,
        owner=owner,
        after=after,
        limit=limit + 1,  # one more than is shown, to know whether there is more
        kind=kind,
    )
    shown = found[:limit]
    return EventPage(
        events=[event_view(event) for event in shown],
        next=str(shown[-1].number) if len(found) > limit else None,
    )


async def _stream_events(
    request: Request, principal: Principal, route_id: str, *, after: int
) -> Response:
    records, owner = parts_of(request).records, owner_filter(principal)
    seen = last_event_id(request)
    record = await asyncio.to_thread(records.route, route_id, owner=owner)
    trail = RouteTrail(records, route_id, owner, after if seen is None else seen)
    if seen is not None and record.state in ENDED:
        left = await asyncio.to_thread(records.events, route_id, owner=owner, after=seen, limit=1)
        if not left:
            return Response(status_code=204)  # a browser stops to come back then
    return stream(request, principal, trail.look)


@endpoints.post("/routes/{route_id}/cancel")
async def cancel_route(request: Request, principal: ReaderKey, route_id: str) -> RouteDetailView:
    """Cancel what can still be cancelled; a running turn is asked to stop.

    After launch the route ends ``done`` or ``failed`` if a result was read, ``cancelled`` on the
    Gateway's word, else ``unknown``.
    """
    parts = parts_of(request)
    await asyncio.to_thread(parts.records.route, route_id, owner=owner_filter(principal))
    return route_detail_view(await asyncio.shield(parts.desk.cancel(route_id, principal)))


@endpoints.post("/routes/{route_id}/erase")
async def erase_route(request: Request, principal: AdminKey, route_id: str) -> RouteDetailView:
    """Erase what the message said, who sent it, and its reply; what was done stays provable.

    A route that waits or runs still needs its text, and is refused.
    """
    parts = parts_of(request)
    body = await read_model(request, EraseBody, max_bytes=64 * 1024, timeout_s=parts.body_timeout_s)
    erase = asyncio.to_thread(parts.records.erase, route_id, principal, reason=body.reason)
    return route_detail_view(await asyncio.shield(asyncio.ensure_future(erase)))


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
