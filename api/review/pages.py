"""Templates to answers: escaped whatever stands in them, with headers that let no script run."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from clawmarshal.api.review import words
from clawmarshal.api.review.session import Reviewer
from clawmarshal.api.review.visible import hidden_in, visible
from clawmarshal.transport.text import clean_text

POLICY = "; ".join(
    (
        "default-src 'none'",
        "style-src 'self'",
        "img-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
    "Cache-Control": "no-store",
}


def environment() -> Environment:
    """Make the templates' environment; a name that is not there is an error."""
    made = Environment(
        loader=PackageLoader("clawmarshal.api.review", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "visible": visible,
        "hidden_in": hidden_in,
        "plain": clean_text,
        "ago": words.ago,
        "span": words.span,
        "stamp": words.stamp,
        "iso": datetime.isoformat,
        "percent": words.percent,
        "reason": words.reason,
        "state": words.state,
        "kind": words.kind,
        "fact": words.fact,
        "seconds": words.seconds,
    }
    return made


_TEMPLATES = environment()


def page(
    name: str,
    *,
    reviewer: Reviewer | None,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    **given: Any,
) -> HTMLResponse:
    """Render a template.

    Parameters
    ----------
    name
        Of the template, without its ending.
    reviewer
        Who looks at it; None before signing in.
    """
    text = _TEMPLATES.get_template(f"{name}.html").render(
        me=reviewer.principal if reviewer else None,
        csrf=reviewer.csrf if reviewer else None,
        **given,
    )
    return HTMLResponse(text, status, headers={**HEADERS, **(headers or {})})
