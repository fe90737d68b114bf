"""RFC 9457 problem documents: what each error code becomes over HTTP."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from clawmarshal.errors import (
    AcceptedUnreadError,
    ClawmarshalError,
    ConflictError,
    LedgerUnavailableError,
    RosterSchemaError,
    SettingsError,
    UnknownAgentError,
)

TYPE_PREFIX = "/problems/"
"""Of the service itself: what a ``type`` names can be opened there, without a key."""
MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = 2

logger = logging.getLogger("clawmarshal.api")


@dataclass(frozen=True, slots=True)
class Kind:
    """What one code means over HTTP."""

    status: int
    title: str
    """The same for every occurrence."""


_BAD_MESSAGE = "The message cannot be accepted"
PROBLEMS: Mapping[str, Kind] = MappingProxyType(
    {
        "request-malformed": Kind(400, "The request is not HTTP that can be read"),
        "head-timeout": Kind(408, "The head of the request did not arrive in time"),
        "too-many-connections": Kind(503, "The service has as many connections as it may have"),
        "body-not-json": Kind(400, "The body is not JSON"),
        "body-not-utf8": Kind(400, "The body is not UTF-8"),
        "body-duplicate-key": Kind(400, "The body names a key twice"),
        "body-too-deep": Kind(400, "The body is nested too deep"),
        "body-invalid": Kind(422, "The body breaks its schema"),
        "body-too-large": Kind(413, "The body is too large"),
        "body-timeout": Kind(408, "The body did not arrive in time"),
        "media-type": Kind(415, "The content type is not supported"),
        "query-invalid": Kind(422, "A query parameter is not valid"),
        "cursor-invalid": Kind(422, "The cursor is not one of ours"),
        "if-match-invalid": Kind(400, "The If-Match header is not valid"),
        "hold-changed": Kind(412, "The hold is not what it was"),
        "idempotency-key-invalid": Kind(400, "The Idempotency-Key header is not valid"),
        "key-missing": Kind(401, "A key is needed"),
        "key-unknown": Kind(401, "The key is not known"),
        "identity-invalid": Kind(401, "The proxy names nobody that can be known"),
        "too-many-guesses": Kind(429, "Too many unknown keys came from this address"),
        "too-many-requests": Kind(429, "The key asks too often"),
        "too-many-waits": Kind(429, "The key keeps too much open"),
        "scope-missing": Kind(403, "The key does not hold the scope"),
        "host-not-allowed": Kind(421, "This host name is not served here"),
        "path-unknown": Kind(404, "There is nothing here"),
        "method-not-allowed": Kind(405, "The method is not allowed here"),
        "caller-gone": Kind(400, "The caller went away before the message was accepted"),
        "text-empty": Kind(422, _BAD_MESSAGE),
        "text-nul": Kind(422, _BAD_MESSAGE),
        "text-surrogate": Kind(422, _BAD_MESSAGE),
        "text-bom": Kind(422, _BAD_MESSAGE),
        "text-too-large": Kind(413, "The text is too large"),
        "text-invalid": Kind(422, _BAD_MESSAGE),
        "field-invalid": Kind(422, _BAD_MESSAGE),
        "message-invalid": Kind(422, _BAD_MESSAGE),
        "unknown-agent": Kind(422, "The roster has no such agent"),
        "agent-required": Kind(422, "The hold has no agent; name one"),
        "reason-required": Kind(422, "A reject needs a reason"),
        "not-clarifying": Kind(422, "The route named in clarifies asked nothing"),
        "clarifies-unknown": Kind(422, "There is no such route to clarify"),
        "idempotency-mismatch": Kind(422, "The key was used with another message"),
        "not-found": Kind(404, "There is no such row, or none that this key may see"),
        "form-foreign": Kind(403, "The form was not sent from a page of yours"),
        "hold-claimed": Kind(409, "Somebody else looks at this hold"),
        "hold-decided": Kind(409, "The hold was answered before"),
        "self-review": Kind(403, "Nobody approves their own message here"),
        "claim-required": Kind(409, "The hold must be claimed before it is answered"),
        "hold-expired": Kind(409, "The hold expired before the answer"),
        "hold-cancelled": Kind(409, "The route was cancelled before the answer"),
        "gates-changed": Kind(409, "Another agent makes gates fire that were not shown"),
        "digest-changed": Kind(409, "What would run is not what was shown"),
        "not-waivable": Kind(409, "No approval answers this gate"),
        "not-erasable": Kind(409, "The route still needs its text"),
        "erased": Kind(409, "The text was erased"),
        "not-cancellable": Kind(409, "The route can no longer be cancelled"),
        "not-resolvable": Kind(409, "The route has no open question to resolve"),
        "rerun-too-early": Kind(409, "The launch may still be running"),
        "conflict": Kind(409, "The row is in another state"),
        "reload-refused": Kind(422, "What the files say cannot be used"),
        "no-settings-file": Kind(409, "There is no file to read again"),
        "stopping": Kind(503, "The service stops; nothing was accepted"),
        "accepted-unread": Kind(503, "The message is accepted; what became of it cannot be read"),
        "ledger-unavailable": Kind(503, "The ledger is away; nothing was accepted"),
        "internal": Kind(500, "The service failed"),
    }
)
"""Stable: a code keeps its meaning and its status within a major version."""


class Problem(Exception):
    """An answer that is a problem document.

    Parameters
    ----------
    code
        One of `PROBLEMS`.
    detail
        One sentence with the mend; never message text, keys or paths.
    members
        More members of the document, JSON values.
    headers
        More headers of the answer.
    """

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        members: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail
        self.members = dict(members or {})
        self.headers = dict(headers or {})


def document(problem: Problem) -> dict[str, object]:
    """Return a problem document."""
    kind = PROBLEMS.get(problem.code, PROBLEMS["internal"])
    return {
        "type": TYPE_PREFIX + problem.code,
        "title": kind.title,
        "status": kind.status,
        "detail": problem.detail,
        "code": problem.code,
        **problem.members,
    }


def response(problem: Problem) -> JSONResponse:
    """Answer with a problem document."""
    kind = PROBLEMS.get(problem.code, PROBLEMS["internal"])
    return JSONResponse(
        document(problem), kind.status, headers=problem.headers, media_type=MEDIA_TYPE
    )


def of_error(error: ClawmarshalError) -> Problem:
    """Translate an error of ours."""
    code = _code(error)
    members: dict[str, object] = {}
    headers: dict[str, str] = {}
    match error:
        case UnknownAgentError():
            members["near"] = list(error.near)
        case ConflictError():
            members |= error.detail
            if "opens_in_s" in error.detail:
                headers["Retry-After"] = str(error.detail["opens_in_s"])
            if error.winner is not None:
                members["winner"] = error.winner
        case AcceptedUnreadError():
            members["route_id"] = error.route_id
            headers["Retry-After"] = str(RETRY_AFTER_S)
        case LedgerUnavailableError():
            headers["Retry-After"] = str(RETRY_AFTER_S)
    if PROBLEMS[code].status == 500:
        logger.error("unmapped error: %s (%s)", error.code, type(error).__name__)
        return Problem(code, "The cause is in the service's log.")
    detail = str(error).partition("\n")[0]
    return Problem(code, detail, members=members, headers=headers)


def faults_of(error: RosterSchemaError | SettingsError) -> list[dict[str, object]]:
    """List faults as members of a document."""
    return [{"message": f.message, "line": f.line, "column": f.column} for f in error.faults]


def _code(error: ClawmarshalError) -> str:
    if error.code in PROBLEMS:
        return error.code
    # A code without a row of its own gets that of its class.
    known = (vars(parent).get("code") for parent in type(error).__mro__)
    return next((str(code) for code in known if code in PROBLEMS), "internal")


def of_http(error: HTTPException) -> Problem:
    """Translate what the framework refuses by itself."""
    headers = dict(error.headers or {})
    if error.status_code == 405:
        return Problem("method-not-allowed", "See the Allow header.", headers=headers)
    if error.status_code == 404:
        return Problem("path-unknown", "See /openapi.json for what is served.")
    logger.error("the framework refused with %d", error.status_code)
    return Problem("internal", "The request could not be served.")


def of_query(error: RequestValidationError) -> Problem:
    """Translate what is wrong with a query or a path, without what was sent."""
    faults = [
        {"field": ".".join(str(part)[:64] for part in one["loc"][1:]), "message": one["msg"]}
        for one in error.errors()[:20]
    ]
    names = ", ".join(str(fault["field"]) for fault in faults)
    return Problem("query-invalid", f"Look at: {names}.", members={"faults": faults})


def install(app: FastAPI) -> None:
    """Make every failure of an application a problem document."""

    async def on_problem(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, Problem)  # noqa: S101 - registered so below
        return response(error)

    async def on_error(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, ClawmarshalError)  # noqa: S101 - registered so below
        return response(of_error(error))

    async def on_http(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)  # noqa: S101 - registered so below
        return response(of_http(error))

    async def on_query(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)  # noqa: S101 - registered so below
        return response(of_query(error))

    app.add_exception_handler(Problem, on_problem)
    app.add_exception_handler(RequestValidationError, on_query)
    app.add_exception_handler(ClawmarshalError, on_error)
    app.add_exception_handler(HTTPException, on_http)
