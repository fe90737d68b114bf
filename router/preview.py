"""Previewer: what an approval for one agent would answer and launch, shown before it is given."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from clawmarshal.errors import ConflictError
from clawmarshal.roster.agent import AgentSpec
from clawmarshal.router.approval import answered_gates
from clawmarshal.router.decider import Decider
from clawmarshal.router.directives import neutralise
from clawmarshal.router.explanation import evidence_from
from clawmarshal.router.fleet import FleetWatch
from clawmarshal.router.ledger.binding import LaunchTerms, Session
from clawmarshal.router.ledger.ledger import Ledger
from clawmarshal.router.ledger.records import HoldRecord, RouteRecord
from clawmarshal.router.policy import Verdict
from clawmarshal.transport.outcome import Transport


@dataclass(frozen=True, slots=True)
class Preview:
    """What a reviewer of an open hold is shown about one agent."""

    spec: AgentSpec
    gates: tuple[Mapping[str, object], ...]
    """Every gate that an approval would answer, those of the hold first."""
    fresh: frozenset[str]
    """Reasons that were not shown with the hold."""
    digest: str | None
    """What an approval is bound to; None where none is possible."""
    refusal: str | None
    """Why no approval is possible, in words."""
    session: Session
    template: Mapping[str, object]
    """What the transport says it would run."""
    timeout_s: int
    text: str
    """What the agent would get."""

    @property
    def agent(self) -> str:
        """The agent's id."""
        return self.spec.id


def verdict_now(decider: Decider, record: RouteRecord, *, agent: str, fleet: FleetWatch) -> Verdict:
    """Run gates 3 to 9 for an agent again, on what was decided then and the fleet of now.

    Raises
    ------
    UnknownAgentError
        `agent` is not in the roster.
    """
    evidence = evidence_from(record.explanation, message=record.message, roster=decider.roster)
    now = replace(evidence.circumstances, live_agents=fleet.agents, unasked=fleet.unasked)
    return decider.reconsider(
        record.message, agent=agent, evidence=replace(evidence, circumstances=now)
    )


class Previewer:
    """Look at open holds as `RoutingDesk.approve` will.

    Parameters
    ----------
    decider
        Returns the one in force.
    ledger, transport, fleet
        Those of the desk.
    terms
        What a launch would mean now, by agent.
    """

    def __init__(
        self,
        decider: Callable[[], Decider],
        ledger: Ledger,
        *,
        transport: Transport,
        fleet: FleetWatch,
        terms: Callable[[], Mapping[str, LaunchTerms]],
    ) -> None:
        self._decider = decider
        self._ledger = ledger
        self._transport = transport
        self._fleet = fleet
        self._terms = terms

    def look(self, hold: HoldRecord, record: RouteRecord, agent: str) -> Preview:
        """Say what an approval for an agent would answer and launch; blocking.

        Raises
        ------
        UnknownAgentError
            `agent` is not in the roster.
        """
        decider = self._decider()
        spec = decider.roster[agent]
        terms = self._terms()[agent]
        verdict = verdict_now(decider, record, agent=agent, fleet=self._fleet)
        gates, refusal, digest = hold.gates, None, None
        try:
            gates, _ = answered_gates(hold, target=agent, verdict=verdict)
            digest = self._ledger.hold_digest(hold.id, terms, gates)
        except ConflictError as error:
            refusal = str(error)
        shown = {str(gate["reason"]) for gate in hold.gates}
        text = record.message.text
        return Preview(
            spec,
            gates,
            frozenset(str(gate["reason"]) for gate in gates) - shown,
            digest,
            refusal,
            self._ledger.session(record.id, terms),
            self._transport.template(spec),
            terms.timeout_s,
            neutralise(text) if terms.neutralises else text,
        )
