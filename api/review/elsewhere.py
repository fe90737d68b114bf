"""Everything under ``/review`` that is no page: said on a page, to people who are signed in."""

from fastapi import APIRouter, Request, Response

from clawmarshal.api.problems import Problem
from clawmarshal.api.review.page_route import PageRoute
from clawmarshal.api.review.session import SignedIn

endpoints = APIRouter(route_class=PageRoute, include_in_schema=False)


@endpoints.get("/review/{rest:path}")
async def nothing_here(request: Request, reviewer: SignedIn, rest: str) -> Response:
    """Say that there is no such page."""
    raise Problem("path-unknown", "There is no such page.")
