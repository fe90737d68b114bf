"""Decider: one message in, one sealed Route out; remembers nothing and launches nothing."""

import asyncio
import copy
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial

from clawmarshal.errors import DecisionError
from clawmarshal.roster.roster import Roster
from clawmarshal.router.asking import Loading, ask
from clawmarshal.router.ballot import Ballot, fleet_ballot
from clawmarshal.router.conversation import (
    PastTurn,
    conversation_floor,
    is_follow_up,
    seen_by_models,
)
from clawmarshal.router.decision import Decision, DecisionModel
from clawmarshal.router.explanation import Evidence
from clawmarshal.router.language import is_english_throughout
from clawmarshal.router.ledger.ids import new_id
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.models.closing import close_connections
from clawmarshal.router.operator_rules import floor_with
from clawmarshal.router.policy import Circumstances, Policy, Verdict, decide, reconsider
from clawmarshal.router.risk import RiskFloor
from clawmarshal.router.route import Route, Via

RULES_ON_LOOP_CHARS = 2_000
"""Texts up to this length are judged by the rules on the event loop: well under a millisecond."""

FALLBACK_AFTER = "fallback-after:"
"""A note: the fallback answered, after this code of the acting model."""


class Decider:
    """Ask the model, validate, apply the rules and the gates.

    Parameters
    ----------
    model
        Who answers.
    roster
        The fleet.
    policy
        The gates' thresholds.
    deadline_s
        Seconds for one decision, over 0.
    fallback
        Answers when `model` gives no usable answer; its routes say ``via: offline``.
    fallback_policy
        The fallback's own thresholds; `policy` where None.
    """

    def __init__(
        self,
        model: DecisionModel,
        roster: Roster,
        *,
        policy: Policy | None = None,
        deadline_s: float = 4.0,
        fallback: DecisionModel | None = None,
        fallback_policy: Policy | None = None,
    ) -> None:
        self.model = model
        self.roster = roster
        self.policy = policy or Policy()
        self.deadline_s = deadline_s
        self._fallback = fallback
        self._fallback_policy = fallback_policy or self.policy
        self._loading = Loading((model, fallback))
        self._secret = secrets.token_bytes(32)

    async def decide(
        self,
        message: InboundMessage,
        *,
        circumstances: Circumstances,
        route_id: str | None = None,
        past: Sequence[PastTurn] = (),
    ) -> tuple[Route, Evidence]:
        """Decide what should happen to a message.

        A model that fails does not raise here: its failure is what gate 2 holds for.

        Parameters
        ----------
        message
            Checked already.
        circumstances
            What the caller, the conversation and the live fleet add.
        route_id
            The id the route gets; a new one where None.
        past
            What came before in the conversation, oldest first; it can only raise the risk. Models
            see it as the message's context.
        """
        await self._loading.done()
        begin = time.monotonic()
        ballot = fleet_ballot(self.roster, message)
        floor, is_english = await _judge_text(message.text, past, self.policy, ballot)
        circumstances = replace(
            circumstances, is_english=is_english, is_follow_up=is_follow_up(message.text)
        )
        message = seen_by_models(message, past)
        decision, policy, via = await self._ask(ballot, message)
        verdict = decide(
            policy,
            message=message,
            roster=self.roster,
            ballot=ballot,
            decision=decision,
            floor=floor,
            circumstances=circumstances,
        )
        if via is not None and verdict.via is Via.MODEL:
            verdict = replace(verdict, via=via)
        evidence = Evidence(ballot, decision, floor, circumstances)
        route = self._route(
            verdict,
            message=message,
            evidence=evidence,
            route_id=route_id or new_id("rt", now_ms=time.time_ns() // 1_000_000),
            latency_ms=(time.monotonic() - begin) * 1000,
        )
        return route, evidence

    def with_rules(
        self, roster: Roster, *, policy: Policy, fallback_policy: Policy | None = None
    ) -> "Decider":
        """Return a decider of the same models for another fleet or other thresholds.

        This one stays as it is: a decision under way ends by the rules it began with. Each knows
        the routes of the other as its own.
        """
        made = copy.copy(self)
        made.roster, made.policy = roster, policy
        made._fallback_policy = fallback_policy or policy
        return made

    def reconsider(self, message: InboundMessage, *, agent: str, evidence: Evidence) -> Verdict:
        """Run gates 3 to 9 again for another target.

        Raises
        ------
        UnknownAgentError
            `agent` is not in the roster.
        """
        return reconsider(
            self.policy_for(evidence.decision),
            message=message,
            roster=self.roster,
            ballot=evidence.ballot,
            decision=evidence.decision,
            floor=evidence.floor,
            circumstances=evidence.circumstances,
            agent=agent,
        )

    def policy_for(self, decision: Decision | DecisionError) -> Policy:
        """Return the thresholds a decision is judged by: those of whoever answered."""
        is_fallbacks = any(note.startswith(FALLBACK_AFTER) for note in _notes(decision))
        return self._fallback_policy if is_fallbacks else self.policy

    def is_own(self, route: Route) -> bool:
        """Tell whether this decider made the route and nobody changed it since."""
        return hmac.compare_digest(route.seal, self._seal(route))

    async def close_connections(self) -> None:
        """Close what the models opened on the running event loop; the models stay usable."""
        for model in (self.model, self._fallback):
            await close_connections(model)

    async def _ask(
        self, ballot: Ballot, message: InboundMessage
    ) -> tuple[Decision | DecisionError, Policy, Via | None]:
        deadline = time.monotonic() + self.deadline_s
        first = await ask(self.model, ballot, message, deadline_s=self.deadline_s)
        if isinstance(first, Decision) or self._fallback is None:
            return first, self.policy, None
        # The fallback gets what is left of the deadline, and at least a moment: it is local.
        left = max(0.5, deadline - time.monotonic())
        second = await ask(self._fallback, ballot, message, deadline_s=left)
        if isinstance(second, DecisionError):
            return first, self.policy, None
        answered = replace(second, notes=(*second.notes, f"{FALLBACK_AFTER}{first.code}"))
        return answered, self._fallback_policy, Via.OFFLINE

    def _route(
        self,
        verdict: Verdict,
        *,
        message: InboundMessage,
        evidence: Evidence,
        route_id: str,
        latency_ms: float,
    ) -> Route:
        decision = evidence.decision
        route = Route(
            id=route_id,
            outcome=verdict.outcome,
            agent=verdict.agent,
            reason=verdict.reason,
            gates=verdict.gates,
            via=verdict.via,
            candidates=verdict.candidates,
            confidence=verdict.confidence,
            margin=verdict.margin,
            risk=verdict.risk,
            model=decision.model if isinstance(decision, Decision) else self.model.name,
            message_digest=message.digest,
            roster_digest=self.roster.digest,
            agent_digest=self.roster[verdict.agent].digest if verdict.agent else None,
            latency_ms=round(latency_ms, 3),
            notes=(*_notes(decision), *verdict.notes),
        )
        return replace(route, seal=self._seal(route))

    def _seal(self, route: Route) -> str:
        fields = asdict(replace(route, risk=replace(route.risk, probabilities={})))
        fields["seal"] = ""
        fields["risk"]["probabilities"] = sorted(route.risk.probabilities.items())
        canonical = json.dumps(fields, sort_keys=True, separators=(",", ":"))
        return hmac.new(self._secret, canonical.encode(), hashlib.sha256).hexdigest()


def _notes(decision: Decision | DecisionError) -> tuple[str, ...]:
    return decision.notes if isinstance(decision, Decision) else ()


async def _judge_text(
    text: str, past: Sequence[PastTurn], policy: Policy, ballot: Ballot
) -> tuple[RiskFloor, bool]:
    judged = partial(floor_with, rules=policy.rules, options=[one.id for one in ballot.agents])

    def judge() -> tuple[RiskFloor, bool]:
        return conversation_floor(text, past, judge=judged), is_english_throughout(text)

    if len(text) <= RULES_ON_LOOP_CHARS and not past:
        return judge()
    return await asyncio.to_thread(judge)
