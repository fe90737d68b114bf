"""Taking a message in: durable, once, and what was said before it."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, func, insert, select, update

from clawmarshal.errors import ConflictError
from clawmarshal.router.ledger import audit, rows, schema
from clawmarshal.router.ledger.audit import Actor
from clawmarshal.router.ledger.database import Shared, Transaction
from clawmarshal.router.ledger.ids import new_id
from clawmarshal.router.ledger.past import past_turns
from clawmarshal.router.ledger.records import Accepted, ConversationView, Mode, Submission
from clawmarshal.router.ledger.states import RouteState
from clawmarshal.router.message import InboundMessage
from clawmarshal.router.session import hash_parts, lone_conversation

S = RouteState
_DISPATCHED = (S.APPROVED, S.READY, S.LAUNCHING, S.RUNNING, S.DONE, S.FAILED, S.UNKNOWN)

Identity = tuple[str, str]
"""Kind and digest of something that a repeat would share."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The work of taking one message in, which many may share."""

    submission: Submission

    def __call__(self, tx: Transaction) -> Accepted:
        """Insert the message and its route, or find the route of its first coming.

        Raises
        ------
        ConflictError
            ``idempotency-mismatch``: the key, or the channel's id, came with another body before.
        """
        draft = _draft(tx, self.submission)
        repeat = _identify(tx, draft)
        if repeat is None:
            _insert([draft], tx)
            tx.moved.append((draft.route_id, S.RECEIVED))
        return repeat or draft.accepted

    def together(
        self, txs: Sequence[Transaction], works: Sequence[Shared]
    ) -> Sequence[Accepted | None]:
        """Insert those whose identities nobody has, one statement for each table; see `Shared`."""
        drafts = [
            _draft(tx, work.submission) if isinstance(work, Acceptance) else None
            for tx, work in zip(txs, works, strict=True)
        ]
        taken = _known(txs[0], [draft for draft in drafts if draft is not None])
        fresh: list[_Draft] = []
        results: list[Accepted | None] = []
        for tx, draft in zip(txs, drafts, strict=True):
            if draft is None or not taken.isdisjoint(draft.identities):
                results.append(None)
                continue
            taken.update(draft.identities)
            fresh.append(draft)
            tx.moved.append((draft.route_id, S.RECEIVED))
            results.append(draft.accepted)
        rows_ = [draft.identity_row(identity) for draft in fresh for identity in draft.identities]
        if rows_:
            txs[0].connection.execute(insert(schema.identities), rows_)
        if fresh:
            _insert(fresh, txs[0])
        return results


@dataclass(frozen=True, slots=True)
class _Draft:
    """The rows of a message that is not taken in yet."""

    route_id: str
    identities: list[Identity]
    fingerprint: str
    at: datetime
    route: Mapping[str, object]
    message: Mapping[str, object]
    event: Mapping[str, object]

    @property
    def accepted(self) -> Accepted:
        return Accepted(self.route_id, created=True, deduplicated_by=None)

    def identity_row(self, identity: Identity) -> Mapping[str, object]:
        kind, digest = identity
        return {
            "kind": kind,
            "digest": digest,
            "route_id": self.route_id,
            "fingerprint": self.fingerprint,
            "created_at": self.at,
        }


def _draft(tx: Transaction, submission: Submission) -> _Draft:
    route_id, salt = new_id("rt", now_ms=tx.now_ms), secrets.token_hex(32)
    identities = _identities(submission)
    facts = {
        "text": audit.text_seal(submission.message.text, salt),
        "bytes": len(submission.message.text.encode()),
        "mode": submission.mode,
        "identified_by": [kind for kind, _ in identities],
    }
    actor = Actor(f"owner:{submission.owner}", trace=submission.trace)
    return _Draft(
        route_id,
        identities,
        _fingerprint(submission) if identities else "",
        tx.now,
        _route_row(tx, route_id, submission),
        {"route_id": route_id, **_message_row(submission.message, salt)},
        audit.first(tx, route_id, actor=actor, kind=str(S.RECEIVED), facts=facts),
    )


def _insert(drafts: Sequence[_Draft], tx: Transaction) -> None:
    """Insert messages with their routes and the first events of their chains."""
    connection = tx.connection
    connection.execute(insert(schema.routes), [draft.route for draft in drafts])
    connection.execute(insert(schema.messages), [draft.message for draft in drafts])
    connection.execute(insert(schema.events), [draft.event for draft in drafts])


def _known(tx: Transaction, drafts: Sequence[_Draft]) -> set[Identity]:
    """Return those of the identities that are somebody's."""
    identities = schema.identities
    known: set[Identity] = set()
    for kind in _KINDS:
        asked = [digest for draft in drafts for k, digest in draft.identities if k == kind]
        if asked:
            query = select(identities.c.digest).where(
                identities.c.kind == kind, identities.c.digest.in_(asked)
            )
            known |= {(kind, digest) for digest in tx.connection.execute(query).scalars()}
    return known


def undecided(tx: Transaction, *, min_age_s: float) -> tuple[str, ...]:
    """Return the ids of routes that nobody has decided, oldest first."""
    routes = schema.routes
    query = select(routes.c.id).where(routes.c.state == str(S.RECEIVED))
    if min_age_s > 0:
        query = query.where(routes.c.accepted_at <= tx.now - timedelta(seconds=min_age_s))
    return tuple(tx.connection.execute(query.order_by(routes.c.number)).scalars())


def submission(tx: Transaction, route_id: str) -> Submission:
    """Return what was accepted."""
    row = rows.one_route(tx, route_id)
    return Submission(
        message=rows.message_of(row),
        owner=row.owner,
        mode=Mode(row.mode),
        idempotency_key=row.idempotency_key,
        pin=row.pin,
        on_uncertain=row.on_uncertain,
        clarifies=row.clarifies,
        cancel_on_disconnect=row.cancel_on_disconnect,
        reply_target=row.reply_target,
    )


def conversation(
    tx: Transaction, route_id: str, *, window_s: float, repeat_window_s: float
) -> ConversationView:
    """Count what came before a message, and name the agent its conversation is with."""
    row = rows.one_route(tx, route_id)
    same_scope = schema.routes.c.scope == row.scope
    same_text = and_(same_scope, schema.messages.c.digest == row.digest)
    sender = schema.routes.c.sender_scope == row.sender_scope if row.sender_scope else None
    return ConversationView(
        agent=_conversation_agent(tx, row),
        repeats=_count(tx, row, same_text, repeat_window_s),
        in_conversation=_count(tx, row, same_scope, window_s),
        from_sender=0 if sender is None else _count(tx, row, sender, window_s),
        past=past_turns(tx, row),
    )


def _identify(tx: Transaction, draft: _Draft) -> Accepted | None:
    """Give the route its identities, or return whose they are already.

    An identity that is new beside one that is known from now on names the known route.
    """
    fresh: list[Identity] = []
    for kind, digest in draft.identities:
        row = draft.identity_row((kind, digest))
        if tx.insert_or_ignore(schema.identities, row) or _taken_over(tx, row):
            fresh.append((kind, digest))
            continue
        known = _known_route(tx, kind, digest, draft.fingerprint)
        for own in fresh:
            statement = update(schema.identities).where(*_is_identity(*own))
            tx.connection.execute(statement.values(route_id=known))
        return Accepted(known, created=False, deduplicated_by=kind)
    return None


def _taken_over(tx: Transaction, row: Mapping[str, object]) -> bool:
    """Give an identity whose window is over to another route."""
    if tx.rules.repeat_window_s is None:
        return False
    over = tx.now - timedelta(seconds=tx.rules.repeat_window_s)
    identities = schema.identities
    statement = update(identities).where(
        identities.c.kind == row["kind"],
        identities.c.digest == row["digest"],
        identities.c.created_at <= over,
    )
    return tx.connection.execute(statement.values(row)).rowcount == 1


def _known_route(tx: Transaction, kind: str, digest: str, fingerprint: str) -> str:
    query = select(schema.identities).where(*_is_identity(kind, digest))
    row = tx.connection.execute(query).one()
    if row.fingerprint not in (None, fingerprint):
        raise ConflictError(
            f"the same {_KINDS[kind]} came with another body before",
            code="idempotency-mismatch",
            detail={"route_id": row.route_id, "identified_by": kind},
        )
    return str(row.route_id)


def _is_identity(kind: str, digest: str) -> tuple[ColumnElement[bool], ...]:
    return (schema.identities.c.kind == kind, schema.identities.c.digest == digest)


_KINDS = {"key": "idempotency key", "message_id": "message id"}


def _route_row(tx: Transaction, route_id: str, submission: Submission) -> Mapping[str, object]:
    owner, message = submission.owner, submission.message
    origin = (owner, message.channel, message.account)
    conversation = message.conversation or lone_conversation(route_id)
    sender = hash_parts(*origin, message.sender) if message.sender else None
    return {
        "id": route_id,
        "owner": owner,
        "state": str(S.RECEIVED),
        "mode": str(submission.mode),
        "scope": hash_parts(*origin, conversation),
        "sender_scope": sender,
        "idempotency_key": submission.idempotency_key,
        "pin": submission.pin,
        "on_uncertain": submission.on_uncertain,
        "clarifies": submission.clarifies,
        "cancel_on_disconnect": submission.cancel_on_disconnect,
        "reply_target": submission.reply_target,
        "accepted_at": tx.now,
        "updated_at": tx.now,
    }


def _message_row(message: InboundMessage, salt: str) -> Mapping[str, object]:
    return {
        "text": message.text,
        "digest": message.digest,
        "salt": salt,
        "channel": message.channel,
        "account": message.account,
        "sender": message.sender,
        "conversation": message.conversation,
        "message_id": message.message_id,
        "revision": message.revision,
        "received_at": message.received_at,
        "labels": list(message.labels),
        "attachments": [[a.kind, a.name] for a in message.attachments],
    }


def _identities(submission: Submission) -> list[Identity]:
    """List what would make a second coming a repeat, the strongest first."""
    found = []
    if submission.idempotency_key is not None:
        digest = hash_parts(submission.owner, submission.idempotency_key)
        found.append(("key", digest))
    message = submission.message
    if message.message_id is not None:
        where = (message.channel, message.account, message.conversation)
        name = (message.message_id, str(message.revision))
        found.append(("message_id", hash_parts(submission.owner, *where, *name)))
    return found


def _fingerprint(submission: Submission) -> str:
    """Hash what must be the same for a repeat to be a repeat."""
    message = submission.message
    return hash_parts(
        message.digest,
        message.channel,
        message.account,
        message.sender,
        message.conversation,
        message.message_id,
        str(message.revision),
        audit.canonical(sorted(message.labels)),
        audit.canonical([[a.kind, a.name] for a in message.attachments]),
        submission.pin,
        str(submission.mode),
        submission.clarifies,
        submission.on_uncertain,
        submission.reply_target,
    )


def _conversation_agent(tx: Transaction, row: Row[Any]) -> str | None:
    routes = schema.routes
    query = (
        select(routes.c.agent)
        .where(
            routes.c.scope == row.scope,
            routes.c.number < row.number,
            routes.c.state.in_([str(state) for state in _DISPATCHED]),
        )
        .order_by(routes.c.number.desc())
        .limit(1)
    )
    return tx.connection.execute(query).scalar_one_or_none()


def _count(tx: Transaction, row: Row[Any], condition: ColumnElement[bool], window_s: float) -> int:
    routes = schema.routes
    query = (
        select(func.count())
        .select_from(routes.join(schema.messages))
        .where(
            condition,
            routes.c.number <= row.number,
            routes.c.accepted_at > row.accepted_at - timedelta(seconds=window_s),
        )
    )
    return tx.connection.execute(query).scalar_one()
