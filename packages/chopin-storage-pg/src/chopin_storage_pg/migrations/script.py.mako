"""${message}"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A fresh database was made from the current tables by the baseline: ask the inspector before every operation, and
    # write columns out instead of taking them from the metadata.
    existing = sa.inspect(op.get_bind())
    ${upgrades if upgrades else "raise NotImplementedError"}
