"""Values of the router to JSON and back, and texts that any database can keep."""

from collections.abc import Mapping
from typing import Any

from clawmarshal.roster.agent import Risk
from clawmarshal.router.ledger.audit import plain
from clawmarshal.router.route import Candidate, Gate, Outcome, Reason, RiskView, Route, Via

Json = dict[str, Any]

_PLAIN_FIELDS = (
    "id",
    "agent",
    "confidence",
    "margin",
    "model",
    "message_digest",
    "roster_digest",
    "agent_digest",
    "latency_ms",
    "seal",
)


def storable(text: str | None) -> str | None:
    """Replace what a database cannot keep: lone surrogates and NUL."""
    if text is None:
        return None
    return text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")


def route_to_json(route: Route) -> Json:
    """Return a route as JSON values; `route_from_json` gives the same route back."""
    values: Json = {name: plain(getattr(route, name)) for name in _PLAIN_FIELDS}
    values["outcome"] = str(route.outcome)
    values["reason"] = str(route.reason)
    values["via"] = str(route.via)
    values["gates"] = gates_to_json(route.gates)
    values["candidates"] = [[c.agent, plain(c.probability)] for c in route.candidates]
    values["notes"] = list(route.notes)
    values["risk"] = {
        "top": str(route.risk.top),
        "floor": str(route.risk.floor),
        "codes": list(route.risk.codes),
        "probabilities": plain(route.risk.probabilities),
    }
    return values


def route_from_json(values: Json) -> Route:
    """Return the route that was written."""
    risk = values["risk"]
    return Route(
        **{name: values[name] for name in _PLAIN_FIELDS},
        outcome=Outcome(values["outcome"]),
        reason=Reason(values["reason"]),
        via=Via(values["via"]),
        gates=tuple(Gate(g["number"], Reason(g["reason"]), g["detail"]) for g in values["gates"]),
        candidates=tuple(Candidate(agent, p) for agent, p in values["candidates"]),
        notes=tuple(values["notes"]),
        risk=RiskView(
            top=Risk(risk["top"]),
            floor=Risk(risk["floor"]),
            codes=tuple(risk["codes"]),
            probabilities=risk["probabilities"],
        ),
    )


def gates_to_json(gates: tuple[Gate | Mapping[str, object], ...]) -> list[Json]:
    """Return gates as ``number``, ``reason``, ``detail``."""
    return [_gate(gate) for gate in gates]


def _gate(gate: Gate | Mapping[str, object]) -> Json:
    if isinstance(gate, Gate):
        return {"number": gate.number, "reason": str(gate.reason), "detail": gate.detail}
    return {str(key): plain(value) for key, value in gate.items()}
