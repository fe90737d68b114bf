"""What waits for its launch: how many, for how long, and where in the queue each one stands."""

from collections.abc import Mapping, Sequence

from sqlalchemy import func, or_, select

from clawmarshal.router.ledger import schema
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.records import Queue, Waiting
from clawmarshal.router.ledger.states import OPEN_ATTEMPTS, RouteState

S = RouteState


def look(tx: Transaction) -> Queue:
    """Count what is ready, and tell how long the oldest has been."""
    routes = schema.routes
    query = select(func.count(), func.min(routes.c.ready_at)).where(routes.c.state == str(S.READY))
    count, oldest = tx.connection.execute(query).one()
    return Queue(count, 0.0 if oldest is None else max(0.0, (tx.now - oldest).total_seconds()))


def places(tx: Transaction, route_ids: Sequence[str]) -> Mapping[str, Waiting]:
    """Say of those that are ready how many stand before them, in all and in their session."""
    if not route_ids:
        return {}
    routes = schema.routes
    line = (
        select(routes.c.id, func.row_number().over(order_by=routes.c.number).label("position"))
        .where(routes.c.state == str(S.READY))
        .subquery()
    )
    before = routes.alias("before")
    waits = [str(state) for state in (*OPEN_ATTEMPTS, S.READY, S.APPROVED)]
    if tx.rules.held_blocks_session:
        waits.append(str(S.HELD))
    in_session = (
        select(func.count())
        .where(
            before.c.scope == routes.c.scope,
            before.c.number < routes.c.number,
            before.c.state.in_(waits),
            or_(before.c.agent == routes.c.agent, before.c.agent.is_(None)),
        )
        .scalar_subquery()
    )
    query = select(routes.c.id, routes.c.ready_at, line.c.position, in_session).join(
        line, line.c.id == routes.c.id
    )
    found = tx.connection.execute(query.where(routes.c.id.in_(route_ids)))
    return {
        route_id: Waiting(since, position=position, in_session=behind)
        for route_id, since, position, behind in found
    }
