"""Where Alembic gets its connection: from whoever calls it, never from a URL."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from alembic import context
from alembic.runtime.migration import MigrationContext, MigrationInfo
from alembic.util import CommandError
from sqlalchemy import Connection

from chopin_storage_pg import ledger, trigrams
from chopin_storage_pg.tables import metadata


def run(connection: Connection) -> None:
    def record(ctx: MigrationContext, step: MigrationInfo, heads: Collection[Any], run_args: Mapping[str, Any]) -> None:
        ledger.record(connection, str(step.up_revision_id))

    context.configure(
        connection=connection, target_metadata=metadata, include_object=trigrams.in_metadata, on_version_apply=record
    )
    with context.begin_transaction():
        context.run_migrations()


given = context.config.attributes.get("connection")
if given is None:
    raise CommandError("migrations run with `chopin migrate`; alembic.ini names no database")
run(given)
