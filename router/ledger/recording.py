"""Writing a decision down: from received to wherever the policy sent the message."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row, update

from clawmarshal.router.ledger import audit, codec, erasing, holds, moves, rows, schema
from clawmarshal.router.ledger.audit import SERVICE, Actor, plain
from clawmarshal.router.ledger.binding import LaunchTerms
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.records import Mode, RouteRecord
from clawmarshal.router.ledger.states import RouteState
from clawmarshal.router.route import Outcome, Route

S = RouteState
CHALLENGER = "challenger"
"""The member of an explanation."""


def record(
    tx: Transaction,
    route_id: str,
    route: Route,
    *,
    explanation: Mapping[str, object],
    terms: LaunchTerms | None,
    is_shadow: bool,
) -> RouteRecord:
    """Write a decision and what follows from it; a repeat returns what stands.

    Raises
    ------
    NotFoundError
        No such route.
    """
    row = rows.one_route(tx, route_id)
    decision = {
        "decision": codec.route_to_json(route),
        "explanation": plain(explanation),
        "agent": route.agent,
        "reason": str(route.reason),
    }
    first = S.CANCELLED if route.outcome is Outcome.CANCELLED else S.DECIDED
    is_new = moves.move(
        tx,
        route_id,
        frm=S.RECEIVED,
        to=first,
        actor=SERVICE,
        facts={**_facts(route), **_digests(decision)},
        **decision,
    )
    if is_new and first is S.DECIDED and not is_shadow and _goes_on(Mode(row.mode), route.outcome):
        _follow(tx, row, route, terms)
    return rows.route_record(tx, route_id)


def challenged(
    tx: Transaction, route_id: str, answer: Mapping[str, object], *, facts: Mapping[str, object]
) -> bool:
    """Keep what a challenger said; see `Ledger.challenged`."""
    row = rows.one_route(tx, route_id)
    known = row.explanation or {}
    if row.decision is None or CHALLENGER in known:
        return False
    kept = {**known, CHALLENGER: plain(answer)}
    routes = schema.routes
    tx.connection.execute(update(routes).where(routes.c.id == route_id).values(explanation=kept))
    told = {**facts, "explanation_digest": audit.digest(kept)}
    audit.append(tx, route_id, actor=SERVICE, kind="challenged", facts=told)
    return True


def release(tx: Transaction, route_id: str) -> RouteRecord:
    """Make a proposed route ready; see `Ledger.release`."""
    row = rows.one_route(tx, route_id)
    is_dispatch = row.decision is not None and row.decision["outcome"] == Outcome.DISPATCH
    if row.mode == Mode.PROPOSE and row.state == S.DECIDED and is_dispatch:
        erasing.check_whole(row.salt)
        actor = Actor(f"owner:{row.owner}")
        moves.must_move(tx, route_id, frm=S.DECIDED, to=S.READY, actor=actor, ready_at=tx.now)
    return rows.route_record(tx, route_id)


def _goes_on(mode: Mode, outcome: Outcome) -> bool:
    """Tell whether anything follows from a decision without its caller's word."""
    return mode is Mode.DISPATCH or (mode is Mode.PROPOSE and outcome is not Outcome.DISPATCH)


def _follow(tx: Transaction, row: Row[Any], route: Route, terms: LaunchTerms | None) -> None:
    """Send a decided route on its way."""
    to, facts, values = _NEXT[route.outcome], {}, {}
    if to is S.READY:
        values = {"ready_at": tx.now}
    if to is S.HELD:
        hold = holds.open_hold(
            tx,
            row,
            suggestion=route.agent,
            reason=str(route.reason),
            gates=codec.gates_to_json(route.gates),
            risk=route.risk.top,
            terms=terms,
        )
        facts = {"hold": hold.id, "digest": hold.digest}
    moves.must_move(tx, row.id, frm=S.DECIDED, to=to, actor=SERVICE, facts=facts, **values)


_NEXT = {
    Outcome.DISPATCH: S.READY,
    Outcome.HOLD: S.HELD,
    Outcome.CLARIFY: S.CLARIFY,
    Outcome.DECLINE: S.DECLINED,
}
"""Where a decided route goes; a cancelled one is never decided."""


def _digests(decision: Mapping[str, object]) -> Mapping[str, object]:
    """Bind what is kept beside the events to them."""
    names = ("decision", "explanation")
    return {f"{name}_digest": audit.digest(decision[name]) for name in names}


def _facts(route: Route) -> Mapping[str, object]:
    return {
        "outcome": route.outcome,
        "agent": route.agent,
        "reasons": route.reasons,
        "via": route.via,
        "model": route.model,
        "roster": route.roster_digest,
        "risk": route.risk.top,
    }
