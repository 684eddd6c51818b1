"""
What must not come back with a backup: histories that go on elsewhere, a writer's lease, and what signs people in.

The database as it was before may live on, in open browsers and in a process that nobody stopped.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from sqlalchemy import text, true
from sqlalchemy.ext.asyncio import AsyncConnection

from chopin_storage_pg import web_sessions

_EPOCHS: Final = text("""
WITH renewed AS MATERIALIZED (SELECT channel_id, epoch AS former, gen_random_uuid()::text AS epoch FROM channel_snapshots),
snapshots AS (
    UPDATE channel_snapshots s SET epoch = renewed.epoch FROM renewed WHERE s.channel_id = renewed.channel_id
)
UPDATE channel_updates u SET epoch = renewed.epoch FROM renewed
WHERE u.channel_id = renewed.channel_id AND u.epoch = renewed.former
""")
"""
A checkpoint and its journal keep belonging together, and a journal that never belonged stays a fault. The shared text itself
knows no epoch, so no byte of a document changes, and no counter moves.
"""

_LEASES: Final = text("UPDATE storage_leases SET fencing = fencing + 1000000, expires_at = to_timestamp(0)")
"""Above whatever token was given out since the backup: there is no counting how many that were, but it was no million."""

_MACHINES: Final = text("""
UPDATE machines SET revoked_at = now(), ciphertext = NULL, credential_revision = NULL WHERE revoked_at IS NULL
""")


async def begin(connection: AsyncConnection) -> None:
    """Let a restored database start a history of its own."""
    await connection.execute(_EPOCHS)
    await connection.execute(_LEASES)
    # Among them may be sessions that were signed out and machines that were revoked since, and nobody can tell which.
    await web_sessions.end(connection, true(), datetime.now(UTC))
    for table in ("machine_choices", "machine_favourites"):
        await connection.execute(text(f"DELETE FROM {table}"))
    await connection.execute(_MACHINES)
