"""``/livez``, ``/readyz`` and ``/metrics``: operations."""

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from clawmarshal.api.auth import ReaderKey, ReviewKey, parts_of, principal_of
from clawmarshal.api.metrics import Metrics
from clawmarshal.api.openapi import document

endpoints = APIRouter()


@endpoints.get("/livez")
async def livez() -> dict[str, str]:
    """Say that the process answers; open to all."""
    return {"status": "alive"}


@endpoints.get("/readyz")
async def readyz(request: Request) -> JSONResponse:
    """Say whether the service can do its work: 200 or 503.

    Without a key only the status and whether a stand-in or OpenClaw launches; with any key the
    reasons, the versions, the fleet and the model.
    """
    principal = await principal_of(request)
    state = await parts_of(request).health.readiness()
    answer: dict[str, object] = {
        "status": "ready" if state.ready else "not ready",
        # A stand-in must never pass for the real thing, so this needs no key; versions do.
        "transport": _kind(state.details.get("transport", "unknown")),
    }
    if principal is not None:
        answer |= {"reasons": list(state.reasons), **state.details}
    return JSONResponse(
        answer,
        200 if state.ready else 503,
        headers={"Cache-Control": "no-store"} | ({} if state.ready else {"Retry-After": "2"}),
    )


@endpoints.get("/metrics", response_class=Response)
async def metrics(request: Request, _: ReviewKey) -> Response:
    """Figures in Prometheus text form; bounded label sets."""
    figures: Metrics = request.app.state.metrics
    return await figures.answer()


@endpoints.get("/openapi.json", include_in_schema=False)
async def openapi_json(request: Request, _: ReaderKey) -> JSONResponse:
    """Describe the whole interface."""
    return JSONResponse(document(request.app))


def _kind(label: object) -> str:
    """Return the first word of a transport's label: ``openclaw`` or ``stand-in``."""
    return str(label).split(maxsplit=1)[0].rstrip(",")
