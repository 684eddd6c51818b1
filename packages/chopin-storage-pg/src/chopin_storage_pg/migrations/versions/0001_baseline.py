"""The whole current schema, on an empty database."""

from __future__ import annotations

from alembic import op

import chopin_storage_pg.functions
from chopin_storage_pg.tables import metadata

revision = "0001_baseline"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    assert chopin_storage_pg.functions.COMMIT, "created with the tables"
    metadata.create_all(op.get_bind(), checkfirst=False)
