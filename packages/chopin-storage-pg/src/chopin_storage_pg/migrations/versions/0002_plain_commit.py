"""``chopin_commit`` as it is now: one plain statement for each table. Whatever it was before is replaced."""

from __future__ import annotations

from alembic import op

from chopin_storage_pg.functions import CREATE_COMMIT

revision = "0002_plain_commit"
down_revision = "0001_baseline"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(CREATE_COMMIT)
