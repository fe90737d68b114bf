"""A route of the ledger and the gates run again over it, as people and programs see it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from clawmarshal.errors import ConflictError, DecisionError
from clawmarshal.roster.agent import Risk
from clawmarshal.roster.roster import Roster
from clawmarshal.router.counterfactual import Hindsight, look_back
from clawmarshal.router.decision import Decision
from clawmarshal.router.explanation import ballot_then, decision_then, policy_then
from clawmarshal.router.gates import UNSEEN_LIMIT
from clawmarshal.router.ledger.records import Event, RouteRecord
from clawmarshal.router.policy import Policy
from clawmarshal.router.route import Route, route_json


@dataclass(frozen=True, slots=True)
class Explained:
    """Everything that `explain` shows; no message text."""

    route: Route
    """As it was decided."""
    state: str
    policy: Policy
    """The thresholds in force then."""
    least: float
    """The probability that the target needed."""
    limit: Risk
    """The highest tier that the target took unseen."""
    ballot: tuple[tuple[str, str], ...]
    """Ids and digests of the agents that were asked about."""
    hindsight: Hindsight
    challenger: Decision | DecisionError | None
    """What a second model said; it decided nothing."""
    remarks: tuple[str, ...]
    kept: Mapping[str, Any]
    """What the ledger keeps."""
    evidence: tuple[Event, ...] = ()
    """What was found of launches whose outcome was lost, oldest first."""

    def as_json(self) -> dict[str, object]:
        """Return JSON values."""
        together = self.hindsight.together
        return {
            "route": route_json(self.route),
            "state": self.state,
            "ballot": [{"agent": agent, "digest": digest} for agent, digest in self.ballot],
            "thresholds": {**asdict(self.policy), "for_target": self.least, "risk": self.limit},
            "decided_by": asdict(self.route.gates[0]) if self.route.gates else None,
            "fired": [asdict(gate) for gate in self.route.gates],
            "changes": [asdict(change) for change in self.hindsight.changes],
            "unmovable": list(self.hindsight.unmovable),
            "together": together
            and {
                "outcome": together.outcome,
                "agent": together.agent,
                "reason": together.reason,
            },
            "remarks": list(self.remarks),
            "decision": self.kept["decision"],
            "challenger": self.kept.get("challenger"),
            "floor": self.kept["floor"],
            "circumstances": self.kept["circumstances"],
            "evidence": [
                {"at": event.at.isoformat(), "actor": event.actor, **event.facts}
                for event in self.evidence
            ],
        }


def explained(record: RouteRecord, roster: Roster) -> Explained:
    """Explain a route.

    Parameters
    ----------
    record
        From the ledger.
    roster
        The fleet of now; it may be another than the one that was asked about.

    Raises
    ------
    ConflictError
        ``not-decided``: there is no decision yet, or nothing was kept of it.
    """
    route = record.route
    kept: Mapping[str, Any] = record.explanation
    if route is None or "decision" not in kept:
        raise ConflictError(
            "the route is not decided, so there is nothing to explain", code="not-decided"
        )
    hindsight = look_back(kept, message=record.message, roster=roster)
    policy, challenged = policy_then(kept), kept.get("challenger")
    agents = {agent.id: agent for agent in ballot_then(kept, roster)[0].agents}
    target = agents.get(route.agent or "")
    own = target.min_probability if target else None
    return Explained(
        route=route,
        state=str(record.state),
        policy=policy,
        least=policy.min_probability if own is None else own,
        limit=target.risk_limit if target else UNSEEN_LIMIT,
        ballot=tuple((str(agent), str(digest)) for agent, digest in kept["ballot"]),
        hindsight=hindsight,
        challenger=decision_then(challenged) if challenged else None,
        remarks=tuple(_remarks(route, hindsight, is_erased=record.is_erased)),
        kept=kept,
        evidence=record.evidence,
    )


def _remarks(route: Route, hindsight: Hindsight, *, is_erased: bool) -> list[str]:
    said = []
    if is_erased:
        said.append("what the message said was erased on request; what was decided then is kept")
    if hindsight.changed_agents:
        names = ", ".join(sorted(hindsight.changed_agents)[:5])
        more = len(hindsight.changed_agents) - 5
        said.append(
            f"the roster has changed since for {names}{f' and {more} more' if more > 0 else ''}; "
            "their limits are those of then"
        )
    then = [(gate.number, gate.reason) for gate in route.gates]
    if then != [(gate.number, gate.reason) for gate in hindsight.verdict.gates]:
        said.append("the gates run again do not fire as they did: not all of it was kept")
    return said
