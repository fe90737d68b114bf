"""The tables, in SQLAlchemy Core that SQLite and PostgreSQL both read."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    text,
)

HEAD = "0007"
"""The version of this schema: the newest file in ``migrations/versions``."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

_FIRST = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LAST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND


class Instant(TypeDecorator[datetime]):
    """A point in time as whole microseconds since 1970: compares alike in every database."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """Turn a time with a zone into microseconds."""
        return None if value is None else microseconds(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        """Turn microseconds into a time in UTC; what no calendar holds becomes its end.

        One row that cannot be read would make every list unreadable that it stands in.
        """
        return None if value is None else instant(value)


def microseconds(instant: datetime) -> int:
    """Return whole microseconds since 1970."""
    return (instant - _EPOCH) // _MICROSECOND


def instant(microseconds: int) -> datetime:
    """Return the time that so many microseconds since 1970 are; a calendar's end beyond one."""
    return _EPOCH + min(max(microseconds, _FIRST), _LAST) * _MICROSECOND


metadata = MetaData()
_Number = BigInteger().with_variant(Integer, "sqlite")
_OPEN = text("state IN ('launching', 'running')")


def _number() -> Column[int]:
    return Column("number", _Number, primary_key=True, autoincrement=True)


version = Table("alembic_version", metadata, Column("version_num", String(32), primary_key=True))
"""Where Alembic keeps the version; here so that looking needs no Alembic."""

meta = Table(
    "meta",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)

routes = Table(
    "routes",
    metadata,
    _number(),
    Column("id", String(40), nullable=False, unique=True),
    Column("owner", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("mode", String(16), nullable=False),
    Column("scope", String(64), nullable=False),  # hash of owner, channel, account, conversation
    Column("sender_scope", String(64)),  # hash of owner, channel, account, sender; NULL without one
    Column("idempotency_key", Text),
    Column("pin", Text),
    Column("on_uncertain", String(16), nullable=False),
    Column("clarifies", Text),
    Column("cancel_on_disconnect", Boolean, nullable=False),
    Column("reply_target", Text),
    Column("accepted_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("ready_at", Instant),
    Column("decision", JSON(none_as_null=True)),  # the Route; NULL until decided
    Column("explanation", JSON(none_as_null=True)),  # ballot, thresholds, …: whatever explains it
    Column("agent", String(64)),
    Column("reason", String(64)),
    Column("ran", Boolean),
    Column("reply_text", Text),
    Column("tool_sends", JSON(none_as_null=True)),
    Column("approved_digest", String(64)),  # what must still hold at launch; NULL: no approval
    Index("ix_routes_state", "state", "number"),
    Index("ix_routes_owner", "owner", "number"),
    Index("ix_routes_scope", "scope", "number"),
    Index("ix_routes_sender", "sender_scope", "number"),
    sqlite_autoincrement=True,
)

messages = Table(
    "messages",
    metadata,
    Column("route_id", String(40), ForeignKey("routes.id"), primary_key=True),
    Column("text", Text, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("salt", String(64), nullable=False),  # erased with the text: no event betrays it then
    Column("channel", Text),
    Column("account", Text),
    Column("sender", Text),
    Column("conversation", Text),
    Column("message_id", Text),
    Column("revision", Integer, nullable=False),
    Column("received_at", Instant),
    Column("labels", JSON, nullable=False),
    Column("attachments", JSON, nullable=False),
)

identities = Table(
    "identities",
    metadata,
    Column("kind", String(16), primary_key=True),  # key | message_id
    Column("digest", String(64), primary_key=True),  # hash of owner and key, or of the message's id
    Column("route_id", String(40), nullable=False),
    Column("fingerprint", String(64)),  # NULL once the text is erased
    Column("created_at", Instant, nullable=False),
)
"""What makes a repeat a repeat; apart from the rows it names, so that it outlives pruning."""

answers = Table(
    "answers",
    metadata,
    Column("route_id", String(40), ForeignKey("routes.id"), primary_key=True),
    Column("status", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Column("kept_at", Instant, nullable=False),
)
"""The first final answer to a message that can be repeated; the same bytes to every repeat."""

holds = Table(
    "holds",
    metadata,
    _number(),
    Column("id", String(40), nullable=False, unique=True),
    Column("route_id", String(40), ForeignKey("routes.id"), nullable=False),
    Column("owner", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("suggestion", String(64)),
    Column("reason", String(64), nullable=False),
    Column("gates", JSON, nullable=False),
    Column("risk", String(16), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant),
    Column("decision", String(16)),
    Column("agent", String(64)),
    Column("person", Text),
    Column("decided_at", Instant),
    Column("note", Text),
    Index("ix_holds_state", "state", "number"),
    Index("ix_holds_triage", "state", "risk", "number"),
    Index("ix_holds_expiry", "state", "expires_at"),
    Index("ix_holds_route", "route_id", "number"),
    Index(
        "ux_holds_open",
        "route_id",
        unique=True,
        sqlite_where=text("state = 'open'"),
        postgresql_where=text("state = 'open'"),
    ),
    sqlite_autoincrement=True,
)

attempts = Table(
    "attempts",
    metadata,
    Column("fence", _Number, primary_key=True, autoincrement=True),
    Column("id", String(40), nullable=False, unique=True),
    Column("route_id", String(40), ForeignKey("routes.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("worker", String(40), nullable=False),
    Column("state", String(16), nullable=False),
    Column("agent", String(64), nullable=False),
    Column("agent_digest", String(64), nullable=False),
    Column("template_digest", String(64), nullable=False),
    Column("scope", String(64), nullable=False),
    Column("session_key", Text, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("timeout_s", Integer, nullable=False),
    Column("launched_at", Instant, nullable=False),
    Column("lease_until", Instant, nullable=False),
    Column("not_after", Instant, nullable=False),
    Column("acknowledged_at", Instant),  # the worker said that it is through with this fence
    Column("started_at", Instant),
    Column("ended_at", Instant),
    Column("pid", Integer),
    Column("exit_code", Integer),
    Column("signal", Integer),
    Column("run_id", Text),
    Column("code", Text),
    Column("detail", Text),
    Column("cli_version", Text),
    Column("cancel_unconfirmed", Boolean, nullable=False),
    Column("facts", JSON, nullable=False),
    Column("late_evidence", JSON(none_as_null=True)),
    UniqueConstraint("route_id", "number"),
    Index("ix_attempts_open", "state", "lease_until"),
    # The last line of defence: no two open attempts of one route, nor of one session.
    Index("ux_attempts_route", "route_id", unique=True, sqlite_where=_OPEN, postgresql_where=_OPEN),
    Index(
        "ux_attempts_session",
        "scope",
        "agent",
        unique=True,
        sqlite_where=_OPEN,
        postgresql_where=_OPEN,
    ),
    sqlite_autoincrement=True,
)

sessions = Table(
    "sessions",
    metadata,
    Column("scope", String(64), primary_key=True),
    Column("agent", String(64), primary_key=True),
    Column("generation", Integer, nullable=False),
)

workers = Table(
    "workers",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("name", Text, nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("ended_at", Instant),
    Column("seen_at", Instant),
    # Agent to digest of the template, digest of the AgentSpec, and whether it is available there.
    Column("reach", JSON(none_as_null=True)),
    Index("ix_workers_seen", "seen_at"),
)

events = Table(
    "events",
    metadata,
    _number(),
    Column("chain", String(40), nullable=False),  # a route's id, or a key's
    Column("ordinal", Integer, nullable=False),
    Column("at", Instant, nullable=False),
    Column("actor", Text, nullable=False),
    Column("address", Text),
    Column("kind", String(32), nullable=False),
    Column("facts", Text, nullable=False),  # canonical JSON, exactly the text that was hashed
    Column("digest", String(64), nullable=False),
    UniqueConstraint("chain", "ordinal"),
    sqlite_autoincrement=True,
)

checkpoints = Table(
    "checkpoints",
    metadata,
    Column("through", _Number, primary_key=True, autoincrement=False),  # an event's number
    Column("at", Instant, nullable=False),
    Column("covered", Integer, nullable=False),  # events since the checkpoint before
    Column("content", String(64), nullable=False),  # hash over their numbers and digests
    Column("previous", String(64), nullable=False, unique=True),
    Column("digest", String(64), nullable=False),
    Column("seal", String(64)),  # HMAC under a key outside of the database; NULL without one
)
"""A chain over all events: a route that was removed whole is missed by it."""

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("name", Text, nullable=False),
    Column("person", Text, nullable=False),
    Column("scopes", JSON, nullable=False),
    Column("hash", String(64), nullable=False, unique=True),
    Column("created_at", Instant, nullable=False),
    Column("revoked_at", Instant),
    Column("expires_at", Instant),
    Column("last_used_at", Instant),
    Column("last_address", Text),
    Column("replaced_by", String(40)),  # the key that a rotation put in its place
)

sign_ins = Table(
    "sign_ins",
    metadata,
    Column("hash", String(64), primary_key=True),  # of the token in the cookie
    Column("key_id", String(40), ForeignKey("api_keys.id"), nullable=False),
    Column("address", Text),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Index("ix_sign_ins_key", "key_id"),
)
"""Who is signed in on the review pages; a row goes when its person signs out."""

claims = Table(
    "claims",
    metadata,
    Column("hold_id", String(40), ForeignKey("holds.id"), primary_key=True),
    Column("person", Text, nullable=False),
    Column("claimed_at", Instant, nullable=False),
    Column("until", Instant, nullable=False),
)
"""Who looks at a hold at the moment; a claim ends by itself and answers nothing."""

votes = Table(
    "votes",
    metadata,
    Column("hold_id", String(40), ForeignKey("holds.id"), primary_key=True),
    Column("person", Text, primary_key=True),
    Column("agent", String(64), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("note", Text),
    Column("at", Instant, nullable=False),
)
"""Who said yes to what, where it takes two."""
