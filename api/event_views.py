"""Lines of the audit trail as they go out; those about lost launches apart."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from clawmarshal.router.ledger.records import Event


class EventView(BaseModel):
    """One line of the audit trail."""

    model_config = ConfigDict(frozen=True)

    number: int
    at: datetime
    actor: str
    kind: str
    facts: dict[str, Any]
    digest: str


class HoldEventView(EventView):
    """One line of the audit trail that tells of a hold."""

    route_id: str
    hold_id: str | None
    """None where the route was cancelled."""


class EvidenceView(BaseModel):
    """What was found of a launch whose outcome was lost; it proves nothing by being empty."""

    model_config = ConfigDict(frozen=True)

    at: datetime
    actor: str
    attempt: str
    code: str
    """``answered``, ``ended``, ``running``, ``arrived``, ``nothing-found`` (which never means "did
    not run"), ``not-understood``, ``not-reachable``."""
    run_id: str | None
    found_by: str | None
    """``run-id``, or ``text`` where only the words and the time agree."""
    facts: dict[str, Any]


def event_view(event: Event) -> EventView:
    """Show one line of the audit trail."""
    return EventView(
        number=event.number,
        at=event.at,
        actor=event.actor,
        kind=event.kind,
        facts=dict(event.facts),
        digest=event.digest,
    )


def hold_event_view(event: Event) -> HoldEventView:
    """Show what happened to a hold."""
    hold = event.facts.get("hold")
    return HoldEventView(
        **event_view(event).model_dump(),
        route_id=event.route_id,
        hold_id=None if hold is None else str(hold),
    )


def evidence_view(event: Event) -> EvidenceView:
    """Show what was found of a lost launch."""
    facts: dict[str, Any] = dict(event.facts)
    return EvidenceView(
        at=event.at,
        actor=event.actor,
        attempt=facts.pop("attempt", ""),
        code=facts.pop("code", ""),
        run_id=facts.pop("run_id", None),
        found_by=facts.pop("found_by", None),
        facts=facts,
    )
