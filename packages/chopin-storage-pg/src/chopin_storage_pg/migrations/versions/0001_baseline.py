"""The whole current schema, on an empty database."""

from __future__ import annotations

from alembic import op

from chopin_storage_pg import functions, trigrams
from chopin_storage_pg.tables import metadata

revision = "0001_baseline"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    assert functions.COMMIT and trigrams.INDEX, "what these modules add is created together with the tables"
    metadata.create_all(op.get_bind(), checkfirst=False)
