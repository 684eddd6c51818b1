"""An index for searches in large repositories, where the server has ``pg_trgm``; without it they read every title."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Connection, MetaData, event, text

from chopin_storage_pg.tables import metadata

INDEX: Final = "channel_search_trigram_idx"
"""Not part of the metadata, because not every server can have it."""

MAY_INSTALL: Final = text("""
SELECT EXISTS (
    SELECT FROM pg_available_extension_versions v
        JOIN pg_available_extensions e ON e.name = v.name AND e.default_version = v.version
        JOIN pg_roles r ON r.rolname = current_user
    WHERE v.name = 'pg_trgm' AND e.installed_version IS NULL
        AND (r.rolsuper OR v.trusted AND has_database_privilege(current_database(), 'CREATE'))
)
""")
CAN_INDEX: Final = text("SELECT EXISTS (SELECT FROM pg_opclass WHERE opcname = 'gin_trgm_ops' AND pg_opclass_is_visible(oid))")


@event.listens_for(metadata, "after_create")
def create(target: MetaData, connection: Connection, **_: object) -> None:
    if connection.scalar(MAY_INSTALL):
        connection.execute(text("CREATE EXTENSION pg_trgm"))
    if connection.scalar(CAN_INDEX):
        connection.execute(
            text(f"CREATE INDEX {INDEX} ON channel_search USING gin (title_key gin_trgm_ops, description_key gin_trgm_ops)")
        )


def in_metadata(thing: Any, name: str | None, kind: str, reflected: bool, compare_to: Any) -> bool:
    """What Alembic is to compare with the metadata: everything but the index."""
    return name != INDEX
