"""Codes, times and figures as people read them; pure."""

from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType

REASONS: Mapping[str, str] = MappingProxyType(
    {
        "risk": "risky",
        "uncertain": "not sure who",
        "no_match": "nobody's",
        "directive": "reads as a command",
        "undisplayable": "cannot be shown",
        "truncated": "seen in part",
        "loop": "loop",
        "decision_unavailable": "no decision",
        "decision_invalid": "invalid decision",
        "agent_unavailable": "agent unavailable",
        "matched": "matched",
        "cancelled": "cancelled",
        "rejected": "rejected",
        "expired": "expired",
        "rerun": "run again",
    }
)
STATES: Mapping[str, str] = MappingProxyType(
    {
        "received": "being decided",
        "decided": "decided",
        "held": "held",
        "clarify": "asked back",
        "declined": "declined",
        "approved": "approved",
        "rejected": "rejected",
        "expired": "expired",
        "cancelled": "cancelled",
        "ready": "waits for launch",
        "launching": "launching",
        "running": "running",
        "done": "done",
        "failed": "failed",
        "unknown": "unknown",
        "open": "open",
    }
)
KINDS: Mapping[str, str] = MappingProxyType(
    {
        "received": "accepted",
        "ready": "ready to launch",
        "launching": "launch committed",
        "running": "child started",
        "cancel_requested": "asked to stop",
        "left_unknown": "left unknown",
        "late_evidence": "late evidence",
        "claimed": "claimed",
        "released": "released",
    }
)


def span(seconds: float) -> str:
    """Say how long, in the largest unit that fits."""
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{max(0, int(seconds))} s"


def ago(instant: datetime, now: datetime) -> str:
    """Say how long before now, or in how long."""
    seconds = (now - instant).total_seconds()
    if abs(seconds) < 1:
        return "now"
    return f"{span(seconds)} ago" if seconds > 0 else f"in {span(-seconds)}"


def stamp(instant: datetime) -> str:
    """Write a time of day with its date."""
    return f"{instant.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def percent(share: float) -> str:
    """Write a share; what is neither nothing nor everything never looks like it."""
    if 0 < share < 0.01:
        return "<1 %"
    if 0.99 < share < 1:
        return ">99 %"
    return f"{share:.0%}".replace("%", " %")


def reason(code: str | None) -> str:
    """Say why in words."""
    return REASONS.get(code or "", (code or "").replace("_", " "))


def state(code: str) -> str:
    """Say where a route or a hold stands."""
    return STATES.get(code, code.replace("_", " "))


def kind(code: str) -> str:
    """Say what an event of the audit trail is about."""
    return KINDS.get(code, state(code))


def fact(value: object) -> str:
    """Write a fact of an event on one line."""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def seconds(value: float) -> str:
    """Write a short time; tenths while it is under ten seconds."""
    return f"{value:.1f} s" if value < 10 else span(value)
