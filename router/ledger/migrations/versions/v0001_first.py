"""The first schema: messages, routes, holds, attempts, events and keys.

Revision ID: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_OPEN = sa.text("state IN ('launching', 'running')")


def upgrade() -> None:
    """Make every table."""
    _meta()
    _routes()
    _api_keys()
    _events()
    _identities()
    _sessions()
    _workers()
    _attempts()
    _holds()
    _messages()


def _meta() -> None:
    op.create_table(
        "meta",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )


def _routes() -> None:
    op.create_table(
        "routes",
        sa.Column("number", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("mode", sa.String(length=16), nullable=False),
        sa.Column("scope", sa.String(length=64), nullable=False),
        sa.Column("sender_scope", sa.String(length=64)),
        sa.Column("idempotency_key", sa.Text()),
        sa.Column("pin", sa.Text()),
        sa.Column("on_uncertain", sa.String(length=16), nullable=False),
        sa.Column("clarifies", sa.Text()),
        sa.Column("cancel_on_disconnect", sa.Boolean(), nullable=False),
        sa.Column("reply_target", sa.Text()),
        sa.Column("accepted_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("ready_at", sa.BigInteger()),
        sa.Column("decision", sa.JSON(none_as_null=True)),
        sa.Column("explanation", sa.JSON(none_as_null=True)),
        sa.Column("agent", sa.String(length=64)),
        sa.Column("reason", sa.String(length=64)),
        sa.Column("ran", sa.Boolean()),
        sa.Column("reply_text", sa.Text()),
        sa.Column("tool_sends", sa.JSON(none_as_null=True)),
        sa.Column("approved_digest", sa.String(length=64)),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_routes_owner", "routes", ["owner", "number"], unique=False)
    op.create_index("ix_routes_scope", "routes", ["scope", "number"], unique=False)
    op.create_index("ix_routes_sender", "routes", ["sender_scope", "number"], unique=False)
    op.create_index("ix_routes_state", "routes", ["state", "number"], unique=False)


def _api_keys() -> None:
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("revoked_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("hash"),
    )


def _events() -> None:
    op.create_table(
        "events",
        sa.Column("number", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("chain", sa.String(length=40), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("address", sa.Text()),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("chain", "ordinal"),
        sqlite_autoincrement=True,
    )


def _identities() -> None:
    op.create_table(
        "identities",
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("route_id", sa.String(length=40), nullable=False),
        sa.Column("fingerprint", sa.String(length=64)),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "digest"),
    )


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("scope", sa.String(length=64), nullable=False),
        sa.Column("agent", sa.String(length=64), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("scope", "agent"),
    )


def _workers() -> None:
    op.create_table(
        "workers",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id"),
    )


def _attempts() -> None:
    op.create_table(
        "attempts",
        sa.Column("fence", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("route_id", sa.String(length=40), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(length=40), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("agent", sa.String(length=64), nullable=False),
        sa.Column("agent_digest", sa.String(length=64), nullable=False),
        sa.Column("template_digest", sa.String(length=64), nullable=False),
        sa.Column("scope", sa.String(length=64), nullable=False),
        sa.Column("session_key", sa.Text(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("timeout_s", sa.Integer(), nullable=False),
        sa.Column("launched_at", sa.BigInteger(), nullable=False),
        sa.Column("lease_until", sa.BigInteger(), nullable=False),
        sa.Column("not_after", sa.BigInteger(), nullable=False),
        sa.Column("acknowledged_at", sa.BigInteger()),
        sa.Column("started_at", sa.BigInteger()),
        sa.Column("ended_at", sa.BigInteger()),
        sa.Column("pid", sa.Integer()),
        sa.Column("exit_code", sa.Integer()),
        sa.Column("signal", sa.Integer()),
        sa.Column("run_id", sa.Text()),
        sa.Column("code", sa.Text()),
        sa.Column("detail", sa.Text()),
        sa.Column("cli_version", sa.Text()),
        sa.Column("cancel_unconfirmed", sa.Boolean(), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.Column("late_evidence", sa.JSON(none_as_null=True)),
        sa.ForeignKeyConstraint(
            ["route_id"],
            ["routes.id"],
        ),
        sa.PrimaryKeyConstraint("fence"),
        sa.UniqueConstraint("id"),
        sa.UniqueConstraint("route_id", "number"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_attempts_open", "attempts", ["state", "lease_until"], unique=False)
    op.create_index(
        "ux_attempts_route",
        "attempts",
        ["route_id"],
        unique=True,
        sqlite_where=_OPEN,
        postgresql_where=_OPEN,
    )
    op.create_index(
        "ux_attempts_session",
        "attempts",
        ["scope", "agent"],
        unique=True,
        sqlite_where=_OPEN,
        postgresql_where=_OPEN,
    )


def _holds() -> None:
    op.create_table(
        "holds",
        sa.Column("number", _NUMBER, autoincrement=True, nullable=False),
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("route_id", sa.String(length=40), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("suggestion", sa.String(length=64)),
        sa.Column("reason", sa.String(length=64), nullable=False),
        sa.Column("gates", sa.JSON(), nullable=False),
        sa.Column("risk", sa.String(length=16), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger()),
        sa.Column("decision", sa.String(length=16)),
        sa.Column("agent", sa.String(length=64)),
        sa.Column("person", sa.Text()),
        sa.Column("decided_at", sa.BigInteger()),
        sa.Column("note", sa.Text()),
        sa.ForeignKeyConstraint(
            ["route_id"],
            ["routes.id"],
        ),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_holds_expiry", "holds", ["state", "expires_at"], unique=False)
    op.create_index("ix_holds_route", "holds", ["route_id", "number"], unique=False)
    op.create_index("ix_holds_state", "holds", ["state", "number"], unique=False)
    op.create_index(
        "ux_holds_open",
        "holds",
        ["route_id"],
        unique=True,
        sqlite_where=sa.text("state = 'open'"),
        postgresql_where=sa.text("state = 'open'"),
    )


def _messages() -> None:
    op.create_table(
        "messages",
        sa.Column("route_id", sa.String(length=40), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("salt", sa.String(length=64), nullable=False),
        sa.Column("channel", sa.Text()),
        sa.Column("account", sa.Text()),
        sa.Column("sender", sa.Text()),
        sa.Column("conversation", sa.Text()),
        sa.Column("message_id", sa.Text()),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("received_at", sa.BigInteger()),
        sa.Column("labels", sa.JSON(), nullable=False),
        sa.Column("attachments", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["route_id"],
            ["routes.id"],
        ),
        sa.PrimaryKeyConstraint("route_id"),
    )
