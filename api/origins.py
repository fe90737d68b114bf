"""Where a browser says that a request was made."""

from urllib.parse import urlsplit

from fastapi import Request


def is_from_our_own_page(request: Request) -> bool:
    """Tell whether a page of ours, or nobody's page, had a browser send a request.

    Browsers say where a form was; whoever says nothing at all is not a browser that somebody
    could be led astray in, and counts as foreign too.
    """
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site is None and origin is not None:
        return urlsplit(origin).netloc.lower() == request.headers.get("host", "").lower()
    return site in ("same-origin", "none")
