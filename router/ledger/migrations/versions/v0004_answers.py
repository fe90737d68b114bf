"""The first final answer to a message is kept for its repeats.

Revision ID: 0004
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the table of answers."""
    op.create_table(
        "answers",
        sa.Column("route_id", sa.String(40), sa.ForeignKey("routes.id"), primary_key=True),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("kept_at", sa.BigInteger(), nullable=False),
    )
