"""Keys end by themselves, are replaced, and tell when they were used last.

Revision ID: 0006
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add what is told of a key."""
    op.add_column("api_keys", sa.Column("expires_at", sa.BigInteger()))
    op.add_column("api_keys", sa.Column("last_used_at", sa.BigInteger()))
    op.add_column("api_keys", sa.Column("last_address", sa.Text()))
    op.add_column("api_keys", sa.Column("replaced_by", sa.String(length=40)))
