"""Where two people must say yes, the first one's is kept.

Revision ID: 0005
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Make the table of votes."""
    op.create_table(
        "votes",
        sa.Column("hold_id", sa.String(40), sa.ForeignKey("holds.id"), primary_key=True),
        sa.Column("person", sa.Text(), primary_key=True),
        sa.Column("agent", sa.String(64), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("note", sa.Text()),
        sa.Column("at", sa.BigInteger(), nullable=False),
    )
