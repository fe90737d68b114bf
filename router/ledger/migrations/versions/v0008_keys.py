"""Keys end by themselves, are replaced, and tell when they were used last.

Revision ID: 0008
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0004"


def upgrade() -> None:
    """Add what is told of a key."""
    op.add_column("api_keys", sa.Column("expires_at", sa.BigInteger()))
    op.add_column("api_keys", sa.Column("last_used_at", sa.BigInteger()))
    op.add_column("api_keys", sa.Column("last_address", sa.Text()))
    op.add_column("api_keys", sa.Column("replaced_by", sa.String(length=40)))
