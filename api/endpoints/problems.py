"""``/problems``: where the ``type`` of a problem document leads; open to all."""

from html import escape

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from clawmarshal.api.mends import MENDS
from clawmarshal.api.problems import PROBLEMS, TYPE_PREFIX, Kind, Problem

endpoints = APIRouter(include_in_schema=False)

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}


@endpoints.get("/problems")
async def list_problems() -> HTMLResponse:
    """List every problem."""
    rows = "".join(
        f'<li><a href="{TYPE_PREFIX}{code}"><code>{code}</code></a> ({kind.status}): '
        f"{escape(kind.title)}</li>\n"
        for code, kind in PROBLEMS.items()
    )
    return _page("Problems", f"<ul>\n{rows}</ul>")


@endpoints.get("/problems/{code}")
async def show_problem(code: str) -> HTMLResponse:
    """Say what one problem means, and what to do about it."""
    kind = PROBLEMS.get(code)
    if kind is None:
        raise Problem("path-unknown", "See /problems for what there is.")
    return _page(kind.title, _about(code, kind))


def _about(code: str, kind: Kind) -> str:
    return (
        f"<p><code>{code}</code>, HTTP status {kind.status}</p>\n<p>{escape(MENDS[code])}</p>\n"
        '<p><a href="/problems">All problems</a></p>'
    )


def _page(title: str, body: str) -> HTMLResponse:
    text = (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title></head>\n<body><main>\n<h1>{escape(title)}</h1>\n{body}\n"
        "</main></body>\n</html>\n"
    )
    return HTMLResponse(text, headers=HEADERS)
