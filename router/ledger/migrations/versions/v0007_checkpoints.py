"""Checkpoints over all events; the database itself refuses to change or remove an event.

Revision ID: 0007
"""

import sqlalchemy as sa
from alembic import op

from clawmarshal.router.ledger import append_only

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Make the table, and the triggers on it and on the events."""
    op.create_table(
        "checkpoints",
        sa.Column(
            "through",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("covered", sa.Integer(), nullable=False),
        sa.Column("content", sa.String(64), nullable=False),
        sa.Column("previous", sa.String(64), nullable=False, unique=True),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("seal", sa.String(64)),
    )
    for statement in append_only.statements(op.get_bind().dialect.name):
        op.execute(statement)
