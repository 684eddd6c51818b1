"""Snapshots: writing one over the journal it covers, and starting a new history with one."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, delete, func, insert, literal, literal_column, select, type_coerce, update
from sqlalchemy.dialects.postgresql import JSON, aggregate_order_by
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection

from chopin_core.counters import StorageRevision, StorageSequence
from chopin_core.errors import ChannelArchived, ChannelMissing, CorruptRecord, StaleCheckpoint, StaleWrite
from chopin_core.ids import ChannelId
from chopin_core.jsonvalue import encode
from chopin_core.ports.channels import Initial
from chopin_core.ports.collaboration import Checkpoint, CommitResult, Replacement
from chopin_core.ports.leases import Lease
from chopin_core.sidecar import SidecarRecord, unanswered_decisions
from chopin_storage_pg import fences
from chopin_storage_pg.tables import (
    channel_operations,
    channel_sections,
    channel_snapshots,
    channel_state,
    channel_updates,
    channels,
)


async def checkpoint(connection: AsyncConnection, wanted: Checkpoint, lease: Lease) -> None:
    channel = await _guarded(connection, wanted.channel_id, lease)
    if channel.revision != wanted.revision:
        raise StaleWrite(wanted.revision, channel.revision)
    stored = await connection.scalar(
        select(channel_snapshots.c.through_sequence).where(channel_snapshots.c.channel_id == wanted.channel_id)
    )
    latest = StorageSequence(channel.next_sequence - 1)
    written = await connection.scalar(
        select(channel_state.c.head.is_not(None)).where(channel_state.c.channel_id == wanted.channel_id)
    )
    if not written or not (stored or 0) <= wanted.through <= latest:
        raise StaleCheckpoint(wanted.through, stored or 0, latest)
    await write_snapshot(
        connection, wanted.channel_id, wanted, now=wanted.now, revision=wanted.revision, through=wanted.through
    )
    await connection.execute(
        delete(channel_updates)
        .where(channel_updates.c.channel_id == wanted.channel_id)
        .where(channel_updates.c.sequence <= wanted.through)
    )


async def replace(connection: AsyncConnection, wanted: Replacement, lease: Lease) -> CommitResult:
    channel = await _guarded(connection, wanted.channel_id, lease)
    kept = (
        await connection.execute(
            select(channel_operations.c.revision, channel_operations.c.sequence)
            .where(channel_operations.c.channel_id == wanted.channel_id)
            .where(channel_operations.c.operation_id == wanted.operation_id)
        )
    ).one_or_none()
    if kept is not None:
        return CommitResult(revision=kept.revision, sequence=kept.sequence, repeated=True)
    if channel.archived_at is not None:
        raise ChannelArchived(wanted.channel_id)
    if channel.revision != wanted.expected:
        raise StaleWrite(wanted.expected, channel.revision)
    result = CommitResult(revision=StorageRevision(channel.revision + 1), sequence=StorageSequence(channel.next_sequence))
    await connection.execute(
        insert(channel_operations).values(
            channel_id=wanted.channel_id,
            operation_id=wanted.operation_id,
            sequence=result.sequence,
            revision=result.revision,
        )
    )
    await write_sidecar(connection, wanted.channel_id, wanted.sidecar)
    await write_snapshot(
        connection, wanted.channel_id, wanted, now=wanted.now, revision=result.revision, through=result.sequence
    )
    await connection.execute(delete(channel_updates).where(channel_updates.c.channel_id == wanted.channel_id))
    await connection.execute(
        update(channels)
        .where(channels.c.id == wanted.channel_id)
        .values(
            revision=result.revision,
            next_sequence=result.sequence + 1,
            updated_at=func.greatest(channels.c.updated_at, wanted.now),
        )
    )
    return result


async def _guarded(connection: AsyncConnection, channel_id: ChannelId, lease: Lease) -> Row[Any, Any, Any]:
    """The channel's counters, its row locked and the lease judged after the wait for it."""
    await fences.hold(connection, lease)
    channel = (
        await connection.execute(
            select(channels.c.revision, channels.c.next_sequence, channels.c.archived_at)
            .where(channels.c.id == channel_id)
            .with_for_update(key_share=True)
        )
    ).one_or_none()
    await fences.judge(connection, lease)
    if channel is None:
        raise ChannelMissing(channel_id)
    return channel


async def write_sidecar(connection: AsyncConnection, channel_id: ChannelId, record: SidecarRecord) -> None:
    """The whole sidecar, in place of what was there."""
    await connection.execute(
        update(channel_state)
        .where(channel_state.c.channel_id == channel_id)
        .values(head=encode(record.head), unanswered_decisions=unanswered_decisions(record.sections.get("questions")))
    )
    await connection.execute(delete(channel_sections).where(channel_sections.c.channel_id == channel_id))
    if record.sections:
        sections = [{"channel_id": channel_id, "name": name, "value": encode(value)} for name, value in record.sections.items()]
        await connection.execute(insert(channel_sections), sections)


async def write_snapshot(
    connection: AsyncConnection,
    channel_id: ChannelId,
    document: Initial | Checkpoint | Replacement,
    *,
    now: datetime,
    revision: StorageRevision,
    through: StorageSequence,
) -> None:
    """
    The snapshot, in place of what was there, with a copy of the sidecar that never leaves the server.

    Raises:
        CorruptRecord: the channel has no state row.
    """
    values = {
        "channel_id": channel_id,
        "generation": document.generation,
        "revision": revision,
        "through_sequence": through,
        "epoch": document.epoch,
        "source": document.source,
        "source_hash": document.source_hash,
        "document": document.document,
        "created_at": now,
    }
    copied = select(
        *(literal(value, channel_snapshots.c[name].type).label(name) for name, value in values.items()),
        _sidecar_copy(channel_id),
    ).where(channel_state.c.channel_id == channel_id)
    written = upsert(channel_snapshots).from_select([*values, "sidecar"], copied)
    kept = await connection.scalar(
        written.on_conflict_do_update(
            index_elements=[channel_snapshots.c.channel_id],
            set_={name: written.excluded[name] for name in [*values, "sidecar"] if name != "channel_id"},
        ).returning(channel_snapshots.c.channel_id)
    )
    if kept is None:
        raise CorruptRecord(f"channel {channel_id}", "has no state row")


def _sidecar_copy(channel_id: ChannelId) -> ColumnElement[Any]:
    """``json_build_object`` and ``json_object_agg`` put ``json`` values together as texts, without reading their escapes."""
    sections = (
        select(
            func.coalesce(
                func.json_object_agg(
                    channel_sections.c.name,
                    aggregate_order_by(type_coerce(channel_sections.c.value, JSON), channel_sections.c.name),
                ),
                literal_column("'{}'::json"),
            )
        )
        .where(channel_sections.c.channel_id == channel_id)
        .scalar_subquery()
    )
    return func.json_build_object("head", type_coerce(channel_state.c.head, JSON), "sections", sections)
