"""``/review/static``: the style sheet and the sign of the pages, open to all."""

import hashlib
from collections.abc import Mapping
from importlib import resources

from fastapi import APIRouter, Request, Response

from clawmarshal.api.problems import Problem
from clawmarshal.api.review.page_route import PageRoute
from clawmarshal.api.review.pages import HEADERS

endpoints = APIRouter(route_class=PageRoute, include_in_schema=False)

MEDIA: Mapping[str, str] = {
    "review.css": "text/css; charset=utf-8",
    "sign.svg": "image/svg+xml",
}


@endpoints.get("/review/static/{name}")
async def static_file(request: Request, name: str) -> Response:
    """Send one of the files; nothing else has a name here."""
    media = MEDIA.get(name)
    if media is None:
        raise Problem("path-unknown", "There is no such file.")
    content = resources.files("clawmarshal.api.review").joinpath("static", name).read_bytes()
    etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {**HEADERS, "Cache-Control": "private, max-age=300", "ETag": etag}
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=media, headers=headers)
