"""Which worker reaches which agents, so that a fleet may be spread over hosts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, update
from sqlalchemy import select as query

from clawmarshal.router.ledger import audit, binding, schema
from clawmarshal.router.ledger.binding import LaunchTerms
from clawmarshal.router.ledger.database import Transaction
from clawmarshal.router.ledger.records import WorkerRecord

LIVE_S = 60.0
"""A worker that was not seen for so long is not counted on."""
_NEWEST = 200
"""How many workers are asked for their last word, the newest first."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Which routes a worker may touch."""

    agents: frozenset[str]
    """Whose OpenClaw it can reach."""
    takes_strays: bool = False
    """Also routes for agents that its roster does not know: they go back to a human."""


@dataclass(frozen=True, slots=True)
class Reached:
    """What the worker that was seen last with an agent said of it."""

    template_digest: str
    agent_digest: str
    available: bool
    seen_at: datetime
    is_live: bool
    """Seen within `LIVE_S`, and not ended."""


def seen(tx: Transaction, worker: str, terms: Iterable[LaunchTerms]) -> None:
    """Note that a worker lives, and what a launch by it would mean."""
    said = {t.agent: [t.template_digest, t.agent_digest, t.available] for t in terms}
    workers = schema.workers
    statement = update(workers).where(workers.c.id == worker)
    tx.connection.execute(statement.values(seen_at=tx.now, reach=said))


def last_words(tx: Transaction) -> Mapping[str, Reached]:
    """Return per agent what the worker that was seen last with it said."""
    found: dict[str, Reached] = {}
    for row in _newest(tx):
        is_live = _is_live(tx, row)
        for agent, said in row.reach.items():
            known = found.get(agent)
            if known is None or (is_live and not known.is_live):
                template, spec, available = said
                found[agent] = Reached(template, spec, available, row.seen_at, is_live)
    return found


def live(tx: Transaction) -> tuple[WorkerRecord, ...]:
    """Return the workers that live, the newest first."""
    return tuple(
        WorkerRecord(
            id=row.id,
            name=row.name,
            started_at=row.started_at,
            seen_at=row.seen_at,
            agents=tuple(sorted(row.reach)),
        )
        for row in _newest(tx)
        if _is_live(tx, row)
    )


def another_would_launch(tx: Transaction, row: Row[Any], worker: str) -> bool:
    """Tell whether a live worker other than this one could launch a route as it stands.

    Parameters
    ----------
    row
        The route joined with its message.
    """
    for other in _newest(tx):
        said = other.reach.get(row.agent)
        if said is None or other.id == worker or not _is_live(tx, other):
            continue
        template, agent, available = said
        digest = binding.launch_digest(
            message_seal=audit.text_seal(row.text, row.salt),
            agent=row.agent,
            agent_digest=agent,
            template_digest=template,
            session=binding.session_of(tx, row, row.agent),
            reply_target=row.reply_target,
        )
        if available and row.approved_digest in (None, digest):
            return True
    return False


def _newest(tx: Transaction) -> list[Row[Any]]:
    workers = schema.workers
    statement = query(workers).where(workers.c.seen_at.is_not(None), workers.c.reach.is_not(None))
    ordered = statement.order_by(workers.c.seen_at.desc(), workers.c.id.desc())
    return list(tx.connection.execute(ordered.limit(_NEWEST)))


def _is_live(tx: Transaction, row: Row[Any]) -> bool:
    is_fresh: bool = row.seen_at > tx.now - timedelta(seconds=LIVE_S)
    return is_fresh and row.ended_at is None
