"""What reviewers need: who is signed in, who looks at a hold, and the queue by risk then age.

Revision ID: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the two tables and the index."""
    op.create_table(
        "sign_ins",
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("key_id", sa.String(length=40), nullable=False),
        sa.Column("address", sa.Text()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["key_id"], ["api_keys.id"]),
        sa.PrimaryKeyConstraint("hash"),
    )
    op.create_index("ix_sign_ins_key", "sign_ins", ["key_id"], unique=False)
    op.create_table(
        "claims",
        sa.Column("hold_id", sa.String(length=40), nullable=False),
        sa.Column("person", sa.Text(), nullable=False),
        sa.Column("claimed_at", sa.BigInteger(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["hold_id"], ["holds.id"]),
        sa.PrimaryKeyConstraint("hold_id"),
    )
    op.create_index("ix_holds_triage", "holds", ["state", "risk", "number"], unique=False)
