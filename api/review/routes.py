"""``/review/routes`` and ``/review/unknowns``: what became of messages, and what nobody knows."""

import asyncio
from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, ConfigDict, Field

from clawmarshal.api.auth import parts_of
from clawmarshal.api.problems import PROBLEMS, Problem, of_error
from clawmarshal.api.review.forms import answered_form, one
from clawmarshal.api.review.links import with_query
from clawmarshal.api.review.page_route import PageRoute
from clawmarshal.api.review.pages import HEADERS, page
from clawmarshal.api.review.session import Reviewer, SignedIn, door_of
from clawmarshal.api.schemas import NOTE_CHARS
from clawmarshal.errors import ConflictError
from clawmarshal.router.ledger.records import RouteFilter, RouteRecord
from clawmarshal.router.ledger.states import OPEN_ATTEMPTS, RouteState

endpoints = APIRouter(route_class=PageRoute, include_in_schema=False)

PAGE = 50
ANSWERS = ("ran", "not_run", "rerun", "leave")
STOPPABLE = frozenset(
    {RouteState.RECEIVED, RouteState.HELD, RouteState.APPROVED, RouteState.READY, *OPEN_ATTEMPTS}
)


class RoutesQuery(BaseModel):
    """What the form over the routes asks for; an empty field narrows nothing."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    q: str = Field(default="", max_length=200)
    state: RouteState | Literal[""] = ""
    agent: str = Field(default="", max_length=64)
    cursor: str = Field(default="", max_length=40)

    def wanted(self) -> RouteFilter:
        """Return what the ledger is asked."""
        return RouteFilter(
            state=str(self.state) or None, agent=self.agent or None, words=self.q.strip() or None
        )

    def link(self, **changes: str) -> str:
        """Return the address of the list with other words; from its beginning unless told."""
        told = self.model_dump(mode="json", exclude_defaults=True) | {"cursor": ""} | changes
        return with_query("/review/routes", told)


@endpoints.get("/review/routes")
async def show_routes(
    request: Request, reviewer: SignedIn, *, query: Annotated[RoutesQuery, Query()]
) -> Response:
    """List routes, newest first."""
    found, following = await asyncio.to_thread(
        door_of(request).ledger.find_routes,
        query.wanted(),
        limit=PAGE,
        cursor=query.cursor or None,
    )
    return page(
        "routes",
        reviewer=reviewer,
        query=query,
        found=found,
        following=following,
        states=list(RouteState),
        agents=list(parts_of(request).roster),
        now=datetime.now(UTC),
    )


@endpoints.get("/review/routes/{route_id}")
async def show_route(request: Request, reviewer: SignedIn, route_id: str) -> Response:
    """Show one route with its history."""
    return await _page(request, reviewer, route_id)


@endpoints.post("/review/routes/{route_id}/cancel")
async def cancel(request: Request, reviewer: SignedIn, route_id: str) -> Response:
    """Stop what can still be stopped."""
    await answered_form(request, reviewer)
    try:
        await asyncio.shield(parts_of(request).desk.cancel(route_id, reviewer.principal))
    except ConflictError as error:
        return await _page(request, reviewer, route_id, fault=of_error(error))
    return RedirectResponse(f"/review/routes/{route_id}", 303, headers=dict(HEADERS))


@endpoints.post("/review/routes/{route_id}/resolve")
async def resolve(request: Request, reviewer: SignedIn, route_id: str) -> Response:
    """Say what became of a turn whose end nobody saw."""
    fields = await answered_form(request, reviewer)
    answer = one(fields, "answer")
    note = (one(fields, "note", max_chars=NOTE_CHARS) or "").strip() or None
    if answer not in ANSWERS:
        raise Problem("body-invalid", "Say that it ran, that it did not, run it again, or leave.")
    try:
        await asyncio.shield(
            parts_of(request).desk.resolve(route_id, reviewer.principal, answer=answer, note=note)
        )
    except ConflictError as error:
        return await _page(request, reviewer, route_id, fault=of_error(error))
    return RedirectResponse(f"/review/routes/{route_id}", 303, headers=dict(HEADERS))


@endpoints.get("/review/unknowns")
async def show_unknowns(
    request: Request,
    reviewer: SignedIn,
    *,
    cursor: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    """List the turns that may have run, each with what is known of it."""
    records, following = await asyncio.to_thread(
        parts_of(request).records.routes,
        wanted=RouteFilter(str(RouteState.UNKNOWN)),
        limit=PAGE,
        cursor=cursor or None,
    )
    return page(
        "unknowns",
        reviewer=reviewer,
        records=records,
        next_link=with_query("/review/unknowns", {"cursor": following or ""})
        if following
        else None,
        now=datetime.now(UTC),
    )


async def _page(
    request: Request, reviewer: Reviewer, route_id: str, *, fault: Problem | None = None
) -> Response:
    records = parts_of(request).records
    record = await asyncio.to_thread(records.route, route_id)
    events = await asyncio.to_thread(records.events, route_id)
    return page(
        "route",
        reviewer=reviewer,
        status=PROBLEMS[fault.code].status if fault else 200,
        record=record,
        events=events,
        fault=fault,
        can_stop=record.state in STOPPABLE,
        can_rerun=_can_rerun(record),
        now=datetime.now(UTC),
    )


def _can_rerun(record: RouteRecord) -> bool:
    """Tell whether "run again" is an answer besides for an unknown: it certainly did not run."""
    return record.state is RouteState.FAILED and record.ran is False
