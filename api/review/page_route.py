"""PageRoute: whatever goes wrong on a page is said on a page."""

import contextlib
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute

from clawmarshal.api.auth import CHALLENGE, proxied_person
from clawmarshal.api.problems import PROBLEMS, Problem, of_error, of_query
from clawmarshal.api.review.pages import page
from clawmarshal.api.review.session import SignInNeededError
from clawmarshal.errors import ClawmarshalError
from clawmarshal.router.ledger.records import Principal

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
ELSEWHERE = ("cross-site", "same-site")
LOST = "You are no longer signed in, so nothing was changed. Sign in and answer again."


class PageRoute(APIRoute):
    """Answer with pages, refusals included."""

    def get_route_handler(self) -> Handler:
        """Wrap what serves the path."""
        serve = super().get_route_handler()

        async def answer(request: Request) -> Response:
            try:
                return await serve(request)
            except SignInNeededError:
                return _sign_in_first(request, await _named(request))
            except Problem as problem:
                return problem_page(problem)
            except ClawmarshalError as error:
                return problem_page(of_error(error))
            except RequestValidationError as error:
                return problem_page(of_query(error))

        return answer


def problem_page(problem: Problem) -> Response:
    """Say on a page what is wrong, and how to go on."""
    kind = PROBLEMS.get(problem.code, PROBLEMS["internal"])
    return page(
        "problem",
        reviewer=None,
        status=kind.status,
        headers=problem.headers,
        title=kind.title,
        detail=problem.detail,
        code=problem.code,
    )


async def _named(request: Request) -> Principal | None:
    """Return whom a trusted proxy names; nobody where that cannot be told."""
    with contextlib.suppress(Problem, ClawmarshalError):
        return await proxied_person(request)
    return None


def _sign_in_first(request: Request, named: Principal | None) -> Response:
    """Ask for a key; a link from elsewhere is followed once more from here before that.

    Browsers leave the cookie out when a link on another site is followed, and send it when our
    own page leads to the same address.
    """
    is_read = request.method == "GET"
    there = request.url.path if is_read else _page_of(request.url.path)
    if is_read and request.url.query:
        there += f"?{request.url.query}"
    if is_read and request.headers.get("sec-fetch-site") in ELSEWHERE:
        return page("bounce", reviewer=None, there=there)
    return page(
        "sign_in",
        reviewer=None,
        status=401,
        headers={"WWW-Authenticate": CHALLENGE},
        there=there,
        fault=None if is_read else LOST,
        named=named,
    )


def _page_of(path: str) -> str:
    """Return the page that a form was on."""
    parts = path.split("/")
    return "/".join(parts[:4]) if len(parts) > 4 else "/review"
