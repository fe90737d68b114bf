"""Parts of the interface document that no code says: examples, headers, other answers."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

Json = Mapping[str, Any]
ROUTE_ID = "rt_019b3a7f4c216f0e9d1c2b3a4f5e6d7c"
HOLD_ID = "hd_019b3a7f4c3a6f0e9d1c2b3a4f5e6d7c"
AT = "2026-01-31T09:30:00Z"
DIGEST = "0f" * 32
ETAG = '"5d41402abc4b2a76b9719d911017c592"'

ROUTE: Json = {
    "outcome": "dispatch",
    "agent": "finance",
    "reason": "matched",
    "reasons": ["matched"],
    "via": "model",
    "confidence": 0.93,
    "margin": 0.88,
    "candidates": [{"agent": "finance", "probability": 0.93}],
    "risk": {
        "top": "low",
        "probabilities": {"low": 0.97, "medium": 0.02, "high": 0.01},
        "floor": "low",
        "codes": [],
    },
    "model": "usem3",
    "roster_digest": DIGEST,
    "latency_ms": 4.2,
    "notes": [],
    "id": ROUTE_ID,
    "state": "done",
    "mode": "dispatch",
    "ran": True,
    "deduplicated_by": None,
    "deduplicable": True,
    "reply": {"text": "It is due on 10 February."},
    "hold_id": None,
    "attempts": [],
    "waiting": None,
    "cancel_unconfirmed": False,
    "tool_sends": [],
    "accepted_at": AT,
    "updated_at": AT,
    "links": {"self": f"/routes/{ROUTE_ID}", "events": f"/routes/{ROUTE_ID}/events", "hold": None},
}
HOLD: Json = {
    "id": HOLD_ID,
    "route_id": ROUTE_ID,
    "state": "open",
    "suggestion": "finance",
    "reason": "risk",
    "gates": [{"number": 3, "reason": "risk", "detail": "The rules say high (money)."}],
    "risk": "high",
    "digest": DIGEST,
    "created_at": AT,
    "expires_at": None,
    "owner": "mailbox",
    "decision": None,
    "agent": None,
    "person": None,
    "decided_at": None,
    "note": None,
}
EVENT: Json = {
    "number": 41,
    "at": AT,
    "actor": "service",
    "kind": "held",
    "facts": {"from": "decided", "hold": HOLD_ID, "digest": DIGEST},
    "digest": DIGEST,
}
PROBLEM: Json = {
    "type": "/problems/hold-decided",
    "title": "The hold was answered before",
    "status": 409,
    "detail": "somebody answered this hold before",
    "code": "hold-decided",
    "winner": {"decision": "reject", "agent": None, "person": "rita", "at": AT},
}
EXAMPLES: Mapping[str, Json] = MappingProxyType(
    {
        "RouteView": ROUTE,
        "HoldView": HOLD,
        "EventView": EVENT,
        "RoutePage": {"routes": [ROUTE], "next": None},
        "HoldPage": {"holds": [HOLD], "next": None},
        "EventPage": {"events": [EVENT], "next": None},
        "Problem": PROBLEM,
    }
)
"""By schema; each is valid against it."""


def _header(name: str, description: str, schema: Json, example: str) -> Json:
    return {
        "name": name,
        "in": "header",
        "required": False,
        "description": description,
        "schema": dict(schema),
        "example": example,
    }


_MATCH = _header(
    "If-Match",
    "The ETag of GET /holds/{hold_id}: the answer is refused with 412 when anything shown is "
    "different by now.",
    {"type": "string", "pattern": r'^(\*|"[0-9a-f]{32}")$'},
    ETAG,
)
_RESUME = _header(
    "Last-Event-ID",
    "The id of the last event that came: a stream goes on after it.",
    {"type": "string", "pattern": "^[0-9]{1,9}$"},
    "41",
)
HEADERS: Mapping[tuple[str, str], tuple[Json, ...]] = MappingProxyType(
    {
        ("/route", "post"): (
            _header(
                "Idempotency-Key",
                "Makes a second coming of the message a repeat.",
                {"type": "string", "pattern": "^[!-~]{1,255}$"},
                "order-7-try-1",
            ),
        ),
        ("/holds/{hold_id}/approve", "post"): (_MATCH,),
        ("/holds/{hold_id}/reject", "post"): (_MATCH,),
        ("/holds/{hold_id}", "get"): (
            _header(
                "If-None-Match",
                "The ETag of an earlier answer: 304 when nothing changed.",
                {"type": "string", "pattern": r'^(\*|"[0-9a-f]{32}")$'},
                ETAG,
            ),
        ),
        ("/holds/events", "get"): (_RESUME,),
        ("/routes/{route_id}/events", "get"): (_RESUME,),
    }
)

_STREAM: Json = {"text/event-stream": {"schema": {"type": "string"}}}
ANSWERS: Mapping[tuple[str, str], Mapping[str, Json]] = MappingProxyType(
    {
        ("/route", "post"): {
            "202": {
                "description": "Accepted, and still running or held",
                "content": {
                    "application/json": {"schema": {"$ref": "#/components/schemas/RouteView"}}
                },
            }
        },
        ("/holds/{hold_id}", "get"): {"304": {"description": "What If-None-Match names stands"}},
        ("/holds/events", "get"): {"200": {"description": "A stream", "content": _STREAM}},
        ("/routes/{route_id}/events", "get"): {
            "204": {"description": "The route has ended, and nothing follows"}
        },
        ("/metrics", "get"): {
            "200": {
                "description": "Figures",
                "content": {"text/plain": {"schema": {"type": "string"}}},
            }
        },
    }
)
"""What each operation may answer besides."""
MORE_CONTENT: Mapping[tuple[str, str], Json] = MappingProxyType(
    {("/routes/{route_id}/events", "get"): _STREAM}
)
