"""Workers say when they were last seen and which agents they reach.

Revision ID: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add what a worker says of itself."""
    op.add_column("workers", sa.Column("seen_at", sa.BigInteger()))
    op.add_column("workers", sa.Column("reach", sa.JSON(none_as_null=True)))
    op.create_index("ix_workers_seen", "workers", ["seen_at"], unique=False)
