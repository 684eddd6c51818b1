"""Rows as frozen values. What breaks an invariant is reported as corrupt and never repaired."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import Row, Select, select

from chopin_core.channel import Channel, Description
from chopin_core.counters import LARGEST, DescriptionRevision, Epoch, PlanRevision, StorageRevision, StorageSequence
from chopin_core.errors import ChopinError, CorruptRecord
from chopin_core.ids import ChannelId, RepositoryId, UserId
from chopin_core.jsonvalue import Json, decode
from chopin_core.people import Repository
from chopin_core.ports.collaboration import Event, Snapshot, StoredEvent, StoredUpdate
from chopin_core.sidecar import SidecarRecord
from chopin_storage_pg.tables import channel_slugs, channel_state, channels

CHANNEL: Final[Select[Any]] = select(channels, channel_slugs.c.slug, channel_state.c.unanswered_decisions).select_from(
    channels.outerjoin(channel_slugs, (channel_slugs.c.channel_id == channels.c.id) & channel_slugs.c.canonical).outerjoin(
        channel_state
    )
)
"""A channel with what it owns elsewhere; :func:`channel` turns a row of it into a value."""


def channel(row: Row[Any]) -> Channel:
    """
    A row of :data:`CHANNEL`.

    Raises:
        CorruptRecord: it has no canonical slug, no state row, or an impossible count.
    """
    where = f"channel {row.id}"
    if row.slug is None:
        raise CorruptRecord(where, "has no canonical slug")
    if row.unanswered_decisions is None:
        raise CorruptRecord(where, "has no state row")
    return Channel(
        id=ChannelId(row.id),
        repository=Repository(id=RepositoryId(row.repository_id), owner=row.repository_owner, name=row.repository_name),
        title=row.title,
        slug=row.slug,
        created_by=UserId(row.created_by),
        revision=StorageRevision(count(row.revision, where, "revision")),
        created_at=utc(row.created_at),
        updated_at=utc(row.updated_at),
        parent_id=None if row.parent_channel_id is None else ChannelId(row.parent_channel_id),
        archived_at=None if row.archived_at is None else utc(row.archived_at),
        description=_description(row, where),
        unanswered_decisions=count(row.unanswered_decisions, where, "unanswered_decisions"),
    )


def _description(row: Row[Any], where: str) -> Description | None:
    if row.generated_description is None:
        return None
    prefix = "generated_description"
    return Description(
        value=row.generated_description,
        revision=DescriptionRevision(count(row.generated_description_revision, where, f"{prefix}_revision", least=1)),
        plan_revision=PlanRevision(count(row.generated_description_plan_revision, where, f"{prefix}_plan_revision")),
        source_hash=row.generated_description_source_hash,
        generator_version=row.generated_description_generator_version,
        job_id=row.generated_description_job_id,
        updated_at=utc(row.generated_description_updated_at),
    )


def latest(row: Row[Any]) -> StorageSequence:
    """The last sequence a channel gave out."""
    return StorageSequence(count(row.next_sequence, f"channel {row.id}", "next_sequence", least=1) - 1)


def snapshot(row: Row[Any]) -> Snapshot:
    where = f"snapshot of channel {row.channel_id}"
    return Snapshot(
        generation=row.generation,
        revision=StorageRevision(count(row.revision, where, "revision")),
        through=StorageSequence(count(row.through_sequence, where, "through_sequence")),
        epoch=Epoch(row.epoch),
        source=row.source,
        source_hash=row.source_hash,
        document=row.document,
        sidecar=_copy(row.sidecar, where),
        created_at=utc(row.created_at),
    )


def _copy(text: str, where: str) -> SidecarRecord:
    match decode(text, where):
        case {"head": head, "sections": Mapping() as sections, **rest} if not rest:
            return sidecar(head, sections, where)
    raise CorruptRecord(where, "sidecar is not a head and sections")


def sidecar(head: Json, sections: Mapping[str, Json], where: str) -> SidecarRecord:
    try:
        return SidecarRecord(head=head, sections=sections)
    except ChopinError:
        raise CorruptRecord(where, "sidecar has a section of no valid name") from None


def update(row: Row[Any]) -> StoredUpdate:
    where = f"channel {row.channel_id} at sequence {row.sequence}"
    return StoredUpdate(
        sequence=StorageSequence(count(row.sequence, where, "sequence", least=1)),
        revision=StorageRevision(count(row.revision, where, "revision", least=1)),
        epoch=Epoch(row.epoch),
        update=row.update,
    )


def event(row: Row[Any]) -> StoredEvent:
    where = f"event {row.ordinal} of channel {row.channel_id} at sequence {row.sequence}"
    return StoredEvent(
        sequence=StorageSequence(count(row.sequence, where, "sequence", least=1)),
        ordinal=count(row.ordinal, where, "ordinal"),
        event=Event(id=row.id, kind=row.kind, payload=decode(row.payload, where), created_at=utc(row.created_at)),
    )


def count(value: int, where: str, name: str, *, least: int = 0) -> int:
    """
    A counter as it was stored.

    Raises:
        CorruptRecord: no counter of ours can be that.
    """
    if not least <= value <= LARGEST:
        raise CorruptRecord(where, f"{name} is {value}")
    return value


def utc(value: datetime) -> datetime:
    """An instant in UTC: the server answers in the session's time zone."""
    return value.astimezone(UTC)


def can_exist(*texts: str) -> bool:
    """Whether a row could be named by these texts: none can hold a NUL or an unpaired surrogate, so none need be looked for."""
    try:
        return all("\0" not in text and text.encode() is not None for text in texts)
    except UnicodeEncodeError:
        return False
