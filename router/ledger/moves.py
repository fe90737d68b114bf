"""The only way a route changes its state: one guarded UPDATE and one event."""

from collections.abc import Mapping

from sqlalchemy import update

from clawmarshal.errors import ConflictError
from clawmarshal.router.ledger import audit, schema
from clawmarshal.router.ledger.audit import Actor
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.states import LEGAL_MOVES, RouteState

_NO_FACTS: Mapping[str, object] = {}


def move(
    tx: Transaction,
    route_id: str,
    *,
    frm: RouteState,
    to: RouteState,
    actor: Actor,
    facts: Mapping[str, object] = _NO_FACTS,
    **values: object,
) -> bool:
    """Move a route if it still stands where the caller thinks.

    Parameters
    ----------
    facts
        More for the event; the states are in it anyway.
    values
        Columns of the route that change with it.

    Returns
    -------
    bool
        False when the route stands elsewhere; nothing was written then.

    Raises
    ------
    ConflictError
        ``illegal-move``: DESIGN section 4 does not know the move.
    """
    if to not in LEGAL_MOVES[frm]:
        raise ConflictError(f"a route never moves from {frm} to {to}", code="illegal-move")
    routes = schema.routes
    statement = (
        update(routes)
        .where(routes.c.id == route_id, routes.c.state == str(frm))
        .values(state=str(to), updated_at=tx.now, **values)
    )
    if tx.connection.execute(statement).rowcount != 1:
        return False
    audit.append(tx, route_id, actor=actor, kind=str(to), facts={"from": str(frm), **facts})
    tx.moved.append((route_id, to))
    return True


def must_move(
    tx: Transaction,
    route_id: str,
    *,
    frm: RouteState,
    to: RouteState,
    actor: Actor,
    facts: Mapping[str, object] = _NO_FACTS,
    **values: object,
) -> None:
    """Move a route that must stand there, since what stands beside it says so.

    Raises
    ------
    ConflictError
        ``illegal-move``, or ``route-moved``: the whole transaction is undone.
    """
    if not move(tx, route_id, frm=frm, to=to, actor=actor, facts=facts, **values):
        raise ConflictError(f"the route is no longer {frm}", code="route-moved")
