"""Everything needed to open a channel, from one consistent read."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.ext.asyncio import AsyncConnection

from chopin_core.errors import CorruptRecord
from chopin_core.ids import ChannelId
from chopin_core.jsonvalue import decode
from chopin_core.ports.collaboration import StoredChannel
from chopin_core.sidecar import SidecarRecord
from chopin_storage_pg import rows
from chopin_storage_pg.tables import (
    channel_events,
    channel_sections,
    channel_snapshots,
    channel_state,
    channel_updates,
    channels,
)


async def load(connection: AsyncConnection, channel_id: ChannelId) -> StoredChannel | None:
    """What ``CollaborationStore.load`` promises; all statements see one state of the database."""
    found = (
        await connection.execute(rows.CHANNEL.add_columns(channel_state.c.head).where(channels.c.id == channel_id))
    ).one_or_none()
    if found is None:
        return None
    stored = (
        await connection.execute(select(channel_snapshots).where(channel_snapshots.c.channel_id == channel_id))
    ).one_or_none()
    snapshot = None if stored is None else rows.snapshot(stored)
    journal = await connection.execute(
        select(channel_updates)
        .where(channel_updates.c.channel_id == channel_id)
        .where(channel_updates.c.sequence > (0 if snapshot is None else snapshot.through))
        .order_by(channel_updates.c.sequence)
    )
    happened = await connection.execute(
        select(channel_events)
        .where(channel_events.c.channel_id == channel_id)
        .order_by(channel_events.c.sequence, channel_events.c.ordinal)
    )
    loaded = StoredChannel(
        channel=rows.channel(found),
        latest=rows.latest(found),
        snapshot=snapshot,
        updates=tuple(rows.update(row) for row in journal),
        events=tuple(rows.event(row) for row in happened),
        sidecar=await _sidecar(connection, found),
    )
    _refuse_impossible(loaded)
    return loaded


async def _sidecar(connection: AsyncConnection, found: Row[Any]) -> SidecarRecord | None:
    where = f"sidecar of channel {found.id}"
    sections = await connection.execute(
        select(channel_sections.c.name, channel_sections.c.value).where(channel_sections.c.channel_id == found.id)
    )
    values = {row.name: decode(row.value, f"section {row.name} of channel {found.id}") for row in sections}
    if found.head is None:
        if values:
            raise CorruptRecord(where, "has sections and no head")
        return None
    return rows.sidecar(decode(found.head, where), values, where)


def _refuse_impossible(loaded: StoredChannel) -> None:
    """Nothing may have been kept at a revision or sequence that was never given out."""
    revision, latest = loaded.channel.revision, loaded.latest
    kept = [(f"update at sequence {update.sequence}", update.revision, update.sequence) for update in loaded.updates]
    kept += [(f"event at sequence {event.sequence}", revision, event.sequence) for event in loaded.events]
    if loaded.snapshot is not None:
        kept.append(("snapshot", loaded.snapshot.revision, loaded.snapshot.through))
    for name, at_revision, at_sequence in kept:
        if at_revision > revision or at_sequence > latest:
            raise CorruptRecord(
                f"{name} of channel {loaded.channel.id}", f"lies beyond revision {revision} and sequence {latest}"
            )
