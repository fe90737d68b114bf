"""The OpenAPI document: what comes in, every problem, and the key."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel

from clawmarshal.api.mends import MENDS
from clawmarshal.api.openapi_parts import ANSWERS, EXAMPLES, HEADERS, MORE_CONTENT
from clawmarshal.api.problems import MEDIA_TYPE, PROBLEMS, TYPE_PREFIX
from clawmarshal.api.schemas import (
    AnswersBody,
    ApproveBody,
    EraseBody,
    RejectBody,
    ResolveBody,
    RouteBody,
)
from clawmarshal.api.system_one import SystemOneBody

BODIES: Mapping[tuple[str, str], tuple[type[BaseModel], Mapping[str, object]]] = {
    ("/route", "post"): (
        RouteBody,
        {
            "text": "What is the filing deadline for the quarterly sales tax return?",
            "channel": "email",
            "sender": "ann@example.org",
            "conversation": "thread-7",
            "message_id": "m-1",
            "wait_s": 30,
        },
    ),
    ("/v1/systemone", "post"): (
        SystemOneBody,
        {
            "model": "jev-latest",
            "state": "I was charged twice, please refund me.",
            "questions": {
                "team": {
                    "type": "choice",
                    "criteria": {"billing": "Invoices, refunds", "tech": "Bugs, outages"},
                }
            },
        },
    ),
    ("/holds/{hold_id}/approve", "post"): (ApproveBody, {"note": "Checked with the sender."}),
    ("/holds/answers", "post"): (
        AnswersBody,
        {
            "answers": [
                {"hold_id": "hd_0198f3a0", "answer": "approve"},
                {"hold_id": "hd_0198f3a1", "answer": "reject", "reason": "Not of ours."},
            ]
        },
    ),
    ("/holds/{hold_id}/reject", "post"): (RejectBody, {"reason": "Not a request of ours."}),
    ("/routes/{route_id}/erase", "post"): (EraseBody, {"reason": "request 2026-17"}),
    ("/routes/{route_id}/resolve", "post"): (ResolveBody, {"answer": "ran"}),
}
DIALECT_ERROR: dict[str, Any] = {
    "application/json": {"schema": {"type": "object", "required": ["detail"]}}
}
"""How System One's own surface says what is wrong."""
OPTIONAL = (ApproveBody, EraseBody)


def document(app: FastAPI) -> dict[str, Any]:
    """Describe the whole interface."""
    found = deepcopy(app.openapi())  # the application keeps the one it gave
    schemas = found["components"]["schemas"]
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    schemas["Problem"] = _problem_schema()
    for (path, method), (model, example) in BODIES.items():
        schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas |= schema.pop("$defs", {})
        schemas[model.__name__] = schema
        found["paths"][path][method]["requestBody"] = {
            "required": model not in OPTIONAL,
            "content": {
                "application/json": {
                    "schema": {"$ref": f"#/components/schemas/{model.__name__}"},
                    "example": dict(example),
                }
            },
        }
    for name, example in EXAMPLES.items():
        schemas[name]["examples"] = [dict(example)]
    _finish_operations(found["paths"])
    found["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    return found


def _finish_operations(paths: Mapping[str, Mapping[str, dict[str, Any]]]) -> None:
    content: dict[str, Any] = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for path, operations in paths.items():
        for method, operation in operations.items():
            place = (path, method)
            if place in HEADERS:
                operation["parameters"] = [
                    *operation.get("parameters", []),
                    *(dict(header) for header in HEADERS[place]),
                ]
            operation["responses"] |= {s: dict(a) for s, a in ANSWERS.get(place, {}).items()}
            if place in MORE_CONTENT:
                operation["responses"]["200"]["content"] |= dict(MORE_CONTENT[place])
            operation["responses"].pop("422", None)
            told = content | (DIALECT_ERROR if path.startswith("/v1/") else {})
            operation["responses"]["default"] = {"description": "A problem", "content": told}
            operation["security"] = [{}] if path == "/livez" else [{"key": []}]
            if path == "/readyz":
                operation["security"].append({})


def _problem_schema() -> dict[str, Any]:
    return {
        "type": "object",
        "description": "RFC 9457. More members by code: near, winner, gates, digest, faults.\n\n"
        + "\n".join(
            f"- [`{code}`]({TYPE_PREFIX}{code}) ({k.status}): {k.title}. {MENDS[code]}"
            for code, k in PROBLEMS.items()
        ),
        "required": ["type", "title", "status", "detail", "code"],
        "properties": {
            "type": {"type": "string", "enum": [TYPE_PREFIX + code for code in PROBLEMS]},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
            "code": {"type": "string", "enum": list(PROBLEMS)},
        },
    }
