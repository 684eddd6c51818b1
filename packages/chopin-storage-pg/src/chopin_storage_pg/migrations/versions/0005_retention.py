"""When an operation was kept, on a database that did not note it. What is there counts from the upgrade."""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0005_retention"
down_revision = "0004_research"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """On a database that a later baseline made there is nothing to do."""
    known = {column["name"] for column in inspect(op.get_bind()).get_columns("channel_operations")}
    if "kept_at" not in known:
        # now() is the same for every row, so that no row need be written; clock_timestamp() would rewrite the table.
        op.execute("ALTER TABLE channel_operations ADD COLUMN kept_at timestamptz DEFAULT now() NOT NULL")
        op.execute("ALTER TABLE channel_operations ALTER COLUMN kept_at SET DEFAULT clock_timestamp()")
